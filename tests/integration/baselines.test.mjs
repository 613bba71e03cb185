// SPDX-License-Identifier: Apache-2.0
// baselines.test.mjs - accepting a run is an act with who, when and why, and finds those like it
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';

import { assertProblem, quick, startCluster } from './lib/cluster.mjs';
import { patience } from './lib/fixture.mjs';

const limit = { timeout: 120000 * patience };

const endOf = async (server, spec) => (await server.runToEnd(spec)).id;

const accept = (server, body) => server.request('POST', '/api/v1/baselines', { body: JSON.stringify(body) });

describe('baselines', { concurrency: 3 }, () => {
  test('a baseline is accepted, found, listed and removed, and the log keeps it', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const spec = { ...quick, nodes: { names: ['node-1', 'node-2'] } };
    const first = await endOf(server, spec);
    const second = await endOf(server, { ...spec, name: 'same', labels: { a: 'b' }, stall_s: 20 });
    const base = (id, query = '') => server.get(`/api/v1/runs/${id}/baseline${query}`);
    assert.deepEqual(await base(second), { baseline: null, runs: [], history: [] });
    assert.deepEqual(await base(second, '?last=5'), { baseline: null, runs: [first], history: [] });
    const { status, json, headers } = await accept(server, { run: first, by: 'ann', why: 'new switch' });
    assert.equal(status, 201, JSON.stringify(json));
    assert.equal(headers.location, `/api/v1/baselines/${json.id}`);
    assert.deepEqual(
      { ...json, id: 0, accepted: 0 },
      {
        id: 0,
        run: first,
        name: '',
        like: 'nodes',
        accepted: 0,
        by: 'ann',
        why: 'new switch',
        from: '127.0.0.1',
        removed: null,
      },
    );
    assert.deepEqual(await base(second), { baseline: json, runs: [first], history: [] });
    assert.deepEqual((await server.get('/api/v1/baselines')).baselines, [json]);
    assert.deepEqual(await server.get(headers.location), json);
    assertProblem(await server.request('DELETE', `/api/v1/runs/${first}`), 409, /baseline/);
    assertProblem(await server.request('DELETE', headers.location), 422, /\bby\b/);
    const end = `${headers.location}?by=bob&why=old%20switch`;
    assert.equal((await server.request('DELETE', end)).status, 204);
    assertProblem(await server.request('DELETE', end), 409);
    assert.deepEqual((await server.get('/api/v1/baselines')).baselines, []);
    const [kept] = (await server.get('/api/v1/baselines?removed=1')).baselines;
    assert.deepEqual({ ...kept, removed: null }, json);
    assert.deepEqual(
      { ...kept.removed, time: 0 },
      { time: 0, by: 'bob', why: 'old switch', from: '127.0.0.1' },
    );
    assert.deepEqual(await base(second), { baseline: null, runs: [], history: [] });
    const log = server.errors.join('\n');
    assert.match(log, new RegExp(`run ${first} .*ann .*127.0.0.1: new switch`));
    assert.match(log, new RegExp(`run ${first} .*bob .*127.0.0.1: old switch`));
    assert.equal((await server.request('DELETE', `/api/v1/runs/${first}`)).status, 204);
  });

  test('what shapes a figure tells runs apart, what does not leaves them alike', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const spec = { ...quick, iters: 3, nodes: { names: ['node-1'] } };
    const first = await endOf(server, spec);
    const last = async (change, query = '') =>
      (
        await server.get(
          `/api/v1/runs/${await endOf(server, { ...spec, ...change })}/baseline?last=9${query}`,
        )
      ).runs.includes(first);
    for (const same of [
      { repeats: 2 },
      { check: 0 },
      { order: 'sequential' },
      { collectives: ['broadcast', 'all_reduce'] },
    ]) {
      assert.equal(await last(same), true, JSON.stringify(same));
    }
    for (const other of [
      { sizes: [8] },
      { timing: 'isolated' },
      { env: { OMP_NUM_THREADS: '2' } },
      { dtypes: ['int32'] },
      { nodes: { names: ['node-1', 'node-2'] } },
      { nodes: { names: ['node-2'] } },
      { iters: 4 },
      { matrix: { OMP_NUM_THREADS: ['3'] } },
      { backend: 'sim' },
    ]) {
      assert.equal(await last(other), false, JSON.stringify(other));
    }
    assert.equal(await last({ nodes: { names: ['node-2'] } }, '&like=hardware'), true);
    // What is found as alike is not compared as if it were not.
    await accept(server, { run: first, by: 'ann', why: 'new switch' });
    const head = await endOf(server, {
      ...spec,
      cycles: 2,
      warmup: 7,
      block_ms: 3,
      samples: { max: 50 },
    });
    const { verdict } = await server.get(`/api/v1/compare?base=baseline&head=${head}`);
    assert.doesNotMatch(verdict.sentence, /base and head differ/);
    assert.deepEqual(
      verdict.evidence.differences.filter(({ alike }) => !alike),
      [],
    );
    assert.ok(
      verdict.evidence.differences.some(({ what }) => what === 'cycles'),
      JSON.stringify(verdict),
    );
  });

  test('a baseline that makes no sense is refused with what would', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const id = await endOf(server, quick);
    const failed = await endOf(server, { ...quick, nodes: { names: ['nobody'], wait_s: 0 } });
    const whole = { run: id, by: 'ann', why: 'because' };
    assertProblem(await accept(server, { ...whole, run: failed }), 409, /failed.*completed/);
    assertProblem(await accept(server, { ...whole, run: '000000000000' }), 404, /000000000000/);
    for (const [change, pointer] of /** @type {any[][]} */ ([
      [{ run: 7 }, '/run'],
      [{ by: '' }, '/by'],
      [{ why: 'a\nb' }, '/why'],
      [{ like: 'rack' }, '/like'],
      [{ who: 'x' }, '/who'],
      [{ by: 'x'.repeat(201) }, '/by'],
    ])) {
      const { json } = await accept(server, { ...whole, ...change });
      assert.equal(json.status, 422);
      assert.deepEqual(
        json.errors.map((error) => error.pointer),
        [pointer],
        JSON.stringify(json),
      );
    }
    assert.equal((await server.request('POST', '/api/v1/baselines', { body: '{' })).status, 400);
    for (const [body, pointers] of [
      [[], ['']],
      [{}, ['/run', '/by', '/why']],
    ]) {
      const { errors } = assertProblem(await accept(server, body), 422);
      assert.deepEqual(
        errors.map(({ pointer }) => pointer),
        pointers,
      );
    }
    assertProblem(await server.request('GET', '/api/v1/baselines/nothing'), 404, /no baseline nothing/);
    assertProblem(
      await server.request('GET', `/api/v1/runs/${id}/baseline?like=rack`),
      422,
      /nodes.*hardware/,
    );
    for (const path of [`runs/${id}/baseline?`, `compare?base=baseline&head=${id}&`]) {
      assertProblem(await server.request('GET', `/api/v1/${path}last=33`), 400, /\blast\b.*\b0 .*32/);
    }
    await accept(server, whole);
    const text = execFileSync(
      'curl',
      ['-sSf', '-H', 'Accept: text/plain', `${server.url}/api/v1/baselines`],
      {
        encoding: 'utf8',
      },
    );
    assert.match(
      text,
      /^ID +RUN +NAME +LIKE +ACCEPTED +BY +REMOVED +WHY\n\S+ +\S+ +- +nodes +\S+Z +ann +- +because\n$/,
    );
  });
});
