// SPDX-License-Identifier: Apache-2.0
// sim.test.mjs - simulated runs through a real server and agents: many ranks, the same
// rows for the same seed, faults to their end, and "simulated" wherever figures show
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { faulty, noWorkersLeft, ranksOf, reached, startCluster } from './lib/cluster.mjs';
import { binDir, patience, waitFor } from './lib/fixture.mjs';
import { verdictOf } from './lib/verdicts.mjs';

const limit = { timeout: 180000 * patience };

const sim = (env = {}) => ({
  backend: 'sim',
  sizes: [8, '64K', '64M'],
  iters: 5,
  warmup: 1,
  env: { SIM_SLEEP_FRACTION: '0', ...env },
});

const figures = ({ time_us, times_us, first_us, size, wrong }) => ({
  time_us,
  times_us,
  first_us,
  size,
  wrong,
});

describe('the simulation', { concurrency: 4 }, () => {
  test('every output of a simulated run says so', limit, async (t) => {
    const { server } = await startCluster(t, 2, { agent: { ranks: 2 } });
    const node = await server.node('node-1');
    assert.equal(node.inventory.backends.sim.simulated, true);
    assert.equal(node.inventory.backends.sim.devices[0].name, 'simulated device');

    const lines = await (await server.followText(sim())).ended();
    assert.ok(lines.includes('# placed: sim, 4 ranks on node-1, node-2'), lines.join('\n'));
    assert.ok(lines.some((line) => /^# all_reduce float32 sum, simulated/.test(line)));
    assert.match(lines.at(-1), /^completed: 6 rows in .* GB\/s at 64M, simulated$/);

    const id = lines[0].match(/^# run (\S+)/)[1];
    const rows = await server.rows(id);
    assert.equal(rows.length, 6);
    for (const row of rows) {
      assert.equal(row.simulated, true);
      assert.equal(row.wrong, null);
      assert.equal(row.skew_us, undefined, 'there is no clock to measure it by');
      assert.match(row.nccl.algo, /^(RING|TREE)$/);
      assert.ok(
        lines.some((line) => line.endsWith(`  ${row.nccl.algo}`)),
        lines.join('\n'),
      );
    }
    const run = await server.getRun(id);
    assert.equal(run.backend, 'sim');
    const events = await server.events(id);
    assert.ok(events.filter((e) => e.type === 'result').every((e) => e.simulated === true));
    assert.equal(events.find((e) => e.state === 'connected').transport, 'simulated');
    const csv = (await server.get(`/api/v1/runs/${id}/results?format=csv`)).split('\r\n');
    const column = csv[0].split(',').indexOf('simulated');
    assert.ok(
      csv
        .slice(1)
        .filter(Boolean)
        .every((line) => line.split(',')[column] === 'true'),
    );
    const text = await server.get(`/api/v1/runs/${id}/results?format=text`);
    assert.match(text, /sum, simulated/);
  });

  test('the parameters are documented as the worker has them', () => {
    const list = execFileSync(path.join(binDir, 'ringbench-worker-sim'), ['--list-parameters'], {
      encoding: 'utf8',
    });
    const page = fs.readFileSync(new URL('../../docs/reference/simulation.md', import.meta.url), 'utf8');
    assert.ok(list.split('\n').length > 10, list);
    assert.ok(page.includes(list), `docs/reference/simulation.md must have:\n${list}`);
  });

  test('nothing is simulated unless a run asks for it', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const { id } = await server.run({ sizes: [8], iters: 1 });
    const run = await server.runEnds(id);
    assert.equal(run.backend, 'host');
    for (const row of await server.rows(id)) {
      assert.equal(row.simulated, undefined);
      assert.ok(row.skew_us >= 0, `${row.skew_us}`);
    }
  });

  test('the same seed gives the same rows, another seed others', limit, async (t) => {
    const { server } = await startCluster(t, 2, { agent: { ranks: 3 } });
    const all = [];
    for (const seed of ['11', '11', '12']) {
      const { id } = await server.run(sim({ SIM_SEED: seed }));
      const run = await server.runEnds(id);
      assert.equal(run.state, 'completed', run.reason);
      all.push((await server.rows(id)).map(figures));
    }
    assert.deepEqual(all[0], all[1]);
    assert.notDeepEqual(all[0], all[2]);
  });

  test('a slow node shows in the times', limit, async (t) => {
    const { server } = await startCluster(t, 3, { agent: { ranks: 2 } });
    const last = async (env) => {
      const { id } = await server.run({
        ...sim({ SIM_NOISE: '0', ...env }),
        collectives: ['all_reduce', 'sendrecv'],
        in_place: false,
      });
      const run = await server.runEnds(id);
      assert.equal(run.state, 'completed', run.reason);
      const rows = (await server.rows(id)).filter((row) => row.size === 64 * 1024 * 1024);
      return rows.map((row) => row.times_us);
    };
    const healthy = await last({});
    const slow = await last({ SIM_SLOW: 'node-2:0.25' });
    // Everybody waits in an all-reduce; neighbours wait for the node alone.
    slow[0].forEach((us, rank) => assert.ok(us > 3.5 * healthy[0][rank], `${slow[0]}`));
    assert.deepEqual(
      slow[1].map((us, rank) => us > 3 * healthy[1][rank]),
      [false, true, true, true, true, false],
      `${slow[1]} ${healthy[1]}`,
    );
  });

  test('a late rank has the shortest times, the others wait for it', limit, async (t) => {
    const { server } = await startCluster(t, 2, faulty);
    const isolated = {
      ...sim(),
      timing: 'isolated',
      sizes: { min: 8, max: '64M', factor: 8 },
    };
    const { id } = await server.run({
      ...isolated,
      fault: { kind: 'slow', rank: 1, us: 20000 },
    });
    const run = await server.runEnds(id);
    assert.equal(run.state, 'completed', run.reason);
    for (const {
      times_us: [other, late],
    } of await server.rows(id)) {
      assert.ok(other > 20000 && late < 10000, `${other} ${late}`);
    }
    assert.equal(verdictOf(run, 'lateness').answer, 'late_rank', verdictOf(run, 'lateness').sentence);
    assert.match(
      verdictOf(run, 'lateness').sentence,
      /^rank 1 on node-2 .*\b(\d+) of \1 rows: .*\b(?:19999|20\d{3})\S* us .* \(by one clock\); .*the host/,
    );
    assert.deepEqual((await server.get(`/api/v1/runs/${id}/verdict`)).verdicts, run.verdicts);
    const text = await server.get(`/api/v1/runs/${id}/events?format=text`);
    assert.ok(text.includes(`\n# lateness: ${verdictOf(run, 'lateness').sentence}\ncompleted: `), text);

    for (const slow of ['', 'node-2:0.25', 'node-1/node-2:0.5']) {
      const { env } = isolated;
      const sound = await server.runToEnd({ ...isolated, env: { ...env, SIM_SLOW: slow } });
      assert.equal(verdictOf(sound, 'lateness').answer, 'none', verdictOf(sound, 'lateness').sentence);
    }
    const quick = await server.runToEnd(sim());
    assert.equal(verdictOf(quick, 'lateness'), undefined, 'back-to-back calls cannot tell it');
  });

  test('a rank that hangs is named when the case stalls', limit, async (t) => {
    const { server, agents } = await startCluster(t, 3, {
      ...faulty,
      agent: { ...faulty.agent, ranks: 2 },
    });
    const run = await server.runToEnd({
      ...sim(),
      stall_s: 8,
      fault: { kind: 'hang', rank: 3, op: 9 },
    });
    assert.equal(run.state, 'failed');
    assert.match(run.reason, /stalled: .* 8 s; rank 3 on node-2 lags: .*operation 8 /);
    assert.match(run.reason, /5 ranks wait .*operation 9 /);
    assert.doesNotMatch(run.reason, /rank [01245] on/);
    await noWorkersLeft(agents);
  });

  test('a node through which nothing passes is named when the case stalls', limit, async (t) => {
    const { server, agents } = await startCluster(t, 3, { agent: { ranks: 2 } });
    const healthy = await server.runToEnd(sim({ SIM_SLOW: 'node-2:0@1' }));
    assert.equal(healthy.state, 'completed', 'it hangs from case 1 on');
    const run = await server.runToEnd({ ...sim({ SIM_SLOW: 'node-2:0' }), stall_s: 8 });
    assert.equal(run.state, 'failed');
    const hang = verdictOf(run, 'hang');
    assert.equal(hang.answer, 'lagging_rank', run.reason);
    assert.deepEqual(
      hang.evidence.ranks.filter(({ lagging }) => lagging).map(({ node, rank }) => [node, rank]),
      [
        ['node-2', 2],
        ['node-2', 3],
      ],
    );
    await noWorkersLeft(agents);
  });

  for (const rank of [0, 3]) {
    test(`the death of rank ${rank} is blamed on it`, limit, async (t) => {
      const { server, agents } = await startCluster(t, 2, {
        ...faulty,
        agent: { ...faulty.agent, ranks: 2 },
      });
      const run = await server.runToEnd({ ...sim(), fault: { kind: 'die', rank, row: 2 } });
      assert.equal(run.state, 'failed');
      assert.match(run.reason, new RegExp(`^rank ${rank} on node-${rank < 2 ? 1 : 2}: `));
      assert.match(run.reason, /signal 9|SIGKILL|killed/i);
      await noWorkersLeft(agents);
      const again = await server.run(sim());
      assert.equal((await server.runEnds(again.id)).state, 'completed');
    });
  }

  test('a rank that does not join is named', limit, async (t) => {
    const { server } = await startCluster(t, 2, {
      ...faulty,
      server: { args: ['--allow-faults', '--join-timeout-s', '6'] },
    });
    const run = await server.runToEnd({ ...sim(), fault: { kind: 'no_join', rank: 0 } });
    assert.equal(run.state, 'failed');
    assert.match(run.reason, /\b1 .*\b2 ranks .*\b6 s; .*rank 0 on node-1/);
  });

  test('a fault in data that is not there is refused', limit, async (t) => {
    const { server } = await startCluster(t, 2, faulty);
    const run = await server.runToEnd({ ...sim(), fault: { kind: 'wrong', rank: 1, row: 1, index: 5 } });
    assert.equal(run.state, 'failed');
    assert.match(run.reason, /\bsim\b.*\bwrong\b/);
  });

  test('a fault that the node does not allow fails the case', limit, async (t) => {
    const { server } = await startCluster(t, 1, { server: { args: ['--allow-faults'] } });
    const run = await server.runToEnd({ ...sim(), fault: { kind: 'wrong', rank: 0, row: 0, index: 0 } });
    assert.equal(run.state, 'failed');
    assert.match(run.reason, /RINGBENCH_ALLOW_FAULTS/);
  });

  test('NCCL_ALGO is obeyed, and a row by another algorithm is marked', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const lines = {
      SIM_NOISE: '0',
      SIM_TREE_US: '5',
      SIM_TREE_GBS: '20',
      SIM_RING_US: '100',
      SIM_RING_GBS: '40',
    };
    const { id } = await server.run({
      ...sim(lines),
      in_place: false,
      collectives: ['all_reduce', 'broadcast'],
      matrix: { NCCL_ALGO: ['Ring', 'Tree'] },
    });
    const run = await server.runEnds(id);
    assert.equal(run.state, 'completed', run.reason);
    const rows = await server.rows(id);
    const ways = (kind, number) =>
      rows
        .filter((row) => row.collective === kind && row.case === number)
        .map(({ nccl: { algo, unrequested } }) => [algo, unrequested ?? false]);
    assert.deepEqual(ways('all_reduce', 0), Array(3).fill(['RING', false]));
    assert.deepEqual(ways('all_reduce', 1), Array(3).fill(['TREE', false]));
    assert.deepEqual(ways('broadcast', 0), Array(3).fill(['RING', false]));
    assert.deepEqual(ways('broadcast', 1), Array(3).fill(['RING', true]), 'there is no tree for it');
    // Tree is faster where latency counts, ring where bandwidth does.
    const [small, large] = [8, 64 << 20].map((size) =>
      rows.filter((row) => row.collective === 'all_reduce' && row.size === size).map((row) => row.time_us),
    );
    assert.ok(small[1] < small[0] / 5 && large[0] < large[1] / 1.5, `${small} ${large}`);
    const text = await server.get(`/api/v1/runs/${id}/results?format=text`);
    assert.equal(text.match(/ RING, NOT REQUESTED$/gm).length, 3);
    const { series } = await server.get(`/api/v1/runs/${id}/summary`);
    assert.ok(JSON.stringify(series).includes('"unrequested":true'));
  });

  test('nights of one seed are alike and form one series', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const times = [];
    for (const night of [0, 1, 2]) {
      const env = { SIM_SEED: '5', SIM_NOISE: '0', SIM_DRIFT: '0.1', SIM_NIGHT: String(night) };
      const { id } = await server.run({ ...sim(env), in_place: false });
      assert.equal((await server.runEnds(id)).state, 'completed');
      times.push((await server.rows(id)).at(-1).time_us);
    }
    assert.ok(
      Math.abs(times[1] / times[0] - 1.1) < 1e-4 && Math.abs(times[2] / times[0] - 1.21) < 1e-4,
      `${times}`,
    );
    const points = await waitFor(async () => {
      const trend = await server.get('/api/v1/trends?band=bandwidth');
      return trend.points.length === 3 && trend.points;
    }, 'three values');
    assert.equal(new Set(points.map((point) => point.series)).size, 1);
  });

  test('a run whose rows are too uncertain says so beside its headline', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const spec = (more) => ({
      ...sim({ SIM_NOISE: '1', SIM_SEED: '3' }),
      iters: 'auto',
      in_place: false,
      ...more,
    });
    const lines = await (await server.followText(spec())).ended();
    const { summary } = await server.getRun(lines[0].match(/^# run (\S+)/)[1]);
    const { headline, noise } = summary;
    assert.deepEqual([noise.limit, noise.rows, noise.uncertain], [0.1, 3, 1]);
    const [low, high] = headline.interval;
    assert.ok(low < headline.busbw_gbs / 1.1 && headline.busbw_gbs * 1.1 < high, `${low} ${high}`);
    const said = lines
      .at(-1)
      .match(/ GB\/s at 64M \(interval (\S+) to (\S+); (1 of 3 rows .*)\), simulated$/);
    assert.ok(said, lines.at(-1));
    assert.ok(Math.abs(said[1] / low - 1) < 0.01 && Math.abs(said[2] / high - 1) < 0.01, `${said}`);
    assert.equal(said[3], noise.sentence);

    const sure = await server.runEnds((await server.run(spec({ noise_limit: 2 }))).id);
    assert.deepEqual(sure.summary.noise, { limit: 2, rows: 3, uncertain: 0 });
    const counted = await server.runEnds((await server.run(spec({ iters: 20 }))).id);
    assert.equal(counted.summary.noise, null);
    assert.equal(counted.summary.headline.interval, undefined);
  });

  test('a variable that is written wrong fails the case with its name', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const run = await server.runToEnd(sim({ SIM_RING_GB: '3' }));
    assert.equal(run.state, 'failed');
    assert.match(run.reason, /SIM_RING_GB/);
  });

  test('it takes the time that it is told to take', limit, async (t) => {
    const { server } = await startCluster(t, 1, { agent: { ranks: 2 } });
    // 1 + 10 calls of some 350 ms, and one for the check, at a tenth: 0.4 s.
    const { id } = await server.run({
      ...sim({ SIM_SLEEP_FRACTION: '0.1', SIM_NOISE: '0', SIM_RING_GBS: '1', SIM_TREE_GBS: '1' }),
      sizes: ['350M'],
      iters: 10,
      in_place: false,
    });
    const events = await server.runEnds(id).then(() => server.events(id));
    const at = (check) => Date.parse(events.find(check).time);
    const took = at((e) => e.type === 'result') - at((e) => e.state === 'connected');
    assert.ok(took >= 400, `${took} ms`);
  });

  test('a run that sleeps ends soon when it is cancelled', limit, async (t) => {
    const { server, agents } = await startCluster(t, 2);
    // Each call takes half a minute.
    const { id } = await server.run({
      ...sim({ SIM_SLEEP_FRACTION: '1', SIM_BASE_US: '30000000' }),
      sizes: [8],
    });
    await server.event(id, (event) => reached(event, 'running'));
    assert.equal((await server.request('POST', `/api/v1/runs/${id}/cancel`)).status, 202);
    const run = await server.runEnds(id);
    assert.equal(run.state, 'cancelled');
    // Killed ones say nothing.
    assert.deepEqual(
      ranksOf(run.cases[0]).map(({ reason }) => reason),
      Array(2).fill('cancelled: stopped on request'),
    );
    await noWorkersLeft(agents);
  });
});
