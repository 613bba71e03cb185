// SPDX-License-Identifier: Apache-2.0
// nccl_losses.test.mjs - who is named when one of several communicators on "GPUs" breaks,
// and when a GPU does not answer
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import {
  emulatedGpus,
  lacksNccl,
  long,
  noWorkersLeft,
  quick,
  reached,
  startCluster,
} from './lib/cluster.mjs';
import { timeScale } from './lib/fixture.mjs';
import { Schemas } from './lib/schema.mjs';
import { verdictOf } from './lib/verdicts.mjs';

const limit = { timeout: 180000, skip: lacksNccl };

// Two nodes of two GPUs, under settings for both.
const cluster = (t, settings) =>
  startCluster(t, 2, { agent: { env: emulatedGpus(`devices=2,${settings}`) } });

async function endOf(t, settings, spec) {
  const { server, agents } = await cluster(t, settings);
  const { id } = await server.run({ ...quick, backend: 'nccl', nodes: { count: 2 }, ...spec });
  const run = await server.runEnds(id);
  assert.equal(run.state, 'failed');
  await noWorkersLeft(agents);
  return { ...run.cases[0], events: await server.events(id) };
}

describe('losses with NCCL', { concurrency: 6 }, () => {
  for (const [split, groups] of [
    ['node', '[0, 1], [2, 3]'],
    ['local_rank', '[0, 2], [1, 3]'],
  ]) {
    test(`with groups ${groups} a dead rank is named, by the other group too`, limit, async (t) => {
      const { reason } = await endOf(t, 'die@3=2', { split, stall_s: 60, iters: 50 });
      assert.match(reason, /^rank 3 on node-2: .*signal 9/);
    });
  }

  test('a death is named when it finds the other group inside of NCCL', limit, async (t) => {
    const { reason } = await endOf(t, 'die@3=2,group_hangs@0=3,group_hangs@1=3', {
      split: 'node',
      stall_s: 60,
    });
    assert.match(reason, /^rank 3 on node-2: .*signal 9/);
  });

  test("an error that NCCL reports in one group ends the other, with the rank's words", limit, async (t) => {
    const { reason } = await endOf(t, 'async_error@2=4', { split: 'node', stall_s: 60 });
    assert.match(reason, /^rank 2 on node-2: .*NCCL result 6.*connection closed by remote peer/s);
  });

  test('a stall in one group says who is inside of the collective, and who waits', limit, async (t) => {
    const { reason } = await endOf(t, 'stall@1=4', { split: 'node', stall_s: 8 });
    assert.match(reason, /^stalled: .*; rank 0 on node-1, rank 1 on node-1 lag.*operation \d/);
    assert.match(reason, /; 2 ranks wait .*operation \d/);
  });

  // Three peers one after the other take longer than stall_s, each of them less.
  test('a first call that connects many ranks is no stall as long as it gets on', limit, async (t) => {
    const { server } = await cluster(t, `connect_ms=${4000 * timeScale}`);
    const run = await server.runToEnd({
      ...quick,
      backend: 'nccl',
      nodes: { count: 2 },
      collectives: ['alltoall'],
      sizes: [4096],
      stall_s: 8,
    });
    assert.equal(run.state, 'completed', run.reason);
  });

  test('where all ranks are inside of the same operation nobody is named', limit, async (t) => {
    const { reason, blamed } = await endOf(t, 'stall@1=4', { stall_s: 8 });
    assert.match(reason, /; all 4 ranks .*operation \d+ \(8 B\).*; stack of rank \d: /);
    assert.deepEqual(
      [blamed.rank, blamed.count, blamed.evidence, blamed.verdict.answer],
      [null, 0, [], 'no_rank'],
    );
    assert.equal(blamed.verdict.evidence.ranks.length, 4);
  });

  // All ranks have begun the operation; rank 2 never gets as far as to launch it.
  const unlaunched = ['group_hangs@2=3', { iters: 1, warmup: 0, check: 0, stall_s: 8 }];

  test('nobody is named where all have begun the operation', limit, async (t) => {
    const { blamed } = await endOf(t, ...unlaunched);
    assert.equal(blamed.verdict.answer, 'no_rank');
  });

  test('a process that is stopped is named', limit, async (t) => {
    const { server, agents } = await cluster(t, 'slow_us=50000');
    const { id } = await server.run({
      ...long,
      backend: 'nccl',
      nodes: { count: 2 },
      iters: 2, // the calls of a row take much less than the stall limit
      stall_s: 12,
    });
    await server.event(id, (event) => reached(event, 'running'));
    await server.event(id, (event) => event.type === 'result');
    process.kill(agents[0].workers()[1], 'SIGSTOP');
    const hang = verdictOf(await server.runEnds(id), 'hang');
    const { evidence } = hang;
    const schemas = new Schemas(await server.get('/openapi.json'));
    assert.deepEqual(schemas.faults({ $ref: '#/components/schemas/HangVerdict' }, hang), []);
    assert.equal(evidence.by, 'stopped', hang.sentence);
    assert.equal(evidence.lagging, 1);
  });

  test('what NCCL warns of in a call from which it never returns is known', limit, async (t) => {
    const { server } = await cluster(t, 'nccl=22407,warn@2=1,group_hangs@2=1');
    const { id } = await server.run({ ...quick, backend: 'nccl', nodes: { count: 2 }, stall_s: 8, check: 0 });
    assert.equal((await server.runEnds(id)).state, 'failed');
    const { lines } = await server.get(`/api/v1/runs/${id}/logs?limit=1000`);
    assert.match(lines.map((line) => line.text).join('\n'), /NCCL WARN emulated: connection reset by peer/);
  });

  test('a GPU that does not answer is named, with the call', limit, async (t) => {
    const { reason } = await endOf(t, 'hang_cudaSetDevice@2', { stall_s: 3 });
    assert.match(reason, /^rank 2 on node-2: .*cudaSetDevice.* 11 s/);
  });

  test(
    'a rank that cannot give its memory back is named, though all have done their work',
    limit,
    async (t) => {
      const { reason } = await endOf(t, 'hang_cudaFree@2=4', { stall_s: 20 });
      assert.match(reason, /^rank 2 on node-2: .*cudaFree.* 10 s/);
    },
  );
});
