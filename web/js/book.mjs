/* SPDX-License-Identifier: Apache-2.0 */
/* book.mjs - converts the server's summary of a run to chart lines and table rows. No DOM. */
import { variantOf } from './case_name.mjs';
import { lineLabel } from './stats.mjs';
import { pointOfSummary } from './summary.mjs';

/* A key that identifies a series regardless of its placement. */
const lineKey = (series, variant) =>
  [series.collective, series.dtype, series.redop, series.root, series.group ?? '', variant].join('/');

const unrealWord = (series) => ['simulated', 'emulated', 'imported'].find((word) => series[word]) ?? '';

/* Returns {epoch, groups, lines, table, rows, wrong, unreal, thinned}. `lines` maps keys to
 * chart lines. `table` contains a row per size, in the order of measurement. `wrong.points` are
 * the places of wrong elements, [{series, size}]. */
function makeBook({ summary, epoch, groups }, onlyCase) {
  const { series = [] } = (onlyCase === null ? summary?.all : summary?.cases) ?? {};
  const points = /** @type {{ series: number, size: number }[]} */ ([]);
  const book = {
    epoch,
    groups,
    lines: new Map(),
    rows: 0,
    wrong: { total: 0, points },
    unreal: '',
    thinned: 0,
  };
  const entries = new Map();
  for (const one of series) {
    if (one.points.length > 0 && (onlyCase === null || one.case === onlyCase)) {
      addSeries(book, entries, one);
    }
  }
  return { ...book, table: [...entries.values()].sort((a, b) => a.order - b.order) };
}

/* Add a line, and add its points to the table. A table row contains both placements of a size. */
function addSeries(book, entries, series) {
  const variant = variantOf(series);
  const members = book.groups?.[series.group] ?? null;
  const label = lineLabel(series, variant.label, members);
  const key = lineKey(series, variant.key);
  const side = series.in_place ? 'in' : 'out';
  const line = book.lines.get(`${key}/${side}`) ?? {
    key: `${key}/${side}`,
    lineKey: key,
    collective: series.collective,
    env: series.env ?? null,
    label,
    members,
    inPlace: series.in_place,
    series: series.series,
    cases: series.cases,
    points: [],
  };
  book.lines.set(line.key, line);
  for (const known of series.points) {
    const { size, count, row } = known;
    const entry = entries.get(`${key}/${size}`) ?? {
      key: `${key}/${size}`,
      order: row,
      members,
      size,
      count,
      series: {},
      out: null,
      in: null,
      type: label,
    };
    entries.set(entry.key, entry);
    entry.order = Math.min(entry.order, row);
    entry[side] = pointOfSummary(known);
    entry.series[side] = series.series;
    line.points.push(entry[side]);
    book.rows += known.rows + known.skipped;
    book.wrong.total += known.wrong ?? 0;
    if (known.wrong) {
      book.wrong.points.push({ series: series.series, size });
    }
  }
  book.unreal ||= unrealWord(series);
  book.thinned += series.points_total - series.points.length;
}

/* Returns the headline of each case: busbw at the largest size measured by the case's first
 * series (docs/explanation/method.md). Map of case to {size, busbw_gbs}. */
export function headlineOfCases({ summary, cases }) {
  const first = new Map();
  for (const one of (summary?.cases ?? summary?.all)?.series ?? []) {
    const at = one.case ?? (one.cases.length === 1 ? one.cases[0] : null);
    const measured = one.points.filter(({ rows }) => rows > 0);
    if (at !== null && measured.length > 0 && !(first.get(at)?.series <= one.series)) {
      const { size, busbw_gbs: busbw } = measured[measured.length - 1];
      first.set(at, { series: one.series, size, busbw_gbs: busbw });
    }
  }
  const figures = new Map([...first].map(([at, { series, ...figure }]) => [at, figure]));
  /* For runs with a pattern the server sends each case's headline. */
  cases.forEach(({ headline }, at) => headline && figures.set(at, headline));
  return figures;
}

/* Books by state, then by case number or null. */
const books = new WeakMap();

/* Returns the book of all cases, or of one case. A new summary makes a new book. */
export function bookOf(state, onlyCase = null) {
  const kept = books.get(state) ?? new Map();
  books.set(state, kept);
  const known = kept.get(onlyCase);
  if (known?.epoch !== state.epoch || known.groups !== state.groups) {
    kept.set(onlyCase, makeBook(state, onlyCase));
  }
  return kept.get(onlyCase);
}
