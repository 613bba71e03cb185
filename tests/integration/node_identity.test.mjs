// node_identity.test.mjs - who may speak for a node, and for which ranks
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { assertProblem, quick, startServer } from './lib/cluster.mjs';
import { FakeAgent } from './lib/fake_agent.mjs';
import { patience } from './lib/fixture.mjs';

const limit = { timeout: 120000 * patience };

async function join(server, name, options) {
  const agent = new FakeAgent(server, name, options);
  assert.equal((await agent.register()).status, 201);
  return agent;
}

const row = {
  type: 'result', row: 0, collective: 'all_reduce', dtype: 'float32', size: 8, busbw_gbs: 99999,
};

// What a node may say of its own ranks only.
const ofRanks = (rank) => [
  { ...row, rank },
  { type: 'output', rank, stream: 'stdout', text: 'forged' },
  { type: 'log', rank, level: 'error', text: 'forged' },
  { type: 'metric', rank, metric: 'forged', value: 1 },
  { type: 'spawn', rank, pid: 1 },
  { type: 'phase', rank, phase: 'running' },
  { type: 'done', rank, ok: false, error: { code: 'forged', text: 'forged' } },
  { type: 'exit', rank, code: 1, tail: ['forged'] },
  { type: 'nccl', rank, log: { warning: 'forged' } },
  { type: 'progress', rank, op: 1, done: 1 },
];

// What only a node that takes part may say.
const ofCase = [
  { type: 'refused', reason: 'forged' }, { type: 'log', level: 'error', text: 'forged' },
];

test('a node speaks for its own ranks only', limit, async (t) => {
  const server = await startServer(t);
  const first = await join(server, 'node-1');
  const second = await join(server, 'node-2');
  const stranger = await join(server, 'stranger', { ranks: 0 });
  const { id } = await server.run({ ...quick, nodes: { names: ['node-1', 'node-2'] } });
  const start = await first.command('start');
  await second.command('start');
  await first.say(start, { type: 'spawn', rank: 0, pid: 1 });
  for (const event of ofRanks(0)) {
    assertProblem(await second.say(start, event), 400, /node-2 .*rank 0 .*node-1/);
    assertProblem(await stranger.say(start, event), 400, /stranger takes no part in run/);
  }
  for (const event of ofCase) {
    assertProblem(await stranger.say(start, event), 400, /stranger takes no part in run/);
  }
  assert.equal((await stranger.say(start, { type: 'gone' })).status, 200);
  assert.equal((await first.say(start, { ...row, rank: 0, busbw_gbs: 1 })).status, 200);
  const run = await server.getRun(id);
  assert.equal(run.state, 'rendezvous', JSON.stringify(run));
  assert.deepEqual(run.cases[0].ranks.map(({ state }) => state), ['spawned', 'assigned']);
  assert.deepEqual((await server.rows(id)).map((r) => r.busbw_gbs), [1]);
  assert.doesNotMatch(JSON.stringify([await server.events(id), await server.get(`/api/v1/runs/${id}/logs`)]),
    /forged/);
  const said = server.errors.filter((line) => /stranger takes no part/.test(line));
  assert.equal(said.length, 1, 'told once');
  assert.match(await server.get('/metrics'), /^ringbench_event_batches_refused_total 22$/m);
});

test('late events of an earlier attempt are taken and dropped', limit, async (t) => {
  const server = await startServer(t);
  const agent = await join(server, 'node-1');
  const { id } = await server.run(quick);
  const start = await agent.command('start');
  const answer = await agent.say({ ...start, attempt: 0 }, { ...row, rank: 5 });
  assert.deepEqual([answer.status, answer.json.acked], [200, 1]);
  assert.deepEqual(await server.rows(id), []);
});
