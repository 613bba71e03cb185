/* SPDX-License-Identifier: Apache-2.0 */
/* stats.mjs - the server's figures in words, and in the order of a table. No DOM. */
import { formatChange, formatPercent, listInWords } from './units.mjs';

export function median(values) {
  if (values.length === 0) {
    return null;
  }
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/* What busbw is of algbw, of n ranks: by the facts of a collective that the server gives
 * (docs/reference/api.md). */
export const busFactor = ({ bus_factor: { times, less } }, n) => (times * (n - less)) / n;

/* A row's line in a plot, in words and without the placement; `variant` says how its case
 * differs from the others of the run, `members` are the ranks of its group. */
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

/* "TREE, LL128": how calls were done, of a row's `nccl`; '' where that is not known. */
export function wayOf(choice) {
  const { algo, proto, ranks_differ: differ, unrequested } = choice ?? {};
  const notes = [differ && 'ranks differ', unrequested && 'not requested'];
  return [algo, proto, ...notes].filter(Boolean).join(', ');
}

/* [{way, rows}] of a summary's `nccl`, the most frequent first and the unknown last; [] where
 * nothing is known of any. */
export function waysOf(choices) {
  const rows = new Map();
  choices.forEach((choice) => rows.set(wayOf(choice), (rows.get(wayOf(choice)) ?? 0) + choice.rows));
  return rows.size > (rows.has('') ? 1 : 0)
    ? [...rows]
        .map(([way, n]) => ({ way, rows: n }))
        .sort((a, b) => Number(a.way === '') - Number(b.way === '') || b.rows - a.rows)
    : [];
}

/* "TREE, LL128", or "3 × TREE, LL128; 1 × RING, LL" where rows of one size differ. */
export const waysInWords = (ways = []) =>
  ways.length === 1 ? ways[0].way : ways.map(({ way, rows }) => `${rows} × ${way || 'not known'}`).join('; ');

export const placement = (row) => (row.in_place ? 'in place' : 'out of place');

const ends = (values) => [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];

/* How far a point's figure may be off: the interval of its median and, where there are
 * several rows, their spread. `half`: half of it, as a part of the figure. null: nobody
 * knows. */
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

/* Whether an interval says anything (common/result/noise.h). */
export const isWithinFactor = (lo, hi) => lo > 0 && hi <= KNOWN_FACTOR * lo;

/* "±4.1 %", or "unknown"; '' of null. */
export function doubtInWords(doubt) {
  if (!doubt) {
    return '';
  }
  return isWithinFactor(doubt.lo, doubt.hi) ? `±${formatPercent(doubt.half)}` : 'unknown';
}

/* Whether a comparison tells how large a change is. */
export const isToldChange = ({ change, interval }) =>
  Number.isFinite(change) && (!interval || isWithinFactor(1 + interval[0], 1 + interval[1]));

/* "+3.2 to +5.0 %", or "unknown" */
export const formatInterval = ([low, high]) =>
  isWithinFactor(1 + low, 1 + high)
    ? `${formatChange(low).replace(' %', '')} to ${formatChange(high)}`
    : 'unknown';

/* A point's value of a figure. The band, lo to hi, is always from the least to the greatest
 * of any rank, over all repeats: however many rows there are, and whoever added them up. The
 * bar is how far the figure itself may be off, or null. */
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

/* What a column shows of a table row: "size", "count", "type", or as "out_busbw". */
function columnValue(column) {
  const [side, figure] = column.split('_');
  if (figure === undefined) {
    return ['size', 'count', 'type'].includes(side) ? (entry) => entry[side] : null;
  }
  return figure in FIGURES ? (entry) => entry[side]?.[FIGURES[figure]] : null;
}

/* Sorted by a column, "size" or "-size"; what has no figure comes last both ways. An
 * unknown column leaves the order of measuring. */
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
