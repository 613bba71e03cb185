/* SPDX-License-Identifier: Apache-2.0 */
/* book.mjs - what a run's results add up to, by the server's summary, as lines to plot and
 * as table rows to read. No DOM. */
import { variantOf } from './case_name.mjs';
import { lineLabel } from './stats.mjs';
import { pointOfSummary } from './summary.mjs';

/* What sets a series apart from others, its placement left out. */
const lineKey = (series, variant) =>
  [series.collective, series.dtype, series.redop, series.root, series.group ?? '', variant].join('/');

const unrealWord = (series) => ['simulated', 'emulated', 'imported'].find((word) => series[word]) ?? '';

export class Book {
  epoch = -1;
  lines = new Map();
  entries = new Map();
  /** @type {any[]} the entries as they came */
  order = [];
  rows = 0;
  /* `points`: [{series, size}] of those that have any. */
  wrong = { total: 0, points: /** @type {{ series: number, size: number }[]} */ ([]) };
  unreal = '';
  thinned = 0;
  /** @type {Record<number, number[]> | null} */
  groups = null;

  /* Of all cases, or of the one with this number. */
  constructor(onlyCase = null) {
    this.onlyCase = onlyCase;
  }

  /* Read the state's summary, if it is another one than before. */
  take({ summary, epoch, groups }) {
    if (epoch === this.epoch && (groups ?? null) === this.groups) {
      return this;
    }
    Object.assign(this, new Book(this.onlyCase), { epoch, groups: groups ?? null });
    const { series = [] } = (this.onlyCase === null ? summary?.all : summary?.cases) ?? {};
    for (const one of series) {
      if (one.points.length > 0 && (this.onlyCase === null || one.case === this.onlyCase)) {
        this.addSeries(one, variantOf(one));
      }
    }
    return this;
  }

  addSeries(series, variant) {
    const key = lineKey(series, variant.key);
    const line = this.lineFor(series, key, variant);
    const side = series.in_place ? 'in' : 'out';
    for (const known of series.points) {
      const figures = pointOfSummary(known);
      const entry = this.entryFor(series, known, key, variant);
      line.points.push(figures);
      entry[side] = figures;
      entry.series[side] = series.series;
      this.rows += known.rows + known.skipped;
      this.wrong.total += known.wrong ?? 0;
      if (known.wrong) {
        this.wrong.points.push({ series: series.series, size: known.size });
      }
    }
    this.unreal ||= unrealWord(series);
    this.thinned += series.points_total - series.points.length;
  }

  /* The ranks of a series' group, where the run has several. */
  membersOf({ group }) {
    return this.groups?.[group] ?? null;
  }

  lineFor(series, key, variant) {
    const own = `${key}/${series.in_place ? 'in' : 'out'}`;
    let line = this.lines.get(own);
    if (!line) {
      line = {
        key: own,
        lineKey: key,
        collective: series.collective,
        env: series.env ?? null,
        label: lineLabel(series, variant.label, this.membersOf(series)),
        members: this.membersOf(series),
        inPlace: series.in_place,
        series: series.series,
        cases: series.cases,
        points: [],
      };
      this.lines.set(own, line);
    }
    return line;
  }

  /* The row of the table, with both placements side by side. */
  entryFor(series, { size, count, row }, lineKeyOfSeries, variant) {
    const key = `${lineKeyOfSeries}/${size}`;
    let entry = this.entries.get(key);
    if (!entry) {
      const members = this.membersOf(series);
      const type = lineLabel(series, variant.label, members);
      entry = { key, order: row, members, size, count, series: {}, out: null, in: null, type };
      this.entries.set(key, entry);
      this.order.push(entry);
    }
    entry.order = Math.min(entry.order, row);
    return entry;
  }

  /* The rows of the table in the order of measuring. */
  table() {
    return [...this.order].sort((a, b) => a.order - b.order);
  }
}

/* What stands for each case by itself, as a run's headline does for the run
 * (docs/explanation/method.md): the busbw at the largest size that its first series has measured.
 * {size, busbw_gbs} by case. */
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
  /* With a pattern the server says it of each case. */
  cases.forEach(({ headline }, at) => headline && figures.set(at, headline));
  return figures;
}

/* The book of a state, all cases or one: kept with the state. */
const books = new WeakMap();

export function bookOf(state, onlyCase = null) {
  let kept = books.get(state);
  if (!kept) {
    kept = new Map();
    books.set(state, kept);
  }
  if (!kept.has(onlyCase)) {
    kept.set(onlyCase, new Book(onlyCase));
  }
  return kept.get(onlyCase).take(state);
}
