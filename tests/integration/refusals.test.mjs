// SPDX-License-Identifier: Apache-2.0
// refusals.test.mjs - what bad input gets: the right status and a problem document that
// says what would be right
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';

import {
  assertProblem,
  faulty,
  noWorkersLeft,
  quick,
  request,
  startAgent,
  startAgents,
  startCluster,
  startServer,
} from './lib/cluster.mjs';
import { Program, binDir, patience, tempDir, waitFor } from './lib/fixture.mjs';

const limit = { timeout: 60000 * patience };

describe('refusals', { concurrency: 4 }, () => {
  test('what is not JSON is refused with its place', limit, async (t) => {
    const server = await startServer(t);
    for (const [body, detail] of [
      ['', /empty.*\{\}/],
      ['  \n', /body is empty/],
      ['{', /line 1, column 1$/],
      ['{"a":1,}', /JSON/],
      ['{"a":1}{}', /JSON/],
      ['{"name":"a","name":"b"}', /duplicate/],
      ['"text"', /JSON/],
      [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), /decode/],
      ['['.repeat(100000), /depth/],
    ]) {
      assertProblem(await server.request('POST', '/api/v1/runs', { body }), 400, detail);
    }
    assert.deepEqual((await server.get('/api/v1/runs')).runs, []);
  });

  test('each wrong field is named by its pointer, all at once', limit, async (t) => {
    const server = await startServer(t);
    const answer = await server.post({
      colectives: ['all_reduce'],
      iters: '20',
      sizes: { min: '2M', max: '1M' },
      dtypes: ['float'],
      nodes: { count: 0 },
      env: { LD_PRELOAD: 'x.so' },
      'a/b~c': 1,
    });
    const { detail, errors } = assertProblem(answer, 422);
    assert.match(detail, /7 fields are wrong/);
    const said = Object.fromEntries(errors.map((error) => [error.pointer, error.detail]));
    assert.deepEqual(Object.keys(said).sort(), [
      '/a~1b~0c',
      '/colectives',
      '/dtypes/0',
      '/env/LD_PRELOAD',
      '/iters',
      '/nodes/count',
      '/sizes/min',
    ]);
    assert.match(said['/colectives'], /'colectives'.*name, labels/);
    assert.match(said['/iters'], /"auto".*\b1 .*1000000/);
    assert.match(said['/dtypes/0'], /int8, .*float8e5m2/);
    assert.ok(said['/env/LD_PRELOAD']);
    assertProblem(await server.post([]), 422);
    assertProblem(await server.post({ fault: { kind: 'die' } }), 422);
  });

  test('a body that is too large is refused, however it comes', limit, async (t) => {
    const server = await startServer(t);
    const big = `{"name":"${'x'.repeat(3 << 20)}"}`;
    assertProblem(await server.post(big), 413);
    // Announced but never sent.
    const socket = net.connect(server.port, '127.0.0.1');
    t.after(() => socket.destroy());
    let said = '';
    socket.on('data', (data) => {
      said += data;
    });
    socket.on('error', () => {});
    socket.write('POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999999\r\n\r\n');
    await waitFor(
      () => /^HTTP\/1\.1 413 /.test(said),
      () => `no 413: ${said}`,
    );
    // In chunks without an announced length.
    const chunked = await request(server.url, 'POST', '/api/v1/runs', {
      body: big,
      headers: { 'Transfer-Encoding': 'chunked' },
    });
    assertProblem(chunked, 413);
    assert.equal(await server.get('/healthz'), 'ok\n');
  });

  test('a spec of too many names or values is refused before it is parsed', limit, async (t) => {
    const server = await startServer(t);
    const members = (n) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, 0])));
    for (const target of ['/api/v1/runs', '/api/v1/runs/validate']) {
      const post = (body) => server.request('POST', target, { body });
      assertProblem(await post(members(86000)), 413, /86000 .*2048/);
      assertProblem(await post(`{"sizes":[${'8,'.repeat(32768)}8]}`), 413, /32769 .*32768/);
      const large = {
        sizes: Array.from({ length: 4096 }, (_, i) => 8 * (i + 1)),
        nodes: { names: Array.from({ length: 1000 }, (_, i) => `node-${i}`) },
        traffic: { matrix: Array(128).fill(Array(128).fill(8)) },
        mistaken: true,
      };
      assertProblem(await post(JSON.stringify(large)), 422, /1 field is wrong|fields are wrong/);
      const { errors } = assertProblem(await post(members(2048)), 422, /2048 fields/);
      assert.equal(errors.length, 50);
      assert.match(errors[49].detail, /^unknown field 'k49'; known are name, /);
    }
  });

  test('unknown paths and wrong methods are told apart', limit, async (t) => {
    const server = await startServer(t);
    for (const target of [
      '/api/v1',
      '/api/v1/run',
      '/api/v1/runs/',
      '/api/v2/runs',
      '/js/nothing.mjs',
      '/api/v1/runs/none/results/more',
    ]) {
      assertProblem(await server.request('GET', target), 404);
    }
    for (const target of [
      '/api/v1/runs/000000000000',
      '/api/v1/runs/..%2f..%2fetc',
      '/api/v1/runs/%00x',
      '/api/v1/runs/000000000000/events',
      '/api/v1/runs/000000000000/results',
    ]) {
      const answer = await server.request('GET', target);
      assert.ok([400, 404].includes(answer.status), `${target}: ${answer.status}`);
      assertProblem(answer, answer.status);
    }
    for (const [method, target, allow] of /** @type {any[][]} */ ([
      ['PUT', '/api/v1/runs', /GET.*POST|POST.*GET/],
      ['DELETE', '/api/v1/runs', /GET/],
      ['POST', '/api/v1/runs/000000000000', /GET/],
      ['GET', '/api/v1/runs/000000000000/cancel', /POST/],
      ['POST', '/healthz', /GET/],
      ['PATCH', '/metrics', /GET/],
    ])) {
      const answer = await server.request(method, target);
      assertProblem(answer, 405);
      assert.match(answer.headers.allow, allow, `${method} ${target}`);
    }
    const head = await server.request('HEAD', '/healthz');
    assert.equal(head.status, 200);
    assert.equal(head.text, '');
  });

  test("a page elsewhere cannot use the user's browser", limit, async (t) => {
    const server = await startServer(t);
    assertProblem(await server.post({}, { Origin: 'http://evil.example' }), 403);
    assertProblem(await server.request('GET', '/api/v1/runs', { headers: { Host: 'evil.example' } }), 403);
    const own = await server.post({ nodes: { wait_s: 600 } }, { Origin: server.url });
    assert.equal(own.status, 201, own.text);
  });

  test('a page that makes its name lead here is refused also where others are let in', limit, async (t) => {
    const server = await startServer(t, {
      env: { RINGBENCH_INSECURE: '1' },
      args: [
        '--listen',
        '0.0.0.0:0',
        '--allow-host',
        'head.example,other.example',
        '--advertise',
        'ours.example',
      ],
    });
    const from = (host) =>
      server.request('POST', '/api/v1/runs/validate', { body: '{}', headers: { Host: host } });
    assertProblem(await from('evil.example'), 403, /head\.example.*--allow-host/);
    for (const known of [
      'head.example:8080',
      'OTHER.example',
      'ours.example',
      '127.0.0.1:1',
      os.hostname(),
    ]) {
      const answer = await from(known);
      assert.equal(answer.status, 200, `${known}: ${answer.text}`);
    }
  });

  test('bytes that are no HTTP do not disturb others', limit, async (t) => {
    const server = await startServer(t);
    for (const text of [
      '\0\0\0\0',
      'GET\r\n\r\n',
      'POST / HTTP/9.9\r\n\r\n',
      `GET /${'a'.repeat(100000)} HTTP/1.1\r\n\r\n`,
    ]) {
      const socket = net.connect(server.port, '127.0.0.1');
      t.after(() => socket.destroy());
      socket.on('error', () => {});
      socket.write(text);
      socket.end();
    }
    assert.equal(await server.get('/healthz'), 'ok\n');
  });

  test('more nodes or ranks than there are: the run ends and says so', limit, async (t) => {
    const { server } = await startCluster(t, 2, { agent: { ranks: 2 } });
    const ends = async (spec) => server.runToEnd({ ...quick, ...spec });
    const nodes = await ends({ nodes: { count: 3, wait_s: 0 } });
    assert.equal(nodes.state, 'failed');
    assert.match(nodes.reason, /\b2 .*\b3 nodes .*\b0 s/);
    const ranks = await ends({ ranks_per_node: 3, nodes: { wait_s: 0 } });
    assert.equal(ranks.state, 'failed');
    assert.match(ranks.reason, /node-1 and 1 more: offers 2 host ranks, 3 requested/);
    const root = await ends({ root: 4, collectives: ['broadcast'] });
    assert.equal(root.state, 'failed');
    assert.match(root.reason, /root is 4.*\b4 ranks/);
  });

  test('an unknown node is named, beside the known ones', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const text = await server.followText({ ...quick, nodes: { names: ['node-1', 'nod-2'], wait_s: 1 } });
    const lines = await text.ended();
    assert.match(lines.at(-1), /^failed: .*'nod-2'.*node-1, node-2.*\b1 s\b/);
  });

  test('a node that never joins is named with its rank', limit, async (t) => {
    const { server, agents } = await startCluster(t, 3, faulty);
    const text = await server.followText({ ...quick, join_s: 6, fault: { kind: 'no_join', rank: 1 } });
    await text.line(/^# 2 .*\b3 ranks /);
    assert.match((await text.ended()).at(-1), /^failed: .*rendezvous: 2 of 3 ranks .*6 s.*rank 1 on node-2 /);
    await noWorkersLeft(agents);
    const next = await server.runToEnd(quick);
    assert.equal(next.state, 'completed', next.reason);
  });

  test('a backend that a node does not have is said', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const run = await server.runToEnd({ backend: 'nccl', nodes: { wait_s: 0 } });
    assert.equal(run.state, 'failed');
    assert.match(run.reason, /node-1: nccl: /);
  });

  test('a size that does not fit is skipped with the numbers', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const { id } = await server.run({ ...quick, sizes: [8, '1T'] });
    const run = await server.runEnds(id);
    assert.equal(run.state, 'completed', run.reason);
    const rows = await server.rows(id);
    assert.deepEqual(
      rows.map((row) => Boolean(row.skipped)),
      [false, false, true, true],
    );
    assert.match(rows[2].skipped, /\d.* (GiB|TiB|MiB)/);
    assert.equal(rows[2].time_us, undefined);
    const text = await server.get(`/api/v1/runs/${id}/results?format=text`);
    assert.match(text, /skipped/);
  });

  test('wrong data is caught with rank, index, expected and got', limit, async (t) => {
    const { server } = await startCluster(t, 3, faulty);
    const { id } = await server.run({ ...quick, fault: { kind: 'wrong', rank: 2, row: 2, index: 5 } });
    const run = await server.runEnds(id);
    assert.equal(run.state, 'failed');
    assert.match(run.reason, /wrong data: .* all_reduce .*4096 .*rank 2, .*\b5: /);
    const rows = await server.rows(id);
    assert.deepEqual(
      rows.map((row) => row.wrong),
      [0, 0, 1, 0],
    );
    const [error] = rows[2].errors;
    assert.equal(error.rank, 2);
    assert.equal(error.index, 5);
    assert.notEqual(error.expected, error.got);
    assert.equal(run.summary.wrong, 1);
    const text = await server.get(`/api/v1/runs/${id}/results?format=text`);
    assert.match(text, /# Out of bounds values : 1 FAILED/);
  });

  test('a second agent of the same name is refused while the first lives', limit, async (t) => {
    const server = await startServer(t);
    const [first] = await startAgents(t, server, 1);
    const second = await startAgent(t, server, 'node-1', { ready: false });
    assert.equal((await second.ended()).code, 1);
    assert.match(second.errors.at(-1), /'node-1' .*--name/);
    assert.equal(first.status, null);
    const run = await server.runToEnd(quick);
    assert.equal(run.state, 'completed', run.reason);
    assert.equal(run.world_size, 1);
  });

  test("an agent without its server's token does not get in", limit, async (t) => {
    const dir = tempDir(t);
    const tokens = path.join(dir, 'tokens');
    const write = (name, text) => {
      fs.writeFileSync(path.join(dir, name), text, { mode: 0o600 });
      return path.join(dir, name);
    };
    write(
      'tokens',
      [
        'viewer see-0123456789abcdef',
        'operator run-0123456789abcdef',
        'agent node-0123456789abcdef',
        '',
      ].join('\n'),
    );
    const server = await startServer(t, { args: ['--token-file', tokens] });
    const get = (target, token) =>
      server.request('GET', target, { headers: token ? { Authorization: `Bearer ${token}` } : {} });
    assertProblem(await get('/api/v1/runs'), 401);
    assertProblem(await get('/api/v1/runs', 'wrong'), 401);
    assert.equal((await get('/api/v1/runs', 'see-0123456789abcdef')).status, 200);
    assertProblem(await server.post({}, { Authorization: 'Bearer see-0123456789abcdef' }), 403);
    assertProblem(await server.post({}, { Authorization: 'Bearer node-0123456789abcdef' }), 403);
    assert.equal((await get('/healthz')).status, 200);
    const args = ['--token-file', write('agent', 'node-0123456789abcdef\n')];
    await startAgent(t, server, 'node-1', { args, ready: false });
    await waitFor(
      async () => (await get('/api/v1/nodes/node-1', 'see-0123456789abcdef')).json.state === 'idle',
      'node-1',
    );
    const refused = await startAgent(t, server, 'node-2', { ready: false });
    await waitFor(
      () => refused.status || refused.errors.some((line) => /401|token/i.test(line)),
      () => refused.describe(),
      15000,
    );
    assertProblem(await get('/api/v1/nodes/node-2', 'see-0123456789abcdef'), 404);
  });

  test('the server does not start open to others, or without what it needs', limit, async (t) => {
    const dir = tempDir(t);
    fs.writeFileSync(path.join(dir, 'open'), 'operator 0123456789abcdef\n', { mode: 0o644 });
    fs.writeFileSync(path.join(dir, 'key'), 'any', { mode: 0o644 });
    fs.writeFileSync(path.join(dir, 'file'), '');
    for (const [args, says] of /** @type {any[][]} */ ([
      [['--listen', '0.0.0.0:0'], /--insecure/],
      [['--listen', '127.0.0.1'], /--listen/],
      [
        ['--listen', '127.0.0.1:0', '--token-file', path.join(dir, 'open')],
        /token file .*\(mode 0644\): chmod 600/,
      ],
      [
        ['--listen', '127.0.0.1:0', '--tls-cert', path.join(dir, 'file'), '--tls-key', path.join(dir, 'key')],
        /TLS key .*\(mode 0644\): chmod 600/,
      ],
      [['--listen', '127.0.0.1:0', '--data-dir', path.join(dir, 'file')], /file/],
      [['--nonsense'], /unknown option '--nonsense'; try --help/],
    ])) {
      const server = new Program(t, path.join(binDir, 'ringbench-server'), [
        '--data-dir',
        path.join(dir, 'data'),
        ...args,
      ]);
      const { code } = await server.ended();
      assert.notEqual(code, 0, server.describe());
      assert.match(server.errors.join('\n'), says);
      assert.deepEqual(server.lines, []);
    }
  });

  test('a port that is taken is said', limit, async (t) => {
    const server = await startServer(t);
    const second = new Program(t, path.join(binDir, 'ringbench-server'), [
      '--listen',
      `127.0.0.1:${server.port}`,
      '--data-dir',
      tempDir(t),
    ]);
    assert.notEqual((await second.ended()).code, 0);
    assert.match(second.errors.join('\n'), /in use/i);
  });
});
