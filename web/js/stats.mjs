/* SPDX-License-Identifier: Apache-2.0 */
/* stats.mjs - formats the server's figures, and orders the table. No DOM. */
import { formatChange, formatPercent, listInWords } from './units.mjs';

export function median(values) {
  if (values.length === 0) {
    return null;
  }
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/* busbw / algbw for n ranks, from the collective's facts (docs/reference/api.md). */
export const busFactor = ({ bus_factor: { times, less } }, n) => (times * (n - less)) / n;

/* Returns the label of a series without its placement. `variant` distinguishes the case from
 * others of the run. `members` are the ranks of its group. */
export function lineLabel(row, variant = '', /** @type {number[] | null} */ members = null) {
  const parts = [row.collective, row.dtype];
  if (row.redop && row.redop !== 'none') {
    parts.push(row.redop);
  }
  if (row.root >= 0) {
    parts.push(`root ${row.root}`);
  }
  if (row.group !== undefined && row.group !== null) {
    const ranks = members ? ` (ranks ${listInWords(members)})` : '';
    parts.push(`group ${row.group}${ranks}`);
  }
  if (variant) {
    parts.push(variant);
  }
  return parts.join(' · ');
}

/* "TREE, LL128": the algorithm and protocol in a row's `nccl`. Empty if unknown. */
export function wayOf(choice) {
  const { algo, proto, ranks_differ: differ, unrequested } = choice ?? {};
  const notes = [differ && 'ranks differ', unrequested && 'not requested'];
  return [algo, proto, ...notes].filter(Boolean).join(', ');
}

/* Returns the distinct choices [{way, rows}] of a summary's `nccl`, most frequent first and
 * unknown last. Empty if all are unknown. */
export function waysOf(choices) {
  const rows = new Map();
  choices.forEach((choice) => rows.set(wayOf(choice), (rows.get(wayOf(choice)) ?? 0) + choice.rows));
  return rows.size > (rows.has('') ? 1 : 0)
    ? [...rows]
        .map(([way, n]) => ({ way, rows: n }))
        .sort((a, b) => Number(a.way === '') - Number(b.way === '') || b.rows - a.rows)
    : [];
}

export const waysInWords = (ways = []) =>
  ways.length === 1 ? ways[0].way : ways.map(({ way, rows }) => `${rows} × ${way || 'unknown'}`).join('; ');

export const placement = (row) => (row.in_place ? 'in place' : 'out of place');

const ends = (values) => [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];

/* Returns the uncertainty of a point's figure: the interval of its median and, with several
 * repeats, their spread. `half` is half the range relative to the figure. Null if unknown. */
export function doubtOf(point, key = 'time_us') {
  const known = [point.interval, point.repeats > 1 ? point.repeat_spread : null];
  const values = known.flatMap((spread) => spread?.[key] ?? []);
  if (values.length === 0 || !(point[key] > 0)) {
    return null;
  }
  const [lo, hi] = ends(values);
  return { lo, hi, half: (hi - lo) / 2 / point[key] };
}

const KNOWN_FACTOR = 10;

/* False if an interval is too wide to be useful (common/result/noise.h). */
export const isWithinFactor = (lo, hi) => lo > 0 && hi <= KNOWN_FACTOR * lo;

export function doubtInWords(doubt) {
  if (!doubt) {
    return '';
  }
  return isWithinFactor(doubt.lo, doubt.hi) ? `±${formatPercent(doubt.half)}` : 'unknown';
}

/* Returns true if a comparison's change is precise enough to be shown. */
export const isToldChange = ({ change, interval }) =>
  Number.isFinite(change) && (!interval || isWithinFactor(1 + interval[0], 1 + interval[1]));

export const formatInterval = ([low, high]) =>
  isWithinFactor(1 + low, 1 + high)
    ? `${formatChange(low).replace(' %', '')} to ${formatChange(high)}`
    : 'unknown';

/* Returns a point's value of a figure. lo to hi is the range over all ranks and repeats. `bar`
 * is the error bar, or null. */
export function pointValue(point, key) {
  if (point.time_us === null) {
    return null;
  }
  const [lo, hi] = point.rank_spread[key];
  const doubt = doubtOf(point, key);
  return { y: point[key], lo, hi, bar: doubt && [doubt.lo, doubt.hi] };
}

const FIGURES = {
  time: 'time_us',
  algbw: 'algbw_gbs',
  busbw: 'busbw_gbs',
  wrong: 'wrong',
};

/* Returns an accessor for a table column: "size", "count", "type", or a side and figure such as
 * "out_busbw". */
function columnValue(column) {
  const [side, figure] = column.split('_');
  if (figure === undefined) {
    return ['size', 'count', 'type'].includes(side) ? (entry) => entry[side] : null;
  }
  return figure in FIGURES ? (entry) => entry[side]?.[FIGURES[figure]] : null;
}

/* Returns rows sorted by a column, "size" or "-size". Rows without a value come last in both
 * directions. An unknown column keeps the order of measurement. */
export function sortPivot(entries, order) {
  const descending = order.startsWith('-');
  const value = columnValue(descending ? order.slice(1) : order);
  if (!value) {
    return entries;
  }
  const sign = descending ? -1 : 1;
  return [...entries].sort((a, b) => {
    const x = value(a) ?? null;
    const y = value(b) ?? null;
    if (x === null || y === null) {
      return Number(x === null) - Number(y === null) || a.order - b.order;
    }
    return sign * (x < y ? -1 : x > y ? 1 : 0) || a.order - b.order;
  });
}
