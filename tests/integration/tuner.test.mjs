// SPDX-License-Identifier: Apache-2.0
// tuner.test.mjs - what a matrix over NCCL's algorithms says, as NCCL's tuner reads it
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { assertProblem, quick, startCluster, startServer } from './lib/cluster.mjs';
import { FakeAgent } from './lib/fake_agent.mjs';
import { patience } from './lib/fixture.mjs';

const limit = { timeout: 60000 * patience };
const matrix = { NCCL_ALGO: ['Ring', null], NCCL_PROTO: ['LL', null] };

test('winners come as lines that the plugin reads', limit, async (t) => {
  const { server } = await startCluster(t, 2);
  const { id } = await server.run({
    ...quick,
    backend: 'sim',
    collectives: ['all_gather', 'alltoall'],
    matrix,
    repeats: 3,
  });
  assert.equal((await server.runEnds(id)).state, 'completed');
  const answer = await server.request('GET', `/api/v1/runs/${id}/results?format=tuner&channels=4`);
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.type, /^text\/x-nccl-tuner;/);
  const lines = answer.text.trimEnd().split('\n');
  assert.match(lines[1], new RegExp(`^# run ${id} .*float32`));
  // Which one wins is chance here, if any does.
  for (const line of lines) assert.match(line, /^#|^allgather,\d+,\d+,ring,ll,4,2,2$/);
  for (const line of lines) assert.ok(line.length < 255);
});

test('runs that say nothing of it are refused', limit, async (t) => {
  const { server } = await startCluster(t, 2);
  const ask = async (spec, query = '') => {
    const { id } = await server.run({ ...quick, ...spec });
    await server.runEnds(id);
    return server.request('GET', `/api/v1/runs/${id}/results?format=tuner${query}`);
  };
  assertProblem(await ask({ matrix }), 422, /NCCL_ALGO .*\bhost\b/);
  assertProblem(await ask({ backend: 'sim' }), 422, /NCCL_ALGO .*NCCL_PROTO/);
  assertProblem(await ask({ backend: 'sim', matrix, collectives: ['alltoall'] }), 422, /no collective /);
  assertProblem(await ask({ backend: 'sim', matrix }, '&channels=65'), 400, /channels/);
});

test('rows that are on their way to the disk are in it', limit, async (t) => {
  const server = await startServer(t);
  const sim = { available: true, collectives: ['all_reduce'], dtypes: ['float32'], redops: ['sum'] };
  const agent = new FakeAgent(server, 'node-1', { inventory: { backends: { sim } } });
  assert.equal((await agent.register()).status, 201);
  const { id } = await server.run({
    ...quick,
    backend: 'sim',
    matrix: { NCCL_ALGO: [null], NCCL_PROTO: [null] },
  });
  const start = await agent.command('start');
  const row = {
    type: 'result',
    rank: 0,
    row: 0,
    series: 0,
    collective: 'all_reduce',
    dtype: 'float32',
    redop: 'sum',
    root: -1,
    in_place: false,
    size: 8,
    count: 2,
    time_us: 1,
    time_min_us: 1,
    time_max_us: 1,
    algbw_gbs: 1,
    busbw_gbs: 1,
  };
  // It takes a while until this is written.
  const output = new Array(400).fill({ type: 'output', rank: 0, stream: 'stdout', text: 'x'.repeat(8000) });
  const said = agent.say(start, row, ...output);
  while ((await server.getRun(id)).rows_done === 0);
  const answer = await server.request('GET', `/api/v1/runs/${id}/results?format=tuner`);
  assert.equal(answer.status, 200, answer.text);
  assert.equal((await said).status, 200);
});
