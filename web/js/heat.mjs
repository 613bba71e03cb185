/* SPDX-License-Identifier: Apache-2.0 */
/* heat.mjs - computes the deviation of each rank's time from the median of all ranks, by size, and
 * the colours for heat maps. No DOM. */
import { groupBy } from './lists.mjs';
import { median } from './stats.mjs';

/* Deviations up to this fraction of the median are not coloured. A deviation of 1 gets the full
 * colour. */
const LEAST = 0.01;

/* Returns {members, rows: [{size, times, middle}]} for the rows of one series. `times` contains
 * each rank's median over repeats and cycles. `middle` is the median of `times`. `members` are
 * the rank numbers. */
export function heatOf(found, members) {
  const known = found.filter(({ times_us: times }) => times?.length > 1);
  const rows = [...groupBy(known, ({ size }) => size)]
    .sort(([a], [b]) => a - b)
    .map(([size, all]) => {
      const timesOf = (i) => all.map(({ times_us: times }) => times[i]).filter(Number.isFinite);
      const times = all[0].times_us.map((_, i) => median(timesOf(i)));
      return { size, times, middle: median(times) };
    });
  const count = rows.reduce((most, row) => Math.max(most, row.times.length), 0);
  return { members: members ?? Array.from({ length: count }, (_, i) => i), rows };
}

/* Returns the relative deviation of rank `i` from the median, or null if unknown. */
export function deviation({ times, middle }, i) {
  const time = times[i] ?? null;
  return time === null || !(middle > 0) ? null : time / middle - 1;
}

/* Returns a shade from -1 (much shorter) to 1 (much longer). 0: the deviation is at most
 * `least`. */
export function heatShade(part, least = LEAST) {
  const strength = Math.log10(Math.abs(part) / least) / -Math.log10(least);
  return Math.sign(part) * Math.min(1, Math.max(0, strength));
}

/* Returns the colour for a shade: blue and vermillion from Okabe and Ito's palette,
 * distinguishable with any colour vision. The shade sets the opacity. */
export function heatColour(shade) {
  const strength = shade === 0 ? 0 : 15 + 85 * Math.abs(shade);
  return `rgb(${shade < 0 ? '0 114 178' : '213 94 0'} / ${strength.toFixed(0)}%)`;
}

/* Merge cells so that at most `columns` by `lines` remain. Each merged cell shows its largest
 * deviation. */
export function heatBins({ rows, members }, columns, lines) {
  const across = Math.ceil(members.length / columns) || 1;
  const down = Math.ceil(rows.length / lines) || 1;
  const bins = new Map();
  rows.forEach((row, r) =>
    row.times.forEach((_, i) => {
      const part = deviation(row, i);
      const [x, y] = [Math.floor(i / across), Math.floor(r / down)];
      const key = y * columns + x;
      const known = bins.get(key);
      if (part !== null && !(known && Math.abs(known.cell.part) >= Math.abs(part))) {
        bins.set(key, { x, y, cell: { row: r, rank: i, part } });
      }
    }),
  );
  return {
    across,
    down,
    bins: [...bins.values()],
    columns: Math.ceil(members.length / across),
    lines: Math.ceil(rows.length / down),
  };
}
