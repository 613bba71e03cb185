// SPDX-License-Identifier: Apache-2.0
// nccl_emulated.test.mjs - runs on "GPUs": the NCCL worker over libraries that stand in for
// CUDA and NCCL (tests/nccl_emulation)
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import {
  assertWholeRows,
  emulatedGpus,
  lacksNccl,
  noWorkersLeft,
  quick,
  startAgent,
  startServer,
} from './lib/cluster.mjs';
import { patience } from './lib/fixture.mjs';

const limit = { timeout: 120000 * patience, skip: lacksNccl };

const emulated = (settings = 'devices=2') => ({
  env: emulatedGpus(settings),
});

// A server and a node with two GPUs for each of the settings.
async function startGpus(t, ...settings) {
  const server = await startServer(t);
  const agents = await Promise.all(
    settings.map((text, i) => startAgent(t, server, `node-${i + 1}`, emulated(text))),
  );
  return { server, agents };
}

const end = (server, spec) => server.runToEnd({ ...quick, backend: 'nccl', ...spec });

describe('emulated NCCL', { concurrency: 4 }, () => {
  test('a run on GPUs completes, and every row says that they are emulated', limit, async (t) => {
    const { server, agents } = await startGpus(t, 'devices=2', 'devices=2');
    const run = await end(server, {
      backend: 'auto',
      dtypes: ['float32', 'bfloat16', 'float8e4m3'],
      redops: ['sum', 'avg'],
      collectives: ['all_reduce', 'alltoall', 'sendrecv'],
    });
    assert.equal(run.state, 'completed', run.reason);
    assert.equal(run.backend, 'nccl');
    assert.equal(run.world_size, 4);
    const rows = await server.rows(run.id);
    assertWholeRows(run, rows);
    assert.ok(rows.every((row) => row.emulated === true));
    assert.equal((await server.get('/api/v1/runs')).runs[0].emulated, true);
    assert.ok(rows.filter((row) => row.wrong !== null && !row.skipped).length > 10);
    assert.ok(rows.every((row) => row.wrong === null || row.skipped || row.wrong === 0));
    await noWorkersLeft(agents);
  });

  test('what a run asks of NCCL alone reaches the workers', limit, async (t) => {
    const { server } = await startGpus(t, 'devices=2', 'devices=2,no_windows,nccl=22902');
    const one = { nodes: { names: ['node-1'] }, nccl: { registration: 'symmetric', stream: 'null' } };
    const run = await end(server, one);
    assert.equal(run.state, 'completed', run.reason);
    assert.deepEqual(run.spec.nccl, one.nccl);
    const refused = await end(server, { ...one, nodes: { names: ['node-2'] } });
    assert.match(refused.cases[0].reason, /window/);
  });

  test('a node shows its GPUs and versions', limit, async (t) => {
    const { server } = await startGpus(t, 'devices=3,memory_mib=256');
    const { nccl } = (await server.node('node-1')).inventory.backends;
    assert.equal(nccl.available, true);
    assert.equal(nccl.emulated, true);
    assert.equal(nccl.nccl_version, '2.28.9');
    assert.deepEqual(
      nccl.devices.map((device) => device.name),
      Array(3).fill('emulated GPU'),
    );
  });

  test('a node without a driver says so, and auto takes its CPU', limit, async (t) => {
    const { server } = await startGpus(t, 'no_driver');
    const { nccl } = (await server.node('node-1')).inventory.backends;
    assert.equal(nccl.available, false);
    assert.match(nccl.reason, /NVIDIA driver/);
    assert.equal((await end(server, { backend: 'auto' })).backend, 'host');
  });

  test('unequal versions of NCCL end the case with the ranks and nodes', limit, async (t) => {
    const { server } = await startGpus(t, 'devices=2', 'devices=2,nccl=22803');
    const run = await end(server, {});
    assert.equal(run.state, 'failed');
    assert.match(
      run.cases[0].reason,
      /NCCL versions differ: 2\.28\.9 on ranks 0, 1 \(node-1\); 2\.28\.3 on ranks 2, 3 \(node-2\)/,
    );
  });

  test('a wrong element is shown with rank, index and values', limit, async (t) => {
    const { server } = await startGpus(t, 'devices=2', 'devices=2,wrong@3=500');
    const run = await end(server, { in_place: false, sizes: [64, 4096] });
    assert.equal(run.summary.wrong, 1);
    const [error] = (await server.rows(run.id))[1].errors;
    assert.equal(error.rank, 3);
    assert.equal(error.index, 500);
    assert.notEqual(error.expected, error.got);
  });

  test('a rank that never gets out of init is named', limit, async (t) => {
    const { server, agents } = await startGpus(t, 'devices=2', 'devices=2,init_hangs@2');
    const run = await end(server, { join_s: 10 });
    assert.equal(run.state, 'failed');
    assert.match(run.cases[0].reason, /rank/);
    await noWorkersLeft(agents);
  });

  test('a collective that hangs is a stall', limit, async (t) => {
    const { server, agents } = await startGpus(t, 'devices=2', 'devices=2,stall@2=4');
    const run = await end(server, { stall_s: 8 });
    assert.equal(run.state, 'failed');
    assert.match(run.cases[0].reason, /no progress|stall/i);
    await noWorkersLeft(agents);
  });

  test('an error that NCCL reports ends the case with its words', limit, async (t) => {
    const { server } = await startGpus(t, 'devices=2', 'devices=2,async_error@2=4');
    const run = await end(server, {});
    assert.equal(run.state, 'failed');
    assert.match(run.cases[0].reason, /rank 2.*connection closed by remote peer/s);
  });

  test('a rank that dies is named', limit, async (t) => {
    const { server, agents } = await startGpus(t, 'devices=2', 'devices=2,die@3=4');
    const run = await end(server, {});
    assert.equal(run.state, 'failed');
    assert.match(run.cases[0].reason, /rank 3 on node-2/);
    await noWorkersLeft(agents);
  });

  test('graphs, cycles and unaligned buffers are asked for, and shown', limit, async (t) => {
    const { server } = await startGpus(t, 'devices=2,init_mib=3', 'devices=2,init_mib=3');
    const run = await end(server, {
      redops: ['sum', 'mulsum'],
      cycles: 2,
      unalign: 1,
      agg_iters: 2,
      check: 2,
      nccl: { graph: 3, registration: 'symmetric' },
    });
    assert.equal(run.state, 'completed', run.reason);
    assert.deepEqual([run.spec.cycles, run.spec.unalign, run.spec.blocking], [2, 1, 0]);
    const rows = await server.rows(run.id);
    assertWholeRows(run, rows);
    assert.deepEqual([...new Set(rows.map((row) => row.cycle))], [0, 1]);
    assert.equal(run.summary.curve.length, 2); // of the first cycle
    for (const row of rows) {
      assert.equal(row.iters, 3 * 2 * 3);
      assert.equal(row.wrong, 0);
      assert.ok(row.enqueue_us > 0 && row.enqueue_us < row.time_us);
    }
    const csv = await server.get(`/api/v1/runs/${run.id}/results?format=csv`);
    assert.match(csv.split('\r\n')[0], /,emulated,imported,nccl,enqueue_us,cycle,ranks_per_gpu/);
    const done = (await server.events(run.id))
      .filter((event) => event.type === 'ranks' && event.state === 'done')
      .flatMap((event) => event.each);
    assert.equal(done.length, 4);
    assert.ok(done.every((rank) => rank.gpu_memory.init_bytes >= 3 << 20));
  });

  test('the text says how the loop was shaped, each cycle, and the memory', limit, async (t) => {
    const { server } = await startGpus(t, 'devices=2,init_mib=3');
    const stream = await server.followText({ ...quick, backend: 'nccl', cycles: 2, nccl: { graph: 2 } });
    await stream.ended();
    const text = stream.lines.join('\n');
    assert.match(text, /^# cycles 2, graph 2$/m);
    assert.match(text, /^# all_reduce float32 sum, cycle 1, emulated/m);
    assert.match(text, /^# .*communicator.* [\d.]+ s; GPU memory: 3\.0 MiB/m);
    assert.match(text, /^# Avg enqueue time/m);
  });

  test('blocking, cycles, iterations and unaligned buffers are for every backend', limit, async (t) => {
    const { server } = await startGpus(t, 'devices=2');
    for (const backend of ['nccl', 'host', 'sim']) {
      for (const blocking of [0, 1, 2, 3]) {
        const run = await end(server, {
          backend,
          blocking,
          cycles: 2,
          unalign: 3,
          redops: ['mulsum'],
          per_iter: true,
        });
        assert.equal(run.state, 'completed', `${backend} ${blocking}: ${run.reason}`);
        const rows = await server.rows(run.id, '&samples=1');
        assertWholeRows(run, rows);
        assert.ok(rows.every((row) => row.samples_us.length === 3 && row.samples_us.every((us) => us > 0)));
      }
    }
  });

  test('what does not go together is refused', limit, async (t) => {
    const { server } = await startGpus(t, 'devices=2');
    for (const [spec, pointer] of /** @type {any[][]} */ ([
      [{ nccl: { graph: 2 }, blocking: 1 }, '/nccl/graph'],
      [{ nccl: { graph: 2, stream: 'null' } }, '/nccl/graph'],
      [{ nccl: { graph: 2 }, timing: 'isolated' }, '/nccl/graph'],
      [{ blocking: 2, timing: 'isolated' }, '/blocking'],
    ])) {
      const answer = await server.post({ ...quick, backend: 'nccl', ...spec });
      assert.equal(answer.status, 422);
      assert.deepEqual(
        answer.json.errors.map((error) => error.pointer),
        [pointer],
      );
    }
  });

  test('a death that finds a rank inside of NCCL ends the case before it is a stall', limit, async (t) => {
    const { server, agents } = await startGpus(t, 'devices=2,group_hangs@0=3', 'devices=2,die@3=2');
    const run = await end(server, { stall_s: 60 });
    assert.equal(run.state, 'failed');
    assert.match(run.cases[0].reason, /rank 3 on node-2/);
    assert.doesNotMatch(run.cases[0].reason, /stalled/);
    await noWorkersLeft(agents);
  });

  test(
    "a failure comes with the warning of NCCL's log that is its cause, asked for or not",
    limit,
    async (t) => {
      const { server } = await startGpus(t, 'devices=2,init_fails=1');
      const run = await end(server, {});
      assert.equal(run.state, 'failed');
      assert.match(run.reason, /emulated: no socket interface found/);
      const logs = (await server.events(run.id)).filter((event) => event.type === 'nccl');
      assert.equal(logs.length, 2);
      for (const { log } of logs) {
        assert.deepEqual(log.early_warnings, { lines: 1, first: ['emulated: no socket interface found'] });
      }
    },
  );
});
