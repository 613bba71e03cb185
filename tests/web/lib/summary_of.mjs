/* SPDX-License-Identifier: Apache-2.0 */
/* summary_of.mjs - what a server would answer for a run's summary, from the run's events: a
 * stand-in for it in tests of pages */
import { applyEvents, newRunState } from '../../../web/js/events.mjs';

const MEASURES = ['time_us', 'algbw_gbs', 'busbw_gbs'];
const measures = (of) => Object.fromEntries(MEASURES.map((key) => [key, of(key)]));
const least = (values) => values.reduce((a, b) => Math.min(a, b));
const most = (values) => values.reduce((a, b) => Math.max(a, b));
const ends = (values) => [least(values), most(values)];

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}

/* What a rank saw follows from its time: the bytes that count are the same for all. */
const spreadOf = ([first], times) =>
  measures((key) =>
    key === 'time_us' ? ends(times) : ends(times.map((time) => (first[key] * first.time_us) / time)),
  );

function choicesOf(rows) {
  const counts = new Map();
  for (const { nccl } of rows) {
    const text = JSON.stringify(nccl ?? {});
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts]
    .map(([text, n]) => ({ ...JSON.parse(text), rows: n }))
    .sort((a, b) => Number(!a.algo) - Number(!b.algo) || b.rows - a.rows);
}

/* The point of rows of one size. */
export function pointOf(rows) {
  const timed = rows.filter((row) => row.skipped === undefined);
  const checked = timed.filter((row) => row.wrong !== null && row.wrong !== undefined);
  const known = timed.filter((row) => row.time_low_us !== undefined);
  const point = {
    size: rows[0].size,
    count: rows[0].count,
    row: rows[0].row,
    event: rows[0].id,
    rows: timed.length,
    skipped: rows.length - timed.length,
    reason: rows.find((row) => row.skipped !== undefined)?.skipped ?? null,
    wrong: checked.length ? checked.reduce((sum, row) => sum + row.wrong, 0) : null,
  };
  if (timed.length === 0) {
    return point;
  }
  return {
    ...point,
    ...measures((key) => median(timed.map((row) => row[key]))),
    rank_spread: spreadOf(
      timed,
      timed.flatMap((row) => [row.time_min_us ?? row.time_us, row.time_max_us ?? row.time_us]),
    ),
    repeat_spread: measures((key) => ends(timed.map((row) => row[key]))),
    noisy: timed.filter((row) => row.noisy).length,
    ...(known.length > 0
      ? {
          interval: spreadOf(
            known,
            known.flatMap((row) => [row.time_low_us, row.time_high_us]),
          ),
        }
      : {}),
    ...(timed.some((row) => row.nccl) ? { nccl: choicesOf(timed) } : {}),
  };
}

const SERIES_KEYS = [
  'series',
  'collective',
  'dtype',
  'redop',
  'root',
  'in_place',
  'group',
  'simulated',
  'emulated',
  'imported',
  'ranks_per_gpu',
];

const pick = (object, keys) =>
  Object.fromEntries(keys.filter((key) => object[key] !== undefined).map((key) => [key, object[key]]));

function groupBy(list, keyOf) {
  const groups = new Map();
  for (const one of list) {
    const key = keyOf(one);
    groups.set(key, groups.get(key) ?? []);
    groups.get(key).push(one);
  }
  return [...groups.values()];
}

function seriesFrom(rows, combination, number) {
  const points = groupBy(rows, (row) => row.size)
    .map(pointOf)
    .sort((a, b) => a.size - b.size);
  const sum = (key) => points.reduce((all, point) => all + (point[key] ?? 0), 0);
  return {
    combination,
    case: number,
    cycle: null,
    ...pick(rows[0], SERIES_KEYS),
    rows: sum('rows'),
    skipped: sum('skipped'),
    wrong: points.every((point) => point.wrong === null) ? null : sum('wrong'),
    points_total: points.length,
    points,
  };
}

/* The label `size`, or the first that is a number, is a place along an axis. */
const placeOf = (labels) => ['size', ...Object.keys(labels)].find((name) => Number.isFinite(labels[name]));

function figureFrom(all, combination) {
  const [{ case: number, rank, metric, unit = '', higher_is_better: better, labels = {} }] = all;
  const values = all.map(({ value }) => value);
  const x = placeOf(labels) ?? null;
  return {
    combination,
    case: number,
    rank: rank ?? null,
    metric,
    unit,
    higher_is_better: better,
    labels: Object.fromEntries(Object.entries(labels).filter(([, value]) => typeof value !== 'number')),
    x,
    count: values.length,
    mean: values.reduce((a, b) => a + b) / values.length,
    median: median(values),
    min: least(values),
    max: most(values),
    last: values[values.length - 1],
    values: all.map((one, i) => (x ? [i, one.value, one.labels[x]] : [i, one.value])),
  };
}

const sumOf = (values) => ({
  count: values.length,
  mean: values.reduce((a, b) => a + b, 0) / values.length,
  last: values[values.length - 1],
  min: least(values),
  max: most(values),
});

const metricsOf = (figures) =>
  groupBy(figures, ({ metric }) => metric).map((all) => {
    const { metric, unit = '', higher_is_better: better } = all[0];
    const own = all.filter(({ rank }) => rank === 0).map(({ value }) => value);
    return {
      metric,
      unit,
      higher_is_better: better,
      ...sumOf(all.map(({ value }) => value)),
      ...(own.length > 0 ? { rank0: sumOf(own) } : {}),
    };
  });

/* Results of the present attempts, as they came. */
export function resultsOf(events) {
  const attempts = new Map();
  for (const { case: at, attempt = 1 } of events.filter((event) => event.case !== undefined)) {
    attempts.set(at, Math.max(attempts.get(at) ?? 0, attempt));
  }
  return events.filter(
    ({ type, case: at, attempt = 1 }) => type === 'result' && attempt === attempts.get(at),
  );
}

/* As GET /runs/{id}/summary, by combination or by case; `run` is the rest of its document. */
export function summaryOf(events, by = 'combination', run = {}) {
  const state = newRunState();
  applyEvents(state, events);
  const combinations = [];
  const numbers = new Map();
  for (const { case: at, env, nodes } of state.cases.values()) {
    const key = JSON.stringify([env, nodes]);
    let found = combinations.find((one) => one.key === key);
    if (!found) {
      found = { key, combination: combinations.length, env, ...(nodes ? { nodes } : {}), cases: [] };
      combinations.push(found);
    }
    found.cases.push(at);
    numbers.set(at, found.combination);
  }
  const results = resultsOf(events);
  const rows = results.filter(({ metric }) => metric === undefined);
  const figures = results.filter(({ metric, value }) => metric !== undefined && value !== undefined);
  const combinationOf = (one) => numbers.get(one.case) ?? 0;
  const whose = by === 'case' ? (row) => row.case : combinationOf;
  return {
    run: {
      rows_done: results.length,
      ...run,
      summary: { ...run.summary, metrics: metricsOf(figures) },
    },
    last_event: events.length ? events[events.length - 1].id : 0,
    results: results.length,
    combinations: combinations.map(({ key, ...one }) => one),
    series: groupBy(rows, (row) => JSON.stringify([whose(row), pick(row, SERIES_KEYS)])).map((own) =>
      seriesFrom(own, combinationOf(own[0]), by === 'case' ? own[0].case : null),
    ),
    figures: groupBy(figures, ({ case: at, rank, metric, labels = {} }) =>
      JSON.stringify([at, rank, metric, Object.entries(labels).filter(([, v]) => typeof v !== 'number')]),
    ).map((own) => figureFrom(own, combinationOf(own[0]))),
    messages: events.filter(({ type }) => type === 'message').slice(-200),
    recent: events.filter(({ type }) => type !== 'message' && type !== 'result').slice(-500),
  };
}
