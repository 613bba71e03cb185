/* stats.mjs - result rows made into series to plot and table rows to read. No DOM. */
import {listInWords} from './units.mjs';

export function median(values) {
  if (values.length === 0) {
    return null;
  }
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/* What busbw is of algbw, of n ranks: by the facts of a collective that the server gives
 * (docs/api.md). */
export const busFactor = ({bus_factor: {times, less}}, n) => (times * (n - less)) / n;

/* A row's line in a plot, in words and without the placement; `variant` says how its case
 * differs from the others of the run, `members` are the ranks of its group. */
export function lineLabel(row, variant = '', members = null) {
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

export const placement = row => (row.in_place ? 'in place' : 'out of place');

/* The repeats of one row as one figure: medians, and the widest bounds that any repeat
 * or rank saw. A bandwidth times its time is the same for all of them (the bytes that
 * count), so the bounds of bandwidths follow from the times'. `base` are figures of rows
 * that are not here: the medians are theirs until the server says better. */
export function summarise(rows, base) {
  const own = summariseRows(rows);
  if (!base?.repeats || rows.length === 0) {
    return own.repeats || !base ? own : {...base, rows};
  }
  if (own.repeats === 0) {
    return {...base, rows};
  }
  const both = {...base, rows, repeats: base.repeats + own.repeats};
  for (const key of ['time_bounds_us', 'algbw_bounds_gbs', 'busbw_bounds_gbs']) {
    both[key] =
      [Math.min(base[key][0], own[key][0]), Math.max(base[key][1], own[key][1])];
  }
  both.wrong = base.wrong === null && own.wrong === null ? null : base.wrong + own.wrong;
  return both;
}

function summariseRows(rows) {
  const timed = rows.filter(row => row.skipped === undefined);
  const checked = timed.filter(row => row.wrong !== null && row.wrong !== undefined);
  const low =
    timed.reduce((a, row) => Math.min(a, row.time_min_us ?? row.time_us), Infinity);
  const high = timed.reduce((a, row) => Math.max(a, row.time_max_us ?? row.time_us), 0);
  const bounds = key => (timed.length === 0 ? null : [high,
    low].map(time => timed[0][key] * timed[0].time_us / time));
  const middle = key => median(timed.map(row => row[key]));
  return {
    rows,
    repeats: timed.length,
    time_us: middle('time_us'),
    time_bounds_us: timed.length ? [low, high] : null,
    algbw_gbs: middle('algbw_gbs'),
    algbw_bounds_gbs: bounds('algbw_gbs'),
    busbw_gbs: middle('busbw_gbs'),
    busbw_bounds_gbs: bounds('busbw_gbs'),
    wrong: checked.length ? checked.reduce((sum, row) => sum + row.wrong, 0) : null,
    skipped: timed.length ? undefined : rows[0]?.skipped
  };
}

const FIGURES = {
  time: 'time_us',
  algbw: 'algbw_gbs',
  busbw: 'busbw_gbs',
  wrong: 'wrong'
};

/* What a column shows of a table row: "size", "count", "type", or as "out_busbw". */
function valueOf(column) {
  const [side, figure] = column.split('_');
  if (figure === undefined) {
    return ['size', 'count', 'type'].includes(side) ? entry => entry[side] : null;
  }
  return figure in FIGURES ? entry => entry[side]?.[FIGURES[figure]] : null;
}

/* Sorted by a column, "size" or "-size"; what has no figure comes last both ways. An
 * unknown column leaves the order of measuring. */
export function sortPivot(entries, order) {
  const descending = order.startsWith('-');
  const value = valueOf(descending ? order.slice(1) : order);
  if (!value) {
    return entries;
  }
  const sign = descending ? -1 : 1;
  return [...entries].sort((a, b) => {
    const x = value(a) ?? null;
    const y = value(b) ?? null;
    if (x === null || y === null) {
      return (x === null) - (y === null) || a.order - b.order;
    }
    return sign * (x < y ? -1 : x > y ? 1 : 0) || a.order - b.order;
  });
}
