// SPDX-License-Identifier: Apache-2.0
// run.test.mjs - a run from its POST to its results, as a user sees it
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import {
  assertProblem,
  assertWholeRows,
  faulty,
  long,
  noWorkersLeft,
  quick,
  reached,
  startAgent,
  startCluster,
  startHosts,
  startServer,
} from './lib/cluster.mjs';
import { patience, waitFor } from './lib/fixture.mjs';

const limit = { timeout: 120000 * patience };

const usual = [
  'all_reduce',
  'all_gather',
  'reduce_scatter',
  'broadcast',
  'reduce',
  'alltoall',
  'gather',
  'scatter',
  'sendrecv',
];

describe('runs', { concurrency: 4 }, () => {
  test('while ranks join it says how many', limit, async (t) => {
    const { server } = await startCluster(t, 3);
    const text = await server.followText({ ...quick, nodes: { count: 4, wait_s: 60 } });
    await text.line(/^# .*\b3 .*\b4 nodes /);
    await startAgent(t, server, 'node-4');
    await text.line(/^# 4 .*\b4 ranks /);
    assert.match((await text.ended()).at(-1), /^completed/);
  });

  test('every default holds for an empty object', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const run = await server.run('{}');
    assert.match(run.id, /^[0-9a-z]{12}$/);
    assert.equal(run.spec.iters, 'auto');
    assert.deepEqual(run.spec.collectives, ['all_reduce']);
    assert.equal(run.spec.sizes.length, 25);
    const answer = await server.request('POST', `/api/v1/runs/${run.id}/cancel`);
    assert.equal(answer.status, 202);
    assert.equal((await server.runEnds(run.id)).state, 'cancelled');
  });

  test('each collective measures and checks every row', limit, async (t) => {
    const { server } = await startCluster(t, 2, { agent: { ranks: 2 } });
    const { id } = await server.run({
      ...quick,
      sizes: [8, 64, '4K', '64K'],
      root: -1,
      dtypes: ['float32', 'bfloat16'],
      redops: ['sum', 'max'],
      collectives: usual,
    });
    const run = await server.runEnds(id);
    assert.equal(run.state, 'completed', run.reason);
    assert.equal(run.world_size, 4);
    const rows = await server.rows(id);
    assertWholeRows(run, rows);
    for (const row of rows) {
      if (row.skipped) {
        assert.match(row.skipped, /\d/);
        assert.equal(row.time_us, undefined);
        continue;
      }
      assert.ok(row.time_us > 0 && row.time_min_us <= row.time_us && row.time_us <= row.time_max_us);
      assert.equal(row.times_us.length, 4);
      const isChecked = !(row.in_place && ['alltoall', 'sendrecv'].includes(row.collective));
      assert.equal(row.wrong, isChecked ? 0 : null, JSON.stringify(row));
    }
    const skipped = rows.filter((row) => row.skipped);
    assert.ok(skipped.some((row) => row.collective === 'all_gather' && row.count === 0));
    assert.equal(run.summary.skipped, skipped.length);
    assert.equal(run.summary.wrong, 0);
  });

  test('bandwidths follow from time and size', limit, async (t) => {
    const { server } = await startCluster(t, 3);
    const { id } = await server.run({
      ...quick,
      sizes: ['1M'],
      collectives: ['all_reduce', 'all_gather', 'broadcast'],
    });
    await server.runEnds(id);
    const factor = { all_reduce: 4 / 3, all_gather: 2 / 3, broadcast: 1 };
    const size = { all_reduce: 1048576, all_gather: 1048560, broadcast: 1048576 };
    const near = (a, b) => assert.ok(Math.abs(a / b - 1) < 0.01, `${a} is not ${b}`);
    for (const row of await server.rows(id)) {
      assert.equal(row.size, size[row.collective]);
      near(row.algbw_gbs, row.size / row.time_us / 1e3);
      near(row.busbw_gbs, row.algbw_gbs * factor[row.collective]);
      near(row.time_us, row.times_us.reduce((a, b) => a + b) / 3);
    }
  });

  test('isolated timing keeps every sample', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const { id } = await server.run({ ...quick, iters: 7, timing: 'isolated' });
    const run = await server.runEnds(id);
    assert.equal(run.state, 'completed', run.reason);
    for (const row of await server.rows(id)) assert.equal(row.samples_us, undefined);
    const { rows } = await server.get(`/api/v1/runs/${id}/results?samples=1`);
    for (const row of rows) assert.deepEqual([row.samples_us.length, row.times_us], [7, undefined]);
  });

  test('blocks come where they are asked for, and their median is the time', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const { id } = await server.run({ sizes: [8, '64K'], samples: { min: 8, max: 20 }, in_place: false });
    const run = await server.runEnds(id);
    assert.equal(run.state, 'completed', run.reason);
    const target = `/api/v1/runs/${id}/results`;
    const median = (values, n = values.length) => (values[(n - 1) >> 1] + values[n >> 1]) / 2;
    const { rows } = await server.get(`${target}?samples=1&ranks=1`);
    assert.equal(rows.length, 2);
    for (const row of rows) {
      const sorted = [...row.blocks_us].sort((a, b) => a - b);
      assert.equal(row.blocks, sorted.length);
      assert.ok(row.blocks >= 8 && row.blocks <= 20 && row.iters >= row.blocks);
      // A sample is a float.
      assert.ok(Math.abs(median(sorted) / row.time_us - 1) < 1e-6);
      const mean = row.times_us.reduce((a, b) => a + b) / row.times_us.length;
      assert.ok(Math.abs(mean / row.time_us - 1) < 1e-6);
      assert.ok(row.time_low_us <= row.time_us && row.time_us <= row.time_high_us);
      assert.equal(row.noisy ?? false, (row.time_high_us - row.time_low_us) / 2 > 0.02 * row.time_us);
    }
    // The same by page, as CSV and line by line; and no stream has them.
    const page = await server.get(`${target}?samples=1&ranks=1&limit=1`);
    assert.deepEqual(page.rows, rows.slice(0, 1));
    const csv = await server.request('GET', `${target}?samples=1&format=csv`);
    const [head, first] = csv.text.split('\r\n').map((line) => line.split(','));
    assert.equal(first[head.indexOf('blocks_us')].split(';').length, rows[0].blocks);
    const plain = await server.request('GET', `${target}?format=csv`);
    assert.doesNotMatch(plain.text, /blocks_us|samples_us/);
    const ndjson = await server.request('GET', `${target}?samples=1&ranks=1&format=ndjson`);
    assert.deepEqual(JSON.parse(ndjson.text.split('\n')[0]), rows[0]);
    for (const event of await server.events(id)) assert.equal(event.blocks_us, undefined);
    assertProblem(await server.request('GET', `${target}?samples=many`), 400);
  });

  test('results come in four formats', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const { id } = await server.run({ ...quick, name: 'with, "quotes"' });
    await server.runEnds(id);
    const target = `/api/v1/runs/${id}/results`;
    const byAccept = (type) => server.request('GET', target, { headers: { Accept: type } });
    const { rows } = (await byAccept('application/json')).json;
    assert.equal(rows.length, 4);
    const ndjson = await byAccept('application/x-ndjson');
    assert.deepEqual(
      ndjson.text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
      rows,
    );
    const csv = await byAccept('text/csv');
    assert.match(csv.type, /^text\/csv/);
    const [head, ...lines] = csv.text.trim().split(/\r?\n/);
    assert.equal(lines.length, 4);
    const column = head.split(',').indexOf('size');
    assert.deepEqual(
      lines.map((line) => Number(line.split(',')[column])),
      rows.map((row) => row.size),
    );
    const text = await byAccept('text/plain');
    assert.match(text.text, /^ +8 +2 +float +sum +-1 /m);
    assert.match(text.text, /# Out of bounds values : 0 OK/);
    for (const format of ['json', 'ndjson', 'csv', 'text']) {
      const answer = await server.request('GET', `${target}?format=${format}`);
      assert.equal(answer.status, 200);
      assert.equal(answer.text.length > 0, true);
    }
    assertProblem(await server.request('GET', `${target}?format=xml`), 422);
    assertProblem(await byAccept('image/png'), 406);
  });

  test('runs are listed newest first, in pages, filtered', limit, async (t) => {
    const server = await startServer(t);
    const ids = [];
    for (let i = 0; i < 5; i++) {
      const spec = { name: `run ${i}`, labels: { odd: String(i % 2) }, nodes: { wait_s: 600 } };
      ids.unshift((await server.run(spec)).id);
    }
    const listed = [];
    let cursor = '';
    do {
      const page = await server.get(
        `/api/v1/runs?limit=2${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      assert.ok(page.runs.length <= 2);
      listed.push(...page.runs);
      cursor = page.next;
    } while (cursor);
    assert.deepEqual(
      listed.map((run) => run.id),
      ids,
    );
    assert.equal(listed[0].spec, undefined);
    for (const format of ['json', 'ndjson', 'csv', 'markdown', 'text']) {
      const seen = [];
      for (let next = `?limit=2&format=${format}`; next; ) {
        const { text, headers } = await server.request('GET', `/api/v1/runs${next}`);
        seen.push(...ids.filter((id) => text.includes(id)));
        [, next] = headers.link?.match(/^<(\?.*)>; rel="next"$/) ?? [];
      }
      assert.deepEqual(seen, ids, format);
    }
    const filtered = async (query) => (await server.get(`/api/v1/runs?${query}`)).runs.map((run) => run.name);
    assert.deepEqual(await filtered('label=odd%3D1'), ['run 3', 'run 1']);
    assert.deepEqual(await filtered('q=run%202'), ['run 2']);
    assert.deepEqual(await filtered('state=completed'), []);
    await server.request('POST', `/api/v1/runs/${ids[0]}/cancel`);
    await server.runEnds(ids[0]);
    assert.deepEqual(await filtered('state=cancelled'), ['run 4']);
    assert.equal((await filtered('state=cancelled&state=waiting_for_nodes')).length, 5);
    assertProblem(await server.request('GET', '/api/v1/runs?limit=0'), 400, /\b1 .*\b500\b/);
    assertProblem(await server.request('GET', '/api/v1/runs?state=done'), 422, /\bqueued\b.*\bdone\b/);
    assertProblem(await server.request('GET', '/api/v1/runs?cursor=nonsense'), 400);
  });

  test('the list is sorted, limited to times, and counted', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const runs = [];
    for (const sizes of [[8], ['1M'], ['4K']]) {
      runs.push(await server.runToEnd({ ...quick, sizes, name: `of ${sizes}` }));
    }
    const waiting = await server.run({ nodes: { count: 9, wait_s: 600 } });
    const ids = async (query) => (await server.get(`/api/v1/runs?${query}`)).runs.map(({ id }) => id);
    const by = (key) => [...runs].sort((a, b) => key(b) - key(a)).map(({ id }) => id);
    const figures = by((run) => run.summary.headline.busbw_gbs);
    assert.match(runs[1].summary.headline.text, /^\d\S* GB\/s at 1M$/);
    assert.deepEqual(await ids('sort=figure'), figures);
    assert.deepEqual(await ids('sort=figure&order=asc'), [...figures].reverse());
    // Two may have taken as many milliseconds.
    const took = (run) => Date.parse(run.ended) - Date.parse(run.started);
    const longest = (await server.get('/api/v1/runs?sort=duration')).runs.map(took);
    assert.deepEqual(
      longest,
      runs.map(took).sort((a, b) => b - a),
    );
    assert.deepEqual(
      await ids('order=asc'),
      [...runs, waiting].map(({ id }) => id),
    );
    const { next } = await server.get('/api/v1/runs?sort=figure&limit=2');
    assert.deepEqual(await ids(`sort=figure&limit=2&cursor=${next}`), figures.slice(2));
    assert.deepEqual(await ids(`since=${runs[1].created}&until=${waiting.created}`), [
      runs[2].id,
      runs[1].id,
    ]);
    const total = async (query) => (await server.get(`/api/v1/runs?limit=1&${query}`)).total;
    assert.deepEqual(await total('total=1'), { runs: 4, is_more: false });
    assert.deepEqual(await total('total=1&sort=figure&q=of'), { runs: 3, is_more: false });
    assert.equal(await total('q=of'), null);
    const text = await server.get('/api/v1/runs?format=text&sort=figure&limit=1');
    assert.ok(text.includes(` ${(await server.getRun(figures[0])).summary.headline.text} `), text);
    for (const query of ['sort=name', 'order=up', 'since=yesterday', 'until=2026-01-31T23:59:59%2B02:00']) {
      assertProblem(await server.request('GET', `/api/v1/runs?${query}`), 422, /must be/);
    }
    assertProblem(await server.request('GET', '/api/v1/runs?total=many'), 400, /must be 0 or 1/);
  });

  test('a key makes a POST happen once', limit, async (t) => {
    const server = await startServer(t);
    const key = { 'Idempotency-Key': 'abc-1' };
    const body = '{"name":"once","nodes":{"wait_s":600}}';
    const first = await server.post(body, key);
    assert.equal(first.status, 201);
    const again = await server.post(body, key);
    assert.equal(again.status, 200);
    assert.equal(again.json.id, first.json.id);
    assertProblem(await server.post('{"name":"other"}', key), 422, /Idempotency-Key/);
    assert.equal((await server.post(body, { 'Idempotency-Key': 'abc-2' })).status, 201);
    const both = await Promise.all(
      Array.from({ length: 8 }, () => server.post(body, { 'Idempotency-Key': 'abc-3' })),
    );
    assert.equal(new Set(both.map((answer) => answer.json.id)).size, 1);
    assert.equal(both.filter((answer) => answer.status === 201).length, 1);
    assert.equal((await server.get('/api/v1/runs')).runs.length, 3);
    assertProblem(await server.post(body, { 'Idempotency-Key': 'x'.repeat(201) }), 400);
    await server.killHard();
    const next = await server.startAgain();
    assert.equal((await next.post(body, key)).json.id, first.json.id);
  });

  test('a run is cancelled, once and for all', limit, async (t) => {
    const { server, agents } = await startCluster(t, 2);
    const text = await server.followText(long);
    await text.line(/^ +8192 /);
    const id = text.headers.location.split('/').pop();
    const target = `/api/v1/runs/${id}/cancel`;
    assert.equal((await server.request('POST', target)).status, 202);
    assert.equal((await server.request('POST', target)).status, 202);
    assert.match((await text.ended()).at(-1), /^cancelled: .*request$/);
    const run = await server.getRun(id);
    assert.equal(run.state, 'cancelled');
    assert.equal(run.cases[0].state, 'cancelled');
    await noWorkersLeft(agents);
    await server.nodeIs('node-1', 'idle');
    assert.equal((await server.request('POST', target)).status, 202);
    const next = await server.runToEnd(quick);
    assert.equal(next.state, 'completed', next.reason);
  });

  test('a run is deleted when it has ended', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const { id } = await server.run(long);
    await server.event(id, (event) => event.type === 'result');
    const target = `/api/v1/runs/${id}`;
    assertProblem(await server.request('DELETE', target), 409);
    await server.request('POST', `${target}/cancel`);
    await server.runEnds(id);
    assert.equal((await server.request('DELETE', target)).status, 204);
    for (const part of ['', '/results', '/events', '/logs']) {
      assertProblem(await server.request('GET', target + part), 404);
    }
    assertProblem(await server.request('DELETE', target), 404);
    assert.deepEqual((await server.get('/api/v1/runs')).runs, []);
  });

  test("workers get the run's environment, and their output is kept by rank", limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const { id } = await server.run({ ...quick, env: { NCCL_DEBUG: 'INFO' } });
    const run = await server.runEnds(id);
    assert.equal(run.spec.env.NCCL_DEBUG, 'INFO');
    const logs = await server.get(`/api/v1/runs/${id}/logs?rank=1`);
    assert.ok(Array.isArray(logs.lines));
    assert.ok(logs.lines.every((line) => line.rank === 1));
    for (const none of ['rank=99', 'case=1']) {
      assertProblem(
        await server.request('GET', `/api/v1/runs/${id}/logs?${none}`),
        400,
        /has no (rank|case)/,
      );
    }
    const text = await server.request('GET', `/api/v1/runs/${id}/logs?format=text`);
    assert.match(text.type, /^text\/plain/);
  });

  test('repeats are cases of their own', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const text = await server.followText({ ...quick, repeats: 3 });
    const lines = await text.ended();
    assert.match(lines.at(-1), /^completed: 12 rows/);
    const id = text.headers.location.split('/').pop();
    const run = await server.getRun(id);
    assert.deepEqual(
      run.cases.map((one) => one.repeat),
      [0, 1, 2],
    );
    assert.equal(run.summary.cases.completed, 3);
    assertWholeRows(run, await server.rows(id));
  });

  test('runs on disjoint nodes go side by side', limit, async (t) => {
    const { server } = await startCluster(t, 4);
    const left = await server.run({ ...long, nodes: { names: ['node-1', 'node-2'] } });
    const right = await server.run({ ...long, nodes: { names: ['node-3', 'node-4'] } });
    await server.event(left.id, (event) => event.type === 'result');
    await server.event(right.id, (event) => event.type === 'result');
    assert.equal((await server.getRun(left.id)).state, 'running');
    assert.equal((await server.getRun(right.id)).state, 'running');
    assert.equal((await server.node('node-1')).run, left.id);
    assert.equal((await server.node('node-4')).run, right.id);
  });

  test('the oldest waiting run keeps its nodes, a younger one passes on others only', limit, async (t) => {
    const { server } = await startCluster(t, 3);
    const order = [];
    const first = await server.run({ ...long, nodes: { names: ['node-1'] } });
    await server.event(first.id, (event) => event.type === 'result');
    const wide = await server.run({ ...quick, nodes: { names: ['node-1', 'node-2'] } });
    const narrow = await server.run({ ...quick, nodes: { names: ['node-2'] } });
    const aside = await server.run({ ...quick, nodes: { names: ['node-3'] } });
    assert.equal((await server.runEnds(aside.id)).state, 'completed');
    assert.equal((await server.getRun(wide.id)).state, 'queued');
    assert.equal((await server.getRun(narrow.id)).state, 'queued');
    assert.equal((await server.node('node-2')).state, 'idle');
    await server.request('POST', `/api/v1/runs/${first.id}/cancel`);
    for (const { id } of [wide, narrow]) {
      const run = await server.runEnds(id);
      assert.equal(run.state, 'completed', run.reason);
      order.push(run.started);
    }
    assert.ok(order[0] <= order[1], `${order}`);
  });

  test('a run behind idle nodes says for whom they are kept, and until when', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const waits = async (id) =>
      (
        await waitFor(async () => {
          const run = await server.getRun(id);
          return run.reason && run;
        }, 'no reason')
      ).reason;
    const wide = await server.run({ ...quick, nodes: { count: 3, wait_s: 600 } });
    assert.match(await waits(wide.id), /^2 .*\b3 nodes /);
    const narrow = await server.run({ ...quick, nodes: { count: 1 } });
    const [, until] = (await waits(narrow.id)).match(
      new RegExp(`^0 of 1 nodes .*\\b2 .*${wide.id}, .*3 nodes, until (\\d{4}-.*Z)$`),
    );
    const left = (Date.parse(until) - Date.parse(wide.created)) / 1000;
    assert.ok(left >= 599 && left < 601 * patience, `until ${until}`);
    const { placement } = (
      await server.request('POST', '/api/v1/runs/validate', { body: '{"nodes":{"count":2}}' })
    ).json;
    assert.match(placement.reason, new RegExp(`reserved for run ${wide.id}, .*until ${until}`));
    await server.request('POST', `/api/v1/runs/${wide.id}/cancel`);
    assert.equal((await server.runEnds(narrow.id)).state, 'completed');
  });

  test('groups and labels choose nodes', limit, async (t) => {
    const server = await startServer(t);
    await startAgent(t, server, 'a', { args: ['--group', 'one', '--label', 'rack=1'] });
    await startAgent(t, server, 'b', { args: ['--group', 'two', '--label', 'rack=1'] });
    await startAgent(t, server, 'c', { env: { SLURM_JOB_ID: '77' } });
    const names = async (nodes) => {
      const run = await server.runToEnd({ ...quick, nodes });
      assert.equal(run.state, 'completed', run.reason);
      return run.nodes.map((node) => node.name);
    };
    assert.deepEqual(await names({ group: 'two' }), ['b']);
    assert.deepEqual(await names({ labels: { rack: '1' } }), ['a', 'b']);
    assert.deepEqual(await names({ group: 'slurm-77' }), ['c']);
    assert.deepEqual(await names({ min: 2, max: 2 }), ['a', 'b']);
    assert.deepEqual(await names({ names: ['c', 'a'] }), ['c', 'a']);
  });

  test('nodes show what they are', limit, async (t) => {
    const server = await startServer(t);
    await startAgent(t, server, 'node-1', { ranks: 3 });
    const { nodes } = await server.get('/api/v1/nodes');
    assert.equal(nodes.length, 1);
    const [node] = nodes;
    assert.equal(node.state, 'idle');
    assert.equal(node.run, null);
    assert.ok(node.inventory.backends.host.available, JSON.stringify(node.inventory.backends));
    const same = await server.node('node-1');
    assert.deepEqual(same, { ...node, last_seen: same.last_seen, history: same.history });
    assertProblem(await server.request('GET', '/api/v1/nodes/none'), 404);
  });

  const several = {
    ...quick,
    sizes: [8, '64K', '1M'],
    collectives: [...usual, 'hypercube', 'alltoallv'],
  };

  async function worksOver(server, carrier, spec) {
    const run = await server.runToEnd({ ...several, ...spec });
    assert.equal(run.state, 'completed', run.reason);
    assert.equal(run.world_size, 4);
    for (const row of await server.rows(run.id)) assert.ok(!row.wrong, JSON.stringify(row));
    const { transport, each } = (await server.events(run.id)).find((event) => reached(event, 'connected', 0));
    const { ways } = each.find((one) => one.rank === 0);
    const via = ways.map((way) => [way.via.split('/')[0], way.to]);
    assert.deepEqual(
      via,
      spec.split
        ? [[carrier, '2']]
        : [
            ['shm', '1'],
            [carrier, '2-3'],
          ],
    );
    assert.equal(transport, spec.split ? carrier : `shm, ${carrier}`);
    return ways.at(-1);
  }

  /* Of a rank whose agent can tell nobody, nor can the server tell the others to stop. */
  async function noticesDeath(server, agents, spec) {
    const { id } = await server.run({ ...quick, ...spec, sizes: ['1M'], iters: 1000000, check: 0 });
    await server.event(id, (each) => reached(each, 'running', 3));
    const [victim] = agents[0].workers();
    agents[0].signal('SIGSTOP');
    const begin = Date.now();
    process.kill(victim, 'SIGKILL');
    const left = await server.event(id, (each) => each.type === 'rank' && each.state === 'failed');
    agents[0].signal('SIGCONT');
    assert.match(left.reason, /^peer_lost: lost rank [01]: /);
    assert.equal(left.node, 'node-2');
    assert.ok(Date.now() - begin < 1000 * patience, `${Date.now() - begin} ms`);
    assert.equal((await server.runEnds(id)).state, 'failed');
    await noWorkersLeft(agents);
  }

  test('ranks that claim to be on other hosts talk over TCP', limit, async (t) => {
    const { server } = await startHosts(t);
    await worksOver(server, 'tcp', {});
    await worksOver(server, 'tcp', { host: { transport: 'tcp' } });
    const wrong = await server.request('POST', '/api/v1/runs', {
      body: '{"host":{"transport":"rdma"}}',
    });
    const [{ pointer, detail }] = assertProblem(wrong, 422).errors;
    assert.equal(pointer, '/host/transport');
    assert.match(detail, /auto, tcp, ucx/);
  });

  const threeSockets = { host: { transport: 'tcp', sockets: 3 } };

  test('over several sockets, where a rank that dies is noticed as soon', limit, async (t) => {
    const { server, agents } = await startHosts(t, faulty);
    const { sockets } = await worksOver(server, 'tcp', threeSockets);
    assert.equal(sockets, 3);
    await worksOver(server, 'tcp', {
      host: { transport: 'tcp', sockets: 8 },
      collectives: ['all_reduce'],
      sizes: ['3M', '9M'],
    });
    await worksOver(server, 'tcp', {
      ...threeSockets,
      split: { by: 'mod', value: 2 },
      collectives: ['all_reduce'],
    });
    await noticesDeath(server, agents, threeSockets);
    const wrong = await server.request('POST', '/api/v1/runs', { body: '{"host":{"sockets":9}}' });
    const [{ pointer, detail }, ...others] = assertProblem(wrong, 422).errors;
    assert.deepEqual([pointer, others], ['/host/sockets', []]);
    assert.match(detail, /\b1 .*\b8, .*\b9$/);
  });

  const ucx = { host: { transport: 'ucx' } };

  test('or over UCX, where a rank that dies is noticed as soon', limit, async (t) => {
    const { server, agents } = await startHosts(t, faulty);
    const first = await server.runToEnd({ ...quick, ...ucx });
    if (first.state === 'failed' && /Debian: libucx/.test(first.reason)) {
      t.skip(first.reason);
      return;
    }
    await worksOver(server, 'ucx', ucx);
    await worksOver(server, 'ucx', { ...ucx, split: { by: 'mod', value: 2 }, collectives: ['all_reduce'] });
    await noticesDeath(server, agents, ucx);
    await worksOver(server, 'tcp', { host: { transport: 'tcp' } });
  });

  test('a node without UCX says which package has it', limit, async (t) => {
    const { server } = await startHosts(t, { agent: { env: { RINGBENCH_UCX_LIB: 'libnone.so.0' } } });
    const run = await server.runToEnd({ ...quick, ...ucx });
    assert.equal(run.state, 'failed');
    assert.match(run.reason, /UCX.*\(Debian: libucx/);
    await worksOver(server, 'tcp', {});
  });

  test('metrics count what happened', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    await server.runToEnd(quick);
    assert.equal(await server.get('/healthz'), 'ok\n');
    assert.equal((await server.request('GET', '/readyz')).status, 200);
    const text = await server.get('/metrics');
    const value = (name) => Number(text.match(new RegExp(`^${name} (\\S+)$`, 'm'))?.[1]);
    assert.equal(value('ringbench_nodes{state="idle"}'.replace(/[{}]/g, '\\$&')), 2);
    assert.equal(value('ringbench_runs_ended_total\\{state="completed"\\}'), 1);
    assert.equal(value('ringbench_results_total'), 4);
    assert.equal(value('ringbench_storage_ok'), 1);
    assert.equal(value('ringbench_rendezvous_stores\\{store="cases"\\}'), 0);
    for (const line of text.trim().split('\n')) {
      assert.match(line, /^(# (HELP|TYPE) \w+ .+|[a-z_]+(\{([a-z_]+="[^"]*",?)+\})? [-+.e0-9]+)$/);
    }
  });

  test('the API describes itself', limit, async (t) => {
    const server = await startServer(t);
    const { openapi, paths } = await server.get('/openapi.json');
    assert.match(openapi, /^3\.1\./);
    const known = Object.keys(paths).map((path) => path.replace('/api/v1', ''));
    for (const path of ['/runs', '/runs/{id}/events', '/nodes/{name}', '/readyz', '/metrics']) {
      assert.ok(known.includes(path), `${path} is not in ${known}`);
    }
  });

  test('an agent told to stay for one run leaves after it', limit, async (t) => {
    const server = await startServer(t);
    const agent = await startAgent(t, server, 'node-1', { args: ['--once'] });
    const run = await server.runToEnd(quick);
    assert.equal(run.state, 'completed', run.reason);
    assert.deepEqual(await agent.ended(20000), { code: 0, signal: null });
    await server.nodeIs('node-1', 'left');
  });

  test('an idle agent leaves after its time', limit, async (t) => {
    const server = await startServer(t);
    const agent = await startAgent(t, server, 'node-1', {
      args: ['--idle-exit', String(patience)],
      ready: false,
    });
    assert.deepEqual(await agent.ended(20000), { code: 0, signal: null }, agent.describe());
    await server.nodeIs('node-1', 'left');
  });
});
