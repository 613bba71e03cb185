/* delta_row.mjs - a change with its interval on an axis that better lies to the right of,
 * about the zone that counts as none. Places are parts of the width, so that a drawing
 * fits any. */
import { svg } from './dom.mjs';
import { isWithinFactor } from './stats.mjs';
import { formatChange } from './units.mjs';

const LIMITS = [0.04, 0.08, 0.2, 0.4, 0.8];
const HALF = 47;

/* How far an axis goes to either side, so that it holds what these have; what is further
 * off is cut at its end. */
export function deltaLimit(items) {
  const ends = items
    .flatMap(({ change, interval }) => interval ?? [change])
    .filter(Number.isFinite)
    .map(Math.abs);
  const reach = Math.max(0, ...ends);
  return LIMITS.find((limit) => reach <= limit) ?? LIMITS[LIMITS.length - 1];
}

const percent = (value) => `${value.toFixed(2)}%`;

/* More is better of a bandwidth and worse of a time. */
const placer = (limit, isMoreBetter) => (change) =>
  50 + HALF * Math.max(-1, Math.min(1, change / limit)) * (isMoreBetter ? 1 : -1);

/* The zone of changes within the margin, and the middle, behind a row. */
function ground(limit, margin) {
  const half = (HALF * Math.min(margin, limit)) / limit;
  return [
    svg('rect', { class: 'zone', x: percent(50 - half), width: percent(2 * half), height: '100%' }),
    svg('line', { class: 'zero', x1: '50%', x2: '50%', y1: '0', y2: '100%' }),
  ];
}

/* The axis above the rows. */
export function deltaAxis(limit, margin) {
  const ticks = [-limit / 2, limit / 2];
  const at = placer(limit, true);
  const text = (x, anchor, words) => svg('text', { x, y: '13', 'text-anchor': anchor }, words);
  return svg(
    'svg',
    {
      class: 'delta axis',
      role: 'img',
      'aria-label': `Change up to ${limit * 100} % either way; better lies to the right`,
    },
    ground(limit, margin),
    text('0', 'start', '◂ worse'),
    text('50%', 'middle', '0'),
    ticks.map((tick) => text(percent(at(tick)), 'middle', `${Math.abs(tick) * 100} %`)),
    text('100%', 'end', 'better ▸'),
  );
}

/* One change; `answer` colours it, and none is told of single sizes. */
export function deltaRow({ change, interval, answer }, isMoreBetter, limit, margin) {
  const at = placer(limit, isMoreBetter);
  const isKnown = Number.isFinite(change);
  const label = !isKnown
    ? 'no change can be told'
    : interval
      ? `${formatChange(change)}, ${formatInterval(interval)}`
      : formatChange(change);
  return svg(
    'svg',
    { class: `delta ${answer ?? 'plain'}`, role: 'img', 'aria-label': label },
    ground(limit, margin),
    isKnown ? bar(interval ?? [change, change], at, limit) : null,
    isKnown && Math.abs(change) <= limit ? mark(percent(at(change)), interval) : null,
  );
}

/* "+3.2 to +5.0 %", or "unknown" */
export const formatInterval = ([low, high]) =>
  isWithinFactor(1 + low, 1 + high)
    ? `${formatChange(low).replace(' %', '')} to ${formatChange(high)}`
    : 'unknown';

/* An end that lies outside is an arrow. */
function bar(ends, at, limit) {
  const [x1, x2] = ends.map((end) => percent(at(end)));
  return [
    svg('line', { class: 'bar', x1, x2, y1: '14', y2: '14' }),
    ends.map((end) => {
      const x = percent(at(end));
      if (Math.abs(end) <= limit) {
        return svg('line', { class: 'bar', x1: x, x2: x, y1: '9', y2: '19' });
      }
      const d = at(end) < 50 ? 'M-4 14l12 -7v14z' : 'M4 14l-12 -7v14z';
      return svg('svg', { x, overflow: 'visible' }, svg('path', { class: 'cut', d }));
    }),
  ];
}

const mark = (cx, interval) =>
  svg('circle', { class: interval ? 'mark' : 'mark hollow', cx, cy: '14', r: '5' });
