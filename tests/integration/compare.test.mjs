// SPDX-License-Identifier: Apache-2.0
// compare.test.mjs - two runs, or two combinations of one, compared as a user asks for it
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { assertProblem, faulty, startCluster } from './lib/cluster.mjs';
import { patience } from './lib/fixture.mjs';

const limit = { timeout: 180000 * patience };

const sim = (more = {}, env = {}) => ({
  backend: 'sim',
  sizes: { max: '16M' },
  iters: 5,
  warmup: 1,
  repeats: 5,
  env: { SIM_SLEEP_FRACTION: '0', SIM_SEED: '7', SIM_CASE_NOISE: '0.002', ...env },
  ...more,
});

async function finished(server, spec) {
  const { id } = await server.run(spec);
  const run = await server.runEnds(id);
  assert.equal(run.state, 'completed', run.reason);
  return id;
}

const compare = (server, query) => server.get(`/api/v1/compare?${query}`);

describe('comparisons', { concurrency: 3 }, () => {
  test('a slower link is worse where it counts, in every format alike', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const id = await finished(server, sim({ matrix: { SIM_RING_GBS: ['50', '40'] } }));
    const query = `base=${id}&base_env=SIM_RING_GBS=50&head_env=SIM_RING_GBS=40`;
    const { verdict, sizes, base, head, sizes_total: total } = await compare(server, query);

    assert.equal(verdict.kind, 'compare');
    assert.equal(verdict.answer, 'worse');
    assert.match(verdict.sentence, /^head .* % .*4M.*16K$/);
    assert.equal(verdict.evidence.paired, true);
    assert.deepEqual(verdict.evidence.warnings, []);
    assert.deepEqual(verdict.evidence.differences, [
      { what: 'env.SIM_RING_GBS', base: '50', head: '40', alike: true },
    ]);
    const [latency, , bandwidth] = verdict.evidence.bands;
    assert.equal(latency.answer, 'same');
    assert.equal(bandwidth.answer, 'worse');
    assert.ok(bandwidth.interval[0] < -0.13 && bandwidth.interval[1] > -0.2, bandwidth.interval);
    assert.deepEqual(
      base.runs.map(({ id: run, name, backend, world_size: ranks }) => [run, name, backend, ranks]),
      [[id, '', 'sim', 2]],
    );
    // Every second repeat goes backwards.
    assert.deepEqual(
      base.cases.map((one) => one.case),
      [0, 3, 4, 7, 8],
    );
    assert.deepEqual(
      head.cases.map((one) => one.case),
      [1, 2, 5, 6, 9],
    );
    assert.equal(sizes.length, 2 * 22);
    assert.equal(total, 2 * 22);

    const text = await compare(server, `${query}&format=text`);
    assert.equal(text.split('\n')[0], verdict.sentence);
    assert.match(text, /all_reduce float32 sum +bandwidth +busbw_gbs .* worse/);
    const markdown = await compare(server, `${query}&format=markdown`);
    assert.equal(markdown.split('\n')[0], `**${verdict.sentence}**`);
    const csv = (await compare(server, `${query}&format=csv`)).split('\r\n');
    assert.equal(csv.length, 1 + 3 + sizes.length + 1);
    assert.match(csv[1], /^band,all_reduce float32 sum,latency,/);

    // The other way round it is better.
    const back = await compare(
      server,
      `head=${id}&base=${id}&head_env=SIM_RING_GBS=50&base_env=SIM_RING_GBS=40`,
    );
    assert.equal(back.verdict.answer, 'better');
  });

  test('runs that are not alike are compared with a warning in front', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const first = await finished(server, sim({ name: 'two nodes' }));
    const second = await finished(server, sim({ nodes: { count: 1 } }));
    const { verdict } = await compare(server, `base=${first}&head=${second}`);
    assert.match(verdict.sentence, new RegExp(`ranks, nodes: ${second} `));
    const { verdict: back } = await compare(server, `base=${second}&head=${first}`);
    assert.match(back.sentence, /ranks, nodes: 'two nodes' /);
    assert.equal(verdict.evidence.paired, false);
    assert.match(verdict.evidence.warnings.join('\n'), /ranks: base 2, head 1/);
    const text = await compare(server, `base=${first}&head=${second}&format=text`);
    assert.match(text, /^# warning: .*ranks/);
  });

  test('a machine with two states is no setting that differs', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const id = await finished(
      server,
      sim({ sizes: ['64M'], matrix: { HOST_SIDE: ['a', 'b'] } }, { SIM_SLOW: '*:0.3333@0-1,*:0.3333@5-6' }),
    );
    const { verdict } = await compare(server, `base=${id}&base_env=HOST_SIDE=a&head_env=HOST_SIDE=b`);
    assert.equal(verdict.answer, 'not_enough_data', verdict.sentence);
    assert.equal(verdict.evidence.bands[0].reason, 'two_states');
    assert.match(verdict.sentence, /3\.0x .*\b5 repeats .*\b8\b/);
  });

  test('few cases are no verdict, and wrong questions are told what is there', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const id = await finished(server, sim({ sizes: [8], repeats: 4 }));
    const few = (await compare(server, `base=${id}:0&base=${id}:1&head=${id}:2&head=${id}:3`)).verdict;
    assert.equal(few.answer, 'not_enough_data');
    assert.match(few.sentence, /base has 2 and head 2 .*\b3\b/);

    const ask = (query) => server.request('GET', `/api/v1/compare?${query}`);
    assertProblem(await ask(''), 422, /\bbase\b/);
    assertProblem(await ask('base=nobody'), 404, /\bnobody\b/);
    assertProblem(await ask(`base=${id}:9&head=${id}:0`), 404, /case 9\b.*0 to 3/);
    assertProblem(await ask(`base=${id}&head=${id}`), 422, /case 0 .*base.*head/);
    assertProblem(await ask(`base=${id}&head_env=A=b`), 422, /head.*\{"A":"b"\}/);
    assertProblem(await ask(`base=${id}:x`), 422, /RUN:CASE/);
    assertProblem(await ask(`base=${id}&head_env==x`), 422, /NAME=VALUE/);
  });

  test('a run is compared with the baseline that it is like', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const spec = sim({ sizes: [8, '16M'] });
    const first = await finished(server, spec);
    const other = await finished(server, sim({ sizes: [8, '16M'], collectives: ['broadcast'] }));
    const second = await finished(server, spec);
    const ask = (query) => server.request('GET', `/api/v1/compare?base=baseline&${query}`);
    assertProblem(await ask(`head=${second}`), 404, /baseline.*POST/);
    assertProblem(await ask(`head=${other}&last=3`), 404);
    assertProblem(await ask('head=nobody'), 404, /nobody/);
    assertProblem(await ask(''), 422, /\bhead\b/);
    const last = (await ask(`head=${second}&last=3`)).json;
    assert.deepEqual(
      last.base.runs.map((run) => run.id),
      [first],
    );
    for (const run of [first, other]) {
      const body = JSON.stringify({ run, by: 'ann', why: 'as delivered' });
      assert.equal((await server.request('POST', '/api/v1/baselines', { body })).status, 201);
    }
    const { base, head, verdict } = (await ask(`head=${second}`)).json;
    assert.deepEqual([base.runs[0].id, head.runs[0].id], [first, second]);
    assert.equal(verdict.answer, 'not_enough_data', verdict.sentence);
    assert.equal(verdict.evidence.bands[0].runs_needed, 4);
  });

  test('cases that failed are left out, and it is said', limit, async (t) => {
    const { server } = await startCluster(t, 1, faulty);
    const good = await finished(server, sim({ sizes: [8] }));
    const { id } = await server.run(sim({ sizes: [8], fault: { kind: 'die', rank: 0, row: 0 } }));
    await server.runEnds(id);
    const { verdict, head } = await compare(server, `base=${good}&head=${id}`);
    assert.equal(verdict.answer, 'not_enough_data');
    assert.equal(head.unfinished, 5);
    assert.match(verdict.evidence.warnings.join('\n'), /5 of 5 cases of head/);
  });
});
