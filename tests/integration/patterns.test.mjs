// SPDX-License-Identifier: Apache-2.0
// patterns.test.mjs - runs whose nodes measure in groups: pairs, more and more of them
import assert from 'node:assert/strict';
import { exec } from 'node:child_process';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';

import {
  assertNumbered,
  assertProblem,
  long,
  noWorkersLeft,
  quick,
  startCluster,
  startServer,
} from './lib/cluster.mjs';
import { patience, waitFor } from './lib/fixture.mjs';
import { verdictOf } from './lib/verdicts.mjs';

const limit = { timeout: 180000 * patience };

// Rows that take a while without using the CPU.
const slow = {
  backend: 'sim',
  sizes: { min: 4096, max: 4096 * 20, step: 4096 },
  iters: 2,
  warmup: 0,
  env: { SIM_SLEEP_FRACTION: '1', SIM_BASE_US: '10000', SIM_NOISE: '0' },
};

const sim = { ...quick, backend: 'sim', sizes: ['64M'], iters: 10, env: { SIM_NOISE: '0' } };
const slowly = (spec, node) => ({ ...spec, env: { ...spec.env, SIM_SLOW: node } });

const names = (nodes) => nodes.join(' ');
const span = (c) => [Date.parse(c.started), Date.parse(c.ended)];
const overlap = (a, b) => span(a)[0] < span(b)[1] && span(b)[0] < span(a)[1];

// All pairs of cases; false where check is for any.
function every(cases, check) {
  return cases.every((a, i) => cases.slice(i + 1).every((b) => check(a, b)));
}

const meet = (a, b) => a.nodes.some((node) => b.nodes.includes(node));

function assertAllPairs(run, n) {
  const pairs = new Set(run.cases.map((c) => names(c.nodes)));
  assert.equal(run.cases.length, (n * (n - 1)) / 2);
  assert.equal(pairs.size, (n * (n - 1)) / 2);
  assert.ok(run.cases.every((c) => c.nodes.length === 2));
}

describe('patterns', { concurrency: 4 }, () => {
  test('pairs: every node meets every other, all that can at once', limit, async (t) => {
    const { server, agents } = await startCluster(t, 6);
    const spec = { ...slow, pattern: 'pairs' };
    const preview = (await server.request('POST', '/api/v1/runs/validate', { body: JSON.stringify(spec) }))
      .json;
    assert.equal(preview.cases, 15);
    const run = await server.runToEnd(spec);
    assert.equal(run.state, 'completed', run.reason);
    assert.equal(run.pattern, 'pairs');
    assert.equal(run.cases_total, 15);
    assertAllPairs(run, 6);
    assert.ok(run.cases.every((c) => c.state === 'completed' && c.headline.busbw_gbs > 0));
    assert.equal(run.rows_done, run.rows_total);
    assert.equal(run.rows_total, preview.rows);
    assert.equal(run.summary.headline, null);
    // Those of a round overlap in time; those that share a node never do.
    for (let round = 0; round < 5; round++) {
      const cases = run.cases.filter((c) => c.round === round);
      assert.equal(cases.length, 3);
      assert.ok(
        every(cases, (a, b) => !meet(a, b) && overlap(a, b)),
        JSON.stringify(cases.map(span)),
      );
    }
    assert.ok(every(run.cases, (a, b) => !meet(a, b) || !overlap(a, b)));
    const summary = await server.get(`/api/v1/runs/${run.id}/summary`);
    assert.equal(summary.combinations.length, 15);
    assert.deepEqual(
      summary.combinations.map((one) => names(one.nodes)),
      run.cases.map((c) => names(c.nodes)),
    );
    assertNumbered(await server.events(run.id));
    await noWorkersLeft(agents);
    // Figures of different nodes are never taken together.
    const compare = (base, head) => server.request('GET', `/api/v1/compare?base=${base}&head=${head}`);
    assertProblem(await compare(run.id, `${run.id}:0`), 422, /\bbase .*nodes: /);
    assert.equal((await compare(`${run.id}:0`, `${run.id}:1`)).status, 200);
    assert.deepEqual((await server.get('/api/v1/trends?band=latency')).points, []);
    const text = (await server.request('GET', `/api/v1/runs/${run.id}/results?format=text`)).text;
    assert.match(text, /^# case 0 on node-1, node-6, all_reduce /m);
    // Cases that went side by side have their rows together, each half beside its pair.
    const told = (await server.request('GET', `/api/v1/runs/${run.id}/events?format=text`)).text;
    const rows = run.rows_total / 15 / 2;
    assert.equal(
      [...told.matchAll(/^# case \d+ on \S+ \S+: completed\n((?:(?:#.*\n){0,6}?(?: .*\n)+)?)/gm)].filter(
        ([, block]) => block.match(/^ .*$/gm)?.length === rows && !block.includes('  -  '),
      ).length,
      15,
      told,
    );
  });

  test('pairs one after the other, an odd one out', limit, async (t) => {
    const { server } = await startCluster(t, 3);
    const spec = { ...sim, pattern: 'pairs', concurrent: false, repeats: 2 };
    const run = await server.runToEnd(spec);
    assert.equal(run.state, 'completed', run.reason);
    assert.deepEqual(
      run.cases.map((c) => [c.repeat, names(c.nodes)]),
      [
        [0, 'node-2 node-3'],
        [1, 'node-2 node-3'],
        [0, 'node-1 node-3'],
        [1, 'node-1 node-3'],
        [0, 'node-1 node-2'],
        [1, 'node-1 node-2'],
      ],
    );
    assert.ok(every(run.cases, (a, b) => !overlap(a, b)));
  });

  test('scaling: 1, 2, 3, 4 and all nodes', limit, async (t) => {
    const { server } = await startCluster(t, 5);
    const run = await server.runToEnd({ ...quick, pattern: 'scaling' });
    assert.equal(run.state, 'completed', run.reason);
    assert.deepEqual(
      run.cases.map((c) => c.nodes.length),
      [1, 2, 3, 4, 5],
    );
    assert.deepEqual(
      run.cases.map((c) => c.ranks.length),
      [0, 0, 0, 0, 0],
    );
  });

  test('nodes whose gate failed and no pair of which is slow are slow together', limit, async (t) => {
    const { server } = await startCluster(t, 4);
    const whole = await server.runToEnd({ ...sim, thresholds: { fast: { figure: 'busbw_gbs', min: 1e6 } } });
    assert.equal(verdictOf(whole, 'gate').answer, 'fail');
    const answer = await server.request('POST', `/api/v1/runs/${whole.id}/follow_up`);
    assert.equal(answer.status, 201, answer.text);
    const pairs = await server.runEnds(answer.json.id);
    const verdict = verdictOf(pairs, 'culprit');
    assert.deepEqual([verdict.answer, verdict.nodes], ['slow_together', []], verdict.sentence);
    assert.ok(verdict.sentence.includes(pairs.spec.slow_together));
    const refused = await server.post({ ...sim, slow_together: 'busbw is low' });
    assert.equal(refused.status, 422);
    assert.deepEqual(
      refused.json.errors.map(({ pointer }) => pointer),
      ['/slow_together'],
    );
  });

  test('a slow node is measured again with good ones, and named', limit, async (t) => {
    const { server } = await startCluster(t, 9);
    const spec = { ...sim, pattern: 'pairs' };
    const sound = await server.runToEnd(spec);
    assert.equal(sound.state, 'completed', sound.reason);
    assert.equal(sound.cases.length, 36);
    assert.equal(verdictOf(sound, 'culprit').answer, 'none', verdictOf(sound, 'culprit').sentence);
    const run = await server.runToEnd(slowly(spec, 'node-5:0.25'));
    assert.equal(run.state, 'completed', run.reason);
    assert.equal(run.cases_total, run.cases.length);
    assert.deepEqual([run.rows_done, run.rows_total], [run.cases.length * 2, run.cases.length * 2]);
    const slow = run.cases.filter((c) => c.headline.busbw_gbs < 30);
    assert.ok(slow.every((c) => c.nodes.includes('node-5')));
    assert.ok(slow.filter((c) => c.confirms).length >= 3);
    assert.equal(verdictOf(run, 'culprit').answer, 'slow_node');
    assert.match(verdictOf(run, 'culprit').sentence, /^node-5 is slow/);
    const { id } = run;
    const found = async (query) => (await server.get(`/api/v1/runs?${query}`)).runs.map((one) => one.id);
    assert.deepEqual(await found('verdict=slow_node&verdict=slow_rack'), [id]);
    assert.deepEqual(await found('verdict=none&verdict=slow_node'), [id, sound.id]);
    assert.deepEqual(await found('verdict=fail'), []);
    assert.deepEqual(await found('verdict=culprit:slow_node'), [id]);
    assert.deepEqual(await found('verdict=lateness:none'), []);
    for (const made of ['better', 'topology:same', 'gate:ok']) {
      assert.equal((await server.request('GET', `/api/v1/runs?verdict=${made}`)).status, 422, made);
    }
    assertProblem(await server.request('GET', '/api/v1/runs?verdict=bad'), 422, /\bverdict\b/);
    const last = (await server.events(id)).at(-1);
    assert.deepEqual(verdictOf(last, 'culprit'), verdictOf(run, 'culprit'));
    const named = async (query) => (await server.get(`/api/v1/runs?${query}`)).runs.map((one) => one.id);
    assert.deepEqual(await named('suspect=node-5'), [id]);
    assert.deepEqual(await named('suspect=node-4'), []);
    assert.deepEqual(await named('judged=1'), [id, sound.id]);
    assert.deepEqual(verdictOf(run, 'culprit').nodes, ['node-5']);
    assert.deepEqual(verdictOf(sound, 'culprit').nodes, []);
    const text = (await server.request('GET', `/api/v1/runs/${id}/events?format=text`)).text;
    assert.match(text, /\ncompleted: .*; culprit: slow_node: node-5 is slow.*\n$/);
  });

  test('pairs name a slow node', limit, async (t) => {
    const { server } = await startCluster(t, 6, { agent: { args: ['--label', 'rack=r1'] } });
    const run = await server.runToEnd(slowly({ ...sim, pattern: 'pairs' }, 'node-2:0.5'));
    assert.match(verdictOf(run, 'culprit').sentence, /^node-2 is slow/);
    assert.deepEqual([run.rows_done, run.rows_total], [run.cases.length * 2, run.cases.length * 2]);
    const totals = (await server.events(run.id))
      .filter(({ type }) => type === 'plan')
      .map((event) => event.rows_total);
    assert.deepEqual([...new Set(totals.slice(0, 5))], [30]);
    assert.ok(totals.at(-1) > 30 && totals.at(-1) === run.rows_total, String(totals));
    assert.deepEqual(run.nodes[0], { name: 'node-1', ranks: 1, labels: { rack: 'r1' } });
  });

  test('a run over all nodes ends with the line that finds the slow one', limit, async (t) => {
    const { server } = await startCluster(t, 4);
    const spec = {
      ...slowly(sim, 'node-2:0.5'),
      collectives: ['all_gather', 'all_reduce'],
      repeats: 2,
      thresholds: { fast: { figure: 'busbw_gbs', min: 1e6 } },
    };
    const lines = await (await server.followText(spec)).ended();
    const [, line] = lines.at(-2).match(/^# .*: (curl .*\/follow_up .*)$/) ?? assert.fail(lines.join('\n'));
    assert.match(lines.at(-1), /^completed: /);
    const told = await promisify(exec)(line);
    assert.match(told.stdout, /\ncompleted: .*; culprit: slow_node: node-2 .*\n$/);
    assert.doesNotMatch(told.stdout, /follow_up/);
    const [found, first] = (await server.get('/api/v1/runs')).runs;
    const { follow_up: offer } = await server.getRun(first.id);
    assert.ok(offer.title);
    assert.equal(found.name, offer.spec.name);
    assert.deepEqual([found.pattern, found.backend, found.collectives], ['pairs', 'sim', ['all_gather']]);
    // The same key is the same run; what has no follow-up says so.
    const again = (id) =>
      server.request('POST', `/api/v1/runs/${id}/follow_up`, { headers: { 'Idempotency-Key': 'k' } });
    const one = (await again(first.id)).json.id;
    assert.equal((await again(first.id)).json.id, one);
    assertProblem(await again(found.id), 409, /cannot get a follow-up/);
    assertProblem(await again('000000000000'), 404);
  });

  test('what is too much is refused with what to use', limit, async (t) => {
    const server = await startServer(t);
    const refused = async (spec) => (await server.post(spec)).json.errors;
    const [many, ...more] = await refused({ pattern: 'pairs', rounds: 1000, nodes: { count: 1000 } });
    assert.deepEqual([many.pointer, more], ['/rounds', []]);
    assert.match(many.detail, /1000 nodes .*\b499500 cases.*\b10000\b.*\b19\b/);
    const [one] = await refused({ pattern: 'pairs', nodes: { count: 1 } });
    assert.match(one.detail, /\b2 nodes, not 1$/);
    assert.equal((await refused({ pattern: 'pairs', baseline: {} }))[0].pointer, '/baseline');
    assert.equal((await refused({ pattern: 'rings' }))[0].pointer, '/pattern');
  });

  test('cancelling ends all that is under way, soon', limit, async (t) => {
    const { server, agents } = await startCluster(t, 6);
    const { id } = await server.run({ ...long, pattern: 'pairs' });
    await waitFor(
      async () => (await server.getRun(id)).cases.filter((c) => c.state === 'running').length === 3,
      'three cases at once',
    );
    const begin = Date.now();
    assert.equal((await server.request('POST', `/api/v1/runs/${id}/cancel`)).status, 202);
    const run = await server.runEnds(id);
    assert.ok(Date.now() - begin < 7000 * patience, `${Date.now() - begin} ms`);
    assert.equal(run.state, 'cancelled');
    assert.deepEqual(
      run.cases.map((c) => c.state),
      ['cancelled', 'cancelled', 'cancelled'],
    );
    await noWorkersLeft(agents);
  });

  test('a node that dies takes its pairs along, and is named; the others go on', limit, async (t) => {
    const { server, agents } = await startCluster(t, 5, { server: { args: ['--lease-s', '8'] } });
    const { id } = await server.run({ ...slow, pattern: 'pairs' });
    await waitFor(
      async () => (await server.getRun(id)).cases.some((c) => c.round === 1 && c.state === 'running'),
      'the second round',
    );
    agents[4].signal('SIGKILL');
    const run = await server.runEnds(id);
    assert.equal(run.state, 'failed');
    assertAllPairs(run, 5);
    for (const c of run.cases) {
      if (!c.nodes.includes('node-5')) assert.equal(c.state, 'completed', c.reason);
      if (c.state !== 'completed') assert.match(c.reason, /node-5/);
    }
    assert.match(run.reason, /^\d of 10 cases failed: .*node-5/);
  });

  // The server that goes on after one was killed in each of the rounds.
  async function killedIn(rounds, server, id) {
    for (const round of rounds) {
      await waitFor(
        async () => (await server.getRun(id)).cases.some((c) => c.round === round && c.state === 'running'),
        `round ${round}`,
        60000,
      );
      await server.killHard();
      server = await server.startAgain();
    }
    return server;
  }

  test('kill -9 of the server in the middle: the plan goes on, nothing counts twice', limit, async (t) => {
    const { server: first } = await startCluster(t, 6);
    const { id } = await first.run({ ...slow, pattern: 'pairs' });
    const server = await killedIn([1, 3], first, id);
    const run = await server.runEnds(id, 120000);
    assert.equal(run.state, 'completed', run.reason);
    assertAllPairs(run, 6);
    assert.equal(run.rows_done, run.rows_total);
    assert.equal((await server.rows(id)).length, run.rows_total);
    assertNumbered(await server.events(id));
  });

  test(
    'kill -9 of the server and of an agent in a run of pairs: who is slow is still found',
    limit,
    async (t) => {
      const { server: first, agents } = await startCluster(t, 9, { server: { args: ['--lease-s', '8'] } });
      const { id } = await first.run(
        slowly({ ...slow, pattern: 'pairs', sizes: ['64M'], iters: 40 }, 'node-5:0.25'),
      );
      const server = await killedIn([0, 2], first, id);
      agents[0].signal('SIGKILL');
      const run = await server.runEnds(id, 120000);
      assert.match(verdictOf(run, 'culprit').sentence, /^node-5 is slow/);
      assert.equal((await server.rows(id)).length, run.rows_done);
      assert.equal(
        new Set((await server.rows(id)).map((row) => `${row.case} ${row.series}`)).size,
        run.rows_done,
      );
      for (const c of run.cases.filter((one) => one.state !== 'completed')) assert.match(c.reason, /node-1/);
      assertNumbered(await server.events(id));
    },
  );
});
