// SPDX-License-Identifier: Apache-2.0
// nccl_choice.test.mjs - how NCCL does a row's calls, as each version's profiler tells it: the emulated
// NCCL looks the worker's plugin up in it and calls it as that version does
// (tests/nccl_emulation/profiler.c)
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { emulatedGpus, lacksNccl, quick, startAgent, startServer } from './lib/cluster.mjs';
import { patience } from './lib/fixture.mjs';

const limit = { timeout: 120000 * patience, skip: lacksNccl };

const spec = {
  ...quick,
  backend: 'nccl',
  collectives: ['all_reduce', 'alltoall'],
  dtypes: ['float32'],
  redops: ['sum'],
  in_place: false,
  sizes: [1024, 16384, 1 << 20],
  iters: 2,
  warmup: 1,
};

// A server, and a node of two GPUs for each of the settings, by name.
async function startNodes(t, nodes) {
  const server = await startServer(t);
  await Promise.all(
    Object.entries(nodes).map(([name, settings]) =>
      startAgent(t, server, name, {
        env: emulatedGpus(`devices=2,${settings}`),
      }),
    ),
  );
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
const chosen = (channels) =>
  [
    ['TREE', 'LL', 2],
    ['RING', 'LL128', 16],
    ['RING', 'SIMPLE', 16],
  ].map(([algo, proto, n]) => ({ algo, proto, ...(channels && { channels: n }), by: 'profiler' }));

describe('what NCCL chooses', { concurrency: 2 }, () => {
  test('each version of the plugin says what NCCL took', limit, async (t) => {
    const versions = { 22304: 1, 22407: 2, 22506: 2, 22606: 3, 22707: 4, 22809: 5, 23007: 5 };
    const server = await startNodes(
      t,
      Object.fromEntries(Object.keys(versions).map((version) => [`nccl-${version}`, `nccl=${version}`])),
    );
    for (const [version, plugin] of Object.entries(versions)) {
      const { rows } = await rowsOn(server, `nccl-${version}`);
      assert.deepEqual(
        rows.slice(0, 3).map((row) => row.nccl),
        chosen(plugin > 3),
        version,
      );
      // Before 2.28 it is sends and receives by name, too.
      for (const row of rows.slice(3))
        assert.deepEqual(
          row.nccl,
          { algo: 'P2P', ...(plugin > 3 && { channels: 4 }), by: 'profiler' },
          version,
        );
    }
  });

  test('what is said is in the text and in CSV, and that ranks differ', limit, async (t) => {
    const server = await startNodes(t, { same: 'nccl=22809', other: 'nccl=22707,algo@1=4' });
    const same = await rowsOn(server, 'same');
    const text = await server.get(`/api/v1/runs/${same.id}/results?format=text`);
    assert.match(text, /^ +16384 .* RING LL128 16 channels$/m);
    const csv = await server.get(`/api/v1/runs/${same.id}/results?format=csv`);
    assert.match(csv, /,algo=RING;proto=LL128;channels=16;by=profiler,/);
    const other = await rowsOn(server, 'other');
    assert.equal(other.rows[0].nccl.ranks_differ, true);
    assert.match(
      await server.get(`/api/v1/runs/${other.id}/results?format=text`),
      /TREE LL 2 channels, RANKS DIFFER$/m,
    );
  });

  test('a row by another algorithm or protocol than its variables ask for is marked', limit, async (t) => {
    const server = await startNodes(t, { node: 'nccl=22809' });
    const marked = async (env) =>
      (await rowsOn(server, 'node', { env })).rows.map((row) => row.nccl.unrequested ?? false);
    // The emulation takes TREE LL, RING LL128 and RING SIMPLE whatever it is asked for.
    assert.deepEqual(await marked({ NCCL_ALGO: 'Tree' }), [false, true, true, false, false, false]);
    assert.deepEqual(await marked({ NCCL_ALGO: '^Tree', NCCL_PROTO: 'Simple' }), [
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
    assert.deepEqual(await marked({ NCCL_ALGO: 'broadcast:ring' }), Array(6).fill(false));
  });

  test('a summary counts how rows were done', limit, async (t) => {
    const server = await startNodes(t, { 'node-1': 'nccl=22809', 'node-2': 'nccl=21805' });
    const summed = async (name) => {
      const { id } = await rowsOn(server, name, { collectives: ['all_reduce'], repeats: 2 });
      const {
        run,
        series: [{ points }],
      } = await server.get(`/api/v1/runs/${id}/summary`);
      assert.ok(run.cases.every(({ transports }) => transports.ways.length > 0));
      return points.map((point) => point.nccl);
    };
    assert.deepEqual(
      await summed('node-1'),
      chosen(true).map((choice) => [{ ...choice, rows: 2 }]),
    );
    assert.deepEqual(await summed('node-2'), Array(3).fill(undefined));
  });

  // An administrator's plugin is left alone; a library before 2.23 has no such interface.
  test('where the plugin is not told, a row has no choice', limit, async (t) => {
    const server = await startServer(t);
    await startAgent(t, server, 'other', {
      env: emulatedGpus('devices=2,nccl=22407', { NCCL_PROFILER_PLUGIN: 'inspector' }),
    });
    await startAgent(t, server, 'old', { env: emulatedGpus('devices=2,nccl=22105') });
    const env = { NCCL_DEBUG: 'INFO', NCCL_DEBUG_SUBSYS: 'INIT,TUNING' };
    for (const name of ['other', 'old']) {
      const { rows } = await rowsOn(server, name, { env });
      assert.deepEqual(
        rows.map((row) => row.nccl),
        rows.map(() => undefined),
      );
    }
  });

  test('registration is symmetric where symmetric kernels ran', limit, async (t) => {
    const server = await startNodes(t, {
      'nccl-2.27': 'nccl=22707,symmetric',
      'nccl-2.28': 'nccl=22809,symmetric',
      none: 'nccl=22809',
    });
    const done = async (name) => {
      const { id, rows } = await rowsOn(server, name, { nccl: { registration: 'symmetric' } });
      const end = (await server.events(id))
        .flatMap((event) => event.each ?? [])
        .filter((rank) => rank.registration);
      assert.equal(end.length, 1);
      return { rows, said: end[0].registration };
    };
    for (const name of ['nccl-2.27', 'nccl-2.28']) {
      const { rows, said } = await done(name);
      assert.equal(said, 'symmetric');
      assert.equal(rows[0].nccl, undefined);
    }
    const { rows, said } = await done('none');
    assert.equal(said, 'windows');
    assert.deepEqual(rows[0].nccl, chosen(true)[0]);
  });
});
