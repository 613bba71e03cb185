/* SPDX-License-Identifier: Apache-2.0 */
/* summary.mjs - derives a run's state from the server's summary instead of its events
 * (docs/reference/api.md). No DOM. */
import { applyEvents, newCase, newRank, newRunState } from './events.mjs';
import { takeFigures } from './figures.mjs';
import { waysOf } from './stats.mjs';

/** @param {Schema.RunSummary} summary */
export function stateOfSummary(summary) {
  const { run } = summary;
  const state = newRunState();
  const envs = new Map(summary.combinations.flatMap(({ env, cases }) => cases.map((at) => [at, env])));
  for (const found of run.cases ?? []) {
    state.cases.set(found.case, caseOf(found, envs.get(found.case) ?? null, run.nodes ?? []));
  }
  const events = [...summary.recent, ...summary.messages].sort((a, b) => a.id - b.id);
  applyEvents(state, events);
  for (const { ranks, conditions, ...end } of run.cases ?? []) {
    Object.assign(/** @type {object} */ (state.cases.get(end.case)), { blamed: null, transports: null }, end);
  }
  Object.assign(state, {
    lastId: summary.last_event,
    state: run.state,
    reason: run.reason,
    created: run.created,
    started: run.started,
    ended: run.ended,
    backend: run.backend,
    worldSize: run.world_size,
    verdicts: run.verdicts,
    nodes: run.nodes ?? [],
    groups: run.groups ?? null,
    rowsTotal: run.rows_total,
  });
  applySummary(state, summary);
  return state;
}

/** The summary's series, each with its combination's settings, nodes and cases.
 * @param {any} summary */
export function seriesOf({ series, combinations }) {
  const known = new Map(combinations.map((one) => [one.combination, one]));
  return {
    series: series.map((one) => {
      const { env = null, nodes, cases = [] } = known.get(one.combination) ?? {};
      return { ...one, env, nodes, cases };
    }),
  };
}

/* Use a complete summary as the state's results. */
export function applySummary(state, summary) {
  state.summary = { all: seriesOf(summary), cases: state.summary?.cases ?? null };
  state.results = summary.run.rows_done;
  state.metrics = new Map();
  takeFigures(state.metrics, summary, (at) => state.cases.get(at));
  state.epoch += 1;
}

const keyOf = ({ points, rows, skipped, wrong, points_total, ...key }) => JSON.stringify(key);
const figureKeyOf = ({ combination, case: at, rank, metric, group, x, labels }) =>
  JSON.stringify([combination, at, rank, metric, group, x, labels]);

/* Merge two lists by key. A later entry replaces the earlier one, or `join` combines both. */
function merge(known, fresh, key, join = (_old, one) => one) {
  const all = new Map(known.map((one) => [key(one), one]));
  fresh.forEach((one) => all.set(key(one), join(all.get(key(one)), one)));
  return [...all.values()];
}

function joinSeries(known, fresh) {
  const points = merge(known?.points ?? [], fresh.points, (point) => point.size);
  return { ...fresh, points: points.sort((a, b) => a.size - b.size) };
}

/* Returns the complete summary after another message of the stream. A message contains only changed
 * parts, unless `whole` is set. */
export function mergeSummary(known, message) {
  if (message.whole || known === null) {
    return message;
  }
  return {
    ...message,
    whole: true,
    combinations: merge(known.combinations, message.combinations, (one) => one.combination),
    series: merge(known.series, message.series, keyOf, joinSeries),
    figures: merge(known.figures, message.figures, figureKeyOf),
  };
}

/* Returns the ranks of a case. Ranks are numbered node by node.
 * @param {Schema.Case} found
 * @param {Schema.Run['nodes']} nodes */
function ranksOf(found, nodes) {
  const counts = new Map(nodes.map(({ name, ranks }) => [name, ranks]));
  const names = found.nodes ?? [...counts.keys()];
  const nodeOf = names.flatMap((name) => Array(counts.get(name) ?? 0).fill(name));
  return (found.ranks ?? []).flatMap(({ ranks: [first, last], state, reason }) =>
    Array.from({ length: last - first + 1 }, (_, i) => ({
      ...newRank({ rank: first + i, node: nodeOf[first + i] ?? null }),
      state,
      reason,
    })),
  );
}

/** @param {Schema.Case} found @returns {import('./events.mjs').CaseState} */
function caseOf(found, env, nodes) {
  const ranks = ranksOf(found, nodes);
  return {
    ...newCase(found.case),
    ...found,
    env,
    ranks: new Map(ranks.map((rank) => [rank.rank, rank])),
    conditions: new Map((found.conditions ?? []).map((said) => [said.node, said])),
  };
}

/* Returns a summary's point in the form that charts and the table use. */
export const pointOfSummary = (point) => ({
  size: point.size,
  repeats: point.rows,
  time_us: point.time_us ?? null,
  algbw_gbs: point.algbw_gbs ?? null,
  busbw_gbs: point.busbw_gbs ?? null,
  rank_spread: point.rank_spread ?? null,
  repeat_spread: point.repeat_spread ?? null,
  interval: point.interval ?? null,
  noisy: point.noisy ?? 0,
  wrong: point.wrong,
  skipped: point.rows > 0 ? undefined : (point.reason ?? 'no reason was given'),
  ways: waysOf(point.nccl ?? []),
});
