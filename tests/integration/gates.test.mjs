// SPDX-License-Identifier: Apache-2.0
// gates.test.mjs - a run's checks: what passes, what fails, and that no data is never a pass
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { Lines, assertProblem, faulty, long, quick, startCluster } from './lib/cluster.mjs';
import { patience, tempDir, waitFor } from './lib/fixture.mjs';
import { verdictOf } from './lib/verdicts.mjs';

const limit = { timeout: 120000 * patience };

// The same figures each time: 20 us at 8, 22 us at 64K, 2117 us at 64M on four ranks of two nodes.
const sim = (env = {}) => ({
  backend: 'sim',
  sizes: [8, '64K', '64M'],
  iters: 5,
  warmup: 1,
  repeats: 2,
  env: { SIM_SLEEP_FRACTION: '0', SIM_SEED: '7', SIM_NOISE: '0', ...env },
});

const at = (id, query = '') => `/api/v1/runs/${id}/verdict${query}`;

// Post, wait for the end, and take the answer of each check.
async function judged(server, spec) {
  const { id } = await server.run(spec);
  const answer = await server.request('GET', at(id, '?wait=100'));
  assert.equal(answer.status, 200, answer.text);
  const { verdict } = answer.json;
  assert.equal(answer.headers['ringbench-verdict'], verdict.answer);
  const checks = Object.fromEntries(verdict.evidence.checks.map((check) => [check.check, check]));
  return { id, verdict, checks, run: await server.getRun(id) };
}

const answers = (checks) =>
  Object.fromEntries(Object.entries(checks).map(([name, { answer }]) => [name, answer]));

const loose = { fast: { figure: 'time_us', max: 1e9 } };

// Once the run has ended: until then the answer is 202.
async function verdictAtEnd(server, id) {
  for (;;) {
    const { status, text, json } = await server.request('GET', at(id, '?wait=100'));
    if (status !== 202) {
      assert.equal(status, 200, text);
      return json.verdict;
    }
  }
}

describe('gates', { concurrency: 4 }, () => {
  test('a run that keeps its bounds passes, and says so everywhere', limit, async (t) => {
    const { server } = await startCluster(t, 2, { agent: { ranks: 2 } });
    const thresholds = {
      large: { figure: 'busbw_gbs', min: 1, size: '64M' },
      small: { figure: 'time_us', max: 1e6, sizes: { max: '64K' } },
      dip: { figure: 'dip_percent', max: 50 },
      ranks: { figure: 'ranks', min: 4, max: 4 },
    };
    const text = await server.followText({ ...sim(), thresholds });
    const lines = await text.ended();
    const id = text.headers.location.split('/').pop();
    const sentence = 'all 5 checks passed (simulated)';
    assert.ok(lines.includes('# gate ranks: pass: 4 ranks, exactly 4 required'), text.describe());
    assert.ok(lines.at(-1).startsWith('completed: 12 rows in '), lines.at(-1));
    assert.ok(lines.at(-1).endsWith(`; gate: pass: ${sentence}`), lines.at(-1));

    const verdict = verdictOf(await server.getRun(id), 'gate');
    assert.equal(verdict.kind, 'gate');
    assert.equal(verdict.sentence, sentence);
    assert.deepEqual(
      verdict.evidence.checks.map(({ check, answer }) => [check, answer]),
      ['completed', 'large', 'small', 'dip', 'ranks'].map((name) => [name, 'pass']),
    );
    assert.equal(verdict.evidence.checks[1].size, 64 << 20);
    assert.equal(verdict.evidence.checks[1].points, 2);
    assert.deepEqual(verdictOf((await server.get('/api/v1/runs')).runs[0], 'gate'), {
      kind: 'gate',
      answer: 'pass',
      sentence,
      nodes: [],
    });
    const { verdicts } = await server.getRun(id);
    assert.deepEqual(await server.get(at(id)), {
      run: id,
      state: 'completed',
      asked: true,
      verdict,
      verdicts,
    });
    assert.deepEqual(verdictOf((await server.events(id)).at(-1), 'gate'), verdict);
    const shown = await server.request('GET', at(id), { headers: { Accept: 'text/plain' } });
    assert.equal(shown.text.split('\n')[0], `pass: ${sentence}`);
    assert.match(shown.text, /^pass +ranks +4 ranks, exactly 4 required$/m);
    assert.match(
      await server.get('/api/v1/runs?format=text'),
      new RegExp(`^${id} +completed .* pass +all_reduce`, 'm'),
    );
  });

  test('each check fails at a fault of its own', limit, async (t) => {
    const { server } = await startCluster(t, 2, { agent: { ranks: 2 } });
    const healthy = await judged(server, {
      ...sim(),
      thresholds: { large: { figure: 'busbw_gbs', min: 1, size: '64M' } },
    });
    assert.equal(healthy.verdict.answer, 'pass');
    const { value } = healthy.checks.large;
    const thresholds = {
      large: { figure: 'busbw_gbs', min: 0.9 * value, size: '64M' },
      small: { figure: 'time_us', max: 1e6, size: 8 },
      ranks: { figure: 'ranks', min: 8 },
    };
    const slow = await judged(server, { ...sim({ SIM_SLOW: 'node-2:0.25' }), thresholds });
    assert.deepEqual(answers(slow.checks), {
      completed: 'pass',
      large: 'fail',
      small: 'pass',
      ranks: 'fail',
    });
    assert.match(
      slow.verdict.sentence,
      /^2 .*\b4 .*: large: busbw .* 64M \(all_reduce float32 sum, .*; .*\b2 .*\b2 .*\(simulated\)$/,
    );
    assert.ok(slow.checks.large.value < 0.5 * value);
    assert.equal(slow.run.state, 'completed');

    // Two nodes are slower than one: the matrix's second combination alone is beyond.
    const split = await judged(server, {
      ...sim(),
      matrix: { SIM_RING_GBS: ['50', '10'] },
      thresholds: { large: thresholds.large },
    });
    assert.equal(split.verdict.answer, 'fail');
    assert.deepEqual(split.checks.large.env, { SIM_RING_GBS: '10' });
    assert.equal(split.checks.large.beyond, 2);
    assert.equal(split.checks.large.points, 4);

    const dips = (noise) =>
      judged(server, {
        ...sim({ SIM_NOISE: noise }),
        sizes: { min: '1M', max: '16M', step: '1M' },
        thresholds: { dip: { figure: 'dip_percent', max: 5 } },
      });
    assert.equal((await dips('0')).verdict.answer, 'pass');
    const fell = (await dips('0.5')).checks.dip;
    assert.equal(fell.answer, 'fail');
    assert.match(fell.sentence, /^busbw .*\d % from \d+M to \d+M \(all_reduce .*\b5 % /);
    assert.ok(fell.size > fell.from_size);
  });

  test('who asks before the end is told that it goes on', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const { id } = await server.run({ ...long, thresholds: loose });
    const now = await server.request('GET', at(id, '?format=text'));
    assert.equal(now.status, 202);
    assert.match(now.text, /^not ended: the run is \w+\n$/);
    assert.equal(now.headers['ringbench-verdict'], undefined);
    const soon = await server.request('GET', at(id, '?wait=1'));
    assert.equal(soon.status, 202);
    assert.equal(soon.json.verdict, null);
  });

  test('a wait ends with the run, and a client may leave it', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const { id } = await server.run({ ...long, thresholds: loose });
    const asked = [1, 2, 3].map(() => server.request('GET', at(id, '?wait=100')));
    const gone = new Lines(t);
    gone.open(server.url, 'GET', at(id, '?wait=100')).catch(() => {});
    const count = async () =>
      Number((await server.get('/metrics')).match(/^ringbench_http_connections (\d+)$/m)[1]);
    await waitFor(async () => (await count()) >= 5, 'four wait');
    gone.stop();
    await server.event(id, (event) => event.type === 'result');
    await server.request('POST', `/api/v1/runs/${id}/cancel`);
    for (const answer of await Promise.all(asked)) {
      assert.equal(answer.status, 200);
      assert.equal(answer.json.state, 'cancelled');
      assert.equal(answer.json.verdict.answer, 'not_evaluated');
      assert.match(answer.json.verdict.sentence, /^2 of 2 checks .*: completed: .*cancelled/);
    }
  });

  test('bad questions are refused', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const { id } = await server.run(quick);
    assertProblem(await server.request('GET', at('nothing')), 404);
    for (const wait of ['x', '-1', '86401'])
      assertProblem(await server.request('GET', at(id, `?wait=${wait}`)), 400);
    assertProblem(await server.request('GET', at(id, '?format=csv')), 422);
    assertProblem(await server.request('GET', at(id), { headers: { Accept: 'text/csv' } }), 406);
    const refused = assertProblem(
      await server.post({ ...quick, thresholds: { a: { figure: 'time_us', size: 9, max: 1 } } }),
      422,
    );
    assert.deepEqual(
      refused.errors.map(({ pointer }) => pointer),
      ['/thresholds/a'],
    );
  });

  test('a run that asks for nothing never passes', limit, async (t) => {
    const { server } = await startCluster(t, 2, faulty);
    const plain = await judged(server, quick);
    assert.equal(plain.verdict.answer, 'not_evaluated');
    assert.match(plain.verdict.sentence, /no checks/);
    assert.equal(verdictOf(plain.run, 'gate'), undefined);
    const failed = await judged(server, { ...quick, fault: { kind: 'die', rank: 1, row: 2 } });
    assert.equal(failed.verdict.answer, 'fail');
    assert.match(failed.verdict.sentence, /^1 of 1 checks failed: completed: the run failed: rank 1/);
  });

  test('a run that failed, wholly or in part, never passes', limit, async (t) => {
    const { server } = await startCluster(t, 2, faulty);
    const spec = {
      ...quick,
      repeats: 3,
      thresholds: { ...loose, ranks: { figure: 'ranks', min: 2, max: 2 }, right: { figure: 'wrong' } },
    };
    const died = await judged(server, { ...spec, fault: { kind: 'die', rank: 1, row: 2 } });
    assert.deepEqual(answers(died.checks), {
      completed: 'fail',
      fast: 'not_evaluated',
      ranks: 'pass',
      right: 'not_evaluated',
    });
    assert.equal(died.verdict.answer, 'fail');

    // Two cases of four: the others' variable is nonsense.
    const half = await judged(server, {
      ...sim(),
      matrix: { SIM_BASE_US: ['8', 'nonsense'] },
      thresholds: spec.thresholds,
    });
    assert.equal(half.run.summary.cases.completed, 2, JSON.stringify(half.run.summary));
    assert.equal(half.verdict.answer, 'fail');
    assert.equal(half.checks.fast.answer, 'not_evaluated');

    const wrong = await judged(server, { ...spec, fault: { kind: 'wrong', rank: 1, row: 2, index: 0 } });
    assert.deepEqual(answers(wrong.checks), {
      completed: 'fail',
      fast: 'not_evaluated',
      ranks: 'pass',
      right: 'fail',
    });
    assert.match(wrong.checks.right.sentence, /^\d+ wrong elements?, at most 0 required$/);
  });

  test('a run that was stopped before its end never passes', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const late = await judged(server, { ...long, timeout_s: 1, thresholds: loose });
    assert.deepEqual(answers(late.checks), { completed: 'fail', fast: 'not_evaluated' });
    assert.match(late.verdict.sentence, /timeout/);
    const nobody = await judged(server, {
      ...quick,
      nodes: { count: 9, wait_s: 0 },
      thresholds: { ...loose, n: { figure: 'ranks', min: 1 } },
    });
    assert.deepEqual(answers(nobody.checks), {
      completed: 'not_evaluated',
      fast: 'not_evaluated',
      n: 'not_evaluated',
    });
    assert.equal(nobody.verdict.answer, 'not_evaluated');
  });

  test('no data is never a pass', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    // Skipped for want of memory; too few elements; one rank, which has no bus.
    const skipped = await judged(server, {
      ...sim(),
      sizes: [8, '64G'],
      thresholds: { ...loose, small: { figure: 'time_us', size: 8, max: 1e9 } },
    });
    assert.deepEqual(answers(skipped.checks), { completed: 'pass', fast: 'not_evaluated', small: 'pass' });
    assert.match(skipped.checks.fast.sentence, /^64G was skipped: /);
    assert.equal(skipped.verdict.answer, 'not_evaluated');
    const alone = await judged(server, {
      ...quick,
      thresholds: { bw: { figure: 'busbw_gbs', max: 1e9 }, dip: { figure: 'dip_percent', max: 99 } },
    });
    assert.equal(alone.run.world_size, 1);
    assert.deepEqual(answers(alone.checks), { completed: 'pass', bw: 'not_evaluated', dip: 'not_evaluated' });
  });

  // A program that says its loss, and its rate unless it was told not to.
  const trainer = `#!/bin/sh
echo "loss: 3"; echo "loss: $1"
if [ "$2" = true ]; then echo "rate: 7"; fi
`;

  async function withPrograms(t) {
    const dir = tempDir(t);
    fs.mkdirSync(path.join(dir, 'programs.d'));
    fs.writeFileSync(path.join(dir, 'train.sh'), trainer);
    fs.writeFileSync(
      path.join(dir, 'programs.d', 'train.json'),
      JSON.stringify({
        description: 'says a loss',
        argv: ['/bin/sh', '{config_dir}/train.sh', '{loss}', '{rates}'],
        parameters: {
          loss: { type: 'string', pattern: '[a-z0-9.]+', default: '2' },
          rates: { type: 'boolean', default: true },
        },
        metrics: [
          { name: 'loss', unit: 'nats', higher_is_better: false, regex: 'loss: (\\S+)' },
          { name: 'rate', unit: '1/s', higher_is_better: true, regex: 'rate: (\\S+)' },
        ],
      }),
    );
    return startCluster(t, 2, { agent: { args: ['--config-dir', dir] } });
  }

  test('a program’s figures are judged, and what it did not say is no pass', limit, async (t) => {
    const { server } = await withPrograms(t);
    const thresholds = {
      loss: { figure: 'metric', metric: 'loss', use: 'last', max: 2.5 },
      rate: { figure: 'metric', metric: 'rate', min: 7, max: 7 },
      two: { figure: 'ranks', min: 2 },
    };
    const run = (args) => judged(server, { program: { name: 'train', args }, thresholds });
    const good = await run({});
    assert.equal(good.verdict.sentence, 'all 4 checks passed');
    assert.equal(good.checks.loss.sentence, 'last loss is 2 nats on rank 0, at most 2.5 nats required');
    const high = await run({ loss: '2.75' });
    assert.deepEqual(answers(high.checks), { completed: 'pass', loss: 'fail', rate: 'pass', two: 'pass' });
    for (const said of ['nan', 'inf']) {
      const none = await run({ loss: said });
      assert.deepEqual(answers(none.checks), {
        completed: 'pass',
        loss: 'not_evaluated',
        rate: 'pass',
        two: 'pass',
      });
      assert.match(none.checks.loss.sentence, /^2 .*\bloss\b/);
      assert.equal(none.run.state, 'completed');
      const row = (await server.rows(none.id)).find(({ skipped }) => skipped);
      assert.equal(row.skipped, `the program printed ${said}`);
      assert.equal(row.value, undefined);
    }
    const silent = await run({ rates: false });
    assert.deepEqual(answers(silent.checks), {
      completed: 'pass',
      loss: 'pass',
      rate: 'not_evaluated',
      two: 'pass',
    });
    assert.equal(silent.verdict.answer, 'not_evaluated');
  });

  // Runs of one series, each a night later: they differ by half a per cent.
  const night = (n, more = {}) => ({
    ...sim({ SIM_RUN_NOISE: '0.005', SIM_NIGHT: String(n) }),
    sizes: [8, '64M'],
    baseline: { last: 10 },
    ...more,
  });

  const slowRank = { fault: { kind: 'slow', rank: 1, us: 20000 } };

  test('a gate knows the usual range, and fails what is slow twice', limit, async (t) => {
    const { server } = await startCluster(t, 2, { ...faulty, agent: { ...faulty.agent, ranks: 1 } });
    const ids = [];
    for (let n = 0; n < 5; n++) {
      const early = await judged(server, night(n));
      assert.equal(early.verdict.answer, 'not_evaluated', early.verdict.sentence);
      if (n > 0) {
        const [band] = early.checks.baseline.comparison.evidence.bands;
        assert.deepEqual([band.reason, band.runs_needed], ['too_few_runs', 5 - n]);
      }
      ids.unshift(early.id);
    }
    const usual = await judged(server, night(5));
    assert.equal(usual.verdict.answer, 'pass', usual.verdict.sentence);
    assert.deepEqual(usual.checks.baseline.against, ids);
    const { evidence } = usual.checks.baseline.comparison;
    assert.equal(evidence.unit, 'run');
    assert.deepEqual(evidence.runs, { base: 5, head: 1, history: 0 });
    for (const band of evidence.bands) {
      assert.equal(band.answer, 'same');
      assert.ok(band.usual > 0.005 && band.usual < 0.15, String(band.usual));
    }

    const slow = await judged(server, night(6, slowRank));
    assert.equal(slow.verdict.answer, 'fail', slow.verdict.sentence);
    assert.equal(slow.checks.baseline.comparison.answer, 'worse');
    assert.equal(slow.checks.baseline.again.answer, 'worse');
    assert.deepEqual(
      slow.run.cases.map(({ state, confirms }) => [state, confirms ?? false]),
      [false, false, true, true].map((confirms) => ['completed', confirms]),
    );
    assert.equal(slow.run.rows_done, slow.run.rows_total);
    assert.equal((await server.events(slow.id)).filter(({ type }) => type === 'plan').length, 1);

    // A run that failed is not usual, until somebody accepts it.
    const next = await judged(server, night(7));
    assert.equal(next.verdict.answer, 'pass', next.verdict.sentence);
    assert.deepEqual(next.checks.baseline.against, [usual.id, ...ids]);
    const body = JSON.stringify({ run: slow.id, by: 'ann', why: 'this is how it is now' });
    assert.equal((await server.request('POST', '/api/v1/baselines', { body })).status, 201);
    const accepted = await judged(server, night(8, slowRank));
    assert.deepEqual(accepted.checks.baseline.against, [next.id, slow.id]);
    const alone = await judged(server, night(9, { ...slowRank, baseline: {} }));
    assert.deepEqual(alone.checks.baseline.against, [slow.id]);
    assert.equal(alone.checks.baseline.comparison.evidence.runs.history, 8);
  });

  test('a window with an accepted run needs as many more runs as it says', limit, async (t) => {
    const { server } = await startCluster(t, 2, { ...faulty, agent: { ...faulty.agent, ranks: 1 } });
    const ids = [];
    for (let n = 0; n < 4; n++) ids.push((await judged(server, night(n, { baseline: { last: 5 } }))).id);
    const body = JSON.stringify({ run: ids[3], by: 'ann', why: 'the new driver' });
    assert.equal((await server.request('POST', '/api/v1/baselines', { body })).status, 201);
    for (const [n, needed] of [
      [4, 2],
      [5, 1],
      [6, null],
    ]) {
      const { checks, id } = await judged(server, night(n, { baseline: { last: 5 } }));
      const [band] = checks.baseline.comparison.evidence.bands;
      assert.equal(band.runs_needed, needed, `night ${n}`);
      ids.push(id);
    }
  });

  test('a run is compared with its baseline, and passes only where that can be told', limit, async (t) => {
    const { server } = await startCluster(t, 2, { ...faulty, agent: { ...faulty.agent, ranks: 1 } });
    const spec = { ...sim({ SIM_NOISE: '0.005' }), repeats: 5, baseline: {} };
    const first = await judged(server, spec);
    assert.deepEqual(answers(first.checks), { completed: 'pass', baseline: 'not_evaluated' });
    assert.equal(first.checks.baseline.sentence, 'no baseline matches this run');
    const accepted = await server.request('POST', '/api/v1/baselines', {
      body: JSON.stringify({ run: first.id, by: 'test', why: 'the first' }),
    });
    assert.equal(accepted.status, 201, accepted.text);

    // One accepted run alone: an estimate, and how many runs would do.
    const alone = await judged(server, spec);
    assert.equal(alone.verdict.answer, 'not_evaluated', alone.verdict.sentence);
    assert.deepEqual(alone.checks.baseline.against, [first.id]);
    assert.equal(alone.checks.baseline.comparison.evidence.bands[0].runs_needed, 4);
    assert.match(
      await server.get('/metrics'),
      /^ringbench_check\{run_name="",check="baseline",answer="not_evaluated"\} 1$/m,
    );
    const isolated = await judged(server, { ...spec, timing: 'isolated', baseline: { last: 5 } });
    assert.match(isolated.checks.baseline.sentence, /^no completed run is similar to this one$/);

    // A run of several combinations is alike for the sake of one of them: the others count for nothing.
    const { baseline: _, ...plain } = spec;
    const several = await judged(server, {
      ...plain,
      thresholds: { here: { figure: 'ranks', min: 1 } },
      env: { ...spec.env, SIM_BASE_US: '7' },
      matrix: { SIM_RING_GBS: ['60', '50'] },
    });
    const one = await judged(server, {
      ...spec,
      baseline: { last: 5 },
      env: { ...spec.env, SIM_BASE_US: '7', SIM_RING_GBS: '50' },
    });
    assert.deepEqual(one.checks.baseline.against, [several.id]);
    assert.equal(one.checks.baseline.comparison.evidence.cases.base, 5);

    const died = await judged(server, { ...spec, fault: { kind: 'die', rank: 1, row: 2 } });
    assert.deepEqual(answers(died.checks), { completed: 'fail', baseline: 'not_evaluated' });

    for (const [pointer, wrong] of /** @type {any[][]} */ ([
      ['/baseline/last', { baseline: { last: 0 } }],
      ['/baseline/like', { baseline: { like: 'names' } }],
      ['/baseline', { baseline: true }],
      ['/baseline/run', { baseline: { run: first.id } }],
      ['/baseline', { baseline: {}, matrix: { NCCL_ALGO: ['ring', 'tree'] } }],
    ])) {
      const refused = assertProblem(await server.post({ ...spec, ...wrong }), 422);
      assert.deepEqual(
        refused.errors.map((error) => error.pointer),
        [pointer],
        JSON.stringify(wrong),
      );
    }
  });

  test('a server that was killed judges what it had not', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const { id } = await server.run({
      ...quick,
      sizes: { min: 4096, max: 4096 * 300, step: 4096 },
      iters: 50,
      thresholds: { slow: { figure: 'time_us', max: 1e-3 }, right: { figure: 'wrong' } },
    });
    await server.event(id, (event) => event.type === 'result');
    await server.killHard();
    const again = await server.startAgain();
    const verdict = await verdictAtEnd(again, id);
    assert.equal(verdict.answer, 'fail', verdict.sentence);
    assert.equal(verdict.evidence.checks[1].points, 600);
    assert.equal(verdict.evidence.checks[2].answer, 'pass');
  });

  // The server dies with the second measurement planned and nothing of it measured, or in the midst of it.
  for (const [when, isThen] of [
    ['before', ({ type }) => type === 'plan'],
    ['within', ({ type, case: number, state }) => type === 'case' && number === 2 && state === 'running'],
  ]) {
    test(`a server that was killed ${when} the second measurement goes on with it`, limit, async (t) => {
      const { server } = await startCluster(t, 2, { ...faulty, agent: { ...faulty.agent, ranks: 1 } });
      for (let n = 0; n < 5; n++) await judged(server, night(n));
      const { id } = await server.run(night(5, slowRank));
      await server.event(id, isThen);
      await server.killHard();
      const again = await server.startAgain();
      const verdict = await verdictAtEnd(again, id);
      assert.equal(verdict.answer, 'fail', verdict.sentence);
      const check = verdict.evidence.checks.find(({ check }) => check === 'baseline');
      assert.equal(check.comparison.answer, 'worse');
      assert.equal(check.again.answer, 'worse');
      const run = await again.getRun(id);
      assert.deepEqual(
        run.cases.map(({ state, confirms }) => [state, confirms ?? false]),
        [false, false, true, true].map((confirms) => ['completed', confirms]),
      );
      assert.equal((await again.events(id)).filter(({ type }) => type === 'plan').length, 1);
    });
  }
});
