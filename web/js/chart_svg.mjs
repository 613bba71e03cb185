/* chart_svg.mjs - charts as an SVG document of its own, with what they are of, axes and
 * legend. The text is made without a DOM; only svgToPng needs one. */
import { BAR_HALF, barStrokes, placeLabel, placeTicks, valueLabel, valueTicks } from './chart_model.mjs';
import { REFERENCE_DASH, shapeCorners } from './palette.mjs';
import { markOf, titleOf, unlikeInWords } from './shown.mjs';
import { runInWords } from './shown_files.mjs';
import { shorten } from './units.mjs';

const WIDTH = 1280;
const WIDTH_OF_ONE = 960;
const PLOT = {
  left: 66,
  right: 20,
  top: 40,
  height: 320,
  bottom: 40,
};
const LINE = 20;
/* How wide a character is at most, of the usual size. */
const CHARACTER = 7;

/* Characters that no XML document may hold are left out. */
export const escapeXml = (text) =>
  String(text)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

export function tag(name, attributes, content = '') {
  const list = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${escapeXml(value)}"`)
    .join('');
  return `<${name}${list}>${content}</${name}>`;
}

const r = (value) => Math.round(value * 100) / 100;
const pairs = (list) => list.map(([x, y]) => `${r(x)},${r(y)}`).join(' ');
const move = (x, y, content) => tag('g', { transform: `translate(${r(x)} ${r(y)})` }, content);

/* {text, width, height} of what is shown: runs and panels, two beside one another, and
 * whether with the `spread`. `tone` has text, grid and surface. */
export function panelsToSvg({ runs, panels, spread, tone }) {
  const width = panels.length > 1 ? WIDTH : WIDTH_OF_ONE;
  const across = panels.length > 1 ? width / 2 : width;
  const top = header(runs, width, tone);
  const rowHeight = PLOT.top + PLOT.height + PLOT.bottom;
  const charts = panels.map((panel, i) =>
    move((i % 2) * across, top.height + Math.floor(i / 2) * rowHeight, panelSvg(panel, spread, across, tone)),
  );
  const bottom = top.height + Math.ceil(panels.length / 2) * rowHeight;
  const legend = legendSvg(panels, width, tone);
  const height = bottom + legend.height + 14;
  const text = tag(
    'svg',
    {
      xmlns: 'http://www.w3.org/2000/svg',
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      'font-family': 'system-ui, sans-serif',
      'font-size': 12,
    },
    tag('rect', { width, height, fill: tone.surface }) +
      top.text +
      charts.join('') +
      move(0, bottom, legend.text) +
      acrossSvg(markOf(runs), width, height, tone),
  );
  return {
    text: `<?xml version="1.0" encoding="UTF-8"?>\n${text}\n`,
    width,
    height,
  };
}

/* Title, in what the runs are not alike, and a line for each. */
function header(runs, width, tone) {
  const unlike = unlikeInWords(runs);
  const lines = [
    [titleOf(runs), { 'font-size': 17, 'font-weight': 600 }],
    ...(unlike ? [[`Not alike. ${unlike}`, { 'font-weight': 600 }]] : []),
    ...runs.map((run) => [(runs.length > 1 ? `${run.name}: ` : '') + runInWords(run), {}]),
  ];
  const text = lines.map(([words, look], i) =>
    tag(
      'text',
      { x: 20, y: 28 + i * LINE, fill: tone.text, ...look },
      escapeXml(shorten(words, Math.floor((width - 40) / (i === 0 ? 10 : CHARACTER)))),
    ),
  );
  return { text: text.join(''), height: 28 + lines.length * LINE - 8 };
}

/* What is no measurement says so across its charts. */
const acrossSvg = (mark, width, height, tone) =>
  mark &&
  tag(
    'text',
    {
      x: width / 2,
      y: height / 2,
      'text-anchor': 'middle',
      'font-size': Math.min(110, (width * 1.4) / mark.length),
      'font-weight': 700,
      fill: tone.text,
      'fill-opacity': 0.13,
    },
    escapeXml(mark),
  );

function panelSvg(panel, spread, across, tone) {
  const scales = makeScales(panel, across);
  const lines = panel.lines.filter((line) => !line.hidden);
  const axis = shorten(panel.axis, Math.floor((across - 90) / CHARACTER) - panel.title.length);
  return [
    tag(
      'text',
      { x: PLOT.left, y: 24, 'font-weight': 600, fill: tone.text },
      escapeXml(`${panel.title}, ${axis}`),
    ),
    axes(scales, panel, tone),
    ...panel.references.map((reference) => referenceSvg(reference, scales)),
    ...lines.map((line) => (spread ? band(line, scales, 0.14) + bars(line, scales) : '')),
    ...lines.map((line) => lineSvg(line, scales, tone)),
  ].join('');
}

function makeScales(panel, across) {
  const width = across - PLOT.left - PLOT.right;
  const along = ([low, high], value) => Math.log(value / low) / Math.log(high / low);
  const evenly = ([low, high], value) => (value - low) / (high - low);
  const share = (value) => {
    const at = panel.isLog ? along(panel.y, Math.max(value, panel.y[0])) : evenly(panel.y, value);
    return Math.min(1, Math.max(0, at));
  };
  return {
    width,
    x: (at) => PLOT.left + width * (panel.isSize ? along : evenly)(panel.x, at),
    y: (value) => PLOT.top + PLOT.height * (1 - share(value)),
  };
}

function axes(scales, panel, tone) {
  const bottom = PLOT.top + PLOT.height;
  const right = PLOT.left + scales.width;
  const line = (x1, y1, x2, y2) => tag('line', { x1, y1, x2, y2, stroke: tone.grid });
  const label = (x, y, anchor, text) =>
    tag('text', { x, y, 'text-anchor': anchor, fill: tone.text }, escapeXml(text));
  const rows = valueTicks(panel).map((value) => {
    const y = r(scales.y(value));
    return line(PLOT.left, y, right, y) + label(PLOT.left - 8, y + 4, 'end', valueLabel(value));
  });
  const columns = placeTicks(panel, scales.width).map((at) => {
    const x = r(scales.x(at));
    return line(x, PLOT.top, x, bottom) + label(x, bottom + 18, 'middle', placeLabel(panel, at));
  });
  return [...rows, ...columns].join('');
}

function band({ points, colour }, scales, opacity) {
  const upper = points.map((p) => [scales.x(p.x), scales.y(p.hi)]);
  const lower = points.map((p) => [scales.x(p.x), scales.y(p.lo)]).reverse();
  return tag('polygon', { points: pairs([...upper, ...lower]), fill: colour, 'fill-opacity': opacity });
}

/* What lines are held against. */
function referenceSvg({ points, colour }, scales) {
  const shaded = points.filter(({ lo }) => lo !== undefined);
  const through = points.filter(({ y }) => y !== undefined);
  return (
    (shaded.length > 1 ? band({ points: shaded, colour }, scales, 0.2) : '') +
    (through.length > 1
      ? tag('polyline', {
          points: pairs(through.map((p) => [scales.x(p.x), scales.y(p.y)])),
          fill: 'none',
          stroke: colour,
          'stroke-width': 1.5,
          'stroke-dasharray': REFERENCE_DASH.join(' '),
        })
      : '')
  );
}

function bars(line, scales) {
  const strokes = line.points
    .filter(({ bar }) => bar)
    .flatMap((point) => barStrokes(scales.x(point.x), point.bar.map(scales.y), BAR_HALF));
  const path = strokes.map(([from, to]) => `M${pairs([from])}L${pairs([to])}`).join('');
  return path && tag('path', { d: path, stroke: line.colour, 'stroke-width': 1.4 });
}

function lineSvg(line, scales, tone) {
  const at = line.points.map((p) => [scales.x(p.x), scales.y(p.y)]);
  return (
    tag('polyline', {
      points: pairs(at),
      fill: 'none',
      stroke: line.colour,
      'stroke-width': 2,
      'stroke-dasharray': line.dash.join(' ') || undefined,
    }) + at.map(([x, y]) => mark(line, x, y, tone)).join('')
  );
}

function mark(line, x, y, tone) {
  const paint = {
    stroke: line.colour,
    'stroke-width': 1.6,
    fill: line.hollow ? tone.surface : line.colour,
  };
  const corners = shapeCorners(line.shape, x, y, 3.4);
  return corners
    ? tag('polygon', { points: pairs(corners), ...paint })
    : tag('circle', { cx: r(x), cy: r(y), r: 3.4, ...paint });
}

/* Once for all panels: those of a collective have the same lines. */
function legendSvg(panels, width, tone) {
  const unique = (items) => [...new Map(items.map((item) => [item.key, item])).values()];
  const lines = unique(panels.flatMap((panel) => panel.lines).filter((line) => !line.hidden));
  const references = unique(panels.flatMap((panel) => panel.references));
  const items = [...lines, ...references].map((item, i) => {
    const y = 8 + i * LINE;
    const words = shorten(item.label, Math.floor((width - PLOT.left - 60) / CHARACTER));
    return (
      sample(item, y, tone) + tag('text', { x: PLOT.left + 38, y: y + 4, fill: tone.text }, escapeXml(words))
    );
  });
  return { text: items.join(''), height: items.length * LINE };
}

function sample(item, y, tone) {
  const dash = item.shape ? item.dash : REFERENCE_DASH;
  return (
    tag('line', {
      x1: PLOT.left,
      x2: PLOT.left + 28,
      y1: y,
      y2: y,
      stroke: item.colour,
      'stroke-width': 2,
      'stroke-dasharray': dash.join(' ') || undefined,
    }) + (item.shape ? mark(item, PLOT.left + 14, y, tone) : '')
  );
}

/* Drawn by the browser itself, at twice the size so that it is sharp on paper. */
export async function svgToPng({ text, width, height }) {
  const url = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }));
  try {
    const image = new Image(width, height);
    image.src = url;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = width * 2;
    canvas.height = height * 2;
    canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve) => {
      canvas.toBlob(resolve, 'image/png');
    });
  } finally {
    URL.revokeObjectURL(url);
  }
}
