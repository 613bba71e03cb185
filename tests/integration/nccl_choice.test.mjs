// nccl_choice.test.mjs - how NCCL does a row's calls, as each version tells it: the emulated
// NCCL looks the worker's plugin up in it and calls it as that version does
// (tests/nccl_emulation/profiler.c)
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { quick, startAgent, startServer } from './lib/cluster.mjs';
import { binDir, buildDir, patience } from './lib/fixture.mjs';

const dir = path.join(buildDir, 'tests/emulation');
const isBuilt = fs.existsSync(path.join(binDir, 'ringbench-worker-nccl')) &&
  fs.existsSync(path.join(dir, 'libnccl.so.2'));
const limit = { timeout: 120000 * patience, skip: !isBuilt && 'built without the NCCL worker' };

const spec = {
  ...quick, backend: 'nccl', collectives: ['all_reduce', 'alltoall'], dtypes: ['float32'],
  redops: ['sum'], in_place: false, sizes: [1024, 16384, 1 << 20], iters: 2, warmup: 1,
};

// A server, and a node of two GPUs for each of the settings, by name.
async function startNodes(t, nodes, env = {}) {
  const server = await startServer(t);
  await Promise.all(Object.entries(nodes).map(([name, settings]) => startAgent(t, server, name, { env: {
    RINGBENCH_CUDART_LIB: path.join(dir, 'libcudart.so.13'),
    RINGBENCH_NCCL_LIB: path.join(dir, 'libnccl.so.2'),
    RINGBENCH_EMULATION: `devices=2,${settings}`,
    ...env,
  } })));
  return server;
}

// The rows of a run on that node alone.
async function rowsOn(server, name, more = {}) {
  const { id } = await server.run({ ...spec, nodes: { names: [name] }, ...more });
  const run = await server.runEnds(id);
  assert.equal(run.state, 'completed', run.reason);
  return { id, rows: await server.rows(id) };
}

// What the emulation chooses for these sizes, with channels where the plugin is told.
const chosen = (channels) => [['TREE', 'LL', 2], ['RING', 'LL128', 16], ['RING', 'SIMPLE', 16]]
  .map(([algo, proto, n]) => ({ algo, proto, ...(channels && { channels: n }), by: 'profiler' }));

const without = ({ expected_us: us, ...rest }) => rest;

test('each version of the plugin says what NCCL took', limit, async (t) => {
  const versions = { 22304: 1, 22407: 2, 22506: 2, 22606: 3, 22707: 4, 22809: 5, 23007: 5 };
  const server = await startNodes(t, Object.fromEntries(
    Object.keys(versions).map((version) => [`nccl-${version}`, `nccl=${version}`])));
  for (const [version, plugin] of Object.entries(versions)) {
    const { rows } = await rowsOn(server, `nccl-${version}`);
    assert.deepEqual(rows.slice(0, 3).map((row) => without(row.nccl)), chosen(plugin > 3), version);
    // Before 2.28 it is sends and receives by name, too.
    for (const row of rows.slice(3))
      assert.deepEqual(row.nccl, { algo: 'P2P', ...(plugin > 3 && { channels: 4 }), by: 'profiler' }, version);
    assert.deepEqual(rows.slice(0, 3).map((row) => Math.round(row.nccl.expected_us)), [11, 26, 1059]);
  }
});

test('what is said is in the text and in CSV, and that ranks differ', limit, async (t) => {
  const server = await startNodes(t, { same: 'nccl=22809', other: 'nccl=22707,algo@1=4', old: 'nccl=21805' });
  const same = await rowsOn(server, 'same');
  const text = await server.get(`/api/v1/runs/${same.id}/results?format=text`);
  assert.match(text, /^ +16384 .* RING LL128 16 channels$/m);
  const csv = await server.get(`/api/v1/runs/${same.id}/results?format=csv`);
  assert.match(csv, /,algo=RING;proto=LL128;channels=16;by=profiler;expected_us=26\.38\d*,/);
  const other = await rowsOn(server, 'other');
  assert.equal(other.rows[0].nccl.ranks_differ, true);
  assert.match(await server.get(`/api/v1/runs/${other.id}/results?format=text`), /TREE LL 2 channels, RANKS DIFFER$/m);
  assert.ok((await rowsOn(server, 'old')).rows.every((row) => !('nccl' in row)));
});

// An administrator's plugin is left alone; a library before 2.24 logs what the user has it log.
test('where no plugin is told, the log is read for one call', limit, async (t) => {
  const server = await startNodes(t, { new: 'nccl=22407', old: 'nccl=22105' }, { NCCL_PROFILER_PLUGIN: 'inspector' });
  const byLog = chosen(true).map((choice) => ({ ...choice, by: 'log' }));
  const { id, rows } = await rowsOn(server, 'new', { env: { NCCL_DEBUG: 'INFO' } });
  assert.deepEqual(rows.map((row) => row.nccl && without(row.nccl)), [...byLog, ...Array(3).fill(undefined)]);
  const { lines } = await server.get(`/api/v1/runs/${id}/logs?limit=1000`);
  assert.equal(lines.map((line) => line.text).join('\n').match(/ Bytes -> /g).length, 3);
  const silent = await rowsOn(server, 'old', { env: { NCCL_DEBUG: 'INFO' } });
  assert.ok(silent.rows.every((row) => !row.nccl));
  const talks = await rowsOn(server, 'old', { env: { NCCL_DEBUG: 'INFO', NCCL_DEBUG_SUBSYS: 'INIT,TUNING' } });
  assert.deepEqual(talks.rows.slice(0, 3).map((row) => row.nccl),
    byLog.map(({ algo, proto, by }) => ({ algo, proto, by })));
});

test('registration is symmetric where symmetric kernels ran', limit, async (t) => {
  const server = await startNodes(t, {
    'nccl-2.27': 'nccl=22707,symmetric', 'nccl-2.28': 'nccl=22809,symmetric', none: 'nccl=22809' });
  const done = async (name) => {
    const { id, rows } = await rowsOn(server, name, { nccl: { registration: 'symmetric' } });
    const end = (await server.events(id)).filter((event) => event.registration);
    assert.equal(end.length, 1);
    return { rows, said: end[0].registration };
  };
  for (const name of ['nccl-2.27', 'nccl-2.28']) {
    const { rows, said } = await done(name);
    assert.equal(said, 'symmetric');
    assert.deepEqual(without(rows[0].nccl), { algo: 'SYMMETRIC', proto: 'LL', channels: 2, by: 'log' });
  }
  const { rows, said } = await done('none');
  assert.equal(said, 'windows');
  assert.deepEqual(without(rows[0].nccl), chosen(true)[0]);
});
