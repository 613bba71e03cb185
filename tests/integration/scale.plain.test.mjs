// SPDX-License-Identifier: Apache-2.0
// scale.plain.test.mjs - more nodes than people look at one by one
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import {
  assertNumbered,
  noWorkersLeft,
  startAgent,
  startAgents,
  startCluster,
  startServer,
} from './lib/cluster.mjs';
import { Program, binDir, patience, processesWithEnv, tempDir, timeScale, waitFor } from './lib/fixture.mjs';
import { dataOf, page, textOf } from './lib/report.mjs';

const limit = { timeout: 120000 * patience };
const nodes = 48;
const lease = 30;

const sim = {
  backend: 'sim',
  sizes: [8, '4K', '1M'],
  iters: 2,
  warmup: 0,
  in_place: false,
  env: { SIM_SLEEP_FRACTION: '0' },
  nodes: { count: nodes },
};
// Minutes: something to interrupt.
const slow = {
  ...sim,
  sizes: { min: 4096, max: 4096 * 100, step: 4096 },
  env: { SIM_SLEEP_FRACTION: '1', SIM_BASE_US: '100000' },
};
// About three seconds.
const brief = { ...slow, sizes: { min: 4096, max: 4096 * 12, step: 4096 } };

const agentsThere = async (server) =>
  (await server.get('/api/v1/nodes')).nodes.filter((node) => node.state === 'idle').length;

describe('scale', { concurrency: 2 }, () => {
  test('an agent starts hundreds of ranks', limit, async (t) => {
    const server = await startServer(t);
    await startAgent(t, server, 'node-1', { ranks: 400 });
    const run = await server.runToEnd({
      backend: 'sim',
      env: { SIM_SLEEP_FRACTION: '0' },
      sizes: [64],
      iters: 1,
      timeout_s: 100 * patience,
    });
    assert.equal(run.state, 'completed', run.reason);
    assert.equal(run.world_size, 400);
    assert.equal(run.cases[0].attempt, 1);
  });

  test('of 48 nodes ten die at once, and all ten are named', limit, async (t) => {
    const { server, agents } = await startCluster(t, nodes, {
      server: { args: ['--lease-s', String(lease)] },
    });
    const first = await server.runToEnd(sim);
    assert.equal(first.state, 'completed', first.reason);
    assert.equal(first.rows_done, 3);
    const list = await server.get('/api/v1/nodes?inventory=0');
    const whole = await server.get('/api/v1/nodes');
    assert.deepEqual(
      list.nodes.map(({ last_seen: _, ...node }) => node),
      whole.nodes.map(({ last_seen: _, inventory, ...node }) => node),
    );
    assert.ok(whole.nodes.every((node) => node.inventory.backends.sim));

    const { id } = await server.run(slow);
    await server.event(id, (event) => event.type === 'result');
    const dead = agents.filter((_, i) => i % 4 === 3).slice(0, 10);
    dead.forEach((agent) => agent.signal('SIGKILL'));
    const run = await server.runEnds(id);

    assert.equal(run.state, 'failed');
    const [, count, silent, names] =
      run.reason.match(/^(\d+) nodes: .*\b(\d+) s\): (.*)$/) ?? assert.fail(run.reason);
    assert.equal(Number(count), 10, run.reason);
    assert.ok(Number(silent) < lease, 'nobody waits for leases to pass');
    assert.deepEqual(
      names.split(', '),
      dead.map((agent) => agent.nodeName),
    );
    const events = await server.events(id);
    assertNumbered(events);
    const lost = events.filter((event) => event.type === 'rank' && /agent lost/.test(event.reason));
    assert.deepEqual(lost.map((event) => event.node).sort(), dead.map((agent) => agent.nodeName).sort());
  });

  test('a server that is killed finds every agent and the run again', limit, async (t) => {
    const server = await startServer(t);
    await startAgents(t, server, nodes);
    const { id } = await server.run(brief);
    await server.event(id, (event) => event.type === 'result');
    await server.killHard();
    const again = await server.startAgain();
    const run = await again.runEnds(id);
    assert.equal(run.state, 'completed', run.reason);
    assert.equal(run.rows_done, run.rows_total);
    assertNumbered(await again.events(id));
    await waitFor(async () => (await agentsThere(again)) === nodes, 'all agents are back');
  });

  test('a server that was kept from running blames no agent for it', limit, async (t) => {
    const { server } = await startCluster(t, 4, { server: { args: ['--lease-s', '8'] } });
    const { id } = await server.run({ ...brief, nodes: { count: 4 } });
    await server.event(id, (event) => event.type === 'result');
    server.signal('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 12000 * timeScale));
    server.signal('SIGCONT');
    const run = await server.runEnds(id);
    assert.equal(run.state, 'completed', run.reason);
    assert.equal(await agentsThere(server), 4);
  });

  test('an agent has more ranks than files are usually allowed for', limit, async (t) => {
    const server = await startServer(t);
    const mark = `${process.pid}-few-files`;
    new Program(
      t,
      'bash',
      [
        '-c',
        'ulimit -Sn 64; exec "$0" "$@"',
        path.join(binDir, 'ringbench-agent'),
        '--server',
        server.url,
        '--name',
        'node-1',
        '--ranks',
        '40',
        '--spool-dir',
        tempDir(t),
      ],
      { env: { ...process.env, TEST_MARK: mark, RINGBENCH_PASS_ENV: 'TEST_MARK' } },
    );
    await server.nodeIs('node-1', 'idle');
    const { id } = await server.run({ ...slow, nodes: {} });
    await server.event(id, (event) => event.type === 'result');
    // What a program is allowed is none of the agent's business.
    const limits = processesWithEnv('TEST_MARK', mark).map(
      (pid) => fs.readFileSync(`/proc/${pid}/limits`, 'utf8').match(/Max open files\s+(\d+)/)[1],
    );
    assert.ok(limits.filter((soft) => soft === '64').length >= 39, limits.join(' '));
    await server.request('POST', `/api/v1/runs/${id}/cancel`);
    const run = await server.runToEnd({ ...sim, nodes: {} });
    assert.equal(run.state, 'completed', run.reason);
    assert.equal(run.world_size, 40);
  });

  test('64 ranks on each of 4 nodes sweep 8 B to 1 GiB', limit, async (t) => {
    const server = await startServer(t);
    const agents = await startAgents(t, server, 4, { ranks: 64 });
    const began = Date.now();
    const { id } = await server.run({
      backend: 'sim',
      sizes: { min: 8, max: '1G', factor: 2 },
      env: { SIM_SLEEP_FRACTION: '0' },
    });
    const run = await server.runEnds(id, 120000);
    t.diagnostic(`256 ranks: ${Date.now() - began} ms`);
    assert.equal(run.state, 'completed', run.reason);
    assert.equal(run.world_size, 256);
    const rows = await server.rows(id);
    assert.equal(rows.length, 56);
    for (const row of rows) {
      assert.equal(row.times_us.length, 256);
    }
    await noWorkersLeft(agents);
  });

  test('a run of very many rows is reported by its summary', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const run = await server.runToEnd({
      backend: 'sim',
      sizes: { min: 1, max: 4000, step: 1 },
      dtypes: ['int8'],
      iters: 1,
      warmup: 1,
      check: 0,
      in_place: false,
      repeats: 3,
      env: { SIM_SLEEP_FRACTION: '0' },
    });
    assert.equal(run.rows_total, 12000);
    const html = await page(server, run.id);
    const data = dataOf(html);
    assert.deepEqual(data.summary, await server.get(`/api/v1/runs/${run.id}/summary`));
    assert.equal(data.summary_by_case.series.length, 3);
    assert.equal(data.events, undefined);
    const text = textOf(html);
    assert.ok(/^# .*12000 rows.*completed/m.test(text), text.slice(-300));
    assert.ok(text.length < 500000, `${text.length} characters`);
  });
});
