// SPDX-License-Identifier: Apache-2.0
// api_summary.test.mjs - what the server adds up and foretells, held against what it measured
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { assertNear, long, median, quick, startAgent, startCluster } from './lib/cluster.mjs';
import { patience, waitFor } from './lib/fixture.mjs';

const limit = { timeout: 120000 * patience };

// The same sums as the server's, from the rows themselves.
function assertAddsUp(summary, rows) {
  const env = new Map(
    summary.combinations.flatMap(({ combination, cases }) => cases.map((c) => [c, combination])),
  );
  for (const series of summary.series) {
    const own = rows.filter(
      (row) => row.series === series.series && env.get(row.case) === series.combination,
    );
    assert.equal(series.points_total, new Set(own.map((row) => row.size)).size);
    for (const point of series.points) {
      const behind = own.filter((row) => row.size === point.size);
      const timed = behind.filter((row) => !row.skipped);
      assert.equal(point.rows, timed.length);
      assert.equal(point.skipped, behind.length - timed.length);
      if (timed.length === 0) continue;
      assertNear(point.time_us, median(timed.map((row) => row.time_us)), 'time');
      assertNear(point.busbw_gbs, median(timed.map((row) => row.busbw_gbs)), 'busbw');
      assertNear(
        point.rank_spread.time_us[1],
        Math.max(...timed.map((row) => row.time_max_us)),
        'slowest rank',
      );
      assertNear(
        point.repeat_spread.time_us[1],
        Math.max(...timed.map((row) => row.time_us)),
        'slowest repeat',
      );
      assertNear(
        point.repeat_spread.busbw_gbs[0],
        Math.min(...timed.map((row) => row.busbw_gbs)),
        'least busbw',
      );
    }
  }
}

describe('the API in short', { concurrency: 4 }, () => {
  test('a summary is what its rows add up to, also after a restart', limit, async (t) => {
    const { server } = await startCluster(t, 1, { agent: { ranks: 2 } });
    const { id } = await server.runToEnd({
      ...quick,
      sizes: [8, 64, 4096],
      repeats: 3,
      matrix: { OMP_NUM_THREADS: ['1', '2'] },
      ranks_per_node: 2,
      collectives: ['all_reduce', 'broadcast'],
    });
    const rows = await server.rows(id);
    const summary = await server.get(`/api/v1/runs/${id}/summary`);
    const events = await server.events(id);
    assert.equal(rows.length, 6 * 3 * 4);
    assert.equal(summary.results, rows.length);
    assert.equal(summary.last_event, events.at(-1).id);
    assert.deepEqual(
      summary.combinations.map(({ cases }) => cases.length),
      [3, 3],
    );
    assert.equal(summary.series.length, 8);
    assertAddsUp(summary, rows);
    await server.killHard();
    const again = await server.startAgain();
    assert.deepEqual(await again.get(`/api/v1/runs/${id}/summary`), summary);
  });

  test('summary and events behind it are every event once, while the run goes on', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const { id } = await server.run({ ...long, nodes: { count: 1 } });
    await server.event(id, ({ type }) => type === 'result');
    for (let pass = 0; pass < 5; pass++) {
      const summary = await server.get(`/api/v1/runs/${id}/summary`);
      const first = await server.follow(id, { after: summary.last_event });
      const [, next] = await first.line(/^\{"id":(\d+),/);
      first.stop();
      assert.equal(Number(next), summary.last_event + 1);
      assert.equal(summary.results, summary.run.rows_done);
    }
    await server.request('POST', `/api/v1/runs/${id}/cancel`);
  });

  test('pages of rows are all rows, in order, and are filtered', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const { id } = await server.runToEnd({ ...quick, sizes: { min: 8, max: '64K' }, repeats: 2 });
    const rows = await server.rows(id);
    const at = `/api/v1/runs/${id}/results`;
    const paged = [];
    for (let next = 0; next !== null; ) {
      const page = await server.get(`${at}?ranks=1&limit=5&after=${next}`);
      assert.ok(page.rows.length <= 5);
      paged.push(...page.rows);
      next = page.next;
    }
    assert.deepEqual(paged, rows);
    const some = (await server.get(`${at}?ranks=1&case=1&series=0`)).rows;
    assert.deepEqual(
      some,
      rows.filter((row) => row.case === 1 && row.series === 0),
    );
    const csv = await server.request('GET', `${at}?ranks=1&limit=2&format=csv&size=8`);
    assert.equal(csv.text.trim().split(/\r?\n/).length, 3);
    const [, link] = csv.headers.link.match(/^<(\?[^>]+)>; rel="next"$/);
    assert.match(link, /[?&]ranks=1(&|$)/);
    const rest = await server.request('GET', at + link);
    assert.equal(rest.headers.link, undefined);
    assert.equal(rest.text.trim().split(/\r?\n/).length, 3);
  });

  test('a spec is validated without a trace, and its cost told', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const validate = async (spec) =>
      (await server.request('POST', '/api/v1/runs/validate', { body: JSON.stringify(spec) })).json;
    const spec = { ...quick, nodes: { count: 1 } };
    const before = await validate(spec);
    assert.equal(before.rows, 4);
    assert.equal(before.placement.outcome, 'ready');
    assert.deepEqual(before.placement.nodes, [{ name: 'node-1', ranks: 1 }]);
    assert.equal(before.memory.per_rank_bytes, 8192);
    assert.deepEqual([before.time.basis, before.time.seconds], ['none', null]);
    assert.equal((await server.get('/api/v1/runs')).runs.length, 0);
    const run = await server.runToEnd(spec);
    assert.deepEqual(run.spec, before.spec);
    assert.equal(run.rows_total, before.rows);
    const after = await validate(spec);
    assert.deepEqual([after.time.basis, after.time.runs], ['runs', [run.id]]);
    const took = (Date.parse(run.ended) - Date.parse(run.started)) / 1000;
    assert.ok(
      Math.abs(after.time.seconds - took) < 0.01 + took * 0.01,
      `${after.time.seconds} s, it took ${took} s`,
    );
    const missing = await validate({ nodes: { names: ['nobody'] } });
    assert.equal(missing.placement.outcome, 'unknown');
    assert.match(missing.placement.reason, /'nobody'/);
    assert.deepEqual([missing.rows, missing.memory, missing.time.seconds], [null, null, null]);
    const { id } = await server.run({ ...long, nodes: { count: 1 } });
    await server.event(id, ({ type }) => type === 'result');
    const queued = await validate(spec);
    assert.equal(queued.placement.outcome, 'busy');
    assert.match(queued.placement.reason, /^0 .*\b1 nodes /);
    // What it costs is known all the same: the node is the one it would wait for.
    assert.deepEqual(queued.placement.nodes, before.placement.nodes);
    assert.deepEqual([queued.rows, queued.memory, queued.time], [before.rows, before.memory, after.time]);
    const timed = await waitFor(async () => {
      const now = await server.getRun(id);
      return now.eta_s !== null && now;
    }, 'no estimate');
    assert.ok(timed.eta_s > 0);
    assert.match(timed.eta_basis, /^(measured|extrapolated)$/);
    await server.request('POST', `/api/v1/runs/${id}/cancel`);
  });

  test('a node keeps its history over a restart', limit, async (t) => {
    const { server, agents } = await startCluster(t, 1);
    const became = (at, ...states) => {
      let seen;
      return waitFor(
        async () => {
          seen = (await at.get('/api/v1/nodes/node-1')).history.map(({ state }) => state);
          return seen.length === states.length && states.every((state, i) => state === seen[i]);
        },
        () => `not ${states}: ${seen}`,
      );
    };
    await became(server, 'registered');
    agents[0].signal('SIGTERM');
    await agents[0].ended();
    await became(server, 'left', 'registered');
    const second = await startAgent(t, server, 'node-1');
    await became(server, 'replaced', 'left', 'registered');
    const { id } = await server.runToEnd(quick);
    await server.killHard();
    const again = await server.startAgain();
    await again.nodeIs('node-1', 'idle');
    await became(again, 'registered', 'replaced', 'left', 'registered');
    assert.deepEqual(
      (await again.get('/api/v1/runs?node=node-1')).runs.map((run) => run.id),
      [id],
    );
    assert.deepEqual((await again.get('/api/v1/runs?node=node-2')).runs, []);
    second.signal('SIGTERM');
  });

  test('a server that stops says so to people, and breaks off to programs', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const { id } = await server.run({ ...long, nodes: { count: 1 } });
    const text = await server.follow(id, { format: 'text' });
    const lines = await server.follow(id);
    await text.line(/^ +\d+/);
    await lines.line(/"result"/);
    server.signal('SIGTERM');
    const told = await text.ended();
    assert.match(told.at(-1), /^# .*stopping.*: GET /);
    assert.equal(text.error, null);
    await lines.ended();
    assert.match(String(lines.error), /aborted|ECONNRESET/);
  });

  test('HEAD of a stream ends at once, with its type and nothing else', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const { id } = await server.run({ ...long, nodes: { count: 1 } });
    for (const [format, type] of [
      ['sse', 'text/event-stream'],
      ['ndjson', 'application/x-ndjson'],
      ['text', 'text/plain'],
    ]) {
      const answer = await server.request('HEAD', `/api/v1/runs/${id}/events?format=${format}`);
      assert.equal(answer.status, 200);
      assert.equal(answer.type.split(';')[0], type);
      assert.equal(answer.text, '');
    }
    await server.request('POST', `/api/v1/runs/${id}/cancel`);
  });
});
