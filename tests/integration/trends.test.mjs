// SPDX-License-Identifier: Apache-2.0
// trends.test.mjs - what runs came to over time, held against what they measured
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';

import {
  assertNear,
  assertProblem,
  faulty,
  median,
  quick,
  startAgents,
  startCluster,
  startServer,
} from './lib/cluster.mjs';
import { patience } from './lib/fixture.mjs';
import { verdictOf } from './lib/verdicts.mjs';

const limit = { timeout: 180000 * patience };

// Its values are made by the time that somebody heard what it is held against.
async function endOf(server, spec) {
  const run = await server.runToEnd(spec);
  await server.get(`/api/v1/runs/${run.id}/baseline`);
  return run;
}

// The value of each case, and the median, from the rows themselves.
function rowFigure(rows, { collective, place = false, from, to, figure }) {
  const own = rows.filter(
    (row) => row.collective === collective && row.in_place === place && row.size >= from && row.size <= to,
  );
  const cases = [...new Set(own.map((row) => row.case))].map((c) => {
    const logs = own.filter((row) => row.case === c).map((row) => Math.log(row[figure]));
    return Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length);
  });
  return {
    value: Math.exp(median(cases.map(Math.log))),
    least: Math.min(...cases),
    most: Math.max(...cases),
    cases: cases.length,
  };
}

function assertPoint(point, wanted) {
  for (const name of ['value', 'least', 'most']) assertNear(point[name], wanted[name], name);
  assert.equal(point.cases, wanted.cases);
}

// Every page, each but the first from the link of the one before.
async function followed(server, query) {
  const pages = [];
  for (let next = query; next; ) {
    const { status, text, headers, json } = await server.request('GET', `/api/v1/trends${next}`);
    assert.equal(status, 200, text);
    [, next] = headers.link?.match(/^<(\?.*)>; rel="next"$/) ?? [];
    pages.push({ text, json, next });
  }
  return pages;
}

describe('trends', { concurrency: 4 }, () => {
  test('a trend has what the rows of each run come to', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const spec = {
      sizes: [8, 64, '64K', '8M'],
      iters: 3,
      warmup: 1,
      collectives: ['all_reduce', 'broadcast'],
    };
    const runs = [];
    for (const repeats of [1, 6, 2])
      runs.push(await endOf(server, { ...spec, repeats, name: `of ${repeats}` }));
    const trend = (query) => server.get(`/api/v1/trends?run=${runs[0].id}&${query}`);
    for (const [query, band] of /** @type {any[][]} */ ([
      ['', { from: 4 << 20, to: Infinity, figure: 'busbw_gbs' }],
      ['band=latency&in_place=1', { place: true, from: 0, to: 16384, figure: 'time_us' }],
      ['band=middle', { from: 16385, to: 4 << 20, figure: 'time_us' }],
    ])) {
      for (const collective of ['all_reduce', 'broadcast']) {
        const { points, figure, changes, next } = await trend(`${query}&collective=${collective}`);
        assert.equal(figure.name, band.figure);
        assert.deepEqual(
          points.map(({ run }) => run),
          runs.map(({ id }) => id).reverse(),
        );
        for (const point of points)
          assertPoint(point, rowFigure(await server.rows(point.run), { collective, ...band }));
        assert.deepEqual(
          points.map(({ low }) => low !== null),
          [false, true, false],
        );
        assert.equal(new Set(points.map(({ series }) => series)).size, 1);
        assert.equal(next, null);
        assert.deepEqual(
          changes.map(({ verdict }) => [verdict.kind, verdict.answer]),
          [['change', 'not_enough_data']],
        );
        assert.deepEqual(points[0].like.nodes, { 'node-1': 1, 'node-2': 1 });
        assert.ok(points[0].versions.ringbench);
      }
    }
    for (const [query, n] of /** @type {any[][]} */ ([
      ['nodes=node-2,node-1', 3],
      ['nodes=node-1&nodes=node-2', 3],
      ['nodes=node-1', 0],
      ['backend=host&ranks=2', 3],
      ['backend=nccl', 0],
      ['ranks=4', 0],
      ['dtype=int32', 0],
    ])) {
      assert.equal((await server.get(`/api/v1/trends?${query}`)).points.length, n, query);
    }
    const pages = await followed(server, '?nodes=node-1&nodes=node-2&limit=1');
    assert.deepEqual(
      pages.map(({ json }) => json.points[0]?.run),
      runs.map(({ id }) => id).reverse(),
    );
  });

  test('a failed case is no value, and who measured nothing is not there', limit, async (t) => {
    const { server } = await startCluster(t, 2, faulty);
    const spec = { ...quick, repeats: 1 };
    await endOf(server, spec);
    const failed = await endOf(server, { ...spec, fault: { kind: 'wrong', rank: 1, row: 2, index: 0 } });
    assert.equal(failed.state, 'failed', JSON.stringify(failed.reason));
    const { points } = await server.get('/api/v1/trends?band=latency');
    assert.deepEqual(
      points.map(({ state }) => state),
      ['completed'],
    );
    assertProblem(await server.request('GET', `/api/v1/trends?run=${failed.id}`), 404);
  });

  const steady = {
    backend: 'sim',
    sizes: ['8M', '16M'],
    iters: 2,
    warmup: 1,
    in_place: false,
    nodes: { count: 2 },
    env: { SIM_SLEEP_FRACTION: '0', SIM_NOISE: '0.002' },
  };

  // The model's links get slower while nothing that a run asks for changes.
  test('a change that nobody asked for is found where it is', limit, async (t) => {
    const server = await startServer(t);
    const runs = [];
    for (const [rate, n] of /** @type {any[][]} */ ([
      ['50', 8],
      ['45', 7],
    ])) {
      const agents = await startAgents(t, server, 2, {
        env: { SIM_RING_GBS: rate, RINGBENCH_PASS_ENV: 'TEST_MARK,SIM_RING_GBS' },
      });
      for (let i = 0; i < n; i++) runs.push((await endOf(server, steady)).id);
      for (const agent of agents) {
        agent.signal('SIGTERM');
        await agent.ended();
      }
    }
    const { points, changes } = await server.get('/api/v1/trends?limit=10');
    assert.deepEqual(
      points.map(({ run }) => run),
      runs.slice(5).reverse(),
    );
    assert.ok(points[0].like.series.simulated);
    assert.deepEqual(
      changes.map(({ run, verdict }) => [run, verdict.kind, verdict.answer]),
      [[runs[8], 'change', 'worse']],
      JSON.stringify(changes),
    );
    const [{ change, verdict }] = changes;
    assert.ok(change > -0.12 && change < -0.08, String(change));
    assert.match(
      verdict.sentence,
      /^\d+\.\d % slower from \d{4}-\d\d-\d\d \d\d:\d\d UTC on \(all_reduce float32 from 4M up: .* GB\/s over 7 runs, before .* over 8\)$/,
    );
    assert.equal(verdict.evidence.run, runs[8]);
    assert.equal(verdict.evidence.last_before, runs[7]);
    assert.deepEqual(
      points.map((point) => point.change !== null),
      points.map(({ run }) => run === runs[8]),
    );
    const text = (await server.request('GET', '/api/v1/trends?format=text')).text;
    assert.ok(text.includes(`# series ${points[0].series}: ${verdict.sentence}\n`), text);
    assert.match(text, new RegExp(`\n\\S+Z +${runs[8]} .* -\\d+\\.\\d % `));
  });

  // The window of the last five runs moved with the change; the reference did not.
  test('a gate reports a lasting change, and fails once its reference is accepted', limit, async (t) => {
    const server = await startServer(t);
    const gated = async () => {
      const run = await endOf(server, { ...steady, baseline: { last: 5 } });
      return verdictOf(run, 'gate').evidence.checks.find(({ check }) => check === 'baseline');
    };
    const runs = [];
    for (const rate of ['50', '45']) {
      const agents = await startAgents(t, server, 2, {
        env: { SIM_RING_GBS: rate, RINGBENCH_PASS_ENV: 'TEST_MARK,SIM_RING_GBS' },
      });
      for (let i = 0; i < 6; i++) runs.push((await endOf(server, steady)).id);
      if (rate === '45') continue;
      for (const agent of agents) {
        agent.signal('SIGTERM');
        await agent.ended();
      }
    }
    const told = await gated();
    assert.equal(told.answer, 'pass', JSON.stringify(told));
    const { accepted, changes } = told.lasting;
    assert.equal(accepted, null);
    assert.deepEqual(
      changes.map(({ figure, run, slower, reference }) => [figure, run, slower, reference]),
      [['all_reduce float32 bandwidth', runs[6], true, [runs[0], runs[4]]]],
    );
    assert.ok(changes[0].low < -0.08 && changes[0].high > -0.12, JSON.stringify(changes));
    const body = JSON.stringify({ run: runs[0], by: 'ann', why: 'after acceptance' });
    assert.equal((await server.request('POST', '/api/v1/baselines', { body })).status, 201);
    const failed = await gated();
    assert.deepEqual([failed.answer, failed.lasting.accepted], ['fail', runs[0]], JSON.stringify(failed));
  });

  test('every form has every run, by pages', limit, async (t) => {
    const { server } = await startCluster(t, 1, { agent: { ranks: 2 } });
    const runs = [];
    for (let i = 0; i < 5; i++) runs.unshift((await endOf(server, { ...quick, name: `number, ${i}` })).id);
    for (const format of ['json', 'ndjson', 'csv', 'markdown', 'text']) {
      const seen = [];
      for (const { text, json, next } of await followed(server, `?band=latency&limit=2&format=${format}`)) {
        seen.push(
          ...runs.filter(
            (id) => text.replace(/^#.*\n/gm, '').includes(id) || json?.points.some(({ run }) => run === id),
          ),
        );
        if (format === 'json') assert.equal(Boolean(next), json.next !== null);
      }
      assert.deepEqual(seen, runs, format);
    }
    const text = execFileSync(
      'curl',
      ['-sSf', '-H', 'Accept: text/plain', `${server.url}/api/v1/trends?band=latency&limit=2`],
      { encoding: 'utf8' },
    );
    assert.match(
      text,
      /^# all_reduce float32, out of place, band latency: time_us.*\n# series \d+: .*\b5 .*\nCREATED +RUN +CASES +VALUE .*\n/,
    );
    assert.match(text, /\n# .*\bcursor=\S+\n$/);
    const csv = (await server.request('GET', '/api/v1/trends?band=latency&format=csv')).text.split('\r\n');
    assert.match(csv[0], /^created,run,state,collective,dtype,in_place,band,figure,cases,value,.*,name$/);
    assert.match(csv[1], /^\S+Z,\w{12},completed,all_reduce,float32,false,latency,time_us,.*,"number, 4"$/);
    for (const [query, status, words] of [
      ['collective=nothing', 422, /\bnothing\b/],
      ['band=wide', 422, /\bwide\b/],
      ['limit=0', 400, /limit must be/],
      ['margin_percent=0', 400, /margin_percent must be/],
      ['requests=0', 400, /requests must be/],
      ['ranks=x', 400, /ranks must be/],
      ['like=x', 422, /nodes.*hardware/],
      ['in_place=both', 400, /in_place.*0.*1/],
      ['cursor=x', 400, /cursor/],
      ['format=pdf', 422, /format.*json, text, csv, markdown, ndjson/],
    ]) {
      assertProblem(await server.request('GET', `/api/v1/trends?${query}`), status, words);
    }
  });
});
