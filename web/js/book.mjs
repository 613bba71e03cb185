/* book.mjs - a run's rows as lines to plot and as table rows to read, grown row by row so
 * that one more row costs as much in a run of many as in a run of few. No DOM. */
import { variantOf } from './case_name.mjs';
import { lineLabel, median, summarise } from './stats.mjs';
import { pointOfSummary } from './summary.mjs';

const WRONG_NAMED = 8;

/* What sets a row apart from those of other lines, its placement and its size left out. */
const lineKey = (row, variant) =>
  [row.collective, row.dtype, row.redop, row.root, row.group ?? '', variant].join('/');

export class Book {
  epoch = -1;
  seen = 0;
  lines = new Map();
  entries = new Map();
  /** @type {any[]} the entries as they came */
  order = [];
  revision = 0;
  rows = 0;
  wrong = { total: 0, rows: 0, named: /** @type {any[]} */ ([]) };
  unreal = '';
  thinned = 0;
  upTo = 0;
  /** @type {Record<number, number[]> | null} */
  groups = null;

  /* Of all cases, or of the one with this number. */
  constructor(onlyCase = null) {
    this.onlyCase = onlyCase;
  }

  /* Read what the state has got since. When a case began afresh, or a new summary came,
   * all is read anew. */
  take(state) {
    const isNew = state.epoch !== this.epoch;
    if (isNew) {
      Object.assign(this, new Book(this.onlyCase), { epoch: state.epoch });
    }
    this.groups = state.groups ?? null;
    if (isNew) {
      this.takeSummary(state);
    }
    const touched = new Set();
    for (; this.seen < state.rowList.length; this.seen += 1) {
      const row = state.rowList[this.seen];
      const found = state.cases.get(row.case);
      const wanted = this.onlyCase === null || row.case === this.onlyCase;
      if (wanted && row.id > this.upTo && (row.attempt ?? 1) === (found?.attempt ?? 1)) {
        this.add(row, variantOf(found), touched);
      }
    }
    touched.forEach(settle);
    this.revision += touched.size;
    return this;
  }

  /* Begin with what the server's summary says. */
  takeSummary({ summary }) {
    const from = this.onlyCase === null ? summary?.all : summary?.cases;
    if (summary && !from) {
      this.upTo = Infinity;
    }
    this.upTo = from?.upTo ?? this.upTo;
    for (const series of from?.series ?? []) {
      if (this.onlyCase === null || series.case === this.onlyCase) {
        this.addSeries(series, variantOf(series));
      }
    }
  }

  addSeries(series, variant) {
    const key = lineKey(series, variant.key);
    for (const known of series.points) {
      const row = { ...series, row: known.row, size: known.size, count: null };
      const figures = pointOfSummary(known);
      Object.assign(pointFor(this.lineFor(row, key, variant), known.size), figures, { base: figures });
      const entry = this.entryFor(row, key, variant);
      const side = row.in_place ? 'in' : 'out';
      entry.base[side] = figures;
      entry.series[side] = series.series;
      entry.rows[side] = [];
      settle(entry);
    }
    this.rows += series.rows + series.skipped;
    this.wrong.total += series.wrong ?? 0;
    this.wrong.rows += series.points.filter((point) => point.wrong).length;
    this.unreal ||= unrealWord(series);
    this.thinned += series.points_total - series.points.length;
  }

  add(row, variant, touched) {
    const key = lineKey(row, variant.key);
    const line = this.lineFor(row, key, variant);
    const point = pointFor(line, row.size);
    point.rows.push(row);
    touched.add(point);
    line.revision += 1;
    touched.add(this.entryFor(row, key, variant));
    this.rows += 1;
    this.note(row);
  }

  /* The ranks of a row's group, where the run has several. */
  membersOf({ group }) {
    return this.groups?.[group] ?? null;
  }

  lineFor(row, key, variant) {
    const own = `${key}/${row.in_place ? 'in' : 'out'}`;
    let line = this.lines.get(own);
    if (!line) {
      line = {
        key: own,
        lineKey: key,
        collective: row.collective,
        label: lineLabel(row, variant.label, this.membersOf(row)),
        members: this.membersOf(row),
        inPlace: row.in_place,
        points: [],
        bySize: new Map(),
        revision: 0,
      };
      this.lines.set(own, line);
    }
    return line;
  }

  /* The row of the table, with both placements side by side. Two asked sizes may round
   * to the same one: they keep a row each. */
  entryFor(row, lineKeyOfRow, variant) {
    const base = `${lineKeyOfRow}/${row.size}`;
    const side = row.in_place ? 'in' : 'out';
    for (let n = 0; ; n += 1) {
      const key = n === 0 ? base : `${base}#${n}`;
      let entry = this.entries.get(key);
      if (!entry) {
        entry = newEntry(key, row, variant, this.membersOf(row));
        this.entries.set(key, entry);
        this.order.push(entry);
      }
      if (entry.index[side] === undefined || entry.index[side] === row.row) {
        entry.index[side] = row.row;
        entry.order = Math.min(entry.order, row.row);
        entry.rows[side] ??= [];
        entry.rows[side].push(row);
        return entry;
      }
    }
  }

  note(row) {
    if (row.wrong) {
      this.wrong.total += row.wrong;
      this.wrong.rows += 1;
      for (const error of row.errors ?? []) {
        if (this.wrong.named.length < WRONG_NAMED) {
          this.wrong.named.push({ ...error, row });
        }
      }
    }
    this.unreal ||= unrealWord(row);
  }

  /* The rows of the table in the order of measuring. */
  table() {
    return [...this.order].sort((a, b) => a.order - b.order);
  }
}

/* What stands for each case by itself, as a run's headline does for the run
 * (docs/method.md): the median busbw at the largest size that its first series has
 * measured, over its cycles. {size, busbw_gbs} by case. */
export function headlineOfCases({ rowList, cases }) {
  const best = new Map();
  const take = (at, series, size, values) => {
    const found = best.get(at);
    const [firstSeries, largest] = found?.key ?? [Infinity, 0];
    if (series === firstSeries && size === largest) {
      found.values.push(...values);
    } else if (series < firstSeries || (series === firstSeries && size > largest)) {
      best.set(at, { key: [series, size], values });
    }
  };
  for (const row of rowList) {
    const isNow = (row.attempt ?? 1) === (cases.get(row.case)?.attempt ?? 1);
    if (isNow && row.skipped === undefined) {
      take(row.case, row.series, row.size, [row.busbw_gbs]);
    }
  }
  const figures = new Map(
    [...best].map(
      ([
        at,
        {
          key: [, size],
          values,
        },
      ]) => [at, { size, busbw_gbs: median(values) }],
    ),
  );
  /* Of a run whose rows were not read, the server says it. */
  cases.forEach(({ headline }, at) => headline && figures.set(at, headline));
  return figures;
}

const unrealWord = (row) => ['simulated', 'emulated', 'imported'].find((word) => row[word]) ?? '';

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

function pointFor(line, size) {
  let point = line.bySize.get(size);
  if (!point) {
    point = { size, rows: [] };
    line.bySize.set(size, point);
    let at = line.points.length;
    while (at > 0 && line.points[at - 1].size > size) {
      at -= 1;
    }
    line.points.splice(at, 0, point);
  }
  return point;
}

function newEntry(key, row, variant, members) {
  return {
    key,
    order: row.row,
    members,
    size: row.size,
    count: row.count,
    index: {},
    rows: {},
    base: {},
    series: {},
    out: null,
    in: null,
    type: lineLabel(row, variant.label, members),
  };
}

/* The figures of a point or of a table row, after rows were added. */
function settle(item) {
  if (Array.isArray(item.rows)) {
    Object.assign(item, summarise(item.rows, item.base));
    return;
  }
  for (const side of ['out', 'in']) {
    if (item.rows[side]) {
      item[side] = summarise(item.rows[side], item.base[side]);
    }
  }
}
