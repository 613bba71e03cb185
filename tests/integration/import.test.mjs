// SPDX-License-Identifier: Apache-2.0
// import.test.mjs - what other benchmarks printed becomes runs like any others
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import { test } from 'node:test';

import { assertNumbered, assertProblem, startServer } from './lib/cluster.mjs';
import { binDir, patience, waitFor } from './lib/fixture.mjs';
import { Schemas } from './lib/schema.mjs';

const limit = { timeout: 60000 * patience };
const folder = new URL('../vectors/import/', import.meta.url);
const fileOf = (name) => fs.readFileSync(new URL(name, folder), 'utf8');

function post(server, name, query = '', headers = {}) {
  return server.request('POST', `/api/v1/import?file=${name}${query}`, { body: fileOf(name), headers });
}

async function imported(server, name, query) {
  const answer = await post(server, name, query);
  assert.equal(answer.status, 201, answer.text);
  return answer.json;
}

test('every answer is as described, and events replay', limit, async (t) => {
  const server = await startServer(t);
  const document = await server.get('/openapi.json');
  const { schemas } = document.components;
  const fits = (schema, value) => assert.deepEqual(new Schemas(document).faults(schema, value), []);
  for (const name of fs.readdirSync(folder).filter((file) => /\.(txt|json)$/.test(file))) {
    const answer = await imported(
      server,
      name,
      `${/no-name/.test(name) ? '&collective=all_reduce' : ''}${/^osu/.test(name) ? '&ranks=4' : ''}`,
    );
    fits(schemas.Imported, answer);
    for (const { id } of answer.runs) {
      const projection = await server.get(`/api/v1/runs/${id}/projection?nodes=64`);
      fits(schemas.Projection, projection);
      assert.equal(projection.verdict.answer, 'not_enough_data');
    }
    assert.equal(
      answer.rows,
      answer.runs.reduce((sum, run) => sum + run.rows_done, 0),
    );
    for (const brief of answer.runs) {
      const run = await server.getRun(brief.id);
      fits(schemas.Run, run);
      assert.equal(run.imported.from, /^osu/.test(name) ? 'osu' : 'nccl-tests');
      assert.equal(run.backend, /^osu/.test(name) ? 'mpi' : 'nccl');
      const rows = await server.rows(run.id);
      for (const row of rows) fits(schemas.Row, row);
      assert.equal(rows.length, run.rows_done);
      const events = await server.events(run.id);
      assertNumbered(events);
      assert.ok(events.some((event) => event.text === `from the file ${name}`));
      for (const event of events) fits(schemas.Event, event);
      fits(schemas.RunSummary, await server.get(`/api/v1/runs/${run.id}/summary`));
    }
  }
  const { runs } = await server.get('/api/v1/runs?node=node-b');
  assert.ok(runs.length >= 3);
  for (const run of runs) fits(schemas.RunBrief, run);
});

test('calls that are alike are repeats, others runs of their own', limit, async (t) => {
  const server = await startServer(t);
  const { runs } = await imported(
    server,
    'nccl-2.18-three-calls.txt',
    '&name=three&label=site=a&time=2026-01-31T12:00:00.000Z',
  );
  const [first, second] = await Promise.all(runs.map(({ id }) => server.getRun(id)));
  assert.deepEqual(
    [
      first.state,
      first.reason,
      first.name,
      first.labels,
      first.created,
      first.cases.length,
      first.spec.repeats,
    ],
    ['completed', 'imported from nccl-tests', 'three', { site: 'a' }, '2026-01-31T12:00:00.000Z', 2, 2],
  );
  assert.deepEqual([second.state, second.collectives, second.rows_done], ['failed', ['broadcast'], 6]);
  const { series } = await server.get(`/api/v1/runs/${first.id}/summary`);
  assert.deepEqual(
    series.map(({ in_place, points }) => [in_place, points.length, points[1].rows]),
    [
      [false, 2, 2],
      [true, 2, 2],
    ],
  );
  assert.ok(Math.abs(series[0].points[1].time_us - 50.5) < 1e-9);
});

test('a line that cannot be read is named, and the rest is taken', limit, async (t) => {
  const server = await startServer(t);
  const text = await post(server, 'nccl-2.19-mpirun-labels.txt', '', { Accept: 'text/plain' });
  assert.match(
    text.text,
    new RegExp(
      '^\\S+ {2}6 rows .*all_reduce, 4 ranks: failed.* nccl-tests 2\\.19\\.6: .*\\b3 .*\n' +
        '# .*\n.*: line 17: .*\n6 rows .*1 line.*\n$',
    ),
  );
  const { runs, unread } = await imported(server, 'nccl-2.19-per-iter.txt');
  assert.deepEqual(
    unread.map(({ line }) => line),
    [11],
  );
  const run = await server.getRun(runs[0].id);
  assert.deepEqual([run.state, run.rows_done, run.rows_total], ['completed', 2, 3]);
  const events = await server.events(run.id);
  assert.ok(events.some((event) => event.type === 'message' && /^1 line /.test(event.text)));
  assert.deepEqual(run.machines, [
    {
      hardware: '2 x NVIDIA Imaginary 1',
      versions: { 'nccl-tests': '2.19.6', nccl: '2.18.5' },
      nodes: ['node-a'],
    },
  ]);
});

test('what is no such file, or lacks what is needed, is refused and nothing is stored', limit, async (t) => {
  const server = await startServer(t);
  assertProblem(await post(server, 'nccl-2.10-no-name.txt'), 400, /collective.*all_reduce/);
  assertProblem(await post(server, 'osu-5.9-plain.txt'), 400, /\?ranks=/);
  assertProblem(await post(server, 'nccl-2.10-no-name.txt', '&collective=all_reduce&ranks=x'), 400, /ranks/);
  assertProblem(
    await post(server, 'nccl-2.10-no-name.txt', '&collective=allreduce'),
    422,
    /collective.*all_reduce/,
  );
  assertProblem(await post(server, 'nccl-2.18.json', '&label=x'), 422, /label.*KEY=VALUE/);
  assertProblem(await post(server, 'nccl-2.18.json', '&time=yesterday'), 422, /\btime\b/);
  assertProblem(await post(server, 'README.md'), 400, /nccl-tests .*OSU/);
  assertProblem(await server.request('POST', '/api/v1/import', { body: '{"results": 7}' }), 400, /no row/);
  assertProblem(await server.request('POST', '/api/v1/import', { body: 'x'.repeat((64 << 20) + 1) }), 413);
  assertProblem(
    await server.request('POST', '/api/v1/import', { body: `{${' '.repeat(2 << 20)}}` }),
    422,
    /2097154.*2097152/,
  );
  assert.deepEqual((await server.get('/api/v1/runs')).runs, []);
});

test('imported runs are compared as others are', limit, async (t) => {
  const server = await startServer(t);
  const call = (us) =>
    [
      '# Collective test starting: all_gather_perf',
      '# Rank 0 Pid 1 on a device 0 [0] X',
      '# Rank 1 Pid 2 on a device 1 [0] X',
      ...[5, 50].map(
        (time, i) =>
          ` ${1024 ** (i + 1)} 1 float none -1 ${(time * us).toFixed(2)} 0.00 0.00 N/A ${(time * us).toFixed(2)} 0.00 0.00 N/A`,
      ),
      '# Avg bus bandwidth : 1',
    ].join('\n');
  const ids = [];
  for (const factor of [1, 1.01, 1, 0.99, 1.01, 2]) {
    const body = [1, 1.001, 0.999, 1.002].map((noise) => call(factor * noise)).join('\n');
    const answer = await server.request('POST', `/api/v1/import?file=${factor}.txt`, { body });
    assert.equal(answer.status, 201, answer.text);
    assert.equal(answer.json.runs.length, 1, answer.text);
    ids.push(answer.json.runs[0].id);
  }
  const answer = await server.request('GET', `/api/v1/compare?base=${ids[0]}&head=${ids[5]}&format=text`);
  assert.equal(answer.headers['ringbench-verdict'], 'worse', answer.text);
  assert.doesNotMatch(answer.text, /base and head differ/);
  assert.match(answer.text, /100 % .*16K.* 100 % .*16K.*4M/m);
});

test('imported runs outlive a restart, and are deleted as others are', limit, async (t) => {
  const server = await startServer(t);
  const {
    runs: [{ id }],
  } = await imported(server, 'nccl-2.18.json');
  const before = await server.getRun(id);
  server.signal('SIGTERM');
  await server.ended();
  const again = await server.startAgain();
  assert.deepEqual(await again.getRun(id), before);
  assert.equal((await again.request('DELETE', `/api/v1/runs/${id}`)).status, 204);
});

test("a job's NCCL log is answered with the ways it took, and what speaks against them", limit, async (t) => {
  const server = await startServer(t);
  const schema = new Schemas(await server.get('/openapi.json'));
  const log = (name) => fs.readFileSync(new URL(`../data/nccl/a800.${name}.txt`, import.meta.url), 'utf8');
  const answer = await server.request('POST', '/api/v1/import', { body: log('0.ib0') });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(schema.faults({ $ref: '#/components/schemas/Imported' }, answer.json), []);
  const { ways, verdicts, settings } = answer.json.transports;
  assert.deepEqual(
    ways.map(({ text, between }) => `${text}: ${between}`),
    ['IP over InfiniBand ib0, 2 channels: pgpu25 and pgpu27'],
  );
  assert.equal(settings.NCCL_IB_HCA, 'ib0');
  assert.match(verdicts[0].sentence, /^NCCL_IB_HCA=ib0 .*mlx5_1/);
  const text = await server.request('POST', '/api/v1/import?format=text', { body: log('1.ens17np0') });
  assert.match(text.text, /^# .*NCCL_SOCKET_IFNAME=ens17np0 .*pgpu25/m);
  const two =
    log('0.mlx5_0') +
    log('1.ib0')
      .replaceAll(/(pgpu\d+):(\d+)/g, '$1:1$2')
      .replaceAll('commId 0x', 'commId 0xb');
  const jobs = await server.request('POST', '/api/v1/import', { body: two });
  assert.deepEqual(schema.faults({ $ref: '#/components/schemas/Imported' }, jobs.json), []);
  assert.deepEqual(
    jobs.json.transports.jobs.map(({ processes, nodes }) => [processes, nodes]),
    [
      [2, ['pgpu25', 'pgpu27']],
      [2, ['pgpu25', 'pgpu27']],
    ],
  );
  assert.ok(
    jobs.json.transports.verdicts.some(({ sentence }) =>
      /^NCCL_IB_DISABLE=1: .* \(job 2 of 2, imported\)$/.test(sentence),
    ),
  );
  assert.match(
    (await server.request('POST', '/api/v1/import?format=text', { body: two })).text,
    /^# NCCL: .*2 jobs/m,
  );
  const name = 'nccl-2.18-three-calls.txt';
  const both = await server.request('POST', '/api/v1/import', { body: `${log('0.mlx5_0')}${fileOf(name)}` });
  assert.equal(both.status, 201, both.text);
  assert.equal(both.json.transports.ways[0].kind, 'roce');
  assert.equal((await server.get('/api/v1/runs')).runs.length, both.json.runs.length);
  await server.killHard();
  const again = await server.startAgain();
  for (const { id } of both.json.runs) {
    const run = await again.getRun(id);
    assert.deepEqual(schema.faults({ $ref: '#/components/schemas/Run' }, run), []);
    assert.deepEqual(
      run.cases.map((one) => one.transports),
      run.cases.map((_, i) => (i ? undefined : both.json.transports)),
    );
    const ends = (await again.events(id)).filter(({ type, transports }) => type === 'case' && transports);
    assert.deepEqual(
      ends.map((end) => [end.case, end.transports]),
      [[0, both.json.transports]],
    );
    assert.match(
      await again.get(`/api/v1/runs/${id}/events?format=text`),
      /^# NCCL: pgpu25 and pgpu27: RoCE mlx5_0/m,
    );
  }
});

test(
  'the log of a large job is read beside all else, also when nobody waits for the answer',
  limit,
  async (t) => {
    const server = await startServer(t);
    const log = fs.readFileSync(new URL('../data/nccl/a800.0.mlx5_0.txt', import.meta.url), 'utf8');
    const large = Array.from({ length: 400 }, (_, i) =>
      log.replaceAll(/(pgpu\d+):(\d+)/g, `$1-${i}:$2`),
    ).join('');
    assert.ok(large.length > 2 << 20);
    const answer = await server.request('POST', '/api/v1/import', { body: large });
    assert.equal(answer.status, 200, answer.text.slice(0, 500));
    assert.equal(answer.json.transports.nodes.length, 800);
    for (let i = 0; i < 4; i += 1) {
      const request = http.request(`${server.url}/api/v1/import`, {
        method: 'POST',
        headers: { 'Content-Type': 'text/plain' },
      });
      request.on('error', () => {});
      await new Promise((sent) => {
        request.end(large, () => sent(undefined));
      });
      request.destroy();
    }
    // Two are read at a time: who comes too early is told so.
    await waitFor(
      async () => (await server.request('POST', '/api/v1/import', { body: log })).status === 200,
      () => 'still busy',
    );
  },
);

test('a log of 2,500 nodes is judged whole', limit, async (t) => {
  const server = await startServer(t);
  const hosts = 2500;
  const log = Array.from(
    { length: hosts },
    (_, i) =>
      `node-${i}:1:1 [0] NCCL INFO Channel 00/0 : ${i}[0] -> ${(i + 1) % hosts}[0] [send] via NET/Socket/0\n`,
  ).join('');
  const { transports } = (await server.request('POST', '/api/v1/import?format=json', { body: log })).json;
  const document = await server.get('/openapi.json');
  assert.deepEqual(new Schemas(document).faults(document.components.schemas.Transports, transports), []);
  assert.equal(transports.nodes.length, hosts);
  assert.equal(transports.verdicts[0].answer, 'ok');
});

test('run_nccl_table has a row for each way of each log', limit, () => {
  const logs = new URL('../data/nccl/', import.meta.url).pathname;
  const files = fs
    .readdirSync(logs)
    .filter((name) => name.endsWith('.txt'))
    .sort();
  const table = (...names) =>
    spawnSync(new URL('../../bench/run_nccl_table', import.meta.url).pathname, ['--bin', binDir, ...names], {
      encoding: 'utf8',
    });
  const { stdout, stderr, status } = table(...files.map((name) => logs + name));
  assert.equal(status, 0, stderr);
  const cells = stdout
    .trim()
    .split('\n')
    .slice(2)
    .map((line) => line.slice(2, -2).split(' | '));
  assert.deepEqual(
    cells.map((row) => row.slice(0, 7).join(' ')),
    [
      'a800.0.ib0.txt Socket ipoib ib0 no 1 0',
      'a800.0.mlx5_0.txt IB roce mlx5_0 no 1 0',
      'a800.0.not-set.txt IB infiniband mlx5_1 no 1 0',
      'a800.1.ens17np0.txt - - - - - -',
      'a800.1.ib0.txt Socket ipoib ib0 no 1 0',
      'h100.socket.txt Socket loopback lo no 0 1',
    ],
  );
  assert.match(cells[3][7], /NCCL_SOCKET_IFNAME=ens17np0/);
  assert.ok(cells.every((row) => row[8] === '0'));
  const none = table(`${logs}README.md`);
  assert.equal(none.status, 1);
  assert.match(none.stderr, /README\.md: /);
});
