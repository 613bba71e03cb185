// SPDX-License-Identifier: Apache-2.0
// node_identity.test.mjs - who may speak for a node, and for which ranks
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import {
  assertProblem,
  assertWholeRows,
  long,
  quick,
  ranksOf,
  startAgent,
  startServer,
} from './lib/cluster.mjs';
import { FakeAgent } from './lib/fake_agent.mjs';
import { patience, tempDir, waitFor } from './lib/fixture.mjs';

const limit = { timeout: 120000 * patience };

async function join(server, name, options) {
  const agent = new FakeAgent(server, name, options);
  assert.equal((await agent.register()).status, 201);
  return agent;
}

const row = {
  type: 'result',
  row: 0,
  collective: 'all_reduce',
  dtype: 'float32',
  size: 8,
  busbw_gbs: 99999,
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
  { type: 'refused', reason: 'forged' },
  { type: 'log', level: 'error', text: 'forged' },
];

describe('identity of nodes', { concurrency: 4 }, () => {
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
      assertProblem(await stranger.say(start, event), 400, /stranger .*case 0 /);
    }
    for (const event of ofCase) {
      assertProblem(await stranger.say(start, event), 400, /stranger .*case 0 /);
    }
    assert.equal((await stranger.say(start, { type: 'gone' })).status, 200);
    assert.equal((await first.say(start, { ...row, rank: 0, busbw_gbs: 1 })).status, 200);
    const run = await server.getRun(id);
    assert.equal(run.state, 'rendezvous', JSON.stringify(run));
    assert.deepEqual(
      ranksOf(run.cases[0]).map(({ state }) => state),
      ['spawned', 'assigned'],
    );
    assert.deepEqual(
      (await server.rows(id)).map((r) => r.busbw_gbs),
      [1],
    );
    assert.doesNotMatch(
      JSON.stringify([await server.events(id), await server.get(`/api/v1/runs/${id}/logs`)]),
      /forged/,
    );
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

  test("who has the token does not have the other agents' keys", limit, async (t) => {
    const server = await startServer(t);
    const agent = await join(server, 'node-1');
    const thief = new FakeAgent(server, 'node-1');
    for (const headers of [thief.headers, {}]) {
      for (const [method, rest, body] of /** @type {any[][]} */ ([
        ['GET', '/commands?after=0'],
        ['POST', '/events', '{"seq":1,"type":"gone"}\n'],
        ['DELETE', ''],
      ])) {
        assertProblem(await agent.call(method, rest, body, headers), 403, /Ringbench-Agent-Key .*node-1/);
      }
    }
    thief.bootId = agent.bootId;
    const poll = agent.call('GET', '/commands?after=0');
    await waitFor(async () => {
      const answer = await thief.register();
      assertProblem(answer, 409, /'node-1'/);
      return /a live agent, whose last request/.test(answer.json.detail) && !answer.json.retry_after_s;
    }, 'a plain refusal while the agent waits for commands');
    assert.equal((await poll).status, 204);
    const free = await thief.register();
    assertProblem(free, 409, / in \d+ s/);
    assert.ok(free.json.retry_after_s >= 1 && free.json.retry_after_s <= 31, free.text);
    thief.headers = {};
    assertProblem(await thief.register(), 422, /registration/);
    assert.equal((await agent.register()).status, 200);
  });

  test('after a restart of the server names go back to who had them', limit, async (t) => {
    const server = await startServer(t);
    const agents = [await join(server, 'node-1'), await join(server, 'node-2', { ranks: 0 })];
    const { id } = await server.run({ ...quick, nodes: { names: ['node-1'] } });
    const start = await agents[0].command('start');
    const phases = ['joined', 'connected', 'running'].map((phase) => ({ type: 'phase', rank: 0, phase }));
    await agents[0].say(start, { type: 'spawn', rank: 0, pid: 1 }, ...phases);
    await server.event(id, (event) => event.type === 'case' && event.state === 'running');
    await server.killHard();
    const again = await server.startAgain();
    for (const agent of agents) agent.server = again;
    // A case goes on there: nobody else may have it meanwhile.
    const kept = await new FakeAgent(again, 'node-1').register();
    assertProblem(kept, 409, /restart/);
    assert.ok(kept.json.retry_after_s >= 1, kept.text);
    const { run, case: number, attempt } = start;
    assert.equal((await agents[0].register({ cases: [{ run, case: number, attempt }] })).status, 201);
    assert.equal((await again.getRun(id)).state, 'running');
    // An idle one can be taken, and is given back.
    const thief = await join(again, 'node-2');
    assert.equal((await agents[1].register()).status, 201);
    assert.equal((await thief.call('GET', '/commands?after=0')).status, 404);
    assertProblem(await thief.register(), 409, /held by/);
  });

  test('an agent that is killed and restarted has its name at once', limit, async (t) => {
    // Only the agent's word can end the case: its lease does not within this test.
    const server = await startServer(t, { args: ['--lease-s', '3600'] });
    const args = ['--spool-dir', tempDir(t)];
    const agent = await startAgent(t, server, 'node-1', { args });
    const { id } = await server.run(long);
    await server.event(id, (event) => event.type === 'result' && event.row >= 4);
    agent.signal('SIGKILL');
    await agent.ended();
    await startAgent(t, server, 'node-1', { args });
    const run = await server.runEnds(id);
    assert.equal(run.state, 'failed');
    assert.match(run.reason, /rank 0 on node-1.* agent/);
    const next = await server.runToEnd(quick);
    assert.equal(next.state, 'completed', next.reason);
  });

  test('rows that only a killed agent had are stored when it is started again', limit, async (t) => {
    const server = await startServer(t);
    const spool = tempDir(t);
    const args = ['--spool-dir', spool];
    const agent = await startAgent(t, server, 'node-1', { args });
    const spec = { ...long, sizes: { min: 4096, max: 4096 * 40, step: 4096 }, in_place: false };
    const { id } = await server.run({
      ...spec,
      backend: 'sim',
      env: { SIM_SLEEP_FRACTION: '1', SIM_BASE_US: '500' },
    });
    await server.event(id, (event) => event.type === 'result' && event.row >= 4);
    await server.killHard();
    const isSpooled = () => fs.readFileSync(path.join(spool, 'events.db')).includes('"gone"');
    await waitFor(isSpooled, 'the case does not end');
    agent.signal('SIGKILL');
    await agent.ended();
    const again = await server.startAgain();
    await startAgent(t, again, 'node-1', { args, ready: false });
    const run = await again.runEnds(id);
    assert.equal(run.state, 'completed', run.reason);
    assertWholeRows(run, await again.rows(id));
  });

  test('another release is served, another protocol refused with who is older', limit, async (t) => {
    const server = await startServer(t);
    const register = (name, options) => new FakeAgent(server, name, options).register();
    for (const [name, version] of Object.entries({ older: '0.0.1', newer: '99.0.0' })) {
      const told = { version, protocol: 1, not_known_yet: { at: 1 } };
      assert.equal((await register(name, told)).status, 201);
      assert.equal((await server.node(name)).version, version);
    }
    for (const [protocol, older] of [
      [0, 'agent'],
      [2, 'server'],
      ['1', null],
    ]) {
      const { errors } = assertProblem(await register('other', { protocol }), 422);
      assert.deepEqual(
        errors.map(({ pointer }) => pointer),
        ['/protocol'],
      );
      if (older) assert.match(errors[0].detail, new RegExp(`\\b${protocol}\\b.*\\b1\\b.*\\b${older}$`));
    }
    assert.equal(await server.node('other'), null);
  });

  test('an address that is a name is refused, not each run on the node', limit, async (t) => {
    const server = await startServer(t);
    const agent = new FakeAgent(server, 'node-1', { advertise: 'node-1.example' });
    const answer = assertProblem(await agent.register(), 422, /registration/);
    assert.deepEqual(
      answer.errors.map(({ pointer }) => pointer),
      ['/advertise'],
    );
    assert.match(answer.errors[0].detail, /10\.0\.0\.7/);
    const inventory = {
      addresses: [
        { interface: 'eth0', address: '10.0.0.7' },
        { interface: 'eth1', address: 7 },
      ],
    };
    const { errors } = assertProblem(await agent.register({ advertise: null, inventory }), 422);
    assert.deepEqual(
      errors.map(({ pointer }) => pointer),
      ['/inventory/addresses/1/address'],
    );
    await startAgent(t, server, 'node-2', { args: ['--advertise', 'localhost'] });
    const run = await server.runToEnd(quick);
    assert.equal(run.state, 'completed', run.reason);
  });
});
