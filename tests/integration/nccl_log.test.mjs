// SPDX-License-Identifier: Apache-2.0
// nccl_log.test.mjs - what NCCL's log says is there while a run goes on
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { emulatedGpus, isFinal, lacksNccl, quick, startAgent, startServer } from './lib/cluster.mjs';

const limit = { timeout: 120000, skip: lacksNccl };

const emulation = (settings) => ({
  env: emulatedGpus(`devices=2,${settings}`),
});

async function startGpus(t, settings) {
  const server = await startServer(t);
  await startAgent(t, server, 'node-1', emulation(settings));
  return server;
}

const endless = { ...quick, backend: 'nccl', iters: 100000, sizes: [8] };
const logsOf = async (server, id) => (await server.events(id)).filter((event) => event.type === 'nccl');

test('transports are known while the run goes on, and are told once', limit, async (t) => {
  const server = await startGpus(t, 'slow_us=20000');
  const { id } = await server.run(endless);
  const first = await server.event(id, (event) => event.type === 'nccl');
  assert.deepEqual(first.log.transports, [{ via: 'P2P/CUMEM', to: String(1 - first.rank), channels: 1 }]);
  assert.equal(first.log.network, 'Socket');
  assert.ok(!isFinal((await server.getRun(id)).state));
  await server.event(id, (event) => event.type === 'nccl' && event.rank !== first.rank);
  await server.request('POST', `/api/v1/runs/${id}/cancel`);
  await server.runEnds(id);
  assert.deepEqual((await logsOf(server, id)).map((event) => event.rank).sort(), [0, 1]);
});

test('a warning that comes later is told in the end, with all the rest', limit, async (t) => {
  const server = await startGpus(t, 'slow_us=20000,warn@1=200,die@1=200');
  const { id } = await server.run({ ...endless, timing: 'isolated' });
  const run = await server.runEnds(id);
  assert.match(run.reason, /rank 1 on node-1: .*signal 9.*emulated: connection reset/);
  const logs = (await logsOf(server, id)).filter((event) => event.rank === 1);
  assert.ok(logs.length === 1 || logs.length === 2);
  assert.deepEqual(logs.at(-1).log.late_warnings.first, ['emulated: connection reset by peer']);
  assert.deepEqual(logs.at(-1).log.transports, [{ via: 'P2P/CUMEM', to: '0', channels: 1 }]);
});

test(
  'the end of a case says by which ways its bytes went, and what speaks against them',
  limit,
  async (t) => {
    const server = await startGpus(t, 'ib=2,gdr');
    await startAgent(t, server, 'node-2', emulation('ib=2,gdr'));
    const run = async (spec) => {
      const { id } = await server.run({ ...quick, backend: 'nccl', sizes: [8], ...spec });
      const { state, reason } = await server.runEnds(id);
      assert.equal(state, 'completed', reason);
      const { transports } = (await server.getRun(id)).cases[0];
      const end = (await server.events(id)).findLast((event) => event.type === 'case');
      assert.deepEqual(end.transports, transports);
      return transports && { id, ...transports, sentences: transports.verdicts.map((one) => one.sentence) };
    };
    const good = await run({});
    assert.deepEqual(
      good.ways.map(({ kind, text, between }) => [kind, text, between]),
      [
        ['infiniband', 'InfiniBand mlx5_1, GPUDirect, 1 channel', 'node-1 and node-2'],
        ['p2p', 'peer to peer (P2P/CUMEM), 1 channel', 'inside 2 nodes'],
      ],
    );
    assert.equal(good.sentences.length, 1);
    assert.match(good.sentences[0], /InfiniBand mlx5_1, GPUDirect, 1 channel \(emulated\)$/);
    assert.match(
      await server.get(`/api/v1/runs/${good.id}/events?format=text`),
      /# NCCL: node-1 and node-2: InfiniBand mlx5_1, GPUDirect, 1 channel\n/,
    );
    const bad = await run({ env: { NCCL_IB_HCA: 'emu0', NCCL_ALGO: 'Foo', NCCL_IB_TC: '106' } });
    assert.deepEqual(bad.ways[0].kind, 'sockets');
    assert.deepEqual(
      bad.verdicts.map(({ evidence }) => evidence.about),
      ['no_rdma', 'setting', 'setting'],
    );
    assert.match(bad.sentences[0], /^NCCL_IB_HCA=emu0 .* emu0 on node-1, node-2 \(emulated\)$/);
    assert.match(bad.sentences[1], /^NCCL_ALGO=Foo: .* on node-1, node-2 \(emulated\)$/);
    assert.match(bad.sentences[2], /^NCCL_IB_TC=106 .* \(emulated\)$/);
    assert.deepEqual(bad.verdicts[0].evidence.log, ['NET/IB : No device found.']);
    const unheard = await run({ env: { NCCL_DEBUG: 'WARN' } });
    assert.deepEqual(unheard.ways, []);
    assert.equal(unheard.sentences.length, 1);
    assert.match(unheard.sentences[0], /NCCL_DEBUG=WARN .*\(emulated\)$/);
    await startAgent(t, server, 'node-3', emulation('init_fails'));
    const { id } = await server.run({ ...quick, backend: 'nccl', sizes: [8], nodes: { names: ['node-3'] } });
    assert.equal((await server.runEnds(id)).state, 'failed');
    const [{ sentence, evidence }] = (await server.getRun(id)).cases[0].transports.verdicts;
    assert.match(sentence, /emulated: no socket interface found on node-3$/);
    assert.equal(evidence.about, 'init');
  },
);

test('kill -9 of the server: the ways that were told before are in the end of the case', limit, async (t) => {
  const server = await startGpus(t, 'slow_us=20000');
  const { id } = await server.run(endless);
  for (const rank of [0, 1]) await server.event(id, (event) => event.type === 'nccl' && event.rank === rank);
  await server.killHard();
  const again = await server.startAgain();
  await again.request('POST', `/api/v1/runs/${id}/cancel`);
  await again.runEnds(id);
  assert.equal((await logsOf(again, id)).length, 2);
  const { transports } = (await again.getRun(id)).cases[0];
  assert.deepEqual(
    transports?.ways.map(({ text, between }) => [text, between]),
    [['peer to peer (P2P/CUMEM), 1 channel', 'inside 1 node']],
  );
});
