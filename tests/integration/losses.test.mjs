// SPDX-License-Identifier: Apache-2.0
// losses.test.mjs - what dies, hangs or fills up in the middle of a run, and what is left
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';

import {
  assertNumbered,
  assertProblem,
  assertWholeRows,
  faulty,
  long,
  noWorkersLeft,
  quick,
  ranksOf,
  reached,
  startAgent,
  startCluster,
  startServer,
} from './lib/cluster.mjs';
import { isAlive, patience, waitFor } from './lib/fixture.mjs';
import { Schemas } from './lib/schema.mjs';
import { verdictOf } from './lib/verdicts.mjs';

const limit = { timeout: 180000 * patience };

// Some hundred rows that take seconds, whatever else the machine has to do: long enough to be
// interrupted, short enough to end.
const some = {
  backend: 'sim',
  sizes: { min: 4096, max: 4096 * 150, step: 4096 },
  iters: 2,
  warmup: 0,
  env: { SIM_SLEEP_FRACTION: '1', SIM_BASE_US: '10000' },
};

async function started(server, spec) {
  const { id } = await server.run(spec);
  await server.event(id, (event) => event.type === 'result' && event.row >= 4);
  return id;
}

async function nextRunWorks(server, spec = quick) {
  const run = await server.runToEnd(spec);
  assert.equal(run.state, 'completed', run.reason);
  return run;
}

describe('losses', { concurrency: 6 }, () => {
  test('kill -9 of a worker ends the case with its name, soon', limit, async (t) => {
    const { server, agents } = await startCluster(t, 4);
    const text = await server.followText(long);
    await text.line(/^ +20480 /);
    const id = text.headers.location.split('/').pop();
    const begin = Date.now();
    process.kill(agents[2].workers()[0], 'SIGKILL');
    const lines = await text.ended();
    assert.ok(Date.now() - begin < 8000 * patience, `${Date.now() - begin} ms`);
    assert.match(lines.at(-1), /^failed: .*rank 2 on node-3.*(signal 9|SIGKILL|killed)/i);
    await noWorkersLeft(agents);
    const run = await server.getRun(id);
    assert.equal(run.state, 'failed');
    assert.equal(ranksOf(run.cases[0])[2].state, 'failed');
    assert.ok((await server.rows(id)).length >= 4);
    assertNumbered(await server.events(id));
    await nextRunWorks(server);
  });

  test('a rank that dies is noticed over TCP too', limit, async (t) => {
    const server = await startServer(t, faulty.server);
    const agents = [];
    for (const i of [1, 2, 3]) {
      const env = { ...faulty.agent.env, RINGBENCH_HOSTID: `host-${i}` };
      agents.push(await startAgent(t, server, `node-${i}`, { env }));
    }
    const run = await server.runToEnd({ ...quick, fault: { kind: 'die', rank: 1, row: 2 } });
    assert.equal(run.state, 'failed');
    assert.match(run.reason, /rank 1 on node-2/);
    await noWorkersLeft(agents);
    await nextRunWorks(server);
  });

  test('kill -9 of an agent loses its node, not the others', limit, async (t) => {
    const { server, agents } = await startCluster(t, 3, { server: { args: ['--lease-s', '8'] } });
    const id = await started(server, long);
    const orphans = agents[1].workers();
    assert.equal(orphans.length, 1);
    agents[1].signal('SIGKILL');
    const run = await server.runEnds(id);
    assert.equal(run.state, 'failed');
    assert.match(run.reason, /node-2/);
    await waitFor(() => !orphans.some(isAlive), 'orphans of the dead agent');
    await noWorkersLeft(agents);
    assert.equal((await server.nodeIs('node-2', 'lost')).run, null);
    const next = await nextRunWorks(server);
    assert.deepEqual(
      next.nodes.map((node) => node.name),
      ['node-1', 'node-3'],
    );
    await startAgent(t, server, 'node-2');
    assert.equal((await nextRunWorks(server)).world_size, 3);
  });

  test('an agent that falls silent for less than its lease loses nothing', limit, async (t) => {
    const { server, agents } = await startCluster(t, 2, { server: { args: ['--lease-s', '30'] } });
    const id = await started(server, some);
    agents[0].signal('SIGSTOP');
    await waitFor(
      async () => Date.now() - Date.parse((await server.node('node-1')).last_seen) > 3000,
      'silence',
    );
    assert.equal((await server.getRun(id)).state, 'running');
    agents[0].signal('SIGCONT');
    const run = await server.runEnds(id);
    assert.equal(run.state, 'completed', run.reason);
    assertWholeRows(run, await server.rows(id));
  });

  test('an agent that comes back too late has its workers stopped', limit, async (t) => {
    const { server, agents } = await startCluster(t, 2, { server: { args: ['--lease-s', '8'] } });
    const id = await started(server, long);
    agents[1].signal('SIGSTOP');
    const run = await server.runEnds(id);
    assert.equal(run.state, 'failed');
    assert.match(run.reason, /node-2: agent lost .*\d+ s/);
    agents[1].signal('SIGCONT');
    await server.nodeIs('node-2', 'idle');
    await noWorkersLeft(agents, 20000);
    assert.equal((await nextRunWorks(server, { ...quick, nodes: { count: 2 } })).world_size, 2);
  });

  test('an agent that is told to leave takes its case with it, by name', limit, async (t) => {
    const { server, agents } = await startCluster(t, 2, { agent: { env: { SLURM_JOB_ID: '8' } } });
    const id = await started(server, long);
    agents[0].signal('SIGTERM');
    agents[0].signal('SIGTERM');
    assert.equal((await agents[0].ended()).code, 0);
    const run = await server.runEnds(id);
    assert.equal(run.state, 'failed');
    assert.match(run.reason, /^node-1: .*\(SIGTERM\), job slurm-8$/);
    await noWorkersLeft(agents);
    await waitFor(
      async () => (await server.node('node-1')).history[0].detail.endsWith('(SIGTERM), job slurm-8'),
      'the reason is not in the history',
    );
  });

  test('an agent that is killed as soon as it has said why it leaves has left', limit, async (t) => {
    const { server, agents } = await startCluster(t, 2, { server: { args: ['--lease-s', '8'] } });
    const id = await started(server, long);
    agents[0].signal('SIGTERM');
    await server.errorLine(/node-1 .*: .*\(SIGTERM\)$/);
    agents[0].signal('SIGKILL');
    const run = await server.runEnds(id);
    assert.match(run.reason, /^node-1: .*\(SIGTERM\)$/);
    await server.nodeIs('node-1', 'left');
  });

  test('kill -9 of the server: the run goes on where it was', limit, async (t) => {
    const { server, agents } = await startCluster(t, 4);
    const { id } = await server.run({ ...some, sizes: { ...some.sizes, max: 4096 * 400 } });
    const stream = await server.follow(id);
    await waitFor(() => stream.lines.some((line) => line.includes('"row":20,')), 'row 20', 30000);
    const workers = agents.flatMap((agent) => agent.workers()).sort();
    assert.equal(workers.length, 4);
    await server.killHard();
    const seen = stream.lines.filter((line) => line.endsWith('}'));
    let again = await server.startAgain();
    await again.event(id, (event) => event.type === 'result' && event.row >= 60, 60000);
    assert.deepEqual(agents.flatMap((agent) => agent.workers()).sort(), workers);
    await again.killHard();
    again = await again.startAgain();
    const run = await again.runEnds(id);
    assert.equal(run.state, 'completed', run.reason);
    assert.equal(run.cases[0].attempt, 1);
    assertWholeRows(run, await again.rows(id));
    const events = await again.events(id);
    assertNumbered(events);
    // What anyone was shown before is what is there now.
    assert.deepEqual(
      events.slice(0, seen.length),
      seen.map((line) => JSON.parse(line)),
    );
    await noWorkersLeft(agents);
    await nextRunWorks(again);
  });

  test('kill -9 of the server while ranks join: the case is tried again', limit, async (t) => {
    const { server, agents } = await startCluster(t, 2, {
      ...faulty,
      server: { args: ['--allow-faults', '--join-timeout-s', '8'] },
    });
    const { id } = await server.run({ ...quick, fault: { kind: 'no_join', rank: 1 } });
    await server.event(id, (event) => reached(event, 'joined'));
    await server.killHard();
    const again = await server.startAgain();
    const run = await again.runEnds(id);
    assert.equal(run.state, 'failed');
    assert.equal(run.cases[0].attempt, 2);
    assert.match(run.reason, /\b1 .*\b2 ranks .*\b8 s; .*rank 1 on node-2/);
    await noWorkersLeft(agents, 20000);
    await nextRunWorks(again);
  });

  test('kill -9 of the server: what waits goes on waiting', limit, async (t) => {
    const server = await startServer(t);
    const { id } = await server.run({ ...quick, nodes: { count: 1, wait_s: 600 } });
    await server.event(id, (event) => event.state === 'waiting_for_nodes');
    await server.killHard();
    const again = await server.startAgain();
    assert.equal((await again.getRun(id)).state, 'waiting_for_nodes');
    await startAgent(t, again, 'node-1', { ready: false });
    const run = await again.runEnds(id);
    assert.equal(run.state, 'completed', run.reason);
  });

  test('kill -9 of server and agents: the run fails, the next one works', limit, async (t) => {
    const { server, agents } = await startCluster(t, 2, { server: { args: ['--lease-s', '8'] } });
    const id = await started(server, long);
    const workers = agents.flatMap((agent) => agent.workers());
    await server.killHard();
    for (const agent of agents) agent.signal('SIGKILL');
    await waitFor(() => !workers.some(isAlive), 'workers without agents');
    const again = await server.startAgain();
    await startAgent(t, again, 'node-1', { ready: false });
    await startAgent(t, again, 'node-2', { ready: false });
    const run = await again.runEnds(id);
    assert.equal(run.state, 'failed');
    assert.match(run.reason, /node-[12]/);
    assert.equal((await nextRunWorks(again, { ...quick, nodes: { count: 2 } })).world_size, 2);
  });

  test('a worker that is stopped is named with its state, whatever it said last', limit, async (t) => {
    const { server, agents } = await startCluster(t, 3);
    const { id } = await server.run({ ...long, stall_s: 8 });
    await server.event(id, (event) => event.type === 'result' && event.row >= 3);
    process.kill(agents[1].workers()[0], 'SIGSTOP');
    const run = await server.runEnds(id);
    assert.match(run.reason, /^stalled: .* 8 s; rank 1 on node-2 lags: .*stopped/);
    assert.match(run.reason, /; 2 ranks wait /);
    const { blamed } = run.cases[0];
    assert.deepEqual([blamed.rank, blamed.node, blamed.count], [1, 'node-2', 1]);
    const { kind, answer, evidence } = blamed.verdict;
    assert.deepEqual(
      [kind, answer, evidence.by, evidence.ranks[0].state],
      ['hang', 'lagging_rank', 'stopped', 'T'],
    );
    assert.deepEqual(
      evidence.ranks.map(({ rank, lagging }) => [rank, lagging]),
      [
        [1, true],
        [0, false],
        [2, false],
      ],
    );
    assert.equal(verdictOf(run, 'hang').sentence, blamed.verdict.sentence);
    assert.deepEqual((await server.get(`/api/v1/runs/${id}/verdict`)).verdicts, run.verdicts);
    assert.deepEqual(verdictOf(run, 'hang').nodes, ['node-2']);
    const schemas = new Schemas(await server.get('/openapi.json'));
    assert.deepEqual(schemas.faults({ $ref: '#/components/schemas/Blame' }, blamed), []);
    await noWorkersLeft(agents);
    assert.equal(verdictOf(await nextRunWorks(server), 'hang'), undefined);
  });

  test('a run that takes longer than its timeout is ended', limit, async (t) => {
    const { server, agents } = await startCluster(t, 2);
    const run = await server.runToEnd({ ...long, repeats: 2, timeout_s: 2 });
    assert.equal(run.state, 'failed');
    assert.match(run.reason, /timeout of 2 s/);
    assert.deepEqual(
      run.cases.map((one) => one.state),
      ['failed', 'skipped'],
    );
    await noWorkersLeft(agents);
  });

  test('a failed case does not end the run', limit, async (t) => {
    const { server, agents } = await startCluster(t, 2);
    const { id } = await server.run({ ...long, repeats: 2 });
    await server.event(id, (event) => event.type === 'result');
    process.kill(agents[0].workers()[0], 'SIGKILL');
    await server.event(id, (event) => event.type === 'result' && event.case === 1);
    const run = await server.getRun(id);
    assert.equal(run.state, 'running');
    assert.equal(run.cases[0].state, 'failed');
  });

  test('a reader who goes away does not end the run', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const text = await server.followText({ ...some, sizes: { min: 4096, max: 4096 * 20, step: 4096 } });
    await text.line(/^ +4096 /);
    text.stop();
    const run = await server.runEnds(text.headers.location.split('/').pop());
    assert.equal(run.state, 'completed', run.reason);
  });

  test('a full disk is said, and no run accepted', limit, async (t) => {
    const server = await startServer(t, { env: { RINGBENCH_STORE_RESERVE_BYTES: '1000000000000000' } });
    await waitFor(async () => (await server.request('GET', '/readyz')).status === 503, 'not ready');
    assertProblem(await server.request('GET', '/readyz'), 503, /: .+/);
    const answer = await server.post(quick);
    assertProblem(answer, 503);
    assert.ok(Number(answer.headers['retry-after']) > 0);
    assert.equal((await server.request('GET', '/healthz')).status, 200);
    assert.match(await server.get('/metrics'), /^ringbench_storage_ok 0$/m);
  });

  // A file system of its own that can be filled; null where none may be mounted.
  function smallDisk(t) {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'ringbench-disk-'));
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=96m', 'ringbench-test', dir]);
    t.after(() => {
      // The server may still have files open here.
      if (mounted.status === 0) spawnSync('umount', ['--lazy', dir]);
      fs.rmdirSync(dir);
    });
    return mounted.status === 0 ? dir : null;
  }

  test('a disk that fills up in the middle of a run loses nothing', limit, async (t) => {
    const disk = smallDisk(t);
    if (!disk) {
      t.skip('no file system can be mounted here');
      return;
    }
    const { server } = await startCluster(t, 2, { server: { dataDir: path.join(disk, 'data') } });
    const id = await started(server, some);
    // Below the reserve, then really full.
    fs.writeFileSync(path.join(disk, 'filler'), Buffer.alloc(40 << 20));
    await waitFor(async () => (await server.request('GET', '/readyz')).status === 503, 'not ready');
    assertProblem(await server.post(quick), 503);
    spawnSync('dd', ['if=/dev/zero', `of=${path.join(disk, 'filler-2')}`, 'bs=64k']);
    await waitFor(async () => {
      const answer = await server.request('GET', '/readyz');
      return answer.status === 503 && answer;
    }, 'not ready');
    assert.equal((await server.getRun(id)).state, 'running');
    fs.rmSync(path.join(disk, 'filler'));
    fs.rmSync(path.join(disk, 'filler-2'));
    await waitFor(async () => (await server.request('GET', '/readyz')).status === 200, 'ready again', 20000);
    const run = await server.runEnds(id);
    assert.equal(run.state, 'completed', run.reason);
    assertWholeRows(run, await server.rows(id));
    assertNumbered(await server.events(id));
  });
});
