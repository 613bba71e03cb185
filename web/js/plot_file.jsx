/* SPDX-License-Identifier: Apache-2.0 */
/* plot_file.jsx - charts as a self-contained SVG document with title, runs and legend. Only
 * svgToPng and tonesOf need a DOM. */
import { GlyphPaths, MARGIN, Plot } from './plot.jsx';
import { REFERENCE_DASH } from './palette.mjs';
import { markOf, titleOf, unlikeInWords } from './shown.mjs';
import { runInWords } from './shown_files.mjs';
import { shorten } from './units.mjs';
import { toXml } from './xml.mjs';

const WIDTH = 1280;
const WIDTH_OF_ONE = 960;
const TITLE_ROOM = 30;
const HEIGHT = 370;
const LINE = 20;
/* Largest width of a character at the default font size, in px. */
const CHARACTER = 7;

/* Colours of the current theme as values, since a file has no CSS variables. */
export function tonesOf(element) {
  const style = getComputedStyle(element);
  const read = (name) => style.getPropertyValue(name).trim();
  return { text: read('--muted'), grid: read('--grid'), surface: read('--surface') };
}

/* Returns {text, width, height}, with two panels per row. `spread` shows bands and error bars.
 * `tone` contains the colours of text, grid and surface. */
export function panelsToSvg({ runs, panels, spread, tone }) {
  const width = panels.length > 1 ? WIDTH : WIDTH_OF_ONE;
  const across = panels.length > 1 ? width / 2 : width;
  const head = headLines(runs);
  const top = 20 + head.length * LINE;
  const rowHeight = TITLE_ROOM + HEIGHT;
  const bottom = top + Math.ceil(panels.length / 2) * rowHeight;
  const legend = legendOf(panels);
  const height = bottom + legend.length * LINE + 14;
  const text = toXml(
    <svg
      xmlns="http://www.w3.org/2000/svg"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      font-family="system-ui, sans-serif"
      font-size="12"
    >
      <rect width={width} height={height} fill={tone.surface} />
      {head.map(({ words, ...look }, i) => (
        <text key={words} x="20" y={28 + i * LINE} fill={tone.text} {...look}>
          {shorten(words, Math.floor((width - 40) / (i === 0 ? 10 : CHARACTER)))}
        </text>
      ))}
      {panels.map((panel, i) => (
        <Move key={panel.key} x={(i % 2) * across} y={top + Math.floor(i / 2) * rowHeight}>
          <text x={MARGIN.left} y="24" font-weight="600" fill={tone.text}>
            {`${panel.title}, ${shorten(panel.axis, Math.floor((across - 90) / CHARACTER) - panel.title.length)}`}
          </text>
          <Move x={0} y={TITLE_ROOM}>
            <Plot panel={panel} width={across} height={HEIGHT} spread={spread} tone={tone} />
          </Move>
        </Move>
      ))}
      {legend.map((line, i) => (
        <Move key={line.key} x={MARGIN.left} y={bottom + i * LINE}>
          <GlyphPaths line={line} surface={tone.surface} />
          <text x="38" y="11" fill={tone.text}>
            {shorten(line.label, Math.floor((width - MARGIN.left - 60) / CHARACTER))}
          </text>
        </Move>
      ))}
      <Across mark={markOf(runs)} width={width} height={height} tone={tone} />
    </svg>,
  );
  return { text: `<?xml version="1.0" encoding="UTF-8"?>\n${text}\n`, width, height };
}

const Move = ({ x, y, children }) => <g transform={`translate(${x} ${y})`}>{children}</g>;

/* Returns the title, a warning if the runs are not comparable, and a line per run. */
function headLines(runs) {
  const unlike = unlikeInWords(runs);
  return [
    { words: titleOf(runs), 'font-size': 17, 'font-weight': 600 },
    ...(unlike ? [{ words: `Not comparable. ${unlike}`, 'font-weight': 600 }] : []),
    ...runs.map((run) => ({ words: (runs.length > 1 ? `${run.name}: ` : '') + runInWords(run) })),
  ];
}

/* Lists each line once, because the panels of a collective share their lines. */
function legendOf(panels) {
  const lines = panels.flatMap((panel) => panel.lines).filter((line) => !line.hidden);
  const references = panels.flatMap((panel) => panel.references);
  return [
    ...new Map(
      [...lines, ...references.map((one) => ({ ...one, dash: REFERENCE_DASH }))].map((one) => [one.key, one]),
    ).values(),
  ];
}

/* A watermark for results that were not measured here. */
const Across = ({ mark, width, height, tone }) =>
  mark && (
    <text
      x={width / 2}
      y={height / 2}
      text-anchor="middle"
      font-size={Math.min(110, (width * 1.4) / mark.length)}
      font-weight="700"
      fill={tone.text}
      fill-opacity="0.13"
    >
      {mark}
    </text>
  );

/* Rendered by the browser, at twice the size for sharp prints. */
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
