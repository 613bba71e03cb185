/* SPDX-License-Identifier: Apache-2.0 */
/* heat.mjs - how each rank's own time differs from the others', by size, and the colours of
 * such maps. No DOM. */
import { median } from './stats.mjs';

/* A difference of this part of the median is not coloured, one of all of it fully. */
const LEAST = 0.01;

/* {members, rows: [{size, times, middle}]} of rows of one series: for each size the median
 * of every rank's time over repeats and cycles; `members` are the ranks. */
export function heatOf(found, members) {
  const bySize = new Map();
  for (const row of found.filter(({ times_us: times }) => times?.length > 1)) {
    bySize.set(row.size, [...(bySize.get(row.size) ?? []), row.times_us]);
  }
  const rows = [...bySize]
    .sort(([a], [b]) => a - b)
    .map(([size, all]) => {
      const times = all[0].map((_, i) => median(all.map((one) => one[i]).filter(Number.isFinite)));
      return { size, times, middle: median(times) };
    });
  const count = rows.reduce((most, row) => Math.max(most, row.times.length), 0);
  return { members: members ?? Array.from({ length: count }, (_, i) => i), rows };
}

/* By how much a rank's time is above the ranks' median, as a part of it; null: unknown. */
export function deviation({ times, middle }, i) {
  const time = times[i] ?? null;
  return time === null || !(middle > 0) ? null : time / middle - 1;
}

/* From -1, much shorter, over 0, off by no more than `least`, to 1, much longer. */
export function heatShade(part, least = LEAST) {
  const strength = Math.log10(Math.abs(part) / least) / -Math.log10(least);
  return Math.sign(part) * Math.min(1, Math.max(0, strength));
}

/* Okabe and Ito's blue and vermillion, told apart by all who see colours, by lightness
 * from what is between; with the shade's strength. */
export function heatColour(shade) {
  const strength = shade === 0 ? 0 : 15 + 85 * Math.abs(shade);
  return `rgb(${shade < 0 ? '0 114 178' : '213 94 0'} / ${strength.toFixed(0)}%)`;
}

/* Cells in at most so many columns and rows, each with the one that differs most:
 * [{x, y, w, h, cell: {row, rank, part}}], in units of one column and row. */
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
