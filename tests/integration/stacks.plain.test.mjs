// SPDX-License-Identifier: Apache-2.0
// stacks.plain.test.mjs - where a rank hangs is quoted from its stack
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { emulatedGpus, faulty, lacksNccl, noWorkersLeft, quick, startCluster } from './lib/cluster.mjs';
import { patience, waitFor } from './lib/fixture.mjs';

const limit = { timeout: 180000 * patience };
const nccl = { ...limit, skip: lacksNccl };

// What a run on two nodes of two emulated GPUs comes to, which fails.
async function endOf(t, settings, spec) {
  const { server, agents } = await startCluster(t, 2, {
    agent: { env: emulatedGpus(`devices=2,${settings}`) },
  });
  const run = await server.runToEnd({ ...quick, backend: 'nccl', nodes: { count: 2 }, ...spec });
  assert.equal(run.state, 'failed');
  await noWorkersLeft(agents);
  return { reason: run.cases[0].reason, events: await server.events(run.id) };
}

describe('stacks', { concurrency: 3 }, () => {
  test('a rank that hangs is named when the case stalls, with its stack', limit, async (t) => {
    const { server, agents } = await startCluster(t, 3, faulty);
    const { id } = await server.run({
      ...quick,
      stall_s: 8,
      fault: { kind: 'hang', rank: 1, row: 2 },
    });
    const run = await server.runEnds(id);
    assert.equal(run.state, 'failed');
    assert.match(run.reason, /stalled: .*\b8 s; rank 1 on node-2 /);
    // Where it hangs is quoted; what all threads of all ranks do is in the log.
    assert.match(run.reason, /; stack of rank 1: clock_nanosleep <- .*ringbench-worker-host( <- |\b)/);
    for (const rank of [0, 1, 2]) {
      // Output has a channel of its own, and may come after the run's end.
      let log = '';
      await waitFor(async () => {
        const { lines } = await server.get(`/api/v1/runs/${id}/logs?rank=${rank}`);
        log = lines.map(({ text }) => text).join('');
        return log.includes('stack: end');
      }, `no stack of rank ${rank}`);
      assert.match(log, /stack: thread \d+ \(main\), state [RS]\n.*stack: {3}#0 \w+\+0x/);
      assert.match(
        log,
        /stack: thread \d+ \(watchdog\), state S\n(stack: {3}#\d+ .*\n)*stack: {3}#\d+ \? \(ringbench-worker-host\+0x/,
      );
      assert.match(log, /stack: {3}#\d+ \? \(ringbench-worker-host\+0x[0-9a-f]+\)/);
    }
    await noWorkersLeft(agents);
    assert.equal((await server.runToEnd(quick)).state, 'completed');
  });

  test('a rank whose group never forms is named with its group, and the other is not', nccl, async (t) => {
    const { reason } = await endOf(t, 'init_hangs@2', { split: 'node', join_s: 10 });
    assert.match(reason, /rank 2 on node-2/);
    assert.doesNotMatch(reason, /rank [01] on node-1/);
    assert.match(reason, /; stack of rank 2: pause <- .*<- ncclCommInitRank/);
  });

  test('a hang while CUDA is loaded has a stage and a stack', nccl, async (t) => {
    const { reason } = await endOf(t, 'hang_load@2', { join_s: 10 });
    assert.match(reason, /missing rank 2 on node-2 \(.*loading CUDA and NCCL\)/);
    assert.match(reason, /; stack of rank 2: pause <- .*<- (ld-|_dl_)/);
  });

  test('a rank stuck inside of CUDA is told from those that wait for it, and says where', nccl, async (t) => {
    const { reason, events } = await endOf(t, 'hang_cudaMemcpyAsync@2=5', { stall_s: 8 });
    assert.match(reason, /^stalled: .*; rank 2 on node-2 lags: done with operation \d/);
    assert.match(reason, /; 3 ranks .* operation \d/);
    assert.match(reason, /; stack of rank 2: pause <- .*<- cudaMemcpyAsync <- /);
    const last = events.find(
      (event) => event.type === 'rank' && event.rank === 2 && event.state === 'failed',
    );
    assert.match(last.reason, /CUDA \(cudaMemcpyAsync\)/);
  });
});
