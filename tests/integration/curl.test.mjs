// SPDX-License-Identifier: Apache-2.0
// curl.test.mjs - what the server tells a person with curl to do works as it stands
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { Lines, assertProblem, long, quick, startAgent, startCluster, startServer } from './lib/cluster.mjs';
import { patience, tempDir, waitFor } from './lib/fixture.mjs';

const limit = { timeout: 120000 * patience };

const tokens = {
  viewer: 'see-0123456789abcdef',
  operator: 'run-0123456789abcdef',
  agent: 'node-0123456789abcdef',
};

// A command line in a shell, as a person's: its output, its exit status.
function shell(command, env = {}) {
  return new Promise((resolve) => {
    execFile(
      'bash',
      ['-c', command],
      { env: { ...process.env, ...env }, timeout: 60000 * patience },
      (error, stdout, stderr) => resolve({ code: error ? error.code : 0, stdout, stderr }),
    );
  });
}

// A server that wants tokens, and a node.
async function startGuarded(t) {
  const dir = tempDir(t);
  const write = (name, text) => {
    fs.writeFileSync(path.join(dir, name), text, { mode: 0o600 });
    return path.join(dir, name);
  };
  const file = write(
    'tokens',
    Object.entries(tokens)
      .map((pair) => `${pair.join(' ')}\n`)
      .join(''),
  );
  const server = await startServer(t, { args: ['--token-file', file] });
  await startAgent(t, server, 'node-1', {
    args: ['--token-file', write('agent', `${tokens.agent}\n`)],
    ready: false,
  });
  await waitFor(
    async () =>
      (
        await server.request('GET', '/api/v1/nodes/node-1', {
          headers: { Authorization: `Bearer ${tokens.viewer}` },
        })
      ).json.state === 'idle',
    'node-1',
  );
  return server;
}

test('a stream says how to stop its run, and that does', limit, async (t) => {
  for (const start of [startServer, startGuarded]) {
    const server = await start(t);
    const headers = { Accept: 'text/plain', Authorization: `Bearer ${tokens.operator}` };
    const stream = await new Lines(t).open(server.url, 'POST', '/api/v1/runs', {
      body: JSON.stringify({ ...long, nodes: { wait_s: 600 } }),
      headers,
    });
    const [, command] = await stream.line(/^# stop: (.*)$/);
    assert.equal(
      stream.lines.findIndex((line) => line.startsWith('# stop: ')),
      1,
      stream.describe(),
    );
    assert.equal(command.includes('Authorization'), start === startGuarded);
    const { code, stdout, stderr } = await shell(`${command} -sSf`, { TOKEN: tokens.operator });
    assert.equal(code, 0, stderr);
    assert.match((await stream.ended()).at(-1), /^cancelled: /);
    const { id } = JSON.parse(stdout);
    const again = await new Lines(t).open(server.url, 'GET', `/api/v1/runs/${id}/events?format=text`, {
      headers,
    });
    assert.equal(
      (await again.ended()).some((line) => line.startsWith('# stop:')),
      false,
      again.describe(),
    );
  }
});

test('who may start runs is said beforehand', limit, async (t) => {
  const server = await startGuarded(t);
  const access = async (token) =>
    (
      await server.request('GET', '/api/v1/access', {
        headers: token ? { Authorization: `Bearer ${token}` } : {},
      })
    ).json;
  assert.deepEqual(await access(tokens.operator), { operator: true, demo: false, reason: null });
  const { operator, reason } = await access(tokens.viewer);
  assert.equal(operator, false);
  assert.match(reason, /\boperator\b/);
  assert.equal((await access()).status, 401);
  assert.equal((await (await startServer(t)).get('/api/v1/access')).operator, true);
});

test('an invalid spec is answered as text to whoever asks for text', limit, async (t) => {
  const server = await startServer(t);
  const spec = { sizes: [3], nodes: { count: 0 } };
  const plain = await server.post(spec, { Accept: 'text/plain' });
  assert.equal(plain.status, 422);
  assert.match(plain.headers['content-type'], /^text\/plain/);
  assert.match(plain.text, /^error 422: .*\n(\/\S*: .*\n)+$/);
  assert.match(plain.text, /^\/nodes\/count: must be /m);
  for (const accept of ['*/*', 'application/json', 'text/plain, application/json'])
    assertProblem(await server.post(spec, { Accept: accept }), 422, /./);
});

test('the lines of docs/reference/api.md work as they stand', limit, async (t) => {
  const [, block] = fs
    .readFileSync(new URL('../../docs/reference/api.md', import.meta.url), 'utf8')
    .match(/^## By hand\n[\s\S]*?```sh\n([\s\S]*?)```$/m);
  assert.ok(block.match(/\bcurl /g).length >= 10);
  for (const start of [async (test) => (await startCluster(test, 1)).server, startGuarded]) {
    const server = await start(t);
    const dir = tempDir(t);
    // A refusal is an end, not something to be read.
    fs.writeFileSync(path.join(dir, '.curlrc'), 'fail-with-body\n');
    const { code, stdout, stderr } = await shell(`set -euo pipefail; cd ${dir}\n${block}`, {
      CURL_HOME: dir,
      RINGBENCH: server.url,
      TOKEN: tokens.operator,
    });
    assert.equal(code, 0, stdout + stderr);
    assert.match(
      stdout,
      new RegExp(
        [
          '^NAME .*',
          'node-1 +idle',
          '"placement":.*"ready"',
          '# stop: ',
          'completed: ',
          'ID +STATE',
          'completed.* first$',
          '"state":"(queued|waiting_for_nodes|rendezvous|running)".*',
          '"spec"',
          '^cancelled: ',
        ].join('[^]*'),
        'm',
      ),
    );
    assert.match(fs.readFileSync(path.join(dir, 'results.csv'), 'utf8'), /^case,attempt,/);
    assert.ok(
      fs.readdirSync(dir).some((name) => name.endsWith('.html')),
      fs.readdirSync(dir).join(),
    );
    const { json } = await server.request('GET', '/api/v1/runs', {
      headers: { Authorization: `Bearer ${tokens.operator}` },
    });
    assert.deepEqual(
      json.runs.map(({ name }) => name),
      ['first'],
    );
  }
});

test('lists are columns for who asks for text', limit, async (t) => {
  const { server } = await startCluster(t, 2, { agent: { args: ['--group', 'left', '--label', 'rack=r1'] } });
  const runs = [];
  for (const name of ['first', 'second', 'third']) {
    const { id } = await server.run({ ...quick, name });
    runs.push(await server.runEnds(id));
  }
  for (const name of ['node-1', 'node-2']) await server.nodeIs(name, 'idle');
  const list = async (what) =>
    (await shell(`curl -sSf -H 'Accept: text/plain' '${server.url}/api/v1/${what}'`)).stdout.split('\n');
  const [head, ...nodes] = await list('nodes');
  assert.match(head, /^NAME +STATE +GROUP +RANKS +ADDRESS +SEEN +RUN +NCCL +LABELS +HARDWARE$/);
  assert.match(nodes[0], /^node-1 +idle +left +1 +127\.0\.0\.1 +2\S+Z +- +\S+ +rack=r1 +\S.*$/);
  assert.match(nodes[1], /^node-2 /);
  const columns = [...head.matchAll(/\S+ */g)].map(({ index }) => index);
  for (const column of columns.slice(1, 3)) assert.match(nodes[0].slice(column - 1), /^ \S/);
  const [heading, last, more] = await list('runs?limit=1');
  assert.match(heading, /^ID +STATE +CREATED +BACKEND +RANKS +DONE +OF +FIGURE +VERDICT +WHAT +NAME$/);
  assert.match(
    last,
    new RegExp(`^${runs[2].id} +completed +\\S+Z +host +2 +4 +4 +\\S+ GB/s at 4K +- +all_reduce +third$`),
  );
  const [, cursor] = more.match(/^# there is more: cursor=(\S+)$/);
  assert.match((await list(`runs?limit=1&cursor=${cursor}`))[1], new RegExp(`^${runs[1].id} .* second$`));
  // The last page names no next one, and a table for programs has its rows alone.
  assert.equal((await list('runs?limit=3')).filter((line) => line.startsWith('#')).length, 0);
  assert.equal((await list('runs?limit=1&format=csv')).filter((line) => line !== '').length, 2);
  assert.match((await list('programs'))[0], /^NAME +RANKS\/NODE +PARAMETERS +METRICS +NODES +DESCRIPTION$/);
  assert.match((await list('rendezvous'))[0], /^NAME +STANDING +PORT +CONNECTIONS +KEYS +BYTES +TTL_S$/);
});

test('who comes without a token is told how to send one', limit, async (t) => {
  const server = await startGuarded(t);
  const refused = await server.request('GET', '/api/v1/runs');
  const { detail } = assertProblem(refused, 401, /Authorization: Bearer TOKEN/);
  const [, option] = detail.match(/curl (-H ".*?\$TOKEN")/);
  const { stdout } = await shell(`curl -sS ${option} ${server.url}/api/v1/runs`, { TOKEN: tokens.viewer });
  assert.deepEqual(JSON.parse(stdout).runs, []);
  assertProblem(
    await server.request('GET', '/api/v1/runs', { headers: { Authorization: 'Bearer wrong' } }),
    401,
    /Authorization: Bearer TOKEN/,
  );
});
