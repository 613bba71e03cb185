/* readout.mjs - all figures at one size, beside the pointer; a series' sample glyph */
import {h, svg} from './dom.mjs';
import {head} from './parts.mjs';
import {shapeCorners} from './palette.mjs';
import {doubtOf} from './stats.mjs';
import {
  formatBandwidth,
  formatMemory,
  formatPercent,
  formatSize,
  formatTime,
  significant
} from './units.mjs';

const LINES_MAX = 12;
const COLUMNS = {
  row: ['series', 'busbw', 'algbw', 'time', 'fastest … slowest rank', 'repeats'],
  figure: ['series', 'mean', 'min … max', 'figures']
};

export function readout(panel, x) {
  const found = [];
  for (const line of panel.lines) {
    const point = line.hidden ? null : line.points.find(p => p.x === x);
    if (point) {
      found.push({line, point});
    }
  }
  const kind = panel.kind ?? 'row';
  const render = kind === 'row' ? readoutRow : found => figureRow(found, panel.unit);
  return h('div', h('p.readout-size', placeInWords(panel, x)),
    h('table', head(COLUMNS[kind]), h('tbody', found.slice(0, LINES_MAX).map(render))),
    found.length > LINES_MAX ? h('p', `and ${found.length - LINES_MAX} more`) : null);
}

function placeInWords(panel, x) {
  if (!panel.isSize) {
    return `${panel.place} ${x}`;
  }
  return formatSize(x) === String(x) ? formatMemory(x) : `${formatSize(x)} bytes`;
}

function figureRow({line, point}, unit) {
  return h('tr', h('th', {scope: 'row'}, glyph(line), h('span', line.label)),
    h('td', `${significant(point.y)} ${unit}`),
    h('td', `${significant(point.lo)} … ${significant(point.hi)}`),
    h('td', String(point.point.count)));
}

function readoutRow({line, point}) {
  const p = point.point;
  return h('tr', h('th', {scope: 'row'}, glyph(line), h('span', line.label)),
    h('td', formatBandwidth(p.busbw_gbs)), h('td', formatBandwidth(p.algbw_gbs)),
    h('td', timeInWords(p)), h('td', p.rank_spread.time_us.map(formatTime).join(' … ')),
    h('td',
      p.repeats > 1
        ? `${p.repeats}: ${p.repeat_spread.time_us.map(formatTime).join(' … ')}`
        : '–',
      p.wrong ? h('strong.bad', ` ${p.wrong} wrong`) : null));
}

function timeInWords(point) {
  const doubt = doubtOf(point);
  return (point.noisy > 0 ? '~' : '') + formatTime(point.time_us) +
    (doubt ? ` ±${formatPercent(doubt.half)}` : '');
}

/* A short piece of the line with its point, for legends. */
export function glyph(line) {
  const corners = shapeCorners(line.shape, 14, 7, 3.4);
  const paint = {
    class: line.hollow ? 'hollow' : null,
    stroke: line.colour,
    'stroke-width': 1.6,
    fill: line.colour
  };
  return svg('svg', {class: 'glyph', viewBox: '0 0 28 14', 'aria-hidden': 'true'},
    svg('path', {
      d: 'M0 7H28',
      stroke: line.colour,
      'stroke-width': 2,
      'stroke-dasharray': line.dash.join(' ') || undefined
    }),
    corners ? svg('polygon', {points: corners.map(c => c.join(',')).join(' '), ...paint})
            : svg('circle', {cx: 14, cy: 7, r: 3.4, ...paint}));
}
