/* SPDX-License-Identifier: Apache-2.0 */
/* events.test.mjs - a run's state is what its events say, however they arrive */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bookOf } from '../../../web/js/book.mjs';
import {
  applyEvent,
  applyEvents,
  caseToShow,
  conditionLines,
  isBlamed,
  isEnded,
  isVictim,
  lanes,
  newRunState,
  rankStage,
  transports,
} from '../../../web/js/events.mjs';
import { verdictLines } from '../../../web/js/verdicts.mjs';
import { EventLog, replay, sampleRun, sampleRow } from '../lib/sample.mjs';

test('a finished run is replayed to its end', () => {
  const run = replay(sampleRun({ sizes: [8, 16], repeats: 2 }).events);
  assert.equal(run.state, 'completed');
  assert.ok(isEnded(run));
  assert.equal(run.worldSize, 4);
  assert.equal(run.rowsTotal, 8);
  assert.equal(bookOf(run).rows, 8);
  assert.deepEqual([...run.cases.keys()], [0, 1]);
  assert.equal(run.cases.get(1).repeat, 1);
  assert.ok(run.started < run.ended);
});

test('any split and any repetition of the log gives the same state', () => {
  const { events } = sampleRun({ sizes: [8, 16, 32], state: 'failed', reason: 'why' });
  const whole = newRunState();
  applyEvents(whole, events);
  const pieces = newRunState();
  for (let i = 0; i < events.length; i += 7) {
    applyEvents(pieces, events.slice(Math.max(0, i - 5), i + 7));
  }
  assert.deepEqual(pieces, whole);
});

test('verdicts come with the nodes, with cases and with the end, each sentence once', () => {
  const run = newRunState();
  const found = (kind, sentence) => ({ kind, answer: 'finding', sentence, nodes: [], evidence: {} });
  const memlock = found('preflight', 'memlock: too little');
  const reach = found('preflight', 'reach: a cannot reach b');
  const sockets = found('transport', 'a goes by sockets');
  const gate = { ...found('gate', '1 of 2 checks failed'), answer: 'fail' };
  const failed = {
    type: 'case',
    state: 'failed',
    attempt: 1,
    time: 't',
    blamed: { kind: 'unreachable', evidence: [], verdict: reach },
  };
  applyEvents(run, [
    { id: 1, type: 'placed', backend: 'nccl', world_size: 2, time: 't', verdicts: [memlock] },
    { id: 2, case: 0, ...failed },
    { id: 3, case: 1, ...failed, transports: { ways: [], verdicts: [sockets] } },
    { id: 4, type: 'state', state: 'failed', time: 't', verdicts: [gate] },
  ]);
  assert.deepEqual(run.verdicts, [memlock, reach, sockets, gate]);
});

test('verdicts that are alike are one line with the checks of each', () => {
  const one = (sentence, checks) => ({
    kind: 'preflight',
    answer: 'finding',
    sentence,
    evidence: { checks },
  });
  const ways = { kind: 'transport', answer: 'finding', sentence: 'a goes by sockets', evidence: {} };
  const lines = verdictLines(
    [
      one('1 finding: shm', [{ check: 'shm' }]),
      one('1 finding: reach', [{ check: 'reach' }]),
      { kind: 'preflight', answer: 'ok', sentence: 'no finding', quiet: true, evidence: {} },
      { kind: 'lateness', answer: 'none', sentence: 'no rank is late', quiet: true, evidence: {} },
      ways,
      { ...ways, sentence: 'b goes by sockets' },
      { kind: 'hang', answer: 'lagging_rank', sentence: 'rank 1 lags', evidence: {} },
      { kind: 'traffic', answer: 'by_network', sentence: 'x', evidence: {} },
    ],
    'stalled: rank 1 lags',
  );
  assert.deepEqual(
    lines.map(({ answer, sentence, checks }) => [answer, sentence, checks.map(({ check }) => check)]),
    [
      ['finding', '1 finding: shm; 1 more', ['shm', 'reach']],
      ['finding', 'a goes by sockets; 1 more', ['transport', 'transport']],
      ['by_network', 'x', []],
    ],
  );
});

test('an event seen before changes nothing and says so', () => {
  const run = newRunState();
  const event = { id: 1, type: 'message', level: 'info', text: 'once', time: 't' };
  assert.equal(applyEvent(run, event), true);
  assert.equal(applyEvent(run, event), false);
  assert.equal(run.messages.length, 1);
});

test('an unknown type is passed over, and what follows is not lost', () => {
  const run = newRunState();
  applyEvents(run, [
    { id: 1, type: 'verdict', text: 'of a later version' },
    { id: 2, type: 'state', state: 'running', reason: null, time: 't' },
  ]);
  assert.equal(run.state, 'running');
  assert.equal(run.lastId, 2);
});

test('a later attempt starts its case afresh; what an earlier one says is stale', () => {
  const log = new EventLog();
  const row = sampleRow({ row: 0, series: 0, size: 8 });
  log.add('rank', { case: 0, attempt: 1, rank: 0, node: 'a', state: 'running' });
  log.add('result', { case: 0, attempt: 1, ...row });
  log.add('case', { case: 0, attempt: 2, state: 'rendezvous', reason: null, repeat: 0 });
  log.add('result', { case: 0, attempt: 1, ...row, row: 1 });
  log.add('rank', { case: 0, attempt: 1, rank: 0, node: 'a', state: 'failed' });
  log.add('case', { case: 0, attempt: 1, state: 'failed', reason: 'late', repeat: 0 });
  const run = replay(log.events);
  assert.equal(run.cases.get(0).attempt, 2);
  assert.equal(run.cases.get(0).state, 'rendezvous');
  assert.equal(run.cases.get(0).ranks.size, 0);
  assert.equal(bookOf(run).rows, 0);
});

test('a rank keeps where it was when it failed, and the time of each step', () => {
  const log = new EventLog();
  for (const state of ['assigned', 'spawned', 'joined', 'failed']) {
    log.add('rank', { case: 0, attempt: 1, rank: 2, node: 'n', state, reason: 'killed' });
  }
  const rank = replay(log.events).cases.get(0).ranks.get(2);
  assert.equal(rank.state, 'failed');
  assert.equal(rank.reason, 'killed');
  assert.equal(rankStage(rank), 2);
  assert.equal(rank.times.joined, log.events[2].time);
});

test('lanes hold the ranks by node, in the order of the ranks', () => {
  const run = replay(sampleRun({ sizes: [8] }).events);
  const found = lanes(caseToShow(run, null));
  assert.deepEqual(
    found.map((lane) => [lane.node, lane.ranks.map((r) => r.rank)]),
    [
      ['node-1', [0, 1]],
      ['node-2', [2, 3]],
    ],
  );
  assert.deepEqual(lanes(null), []);
});

test('conditions are those that each node said last, and those alike stand together', () => {
  const core = { to: 'core', cpus: ['0', '2-3'] };
  const log = sampleRun({ sizes: [8] });
  const at = { case: 0, attempt: 1, notes: [] };
  const last = log.events.at(-1).id;
  const more = [
    { ...at, node: 'node-1', bind: core },
    { ...at, node: 'node-2', bind: core },
    { ...at, node: 'node-2', bind: core, notes: ['it was hot'] },
    { ...at, case: 0, attempt: 0, node: 'node-1', notes: ['of an earlier attempt'] },
  ].map((event, i) => ({ ...event, id: last + 1 + i, type: 'conditions' }));
  const run = replay([...log.events, ...more]);
  const found = lanes(caseToShow(run, 0));
  assert.deepEqual(found[0].conditions.bind.cpus, ['0', '2-3']);
  const own = 'each rank is bound to its own core';
  assert.deepEqual(conditionLines(found), [
    ['muted', own],
    ['warn', 'node-2: it was hot'],
  ]);
  found[0].conditions.bind = { to: 'none', reason: '4 ranks, but 2 cores' };
  assert.deepEqual(
    conditionLines(found).map(([, text]) => text),
    ['node-1: ranks are not bound: 4 ranks, but 2 cores', `node-2: ${own}`, 'node-2: it was hot'],
  );
  assert.deepEqual(conditionLines(lanes(null)), []);
});

test('the case to show is the asked one, else the running one, else the last that began', () => {
  const { events } = sampleRun({ sizes: [8], repeats: 3 });
  const second = events.findIndex((e) => e.type === 'case' && e.case === 1);
  const during = replay(events.slice(0, second + 1));
  assert.equal(caseToShow(during, null).case, 1);
  assert.equal(caseToShow(during, 0).case, 0);
  assert.equal(caseToShow(during, 77).case, 1);
  assert.equal(caseToShow(replay(events), null).case, 2);
  assert.equal(caseToShow(newRunState(), null), null);
});

test('messages are bounded, and those left out are counted', () => {
  const run = newRunState();
  for (let id = 1; id <= 1005; id += 1) {
    applyEvent(run, { id, type: 'message', level: 'info', text: String(id) });
  }
  assert.equal(run.messages.length, 1000);
  assert.equal(run.messages.at(-1).text, '1005');
});

test('what carries the bytes is said in a word or by peer', () => {
  const ranks = [{ transport: 'shm' }, { transport: null }, { transport: { 1: 'tcp', 2: 'shm' } }];
  assert.equal(transports(ranks), 'shm, tcp');
  assert.equal(transports([{ transport: null }]), '');
  const log = new EventLog();
  log.add('rank', {
    case: 0,
    attempt: 1,
    rank: 0,
    node: 'a',
    state: 'connected',
    transport: 'shm, ucx',
    ways: [
      { via: 'shm', to: '1' },
      { via: 'ucx/tcp', name: 'eth0', to: '2-3' },
    ],
  });
  assert.equal(
    transports([...replay(log.events).cases.get(0).ranks.values(), { transport: 'shm' }]),
    'shm, ucx/tcp',
  );
  const run = replay(sampleRun({ sizes: [8] }).events);
  assert.equal(transports([...run.cases.get(0).ranks.values()]), 'shm');
});

test('what NCCL itself says of its channels stands in place of a guess', () => {
  const log = new EventLog();
  const at = { case: 0, attempt: 1, rank: 0, node: 'a' };
  log.add('rank', { ...at, state: 'connected', transport: 'nccl' });
  log.add('nccl', {
    ...at,
    log: {
      transports: [
        { via: 'NET/IB', device: 0, gdr: true, name: 'mlx5_1', to: '1' },
        { via: 'NET/IB', device: 0, gdr: true, name: 'mlx5_1', pxn: true, to: '2' },
        { via: 'P2P/IPC', to: '3' },
      ],
    },
  });
  log.add('nccl', { ...at, rank: 7, log: {} });
  assert.equal(transports([...replay(log.events).cases.get(0).ranks.values()]), 'NET/IB mlx5_1 GDR, P2P/IPC');
});

test('a rank keeps what it said of its memory, and what NCCL said', () => {
  const log = new EventLog();
  const at = { case: 0, attempt: 1, rank: 0, node: 'a' };
  log.add('rank', { ...at, state: 'connected', init_s: 0.5, gpu_memory: { init_bytes: 1024 } });
  log.add('nccl', { ...at, log: { network: 'IB', rank: 0, host: 'a', pid: 7 } });
  log.add('rank', { ...at, state: 'done', gpu_memory: { init_bytes: 1024, end_bytes: 4096 } });
  log.add('nccl', { ...at, case: 1, log: { network: 'Socket' } });
  const rank = replay(log.events).cases.get(0).ranks.get(0);
  assert.deepEqual(rank.memory, { init_bytes: 1024, end_bytes: 4096 });
  assert.deepEqual(rank.log, { network: 'IB' });
  assert.equal(rank.initSeconds, 0.5);
});

test('ranks of a node come far together, and each may say more of itself', () => {
  const log = new EventLog();
  const at = { case: 0, attempt: 1, node: 'a' };
  const each = [{ rank: 5, init_s: 0.5, ways: [{ via: 'shm', to: '4' }] }];
  log.add('ranks', { ...at, state: 'joined', ranks: [4, 5, 6] });
  log.add('ranks', { ...at, state: 'connected', ranks: [4, 5], transport: 'tcp', each });
  log.add('rank', { ...at, rank: 4, state: 'failed', reason: 'killed' });
  const { ranks } = replay(log.events).cases.get(0);
  assert.deepEqual(
    [...ranks.values()].map((rank) => [rank.rank, rank.node, rank.state, rank.reason]),
    [
      [4, 'a', 'failed', 'killed'],
      [5, 'a', 'connected', null],
      [6, 'a', 'joined', null],
    ],
  );
  assert.deepEqual([ranks.get(4).transport, ranks.get(5).transport], ['tcp', ['shm']]);
  assert.equal(ranks.get(5).initSeconds, 0.5);
});

test('whom a failure names is told from those that went down with it', () => {
  const stall = { evidence: [{ rank: 1, node: 'node-1', text: 'operation 3' }] };
  assert.equal(isBlamed({ rank: 1, node: 'node-1' }, stall), true);
  assert.equal(isBlamed({ rank: 11, node: 'node-1' }, stall), false);
  assert.equal(isBlamed({ rank: 0, node: 'node-1' }, stall), false);
  assert.equal(isBlamed({ rank: 1, node: 'node-1' }, null), false);
  const lost = { evidence: [{ rank: null, node: 'node-1', text: 'agent lost' }] };
  assert.equal(isBlamed({ rank: 0, node: 'node-1' }, lost), true);
  assert.equal(isBlamed({ rank: 0, node: 'node-2' }, lost), false);
  assert.equal(isVictim({ reason: 'cancelled: stopped on request' }), true);
  assert.equal(isVictim({ reason: 'peer_lost: lost rank 3: connection closed' }), true);
  assert.equal(isVictim({ reason: 'worker killed by signal 9 (Killed)' }), false);
  assert.equal(isVictim({ reason: null }), false);
});
