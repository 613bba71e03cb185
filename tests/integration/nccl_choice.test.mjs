// nccl_choice.test.mjs - how NCCL does a row's calls, as each version tells it: the emulated
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
async function startNodes(t, nodes, env = {}) {
  const server = await startServer(t);
  await Promise.all(
    Object.entries(nodes).map(([name, settings]) =>
      startAgent(t, server, name, {
        env: emulatedGpus(`devices=2,${settings}`, env),
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

const without = ({ expected_us: us, ...rest }) => rest;

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
        rows.slice(0, 3).map((row) => without(row.nccl)),
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
      assert.deepEqual(
        rows.slice(0, 3).map((row) => Math.round(row.nccl.expected_us)),
        [11, 26, 1059],
      );
    }
  });

  test('what is said is in the text and in CSV, and that ranks differ', limit, async (t) => {
    const server = await startNodes(t, { same: 'nccl=22809', other: 'nccl=22707,algo@1=4' });
    const same = await rowsOn(server, 'same');
    const text = await server.get(`/api/v1/runs/${same.id}/results?format=text`);
    assert.match(text, /^ +16384 .* RING LL128 16 channels$/m);
    const csv = await server.get(`/api/v1/runs/${same.id}/results?format=csv`);
    assert.match(csv, /,algo=RING;proto=LL128;channels=16;by=profiler;expected_us=26\.38\d*,/);
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

  // The emulation's table (tests/nccl_emulation/table.c), and what NCCL 2.18.6's and 2.19.4's own
  // functions chose of it, called outside of NCCL.
  const sizes = [1024, 16384, 65536, 1 << 20, 1 << 22, 1 << 26];
  const reduced = [
    ['TREE', 'LL', 1],
    ['TREE', 'LL', 4],
    ['RING', 'LL', 8],
  ];
  const predicted = (rows) =>
    rows.map(({ nccl: { expected_us: us, by, ...rest } }) => {
      assert.ok(by === 'table' && us > 7);
      return Object.values(rest);
    });
  const summed = [...reduced, ...Array(3).fill(['NVLS', 'SIMPLE', 8])];
  const averaged = [...reduced, ['RING', 'LL128', 16], ...Array(2).fill(['RING', 'SIMPLE', 16])];
  // Unchecked: 64 MiB take a sanitizer long enough as it is.
  const large = {
    sizes,
    collectives: ['all_reduce'],
    redops: ['sum', 'avg'],
    iters: 1,
    warmup: 0,
    check: 0,
    stall_s: 300,
  };

  for (const version of [21805, 21903]) {
    test(`of ${version} it is predicted by what NCCL chooses by`, limit, async (t) => {
      const server = await startNodes(t, { old: `nccl=${version}` });
      const { id, rows } = await rowsOn(server, 'old', large);
      assert.deepEqual(predicted(rows), [...summed, ...averaged]);
      assert.match(
        await server.get(`/api/v1/runs/${id}/results?format=text`),
        / NVLS SIMPLE 8 channels, PREDICTED$/m,
      );
      assert.match(
        await server.get(`/api/v1/runs/${id}/results?format=csv`),
        /,algo=NVLS;proto=SIMPLE;channels=8;by=table;/,
      );
      const gathered = await rowsOn(server, 'old', {
        collectives: ['all_gather', 'alltoall'],
        sizes: [1 << 20, 1 << 26],
        iters: 1,
        warmup: 0,
        check: 0,
        stall_s: 300,
      });
      assert.deepEqual(predicted(gathered.rows.slice(0, 2)), [
        ['RING', 'LL128', 16],
        ['RING', 'SIMPLE', 16],
      ]);
      assert.ok(gathered.rows.slice(2).every((row) => !row.nccl));
    });
  }

  // Rings between hosts stay below what they should do from some size on; NCCL counts with that.
  test('over two hosts it is predicted by their rules', limit, async (t) => {
    const server = await startNodes(t, {
      'node-1': 'nccl=21903,devices=1',
      'node-2': 'nccl=21903,devices=1',
    });
    const { id } = await server.run({ ...spec, ...large, nodes: { names: ['node-1', 'node-2'] } });
    assert.equal((await server.runEnds(id)).state, 'completed');
    const rows = await server.rows(id);
    const chosenThere = [...reduced, ...Array(2).fill(['RING', 'LL128', 16]), ['RING', 'SIMPLE', 16]];
    assert.deepEqual(predicted(rows), [...chosenThere, ...chosenThere]);
  });

  test('nothing is predicted where something else decides, or the log has no table', limit, async (t) => {
    const server = await startNodes(t, { tuner: 'nccl=21903,tuner', old: 'nccl=21805' });
    const says = async (name, more) =>
      (await rowsOn(server, name, { ...large, sizes: [1024], ...more })).rows.some((row) => row.nccl);
    assert.equal(await says('old'), true);
    assert.equal(await says('tuner'), false);
    assert.equal(await says('old', { agg_iters: 2 }), false);
    assert.equal(await says('old', { env: { NCCL_DEBUG: 'WARN' } }), false);
    assert.equal(await says('old', { env: { NCCL_DEBUG: 'INFO', NCCL_DEBUG_SUBSYS: 'INIT' } }), false);
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
    assert.deepEqual((await summed('node-2'))[0], [
      { algo: 'TREE', proto: 'LL', channels: 1, by: 'table', rows: 2 },
    ]);
  });

  // An administrator's plugin is left alone; a library before 2.24 logs what the user has it log.
  test('where no plugin is told, the log is read for one call', limit, async (t) => {
    const server = await startNodes(
      t,
      { new: 'nccl=22407', old: 'nccl=22105' },
      { NCCL_PROFILER_PLUGIN: 'inspector' },
    );
    const byLog = chosen(true).map((choice) => ({ ...choice, by: 'log' }));
    const { id, rows } = await rowsOn(server, 'new', { env: { NCCL_DEBUG: 'INFO' } });
    assert.deepEqual(
      rows.map((row) => row.nccl && without(row.nccl)),
      [...byLog, ...Array(3).fill(undefined)],
    );
    const { lines } = await server.get(`/api/v1/runs/${id}/logs?limit=1000`);
    assert.equal(
      lines
        .map((line) => line.text)
        .join('\n')
        .match(/ Bytes -> /g).length,
      3,
    );
    const silent = await rowsOn(server, 'old', { env: { NCCL_DEBUG: 'INFO' } });
    assert.ok(silent.rows.every((row) => !row.nccl));
    const talks = await rowsOn(server, 'old', {
      env: { NCCL_DEBUG: 'INFO', NCCL_DEBUG_SUBSYS: 'INIT,TUNING' },
    });
    assert.deepEqual(
      talks.rows.slice(0, 3).map((row) => row.nccl),
      byLog.map(({ algo, proto, by }) => ({ algo, proto, by })),
    );
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
      assert.deepEqual(without(rows[0].nccl), { algo: 'SYMMETRIC', proto: 'LL', channels: 2, by: 'log' });
    }
    const { rows, said } = await done('none');
    assert.equal(said, 'windows');
    assert.deepEqual(without(rows[0].nccl), chosen(true)[0]);
  });
});
