// SPDX-License-Identifier: Apache-2.0
// groups.test.mjs - several communicators at once, hypercube and alltoallv, chosen devices
// and libraries, and nodes that do not reach each other
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import {
  assertProblem,
  assertWholeRows,
  emulatedGpus,
  emulation,
  lacksNccl,
  quick,
  startAgent,
  startAgents,
  startIn,
  startServer,
  startServerIn,
} from './lib/cluster.mjs';
import { atEnd, binDir, patience, tempDir } from './lib/fixture.mjs';
import * as netns from './netns.mjs';

const limit = { timeout: 120000 * patience };
const nccl = { ...limit, skip: lacksNccl };
const library = path.join(emulation, 'libnccl.so.2');

const emulated = (settings, more = []) => ({
  args: more,
  env: emulatedGpus(settings),
});

const end = (server, spec) => server.runToEnd({ ...quick, ...spec });

async function completes(server, spec) {
  const run = await end(server, spec);
  assert.equal(run.state, 'completed', run.reason ?? run.cases[0].reason);
  const rows = await server.rows(run.id);
  assertWholeRows(run, rows);
  assert.ok(rows.every((row) => row.skipped || row.wrong === null || row.wrong === 0));
  return { run, rows };
}

// Rows of each group, as many, each with the times of its own ranks.
function assertGroups({ run, rows }, groups) {
  assert.deepEqual(run.groups, groups);
  assert.equal(rows.length % groups.length, 0);
  rows.forEach((row, i) => {
    assert.equal(row.group, i % groups.length);
    if (!row.skipped) assert.equal(row.times_us.length, groups[row.group].length);
  });
}

const both = { collectives: ['all_reduce', 'hypercube', 'alltoallv'], sizes: [256, '64K'] };

describe('groups', { concurrency: 4 }, () => {
  test('groups of host ranks work at once, and every row says whose it is', limit, async (t) => {
    const server = await startServer(t);
    await startAgents(t, server, 2, { ranks: 2 });
    for (const [split, groups] of [
      [
        'node',
        [
          [0, 1],
          [2, 3],
        ],
      ],
      [
        'local_rank',
        [
          [0, 2],
          [1, 3],
        ],
      ],
      [{ by: 'mod', value: 3 }, [[0, 3], [1], [2]]],
    ]) {
      const result = await completes(server, { backend: 'host', split, ...both });
      assertGroups(result, groups);
      assert.deepEqual(result.run.spec.split, split);
    }
    const { run, rows } = await completes(server, { backend: 'host', split: { by: 'div', value: 9 } });
    assert.equal(run.groups, undefined, 'one group is none');
    assert.ok(rows.every((row) => row.group === undefined));
  });

  test('groups of emulated GPUs and of simulated ranks do the same', nccl, async (t) => {
    const server = await startServer(t);
    await startAgents(t, server, 2, { ranks: 2, ...emulated('devices=2') });
    for (const backend of ['nccl', 'sim']) {
      assertGroups(await completes(server, { backend, split: 'local_rank', ...both }), [
        [0, 2],
        [1, 3],
      ]);
      assertGroups(await completes(server, { backend, split: 'node', in_place: false }), [
        [0, 1],
        [2, 3],
      ]);
      await completes(server, { backend, ...both, traffic: { spread: 0.5 }, dtypes: ['int8', 'float64'] });
    }
  });

  test('a root beyond the smallest group is refused', limit, async (t) => {
    const server = await startServer(t);
    await startAgents(t, server, 1, { ranks: 3 });
    const run = await end(server, {
      backend: 'host',
      collectives: ['broadcast'],
      root: 1,
      split: { by: 'mod', value: 2 },
      nodes: { count: 1 },
    });
    assert.equal(run.state, 'failed');
    assert.match(run.reason, /root is 1\b.*\b1 ranks?/);
  });

  test('hypercube is for a power of two of ranks', limit, async (t) => {
    const server = await startServer(t);
    await startAgents(t, server, 1, { ranks: 3 });
    const { rows } = await completes(server, { backend: 'host', collectives: ['hypercube'] });
    assert.ok(rows.every((row) => /power of two, not 3/.test(row.skipped)));
  });

  test('a traffic matrix says who sends how much', limit, async (t) => {
    const server = await startServer(t);
    await startAgents(t, server, 1, { ranks: 3 });
    const matrix = [
      [0, 4096, 0],
      [1024, 0, 64],
      [0, 0, 2048],
    ];
    const { rows } = await completes(server, {
      backend: 'host',
      collectives: ['alltoallv'],
      sizes: ['8K'],
      traffic: { matrix },
    });
    assert.equal(rows[0].size, 4096);
    const small = await end(server, {
      backend: 'host',
      collectives: ['alltoallv'],
      sizes: ['8K'],
      traffic: {
        matrix: [
          [0, 16],
          [16, 0],
        ],
      },
    });
    assert.match(small.reason, /matrix .*\b2 ranks.*\b3\b/);
    for (const [spec, pointer] of [
      [{ traffic: { spread: 2 }, collectives: ['alltoallv'] }, '/traffic'],
      [{ traffic: { spread: 1 } }, '/traffic'],
      [{ traffic: { matrix }, collectives: ['alltoallv'], sizes: [1024] }, '/sizes'],
      [{ split: { by: 'mod' } }, '/split'],
      [{ backend: 'host', devices: [0] }, '/devices'],
      [{ devices: [0, 0] }, '/devices/1'],
      [{ nccl_lib: 'libnccl.so' }, '/nccl_lib'],
      [{ backend: 'sim', nccl_lib: '/x/libnccl.so' }, '/nccl_lib'],
    ]) {
      const problem = assertProblem(await server.post(spec), 422);
      assert.equal(problem.errors[0].pointer, pointer, JSON.stringify(problem.errors));
    }
  });

  test('a run chooses devices, by node or for all', nccl, async (t) => {
    const server = await startServer(t);
    await startAgents(t, server, 2, emulated('devices=4'));
    const device = async (run, rank) =>
      (await server.events(run.id)).find(
        (event) => event.type === 'rank' && event.rank === rank && event.pci_bus_id,
      )?.pci_bus_id;
    const all = await completes(server, { devices: [3, 1] });
    assert.equal(all.run.backend, 'nccl');
    assert.equal(all.run.world_size, 4);
    const one = await completes(server, {
      devices: { 'node-1': [2], 'node-2': [0, 1, 3] },
    });
    assert.deepEqual(one.run.nodes, [
      { name: 'node-1', ranks: 1 },
      { name: 'node-2', ranks: 3 },
    ]);
    if (await device(all.run, 0)) {
      assert.notEqual(await device(all.run, 0), await device(all.run, 1));
      assert.equal(await device(one.run, 1), await device(one.run, 1));
    }
    const missing = await end(server, { devices: [7], nodes: { names: ['node-1'], wait_s: 1 } });
    assert.equal(missing.state, 'failed');
    assert.match(missing.reason, /node-1 has no device 7 \(4 GPUs\)/);
  });

  test('two versions of NCCL are two cases of a run', nccl, async (t) => {
    const old = path.join(emulation, 'old/libnccl.so.2');
    const oldLibrary = fs.existsSync(old)
      ? old
      : fs
          .readdirSync(emulation)
          .map((name) => path.join(emulation, name))
          .find((name) => /old/.test(name));
    const server = await startServer(t);
    await startAgent(
      t,
      server,
      'node-1',
      emulated('devices=2', [
        '--nccl-libs',
        library,
        '--nccl-libs',
        oldLibrary,
        '--nccl-libs',
        '/nonexistent/libnccl.so.2',
      ]),
    );
    const { libraries } = (await server.node('node-1')).inventory.backends.nccl;
    assert.deepEqual(
      libraries.map((one) => one.path).sort(),
      [library, oldLibrary, '/nonexistent/libnccl.so.2'].sort(),
    );
    assert.equal(libraries.find((one) => one.path === library).version, '2.28.9');
    assert.equal(libraries.find((one) => one.path === oldLibrary).version, '2.18.5');
    assert.match(libraries.find((one) => /nonexistent/.test(one.path)).reason, /nonexistent/);

    const { run } = await completes(server, {
      backend: 'nccl',
      matrix: { nccl_lib: [library, oldLibrary, null] },
    });
    assert.deepEqual(
      run.cases.map((one) => one.env.nccl_lib),
      [library, oldLibrary, null],
    );
    assert.equal((await completes(server, { nccl_lib: oldLibrary })).run.backend, 'nccl');
    const versions = (await server.events(run.id))
      .filter((event) => event.type === 'rank' && event.rank === 0 && event.nccl_version)
      .map((event) => event.nccl_version);
    if (versions.length) assert.deepEqual(versions, ['2.28.9', '2.18.5', '2.28.9']);
    for (const [lib, reason] of /** @type {any[][]} */ ([
      ['/tmp/other.so', /node-1 .*\/tmp\/other\.so/],
      ['/nonexistent/libnccl.so.2', /node-1 .*\/nonexistent\/libnccl\.so\.2: /],
    ])) {
      const refused = await end(server, { nccl_lib: lib, nodes: { names: ['node-1'], wait_s: 1 } });
      assert.equal(refused.state, 'failed');
      assert.match(refused.reason, reason);
    }
  });

  test("what NCCL's own log says is in the run's events", nccl, async (t) => {
    const server = await startServer(t);
    await startAgents(t, server, 1, emulated('devices=2'));
    const logs = async (spec) =>
      (await server.events((await completes(server, { backend: 'nccl', ...spec })).run.id)).filter(
        (event) => event.type === 'nccl',
      );
    assert.deepEqual(await logs({ env: { NCCL_DEBUG: 'WARN' } }), []);
    const said = await logs({});
    assert.deepEqual(said.map((event) => event.rank).sort(), [0, 1]);
    assert.equal(said[0].node, 'node-1');
    assert.equal(said[0].log.network, 'Socket');
    assert.equal(said[0].log.ranks, 2);
    assert.deepEqual(said[0].log.transports, [
      { via: 'P2P/CUMEM', to: String(1 - said[0].rank), channels: 1 },
    ]);
    const shown = async (spec) => (await completes(server, { backend: 'nccl', ...spec })).run.id;
    const output = async (id) => (await server.request('GET', `/api/v1/runs/${id}/logs`)).text;
    assert.doesNotMatch(await output(await shown({})), /NCCL INFO/);
    assert.match(await output(await shown({ env: { NCCL_DEBUG: 'INFO' } })), /NCCL INFO Connected all rings/);
  });

  test('a backend of somebody else is measured as the own ones are', limit, async (t) => {
    const server = await startServer(t);
    const { errors } = assertProblem(await server.post({ backend: 'tree' }), 422);
    assert.deepEqual(
      errors.map(({ pointer }) => pointer),
      ['/backend'],
    );
    const args = ['--worker-dir', path.join(binDir, 'examples')];
    for (const name of ['node-1', 'node-2']) await startAgent(t, server, name, { ranks: 2, args });
    const { run, rows } = await completes(server, {
      backend: 'tree',
      collectives: ['all_gather'],
      sizes: ['64K'],
    });
    assert.deepEqual([run.backend, run.world_size, rows.length], ['tree', 4, 2]);
    assert.match((await end(server, { backend: 'tree' })).reason, /tree.*all_reduce/);
  });

  test('workers of another build are refused', limit, async (t) => {
    const server = await startServer(t);
    const other = tempDir(t);
    const worker = fs.readFileSync(path.join(binDir, 'ringbench-worker-host'));
    const { build } = JSON.parse(
      execFileSync(path.join(binDir, 'ringbench-worker-host'), ['--probe'], { encoding: 'utf8' }),
    );
    const at = worker.indexOf(`${build}\0`);
    assert.ok(at > 0);
    worker.write('000000000000', at);
    fs.writeFileSync(path.join(other, 'ringbench-worker-host'), worker, { mode: 0o755 });
    await startAgent(t, server, 'node-1');
    await startAgent(t, server, 'node-2', { args: ['--worker-dir', other] });
    const run = await end(server, { backend: 'host' });
    assert.equal(run.state, 'failed');
    assert.match(run.cases[0].reason, /builds: \w{12} on node-[12], \w{12} on node-[12]/);
  });

  test('nodes that do not reach each other where NCCL will try are named', {
    timeout: 120000 * patience,
    skip: nccl.skip || (netns.whyNot() ?? false),
  }, async (t) => {
    const net = netns.setup(2, null);
    atEnd(t, () => net.teardown());
    net.hosts.forEach(({ namespace }, i) => {
      const ip = (...args) => execFileSync('ip', ['-n', namespace, ...args]);
      ip('link', 'add', 'ib0', 'type', 'veth', 'peer', 'name', 'pib0');
      ip('addr', 'add', `10.9.${i}.1/24`, 'dev', 'ib0');
      ip('link', 'set', 'ib0', 'up');
      ip('link', 'set', 'pib0', 'up');
    });
    const url = await startServerIn(t, net);
    const agents = net.hosts.map((host, i) =>
      startIn(
        t,
        host,
        path.join(binDir, 'ringbench-agent'),
        ['--server', url, '--name', `node-${i + 1}`, '--spool-dir', tempDir(t)],
        { env: { ...process.env, ...emulated('devices=1').env, RINGBENCH_HOSTID: `host-${i}` } },
      ),
    );
    await Promise.all(agents.map((agent) => agent.errorLine(/registered with/)));
    /** @type {any} */
    let last;
    const reason = async (env) => {
      const curl = startIn(t, net.hub, 'curl', [
        '-sN',
        '-H',
        'Accept: application/x-ndjson',
        '-d',
        JSON.stringify({ ...quick, backend: 'nccl', env }),
        `${url}/api/v1/runs`,
      ]);
      await curl.ended(60000 * patience);
      const events = curl.lines.filter(Boolean).map((line) => JSON.parse(line));
      last = events.filter((event) => event.type === 'case').at(-1);
      return last.reason;
    };
    const begin = Date.now();
    assert.match(
      await reason({}),
      /node-[12] .*node-[12] .*10\.9\.[01]\.1 \(ib0\).*: (No route to host|Network is unreachable|.* \d+ s)/,
    );
    const [check] = last.blamed.verdict.evidence.checks;
    assert.match(check.command, /NCCL_SOCKET_IFNAME/);
    assert.deepEqual(
      last.blamed.verdict.evidence.ways
        .map(({ from, to, address, interface: device, over }) => [from, to, address, device, over])
        .sort(),
      [
        ['node-1', 'node-2', '10.9.1.1', 'ib0', 'nccl'],
        ['node-2', 'node-1', '10.9.0.1', 'ib0', 'nccl'],
      ],
    );
    assert.ok(Date.now() - begin < 15000 * patience);
    assert.equal(await reason({ NCCL_SOCKET_IFNAME: 'eth' }), null);
    assert.match(await reason({ NCCL_SOCKET_IFNAME: 'mlx' }), /NCCL_SOCKET_IFNAME=mlx/);
  });
});
