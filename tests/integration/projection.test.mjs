// SPDX-License-Identifier: Apache-2.0
// projection.test.mjs - what a run's figures say of what it did not measure: more nodes, held
// against a run on as many, and a step of training
import assert from 'node:assert/strict';
import test from 'node:test';

import { assertProblem, startFleet, startServer } from './lib/cluster.mjs';
import { patience } from './lib/fixture.mjs';

const limit = { timeout: 180000 * patience };

const sim = {
  backend: 'sim',
  sizes: { min: '8M', max: '128M' },
  in_place: false,
  repeats: 3,
  env: { SIM_SLEEP_FRACTION: '0', NCCL_ALGO: 'ring', SIM_SEED: '7' },
};

test('128 nodes are projected from a run on 1 to 32', limit, async (t) => {
  const server = await startServer(t);
  await startFleet(t, server, 128, ['--ranks', '2']);
  const ends = async (spec) => {
    const run = await server.runEnds((await server.run(spec)).id, 120000);
    assert.equal(run.state, 'completed', run.reason);
    return run;
  };
  const scaling = await ends({ ...sim, nodes: { count: 32 }, pattern: 'scaling' });
  const ask = (nodes) => server.get(`/api/v1/runs/${scaling.id}/projection?nodes=${nodes}`);

  const projection = await ask(128);
  assert.equal(projection.verdict.answer, 'projected', projection.verdict.sentence);
  assert.match(
    projection.verdict.sentence,
    /^on 128 nodes all_reduce float32 of 128M would take \d+ us \(95 % interval \d+ to \d+\), busbw .*\(simulated\)$/,
  );
  assert.equal(projection.ranks, 256);
  const whole = await ends({ ...sim, repeats: 1 });
  for (const row of await server.rows(whole.id)) {
    const { measured, verdict } = projection.sizes.find(({ size }) => size === row.size);
    assert.deepEqual(
      measured.map(({ nodes, cases }) => [nodes, cases]),
      [1, 2, 4, 8, 16, 32].map((nodes) => [nodes, 3]),
    );
    const { at } = verdict.evidence;
    assert.ok(
      at.time_low_us < row.time_us && at.time_high_us > row.time_us,
      `${at.time_low_us} to ${at.time_high_us}, ${row.time_us}`,
    );
  }

  const far = await ask(400);
  assert.equal(far.verdict.answer, 'not_enough_data');
  assert.match(far.verdict.sentence, /400 nodes .*\b8 .*\b50\b/);

  // Once it took further runs.
  assertProblem(
    await server.request('GET', `/api/v1/runs/${scaling.id}/projection?nodes=400&run=${whole.id}`),
    422,
    /\brun\b/,
  );

  // 64 MiB a call, 30 calls: what each took in the run.
  const { json: step } = await server.request('POST', '/api/v1/budget', {
    body: JSON.stringify({
      run: whole.id,
      step_s: 1.6,
      ranks: 256,
      parameters: 30 * 2 ** 25,
      bucket_bytes: 2 ** 26,
    }),
  });
  const { time_us } = (await server.rows(whole.id)).find(({ size }) => size === 2 ** 26);
  assert.equal(step.verdict.answer, 'estimated', step.verdict.sentence);
  assert.ok(Math.abs(step.verdict.evidence.time_s / ((30 * time_us) / 1e6) - 1) < 1e-9);
  assert.match(step.verdict.sentence, / 0\.\d+ s .*1\.6 s .*\(\d+ %\) .*\(simulated\)$/);
});
