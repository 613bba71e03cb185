/* SPDX-License-Identifier: Apache-2.0 */
/* events.mjs - computes a run's state from its events (docs/reference/api.md). Replaying the same events
 * gives the same state. An event that was applied before changes nothing. No DOM. */
import { groupBy } from './lists.mjs';
import { addVerdicts } from './verdicts.mjs';

export const ENDED = new Set(['completed', 'failed', 'cancelled']);
export const RANK_STATES = ['assigned', 'spawned', 'joined', 'connected', 'running', 'done'];

const MESSAGES_KEPT = 1000;

/** A rank of a case: its states with their times, and its transport.
 * @typedef {object} RankState
 * @property {number} rank
 * @property {string} node
 * @property {string} state
 * @property {string | null} reason
 * @property {any} transport  a word, or words by peer
 * @property {number | null} initSeconds
 * @property {Record<string, number>} memory
 * @property {Record<string, any> | null} log
 * @property {Record<string, string>} times */

/** A case, in its latest attempt.
 * @typedef {object} CaseState
 * @property {number} case
 * @property {number} attempt
 * @property {number} repeat
 * @property {Record<string, string | null> | null} env
 * @property {string[] | null} nodes
 * @property {Schema.Headline} [headline]
 * @property {Schema.Case['state']} state
 * @property {string | null} reason
 * @property {Schema.Blame | null} blamed
 * @property {Schema.Transports | null} [transports]
 * @property {string | null} started
 * @property {string | null} ended
 * @property {Map<number, RankState>} ranks
 * @property {Map<string, Schema.Conditions>} conditions  by node */

/** A run's state, folded from its events.
 * @typedef {object} RunState
 * @property {number} lastId
 * @property {Schema.Run['state']} state
 * @property {string | null} reason
 * @property {string | null} created
 * @property {string | null} started
 * @property {string | null} ended
 * @property {{ state: string, reason: string | null, time: string }[]} history
 * @property {string | null} backend
 * @property {number} worldSize
 * @property {Schema.Verdict[]} verdicts
 * @property {Schema.Run['nodes']} nodes
 * @property {number[][] | null} groups  the ranks of each communicator
 * @property {number} rowsTotal
 * @property {Map<number, CaseState>} cases
 * @property {{ all: any, cases: any } | null} summary  sums over its results
 * @property {number} epoch  counts the summaries
 * @property {number} results
 * @property {Map<string, any>} metrics
 * @property {any[]} messages */

/** @returns {RunState} */
export function newRunState() {
  return {
    lastId: 0,
    state: 'queued',
    reason: null,
    created: null,
    started: null,
    ended: null,
    history: [],
    backend: null,
    worldSize: 0,
    verdicts: [],
    nodes: [],
    groups: null,
    rowsTotal: 0,
    cases: new Map(),
    summary: null,
    epoch: 0,
    results: 0,
    metrics: new Map(),
    messages: [],
  };
}

const HANDLERS = {
  state: applyState,
  placed: applyPlaced,
  plan: applyPlan,
  case: applyCase,
  rank: applyRank,
  ranks: applyRanks,
  nccl: applyLog,
  conditions: applyConditions,
  message: applyMessage,
  edit: applyEdit,
};

/** Apply one event in place. Returns true if the event was new. An unknown type only advances
 * `lastId`.
 * @param {RunState} run */
export function applyEvent(run, event) {
  if (!(event.id > run.lastId)) {
    return false;
  }
  run.lastId = event.id;
  run.created ??= event.time ?? null;
  HANDLERS[event.type]?.(run, event);
  return true;
}

export function applyEvents(run, events) {
  let fresh = 0;
  for (const event of events) {
    fresh += applyEvent(run, event) ? 1 : 0;
  }
  return fresh;
}

export const isEnded = (run) => ENDED.has(run.state);

/** @param {RunState} run @param {Schema.StateEvent} event */
function applyState(run, event) {
  run.state = event.state;
  run.reason = event.reason ?? null;
  run.history.push({ state: event.state, reason: run.reason, time: event.time });
  if (event.state === 'rendezvous' || event.state === 'running') {
    run.started ??= event.time;
  }
  addVerdicts(run.verdicts, event.verdicts ?? []);
  if (ENDED.has(event.state)) {
    run.ended = event.time;
  }
}

/** @param {RunState} run @param {Schema.PlacedEvent} event */
function applyPlaced(run, event) {
  run.backend = event.backend;
  run.worldSize = event.world_size;
  run.nodes = event.nodes ?? [];
  run.groups = event.groups ?? null;
  run.verdicts = event.verdicts ?? [];
  run.rowsTotal = event.rows_total ?? 0;
}

/** @param {RunState} run @param {Schema.PlanEvent} event */
function applyPlan(run, event) {
  run.rowsTotal = event.rows_total ?? run.rowsTotal;
}

/** @returns {CaseState} */
export const newCase = (number) => ({
  case: number,
  attempt: 1,
  repeat: 0,
  env: null,
  nodes: null,
  state: 'queued',
  reason: null,
  blamed: null,
  started: null,
  ended: null,
  ranks: new Map(),
  conditions: new Map(),
});

/** Returns the event's case. A newer attempt resets the case; for an older attempt the result is
 * null.
 * @param {RunState} run
 * @param {any} event
 * @returns {CaseState | null} */
function caseOf(run, event) {
  const attempt = event.attempt ?? 1;
  let found = run.cases.get(event.case);
  if (!found || attempt > found.attempt) {
    const { repeat = 0, env = null, nodes = null } = found ?? {};
    found = { ...newCase(event.case), attempt, repeat, env, nodes };
    run.cases.set(event.case, found);
  }
  return attempt < found.attempt ? null : found;
}

/** @param {RunState} run @param {Schema.CaseEvent} event */
function applyCase(run, event) {
  const found = caseOf(run, event);
  if (!found) {
    return;
  }
  found.state = event.state;
  found.reason = event.reason ?? null;
  found.blamed = event.blamed ?? null;
  found.transports = event.transports ?? null;
  addVerdicts(
    run.verdicts,
    [found.blamed?.verdict, ...(found.transports?.verdicts ?? [])].filter((one) => one),
  );
  found.repeat = event.repeat ?? found.repeat;
  found.env = event.env ?? found.env;
  found.nodes = event.nodes ?? found.nodes;
  if (event.state === 'rendezvous' || event.state === 'running') {
    found.started ??= event.time;
  }
  if (ENDED.has(event.state) || event.state === 'skipped') {
    found.ended = event.time;
  }
}

/** Apply the progress of several ranks of a node.
 * @param {RunState} run
 * @param {Schema.RanksEvent} event */
function applyRanks(run, event) {
  for (const rank of event.ranks) {
    const own = event.each?.find((one) => one.rank === rank);
    applyRank(run, { ...event, ...own, rank });
  }
}

/** Apply the progress of one rank.
 * @param {RunState} run
 * @param {any} event of one rank */
function applyRank(run, event) {
  const found = caseOf(run, event);
  if (!found) {
    return;
  }
  let rank = found.ranks.get(event.rank);
  if (!rank) {
    rank = newRank(event);
    found.ranks.set(event.rank, rank);
  }
  rank.node = event.node ?? rank.node;
  rank.state = event.state;
  rank.reason = event.reason ?? null;
  rank.times[event.state] ??= event.time;
  rank.transport = event.ways?.map(({ via }) => via) ?? event.transport ?? rank.transport;
  rank.initSeconds = event.init_s ?? rank.initSeconds;
  Object.assign(rank.memory, event.gpu_memory);
}

/** Apply the conditions of a node. A later event is complete and replaces the earlier one.
 * @param {RunState} run
 * @param {Schema.ConditionsEvent} event */
function applyConditions(run, event) {
  const found = caseOf(run, event);
  if (found) {
    found.conditions.set(event.node, event);
  }
}

/* Returns a text such as "NET/IB mlx5_1 GDR". */
const wayText = ({ via, device, name = device, gdr }) =>
  [via, name, gdr ? 'GDR' : undefined].filter((part) => part !== undefined).join(' ');

const LOG_SHOWN = ['network', 'plugin', 'channels', 'connected', 'transports', 'warning'];

/** Apply facts from NCCL's log, mainly transports. The peers of each rank are ignored, because
 * the event at the end of the case lists them.
 * @param {RunState} run
 * @param {Schema.NcclEvent} event */
function applyLog(run, event) {
  const found = caseOf(run, event);
  const rank = found?.ranks.get(event.rank);
  if (found && rank) {
    const ways = [...new Set((event.log.transports ?? []).map(wayText))];
    const said = { ...event.log, transports: ways.length ? ways : undefined };
    rank.log = Object.fromEntries(
      LOG_SHOWN.map((key) => [key, said[key]]).filter(([, value]) => value !== undefined),
    );
    rank.transport = ways.join(', ') || rank.transport;
  }
}

/** @returns {RankState} */
export function newRank({ rank, node }) {
  return {
    rank,
    node,
    state: '',
    reason: null,
    transport: null,
    initSeconds: null,
    memory: {},
    log: null,
    times: {},
  };
}

function applyMessage(run, event) {
  run.messages.push(event);
  if (run.messages.length > MESSAGES_KEPT) {
    run.messages.shift();
  }
}

/** Show a change of labels or notes as a message.
 * @param {RunState} run @param {Schema.EditEvent} event */
function applyEdit(run, event) {
  const labels = Object.entries(event.after.labels ?? {}).map(([name, value]) =>
    value === null ? `label ${name} removed` : `label ${name}=${value}`,
  );
  const notes = event.after.notes === undefined ? [] : [event.after.notes ? 'notes' : 'notes removed'];
  const by = event.by ?? event.peer;
  applyMessage(run, {
    ...event,
    level: 'info',
    text: `edited by ${by}: ${[...labels, ...notes].join(', ')}`,
  });
}

/* Returns the case to show: `wanted` if it exists, else the active one, the first failed one,
 * the last one with ranks, or the first. */
export function caseToShow(run, wanted) {
  if (wanted !== null && run.cases.has(wanted)) {
    return run.cases.get(wanted);
  }
  const cases = [...run.cases.values()];
  const active = cases.find((c) => c.state === 'running' || c.state === 'rendezvous');
  return (
    active ??
    cases.find((c) => c.state === 'failed') ??
    cases.filter((c) => c.ranks.size > 0).pop() ??
    cases[0] ??
    null
  );
}

/* Returns the transports of these ranks: "shm", "shm, tcp", or "" while unknown. A rank reports
 * one word, or words by peer. */
export function transports(ranks) {
  const words = new Set();
  for (const { transport } of ranks) {
    const said = transport !== null && typeof transport === 'object' ? Object.values(transport) : [transport];
    said.filter(Boolean).forEach((word) => words.add(String(word)));
  }
  return [...words].sort().join(', ');
}

/* Returns the ranks and nodes blamed by the first failed case. */
export const blamedIn = ({ cases }) =>
  [...cases.values()].find(({ blamed }) => blamed)?.blamed?.evidence ?? [];

/* Returns the evidence that blames this rank or its whole node for the failure, or undefined. */
export const evidenceOf = ({ rank, node }, blamed) =>
  blamed?.evidence.find((named) => (named.rank === null ? named.node === node : named.rank === rank));

export const isBlamed = (rank, blamed) => evidenceOf(rank, blamed) !== undefined;

/* True if the rank ended because others failed. */
export const isVictim = ({ reason }) => /^(cancelled|peer_lost)\b/.test(reason ?? '');

/* Returns the rank's index into RANK_STATES. A failed rank keeps the last state that it reached. */
export function rankStage(rank) {
  const reached = RANK_STATES.indexOf(rank.state);
  if (reached >= 0) {
    return reached;
  }
  return Math.max(-1, ...Object.keys(rank.times).map((s) => RANK_STATES.indexOf(s)));
}

/* Returns the CPU binding and conditions that may affect the figures, as [tone, text]. Nodes
 * with equal text share a line. */
export function conditionLines(found) {
  const lines = found.flatMap(({ node, conditions }) => [
    ...boundLine(conditions?.bind).map(([tone, text]) => ({ tone, text, node })),
    ...(conditions?.notes ?? []).map((text) => ({ tone: 'warn', text, node })),
  ]);
  return [...groupBy(lines, ({ text }) => text)].map(([text, own]) => [
    own[0].tone,
    own.length === found.length && found.length > 1
      ? text
      : `${namesOf(own.map(({ node }) => node))}: ${text}`,
  ]);
}

const BOUND = { core: 'each rank is bound to its own core', numa: 'each rank is bound to a NUMA node' };

function boundLine(bind) {
  if (!bind) {
    return [];
  }
  return [['muted', BOUND[bind.to] ?? `ranks are not bound: ${bind.reason}`]];
}

const namesOf = (nodes) =>
  nodes.length > 3 ? `${nodes.slice(0, 3).join(', ')} and ${nodes.length - 3} more` : nodes.join(', ');

/* Returns the ranks of a case grouped by node, in rank order. */
export function lanes(shownCase) {
  const ranks = [...(shownCase?.ranks.values() ?? [])].sort((a, b) => a.rank - b.rank);
  return [...groupBy(ranks, ({ node }) => node)].map(([node, own]) => ({
    node,
    ranks: own,
    conditions: shownCase.conditions.get(node) ?? null,
  }));
}
