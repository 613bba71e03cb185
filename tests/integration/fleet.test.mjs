// SPDX-License-Identifier: Apache-2.0
// fleet.test.mjs - ringbench-sim and a real server: rows like those of real workers, slow parts that
// the server names, and nothing left behind
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import {
  assertNumbered,
  assertProblem,
  assertWholeRows,
  startAgent,
  startFleet,
  startServer,
} from './lib/cluster.mjs';
import { Program, binDir, patience, tempDir, waitFor } from './lib/fixture.mjs';
import { verdictOf } from './lib/verdicts.mjs';

const limit = { timeout: 120000 * patience };
const program = path.join(binDir, 'ringbench-sim');

const sim = (more = {}) => ({
  backend: 'sim',
  sizes: [8, '64K', '64M'],
  iters: 5,
  warmup: 1,
  in_place: false,
  ...more,
  env: { SIM_SLEEP_FRACTION: '0', ...more.env },
});
// Minutes: something to interrupt.
const slow = () =>
  sim({
    sizes: { min: 4096, max: 4096 * 200, step: 4096 },
    stall_s: 30,
    env: { SIM_SLEEP_FRACTION: '1', SIM_BASE_US: '100000' },
  });

// The run over all of them, to its end.
async function runs(server, spec) {
  const run = await server.runToEnd(spec);
  return { run, rows: await server.rows(run.id) };
}

describe('a simulated fleet', { concurrency: 4 }, () => {
  test('64 nodes complete a run over all, marked simulated, and leave', limit, async (t) => {
    const server = await startServer(t);
    const fleet = await startFleet(t, server, 64, ['--ranks', '8', '--racks', '4']);
    const { nodes } = await server.get('/api/v1/nodes');
    assert.equal(nodes.length, 64);
    assert.deepEqual(
      nodes.filter((node) => node.labels.rack === 'rack-2').map((node) => node.name),
      Array.from({ length: 16 }, (_, i) => `sim-${17 + i}`),
    );
    assert.ok(nodes.every((node) => node.inventory.simulated && node.inventory.backends.sim.simulated));
    assert.equal(
      new Set(nodes.map((node) => node.address)).size,
      64,
      'each connects from an address of its own',
    );

    const { run, rows } = await runs(server, sim({ check: 1 }));
    assert.equal(run.state, 'completed', run.reason);
    assert.equal(run.world_size, 512);
    assertWholeRows(run, rows);
    assert.ok(rows.every((row) => row.simulated && row.wrong === null && row.times_us.length === 512));
    const events = await server.events(run.id);
    assertNumbered(events);
    assert.equal(events.find((event) => event.state === 'connected').transport, 'simulated');
    assert.ok((await server.get('/api/v1/nodes?inventory=0')).nodes.every((node) => node.state === 'idle'));

    fleet.signal('SIGTERM');
    assert.equal((await fleet.ended()).code, 0, fleet.describe());
    assert.ok((await server.get('/api/v1/nodes?inventory=0')).nodes.every((node) => node.state === 'left'));
  });

  test(
    'nodes that can not all keep a second connection do not wait until idle ones close',
    limit,
    async (t) => {
      const server = await startServer(t, { args: ['--poll-s', '10', '--lease-s', '120'] });
      const fleet = new Program(t, 'bash', [
        '-c',
        `ulimit -n 2500; exec ${program} "$@"`,
        'ringbench-sim',
        '--server',
        server.url,
        '--nodes',
        '1300',
        '--ranks',
        '1',
      ]);
      await fleet.line(/^1300 simulated nodes/, 30000);
      const { run } = await runs(server, sim({ sizes: [8] }));
      assert.equal(run.state, 'completed', run.reason);
      assert.ok(Date.parse(run.ended) - Date.parse(run.started) < 60000, `${run.started} to ${run.ended}`);
    },
  );

  test('its rows have the keys of real workers, and without noise their times', limit, async (t) => {
    const env = { SIM_NOISE: '0', SIM_SLOW: 'sim-2:0.5' };
    const specs = [
      sim({ env, collectives: ['all_reduce', 'alltoall', 'sendrecv'] }),
      sim({ env, iters: 'auto' }),
      sim({ env, split: 'local_rank', sizes: [8, '100G'] }),
      sim({ env: { ...env, NCCL_ALGO: 'Tree' }, collectives: ['broadcast', 'hypercube', 'alltoallv'] }),
    ];
    const real = await startServer(t);
    for (const name of ['sim-1', 'sim-2', 'sim-3']) await startAgent(t, real, name, { ranks: 2 });
    const fleet = await startServer(t);
    await startFleet(t, fleet, 3, ['--ranks', '2']);
    const rounded = (us) => us?.toPrecision(4);
    const shown = (row) => ({
      ...Object.fromEntries(Object.keys(row).map((key) => [key, 0])),
      ...{ size: row.size, group: row.group, skipped: row.skipped, nccl: row.nccl, blocks: row.blocks },
      time_us: rounded(row.time_us),
      times_us: row.times_us?.map(rounded),
      blocks_us: row.blocks_us?.map(rounded),
    });
    for (const spec of specs) {
      const expected = await runs(real, spec),
        { run, rows } = await runs(fleet, spec);
      assert.equal(expected.run.state, 'completed', expected.run.reason);
      assert.equal(run.state, 'completed', run.reason);
      assert.deepEqual(rows.map(shown), expected.rows.map(shown));
    }
  });

  test('a slow node, link and rack are in the rows of those who use them', limit, async (t) => {
    const spec = (nodes) =>
      sim({
        sizes: ['1G'],
        ranks_per_node: 1,
        nodes: { names: nodes },
        env: { SIM_NOISE: '0' },
      });
    const server = await startServer(t);
    const busbw = async (...nodes) => (await runs(server, spec(nodes))).rows[0].busbw_gbs;
    const near = (value, expected) =>
      assert.ok(Math.abs(value / expected - 1) < 0.05, `${value}, not ${expected}`);
    await startFleet(t, server, 16, [
      '--ranks',
      '1',
      '--racks',
      '4',
      '--slow',
      'sim-2:0.25,sim-3/sim-4:0.5,rack-2:0.5',
    ]);
    const healthy = await busbw('sim-1', 'sim-3');
    near(await busbw('sim-1', 'sim-2'), healthy / 4);
    near(await busbw('sim-3', 'sim-4'), healthy / 2);
    near(await busbw('sim-5', 'sim-6'), healthy);
    near(await busbw('sim-5', 'sim-9'), healthy / 2);
    near(await busbw('sim-13', 'sim-14'), healthy);
  });

  test(
    'pairs of more nodes than a run has cases for: so many rounds, and the slow node is named',
    limit,
    async (t) => {
      const server = await startServer(t);
      await startFleet(t, server, 150, ['--ranks', '1', '--racks', '5', '--slow', 'sim-77:0.5']);
      const spec = sim({ pattern: 'pairs', sizes: ['64M'] });
      const refused = async (more) => (await server.post({ ...spec, ...more })).json.errors;
      const [tooMany] = await refused({ rounds: 149 });
      assert.equal(tooMany.pointer, '/rounds');
      assert.match(tooMany.detail, /150 nodes .*\b11175 cases.*\b10000\b.*\b129\b/);
      assert.deepEqual(
        (await refused({ pattern: 'scaling', rounds: 4 })).map(({ pointer }) => pointer),
        ['/rounds'],
      );
      const [removed] = await refused({ pattern: 'bisect' });
      assert.equal(removed.pointer, '/pattern');
      assert.match(removed.detail, /\bpairs\b/);
      const usual = (await server.request('POST', '/api/v1/runs/validate', { body: JSON.stringify(spec) }))
        .json;
      assert.equal(usual.cases, 8 * 75, 'above 16 nodes 8 rounds');
      const few = { ...spec, rounds: 4 };
      const preview = (await server.request('POST', '/api/v1/runs/validate', { body: JSON.stringify(few) }))
        .json;
      assert.deepEqual([preview.cases, preview.rows, preview.spec.rounds], [300, 300, 4]);
      const { run } = await runs(server, few);
      assert.equal(run.state, 'completed', run.reason);
      assert.match(verdictOf(run, 'culprit').sentence, /^sim-77 .*\b4 .*\b4 /);
      const planned = run.cases.filter((c) => !c.confirms);
      assert.equal(new Set(planned.map((c) => c.nodes.join(' '))).size, 300);
      const partners = new Map();
      for (const node of planned.flatMap((c) => c.nodes)) partners.set(node, (partners.get(node) ?? 0) + 1);
      assert.deepEqual([...new Set(partners.values())], [4]);
      assert.equal(partners.size, 150);
    },
  );

  test('what is slow changes while the fleet runs, and recovers', limit, async (t) => {
    const server = await startServer(t);
    const file = path.join(tempDir(t), 'slow');
    fs.writeFileSync(file, '');
    await startFleet(t, server, 8, ['--ranks', '1', '--slow', `@${file}`]);
    const pairs = sim({ pattern: 'pairs', sizes: ['64M'] });
    const many = `sim-1:1,sim-2:1,sim-3:1,sim-4:1,sim-5:1,sim-7:1,sim-8:1,sim-1/sim-8:1,sim-6:0.25`;
    for (const [text, answer, nodes] of /** @type {any[][]} */ ([
      ['', 'none', []],
      ['sim-6:0.5\n', 'slow_node', ['sim-6']],
      [`\n${many}\n`, 'slow_node', ['sim-6']],
      ['sim-1/sim-2:0.5\n', 'slow_link', ['sim-1', 'sim-2']],
      ['', 'none', []],
    ])) {
      fs.writeFileSync(file, text);
      const { run } = await runs(server, pairs);
      const culprit = verdictOf(run, 'culprit');
      assert.equal(culprit.answer, answer, culprit.sentence);
      for (const node of nodes) assert.ok(culprit.sentence.includes(node), culprit.sentence);
    }
    fs.writeFileSync(file, 'sim-6:half\n');
    const { run } = await runs(server, sim());
    assert.equal(run.state, 'failed');
    assert.match(run.reason, /--slow: 'sim-6:half'/);
  });

  test('a node through which nothing passes is named as the one that hangs', limit, async (t) => {
    const server = await startServer(t);
    await startFleet(t, server, 4, ['--ranks', '2']);
    const { run } = await runs(server, sim({ stall_s: 8, env: { SIM_SLOW: 'sim-3:0' } }));
    assert.equal(run.state, 'failed');
    const hang = verdictOf(run, 'hang');
    assert.equal(hang.answer, 'lagging_rank', run.reason);
    assert.deepEqual(
      hang.evidence.ranks.filter(({ lagging }) => lagging).map(({ node, rank }) => [node, rank]),
      [
        ['sim-3', 4],
        ['sim-3', 5],
      ],
    );
    await server.nodeIs('sim-3', 'idle');
  });

  test('a hang is the only fault of a run that it has, and there are no single calls', limit, async (t) => {
    const server = await startServer(t, { args: ['--allow-faults'] });
    await startFleet(t, server, 2, ['--ranks', '2']);
    const hang = await runs(server, sim({ stall_s: 5, fault: { kind: 'hang', rank: 1, op: 3 } }));
    assert.equal(hang.run.state, 'failed');
    assert.match(verdictOf(hang.run, 'hang').sentence, /rank 1 on sim-1 .*operation 2 /);
    for (const [more, pattern] of /** @type {any[][]} */ ([
      [{ fault: { kind: 'die', rank: 1 } }, /\bfault hang\b/],
      [{ fault: { kind: 'wrong', rank: 1, row: 0 } }, /\bfault hang\b/],
      [{ timing: 'isolated' }, /\bisolated\b/],
      [{ per_iter: true }, /\bper_iter\b/],
    ])) {
      const { run } = await runs(server, sim(more));
      assert.equal(run.state, 'failed');
      assert.match(run.reason, pattern);
    }
  });

  test(
    'of 20 runs the rank that hangs is named in each with its operation, wherever it is',
    limit,
    async (t) => {
      const server = await startServer(t, { args: ['--allow-faults'] });
      const seeds = Array.from({ length: 20 }, (_, i) => i + 1);
      const bad = (seed) => `sim-${4 * (seed - 1) + 1 + ((seed * 7) % 4)}`;
      await startFleet(t, server, 80, ['--ranks', '2']);
      const ids = await Promise.all(
        seeds.map(
          async (seed) =>
            (
              await server.run(
                sim({
                  stall_s: 12,
                  iters: 7,
                  fault: { kind: 'hang', rank: 2 * ((seed * 7) % 4), op: seed },
                  nodes: { names: [1, 2, 3, 4].map((k) => `sim-${4 * (seed - 1) + k}`) },
                }),
              )
            ).id,
        ),
      );
      for (const [i, id] of ids.entries()) {
        const run = await server.runEnds(id);
        const { reason } = run;
        const hang = verdictOf(run, 'hang');
        assert.equal(hang?.answer, 'lagging_rank', reason);
        const named = hang.evidence.ranks.filter(({ lagging }) => lagging);
        assert.deepEqual(
          named.map(({ node, rank, operation, finished }) => [node, rank % 2, operation, finished]),
          [[bad(seeds[i]), 0, seeds[i] - 1, seeds[i] - 1]],
          reason,
        );
        assert.equal(hang.evidence.waiting, 7);
      }
    },
  );

  test('a cancel ends it, and a server that was killed finds the fleet again', limit, async (t) => {
    const server = await startServer(t);
    const fleet = await startFleet(t, server, 16);
    const { id } = await server.run(slow());
    await server.event(id, (event) => event.type === 'result');
    await server.request('POST', `/api/v1/runs/${id}/cancel`);
    assert.equal((await server.runEnds(id)).state, 'cancelled');
    const next = await server.run(slow());
    await server.event(next.id, (event) => event.type === 'result');
    await server.killHard();
    const again = await server.startAgain();
    await waitFor(async () => (await again.getRun(next.id)).rows_done > 2, 'the run goes on', 30000);
    await again.request('POST', `/api/v1/runs/${next.id}/cancel`);
    assert.equal((await again.runEnds(next.id)).state, 'cancelled');
    assertNumbered(await again.events(next.id));
    fleet.signal('SIGINT');
    await fleet.ended();
  });

  test('kill -9 of the server while pairs confirm a suspect: nothing counts twice', limit, async (t) => {
    let server = await startServer(t);
    const fleet = await startFleet(t, server, 9, ['--ranks', '1', '--slow', 'sim-3:0.5']);
    const { id } = await server.run(
      sim({
        pattern: 'pairs',
        sizes: ['64M'],
        iters: 100,
        env: { SIM_SLEEP_FRACTION: '1', SIM_BASE_US: '10000', SIM_NOISE: '0' },
      }),
    );
    let after = -1;
    // After the first kill, a slow machine may see the run end before another such round.
    const confirmsAgain = async (mayHaveEnded) => {
      const run = await server.getRun(id);
      const found = run.cases.find((c) => c.confirms && c.round > after && c.state === 'running');
      after = found?.round ?? after;
      return found || (mayHaveEnded && run.state === 'completed');
    };
    for (let time = 0; time < 2; time++) {
      await waitFor(() => confirmsAgain(time > 0), 'a round that confirms', 60000);
      await server.killHard();
      server = await server.startAgain();
    }
    const run = await server.runEnds(id, 90000);
    assert.equal(run.state, 'completed', run.reason);
    assert.match(verdictOf(run, 'culprit').sentence, /^sim-3 is slow/);
    const rows = await server.rows(id),
      { evidence } = verdictOf(run, 'culprit');
    assert.deepEqual(
      rows.map((row) => row.case).sort((a, b) => a - b),
      run.cases.map((c) => c.case),
      'a row a case',
    );
    assert.deepEqual([run.rows_done, run.rows_total], [rows.length, rows.length]);
    assert.equal(evidence.groups, run.cases.length);
    const confirming = run.cases.filter((c) => c.confirms && c.nodes.includes('sim-3'));
    assert.deepEqual(
      evidence.suspects.map((one) => [one.state, one.confirming, one.confirmed]),
      [['guilty', 3, 3]],
      JSON.stringify(evidence.suspects),
    );
    assert.equal(confirming.length, 3);
    assertNumbered(await server.events(id));
    fleet.signal('SIGTERM');
    await fleet.ended();
  });

  const demo = (server, options) => server.request('POST', '/api/v1/demo', options);
  const playing = (server) =>
    fs.readdirSync('/proc').filter((pid) => {
      try {
        return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`--server=${server.url}\0`);
      } catch {
        return false;
      }
    });

  test('a server without nodes starts simulated ones, and ends them with itself', limit, async (t) => {
    const server = await startServer(t, { env: { RINGBENCH_LEASE_S: '12' } });
    assert.deepEqual(await server.get('/api/v1/access'), { operator: true, demo: true, reason: null });
    const started = await demo(server);
    assert.equal(started.status, 202, started.text);
    assertProblem(await demo(server), 409);
    const { run } = await runs(
      server,
      sim({ pattern: 'pairs', nodes: { count: started.json.nodes }, sizes: ['64M'] }),
    );
    assert.match(verdictOf(run, 'culprit').sentence, /^sim-6 .*\b15 .*\b15 /);
    assert.equal((await server.get('/api/v1/access')).demo, false);
    assert.equal(playing(server).length, 1);
    // Nodes that are gone are in nobody's way.
    process.kill(Number(playing(server)[0]), 'SIGKILL');
    await waitFor(async () => (await server.get('/api/v1/access')).demo, 'its nodes are lost');
    assert.equal((await demo(server)).status, 202);
    await waitFor(() => playing(server).length === 1, 'it plays again');
    await server.nodeIs('sim-16', 'idle');
    server.signal('SIGTERM');
    assert.equal((await server.ended()).code, 0, server.describe());
    await waitFor(() => playing(server).length === 0, 'the nodes end');
  });

  test('a server with tokens starts none', limit, async (t) => {
    const tokens = path.join(tempDir(t), 'tokens');
    fs.writeFileSync(tokens, 'operator run-0123456789abcdef\n', { mode: 0o600 });
    const server = await startServer(t, { args: ['--token-file', tokens] });
    const headers = { Authorization: 'Bearer run-0123456789abcdef' };
    assertProblem(await demo(server, { headers }), 409, /ringbench-sim --server URL --token-file FILE/);
    assert.equal((await server.request('GET', '/api/v1/access', { headers })).json.demo, false);
  });

  test('it leaves after the time that it is told', limit, async (t) => {
    const server = await startServer(t);
    const fleet = await startFleet(t, server, 4, ['--for-s', String(patience)]);
    assert.equal((await fleet.ended()).code, 0, fleet.describe());
    assert.ok((await server.get('/api/v1/nodes?inventory=0')).nodes.every((node) => node.state === 'left'));
  });

  test('what it can not do it says', () => {
    const refused = (args, pattern) => {
      const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' });
      assert.equal(status, 1);
      assert.match(stderr, pattern);
    };
    const server = ['--server', 'http://127.0.0.1:9'];
    refused([], /--server is missing/);
    refused([...server, '--slow', 'sim-2'], /'sim-2' .*PLACE:FACTOR/);
    refused([...server, '--slow', 'tired:1'], /'tired' .*sim-1 to sim-16\)/);
    refused([...server, '--slow', 'sim-17:0.5'], /'sim-17' .*sim-1 to sim-16\)/);
    refused([...server, '--slow', 'sim-1:0.5,sim-007:0.5'], /'sim-007' .*sim-1 to sim-16\)/);
    refused([...server, '--slow', 'sim-+1:3'], /'sim-\+1' .*sim-1 to sim-16\)/);
    refused([...server, '--slow', 'sim-1/sim-99:0.5'], /'sim-1\/sim-99' .*sim-1 to sim-16\)/);
    refused([...server, '--slow', 'rack-1:0.5'], /'rack-1' .*--racks/);
    refused([...server, '--racks', '2', '--slow', 'rack-3:0.5'], /'rack-3' .*rack-1 to rack-2/);
    refused([...server, '--slow', 'sim-1/sim-1:0.5'], /'sim-1\/sim-1' .*a pair/);
    refused([...server, '--slow', '@/no/such/file'], /\/no\/such\/file: No such file/);
    refused([...server, '--slow', '@/'], /\/: Is a directory/);
    refused([...server, '--racks', '17'], /\b17 .*16 nodes/);
    refused([...server, '--seed', 'x'], /--seed: 'x'/);
    const { stderr } = spawnSync(
      'bash',
      ['-c', `ulimit -n 256; exec ${program} "$@"`, 'sim', ...server, '--nodes', '1000'],
      { encoding: 'utf8' },
    );
    assert.match(stderr, /1000 nodes .*2024 open files.*256/);
  });
});
