/* SPDX-License-Identifier: Apache-2.0 */
/* references.mjs - makes the reference lines of a chart (chart_model.mjs): thresholds of the spec,
 * the link ceiling, and the baseline. No DOM. */
import { groupBy } from './lists.mjs';
import { referenceColour } from './palette.mjs';
import { median, pointValue } from './stats.mjs';
import { parseSize } from './units.mjs';
import { verdictOf } from './verdicts.mjs';

/* The server's size bands (docs/reference/gates.md), in bytes. */
const BANDS = {
  latency: [1, 16 << 10],
  middle: [(16 << 10) + 1, (4 << 20) - 1],
  bandwidth: [4 << 20, Infinity],
};
const UNITS = {
  time_us: 'µs',
  algbw_gbs: 'GB/s',
  busbw_gbs: 'GB/s',
};

/* The spec's thresholds for a figure, as horizontal lines over the range `x`. A threshold is for
 * one collective or for all. */
export function thresholdsOf(run, figure, collective, x, theme) {
  const checks = Object.entries(run.spec?.thresholds ?? {}).filter(
    ([, check]) => check.figure === figure && (check.collective ?? collective) === collective,
  );
  return checks
    .flatMap(([name, check]) =>
      ['min', 'max'].filter((end) => end in check).map((end) => lineOf(run, name, check, end, x, theme)),
    )
    .filter(({ points }) => points.length > 0);
}

function lineOf(run, name, check, end, x, theme) {
  const found = verdictOf(run, 'gate')?.evidence?.checks?.find((one) => one.check === name);
  const y = check[end];
  const asked = `at ${end === 'min' ? 'least' : 'most'} ${Number(y.toPrecision(6))} ${UNITS[check.figure]}`;
  return {
    key: `${name} ${end}`,
    label: `${name}: ${asked}${found ? ` (${found.answer.replaceAll('_', ' ')})` : ''}`,
    colour: referenceColour(found?.answer, theme),
    points: spanOf(check, x).map((at) => ({ x: at, y })),
  };
}

/* Returns the link ceiling as a horizontal line. All charts share one legend, so the label names
 * the collectives if ceilings differ. */
export function ceilingOf(run, figure, collective, [low, high], theme) {
  const { busbw_gbs: figures = {}, limit } = verdictOf(run, 'ceiling')?.evidence ?? {};
  const x = [low, high];
  if (!figures[collective] || figure !== 'busbw_gbs' || low >= high) {
    return [];
  }
  const text = (name) => String(Number(figures[name].toPrecision(4)));
  const all = Object.keys(figures);
  const alike = all.filter((name) => text(name) === text(collective));
  const whose = alike.length < all.length ? `${alike.join(', ')}: ` : '';
  return [
    {
      key: `ceiling ${text(collective)}`,
      label: `${whose}at most ${text(collective)} GB/s: ${limit}`,
      colour: referenceColour('', theme),
      points: x.map((at) => ({ x: at, y: figures[collective] })),
    },
  ];
}

/* Returns the visible part of a check's size range. A single size becomes a short line. */
function spanOf({ size, sizes, band }, [low, high]) {
  const [from, to] = size !== undefined ? [size, size] : (BANDS[band] ?? [sizes?.min, sizes?.max]);
  const bytes = (value, otherwise) =>
    value === undefined || value === null ? otherwise : (parseSize(value) ?? value);
  const least = Math.max(low, bytes(from, 0) / 1.2);
  const most = Math.min(high, bytes(to, Infinity) * 1.2);
  return least < most ? [least, most] : [];
}

/* Returns the baseline's band for a line: the median over the baseline runs, and the full range
 * with error bars. */
export function baselineOf(baseline, line, figure, zoom, theme) {
  const twins = baseline.books.map((book) => book.lines.get(line.series.key)).filter(Boolean);
  const values = twins
    .flatMap(({ points: all }) => all)
    .filter(({ size }) => !zoom || (size >= zoom[0] && size <= zoom[1]))
    .flatMap((point) => {
      const value = pointValue(point, figure);
      return value ? [{ x: point.size, ...value }] : [];
    });
  const points = [...groupBy(values, ({ x }) => x)]
    .sort(([a], [b]) => a - b)
    .map(([x, own]) => {
      const all = own.flatMap(({ y, bar }) => bar ?? [y]);
      return {
        x,
        y: median(own.map(({ y }) => y)),
        lo: Math.min(...all),
        hi: Math.max(...all),
      };
    });
  return { key: 'baseline', label: baseline.label, colour: referenceColour('', theme), points };
}
