/* chart_svg.mjs - a chart as an SVG document of its own, with title, axes and legend. The
 * text is made without a DOM; only svgToPng needs one. */
import {
  BAR_HALF,
  barStrokes,
  countTicks,
  logTicks,
  sizeTicks,
  yScale
} from './chart_model.mjs';
import {shapeCorners} from './palette.mjs';
import {formatSize, significant} from './units.mjs';

const WIDTH = 960;
const PLOT = {
  left: 70,
  right: 24,
  top: 44,
  height: 340,
  bottom: 46
};
const LEGEND_LINE = 20;

/* Characters that no XML document may hold are left out. */
export const escapeXml = text => String(
  text).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g,
         '').replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`);

function tag(name, attributes, content = '') {
  const list = Object.entries(attributes)
                 .filter(([, value]) => value !== undefined)
                 .map(([key, value]) => ` ${key}="${escapeXml(value)}"`)
                 .join('');
  return `<${name}${list}>${content}</${name}>`;
}

/* {text, width, height} of all panels, one below the other. `tone` has title, text, grid,
 * surface and theme. */
export function panelsToSvg(panels, view, tone) {
  let y = 34;
  const parts =
    [tag('text', {x: 20, y: 24, 'font-size': 16, 'font-weight': 600, fill: tone.text},
      escapeXml(tone.title.slice(0, 110)))];
  for (const panel of panels) {
    const drawn = panelSvg(panel, view, tone);
    parts.push(tag('g', {transform: `translate(0 ${y})`}, drawn.text));
    y += drawn.height;
  }
  const height = Math.max(80, y);
  const text = tag('svg', {
    xmlns: 'http://www.w3.org/2000/svg',
    viewBox: `0 0 ${WIDTH} ${height}`,
    width: WIDTH,
    height,
    'font-family': 'system-ui, sans-serif',
    'font-size': 12
  },
    tag('rect', {width: WIDTH, height, fill: tone.surface}) + parts.join(''));
  return {
    text: `<?xml version="1.0" encoding="UTF-8"?>\n${text}\n`,
    width: WIDTH,
    height
  };
}

function panelSvg(panel, view, tone) {
  const scales = makeScales(panel, view);
  const lines = panel.lines.filter(line => !line.hidden);
  const bottom = PLOT.top + PLOT.height;
  const content = [
    tag('text', {x: PLOT.left, y: 24, 'font-weight': 600, fill: tone.text},
      escapeXml(`${panel.collective}, ${panel.axis}`)),
    axes(scales, panel, view, tone),
    ...lines.map(line => (view.band ? band(line, scales) : '')),
    ...lines.map(line => (view.band ? bars(line, scales) : '')),
    ...lines.map(line => lineSvg(line, scales, tone)),
    ...lines.map(
      (line, i) => legendLine(line, bottom + PLOT.bottom + i * LEGEND_LINE, tone))
  ];
  return {
    text: content.join(''),
    height: bottom + PLOT.bottom + lines.length * LEGEND_LINE + 8
  };
}

function makeScales(panel, view) {
  const width = WIDTH - PLOT.left - PLOT.right;
  const along = ([low, high], value) => Math.log(value / low) / Math.log(high / low);
  const evenly = ([low, high], value) => (value - low) / (high - low);
  const log = yScale(view, panel) === 'log';
  const [low, high] = panel.y;
  const share = value => {
    const at = log ? along(panel.y, Math.max(value, low)) : evenly(panel.y, value);
    return Math.min(1, Math.max(0, at));
  };
  return {
    width,
    x: at => PLOT.left + width * (panel.isSize ? along : evenly)(panel.x, at),
    y: value => PLOT.top + PLOT.height * (1 - share(value)),
    yTicks: log ? logTicks(panel.y)
                : [0, 0.2, 0.4, 0.6, 0.8, 1].map(s => low + s * (high - low))
  };
}

function axes(scales, panel, view, tone) {
  const bottom = PLOT.top + PLOT.height;
  const right = WIDTH - PLOT.right;
  const line = (x1, y1, x2, y2) => tag('line', {x1, y1, x2, y2, stroke: tone.grid});
  const rows = scales.yTicks.map(
    value => line(PLOT.left, r(scales.y(value)), right, r(scales.y(value))) +
      tag('text', {
        x: PLOT.left - 8,
        y: r(scales.y(value) + 4),
        'text-anchor': 'end',
        fill: tone.text
      },
        significant(value)));
  const columns =
    (panel.isSize ? sizeTicks : countTicks)(panel.x, scales.width, 44)
      .map(size => line(r(scales.x(size)), PLOT.top, r(scales.x(size)), bottom) +
          tag('text', {
            x: r(scales.x(size)),
            y: bottom + 18,
            'text-anchor': 'middle',
            fill: tone.text
          },
            panel.isSize ? formatSize(size) : String(size)));
  return [...rows, ...columns].join('');
}

const r = value => Math.round(value * 100) / 100;
const pairs = list => list.map(([x, y]) => `${r(x)},${r(y)}`).join(' ');

function band(line, scales) {
  const upper = line.points.map(p => [scales.x(p.x), scales.y(p.hi)]);
  const lower = line.points.map(p => [scales.x(p.x), scales.y(p.lo)]).reverse();
  return tag('polygon',
    {points: pairs([...upper, ...lower]), fill: line.colour, 'fill-opacity': 0.14});
}

function bars(line, scales) {
  const strokes =
    line.points.filter(({bar}) => bar)
      .flatMap(point => barStrokes(scales.x(point.x), point.bar.map(scales.y), BAR_HALF));
  const path = strokes.map(([from, to]) => `M${pairs([from])}L${pairs([to])}`).join('');
  return path && tag('path', {d: path, stroke: line.colour, 'stroke-width': 1.4});
}

function lineSvg(line, scales, tone) {
  const at = line.points.map(p => [scales.x(p.x), scales.y(p.y)]);
  return (tag('polyline', {
    points: pairs(at),
    fill: 'none',
    stroke: line.colour,
    'stroke-width': 2,
    'stroke-dasharray': line.dash.join(' ') || undefined
  }) +
    at.map(([x, y]) => mark(line, x, y, tone)).join(''));
}

function mark(line, x, y, tone) {
  const paint = {
    stroke: line.colour,
    'stroke-width': 1.6,
    fill: line.hollow ? tone.surface : line.colour
  };
  const corners = shapeCorners(line.shape, x, y, 3.4);
  return corners ? tag('polygon', {points: pairs(corners), ...paint})
                 : tag('circle', {cx: r(x), cy: r(y), r: 3.4, ...paint});
}

function legendLine(line, y, tone) {
  return (tag('line', {
    x1: PLOT.left,
    x2: PLOT.left + 28,
    y1: y,
    y2: y,
    stroke: line.colour,
    'stroke-width': 2,
    'stroke-dasharray': line.dash.join(' ') || undefined
  }) +
    mark(line, PLOT.left + 14, y, tone) +
    tag('text', {x: PLOT.left + 38, y: y + 4, fill: tone.text},
      escapeXml(line.label.slice(0, 120))));
}

/* Drawn by the browser itself, at twice the size so that it is sharp on paper. */
export async function svgToPng({text, width, height}) {
  const url = URL.createObjectURL(new Blob([text], {type: 'image/svg+xml'}));
  try {
    const image = new Image(width, height);
    image.src = url;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = width * 2;
    canvas.height = height * 2;
    canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise(resolve => { canvas.toBlob(resolve, 'image/png'); });
  } finally {
    URL.revokeObjectURL(url);
  }
}
