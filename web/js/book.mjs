/* SPDX-License-Identifier: Apache-2.0 */
/* book.mjs - the server's summary of a run as chart lines and table rows. No DOM. */
import { variantOf } from './case_name.mjs';
import { lineLabel } from './stats.mjs';
import { pointOfSummary } from './summary.mjs';

/* Identifies a series regardless of its placement. */
const lineKey = (series, variant) =>
  [series.collective, series.dtype, series.redop, series.root, series.group ?? '', variant].join('/');

const unrealWord = (series) => ['simulated', 'emulated', 'imported'].find((word) => series[word]) ?? '';

export class Book {
  epoch = -1;
  lines = new Map();
  entries = new Map();
  /** @type {any[]} rows of the table, in order of creation */
  order = [];
  rows = 0;
  /* Total of wrong elements, and `points`, the places that have any: [{series, size}]. */
  wrong = { total: 0, points: /** @type {{ series: number, size: number }[]} */ ([]) };
  unreal = '';
  thinned = 0;
  /** @type {Record<number, number[]> | null} */
  groups = null;

  /* A book covers all cases, or the one case with this number. */
  constructor(onlyCase = null) {
    this.onlyCase = onlyCase;
  }

  /* Rebuild from the state's summary if the summary or the groups changed. */
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

  /* The ranks of the series' group, or null if the run has one group. */
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

  /* The table row for a size. One row holds both placements. */
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

  /* The table rows in the order of measurement. */
  table() {
    return [...this.order].sort((a, b) => a.order - b.order);
  }
}

/* The headline of each case: busbw at the largest size measured by the case's first series
 * (docs/explanation/method.md). Map of case to {size, busbw_gbs}. */
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
