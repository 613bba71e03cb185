// projection.test.mjs - what a run's figures say of what it did not measure: more nodes, held
// against a run on as many, and a step of training
import assert from 'node:assert/strict';
import test from 'node:test';

import { startFleet, startServer } from './lib/cluster.mjs';
import { patience } from './lib/fixture.mjs';

const limit = { timeout: 180000 * patience };

const sim = {
  backend: 'sim',
  sizes: { min: '8M', max: '128M' },
  in_place: false,
  repeats: 3,
  env: { SIM_SLEEP_FRACTION: '0', NCCL_ALGO: 'ring', NCCL_PROTO: 'Simple', SIM_SEED: '7' },
};

test('128 nodes are told from one run or several on 4 to 32', limit, async (t) => {
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
    const told = projection.sizes.find(({ size }) => size === row.size);
    assert.deepEqual(
      told.measured.map(({ nodes }) => nodes),
      [1, 2, 4, 8, 16, 32],
    );
    assert.ok(
      told.time_low_us < row.time_us && told.time_high_us > row.time_us,
      `${told.time_low_us} to ${told.time_high_us}, ${row.time_us}`,
    );
  }
  const runs = [];
  for (const count of [4, 8, 16, 32]) runs.push(await ends({ ...sim, nodes: { count } }));
  const others = runs.map(({ id }) => `run=${id}`).join('&');
  const several = await server.get(`/api/v1/runs/${runs[0].id}/projection?nodes=128&${others}`);
  assert.deepEqual(
    several.runs,
    runs.map(({ id }) => id),
  );
  assert.equal(several.verdict.answer, 'projected', several.verdict.sentence);
  for (const { size, time_us, measured } of several.sizes) {
    const told = projection.sizes.find((one) => one.size === size);
    assert.deepEqual(
      measured.map(({ nodes, cases }) => [nodes, cases]),
      [
        [4, 3],
        [8, 3],
        [16, 3],
        [32, 3],
      ],
    );
    assert.ok(Math.abs(time_us / told.time_us - 1) < 0.1, `${size}: ${time_us}, ${told.time_us}`);
  }
  const unlike = await ends({ ...sim, nodes: { count: 64 }, timing: 'isolated' });
  const refused = await server.request(
    'GET',
    `/api/v1/runs/${runs[0].id}/projection?nodes=128&run=${unlike.id}`,
  );
  assert.equal(refused.status, 422);
  assert.match(refused.text, new RegExp(`${unlike.id} .*${runs[0].id}.*timing`));
  const thinner = await ends({ ...sim, nodes: { count: 64 }, ranks_per_node: 1 });
  const mixed = await server.request(
    'GET',
    `/api/v1/runs/${runs[0].id}/projection?nodes=128&run=${thinner.id}`,
  );
  assert.equal(mixed.status, 422);
  assert.match(mixed.text, /\b4 nodes .*8 ranks .*64 nodes .*64/);

  const far = await ask(400);
  assert.equal(far.verdict.answer, 'not_enough_data');
  assert.match(far.verdict.sentence, /400 nodes .*\b8 .*\b50\b/);

  // 64 MiB a call, 30 calls: what each took in the run.
  const { json: step } = await server.request('POST', '/api/v1/budget', {
    body: JSON.stringify({
      run: whole.id,
      step_s: 1.6,
      ranks: 256,
      collectives: [{ collective: 'all_reduce', bytes: 30 * 2 ** 26, calls: 30 }],
    }),
  });
  const { time_us } = (await server.rows(whole.id)).find(({ size }) => size === 2 ** 26);
  assert.equal(step.verdict.answer, 'estimated', step.verdict.sentence);
  assert.ok(Math.abs(step.verdict.evidence.time_s / ((30 * time_us) / 1e6) - 1) < 1e-9);
  assert.match(step.verdict.sentence, / 0\.\d+ s \(0\.\d+ to 0\.\d+\) .*1\.6 s .*\(\d+ %\) \(simulated\)$/);
});
