// SPDX-License-Identifier: Apache-2.0
// surface.test.mjs - what a person with curl, or a monitor, stumbles over
import assert from 'node:assert/strict';
import test from 'node:test';

import { assertProblem, quick, startCluster } from './lib/cluster.mjs';
import { patience } from './lib/fixture.mjs';

const limit = { timeout: 60000 * patience };

test('a list stays small however many sizes its runs have', limit, async (t) => {
  const { server } = await startCluster(t, 2);
  const { id } = await server.run({
    ...quick,
    backend: 'sim',
    sizes: { min: 4, max: 4000, step: 4 },
    in_place: false,
    iters: 1,
    env: { SIM_SLEEP_FRACTION: '0' },
  });
  const whole = (await server.runEnds(id)).summary.curve;
  assert.equal(whole.length, 1000);
  // From memory, and from the store.
  for (const listing of [
    server,
    await (async () => {
      await server.killHard();
      return server.startAgain();
    })(),
  ]) {
    const [
      {
        summary: { curve },
      },
    ] = (await listing.get('/api/v1/runs')).runs;
    assert.equal(curve.length, 64);
    assert.deepEqual([curve[0], curve.at(-1)], [whole[0], whole.at(-1)]);
    assert.ok(curve.every((point, i) => i === 0 || point[0] > curve[i - 1][0]));
    assert.equal((await listing.getRun(id)).summary.curve.length, 1000);
  }
});

test('a slash too many is no page', limit, async (t) => {
  const { server } = await startCluster(t, 0);
  for (const path of ['/healthz/', '/metrics/', '/openapi.json/', '/api/v1/runs/', '/api/v1/nodes/x/']) {
    assertProblem(await server.request('GET', path), 404, /remove the slash/);
  }
  assertProblem(await server.request('GET', '/api/v1'), 404, /openapi\.json/);
});

test('a packed body is refused with the reason', limit, async (t) => {
  const { server } = await startCluster(t, 0);
  const answer = await server.post('{}', { 'Content-Encoding': 'gzip' });
  assertProblem(answer, 415, /Content-Encoding/);
  assert.deepEqual((await server.get('/api/v1/runs')).runs, []);
});
