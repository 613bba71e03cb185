// curl.test.mjs - what the server tells a person with curl to do works as it stands
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { Lines, assertProblem, long, startAgent, startServer } from './lib/cluster.mjs';
import { patience, tempDir, waitFor } from './lib/fixture.mjs';

const limit = { timeout: 120000 * patience };

const tokens = { viewer: 'see-0123456789abcdef', operator: 'run-0123456789abcdef', agent: 'node-0123456789abcdef' };

// A command line in a shell, as a person's: its output, its exit status.
function shell(command, env = {}) {
  return new Promise((resolve) => {
    execFile('bash', ['-c', command], { env: { ...process.env, ...env }, timeout: 60000 * patience },
      (error, stdout, stderr) => resolve({ code: error ? error.code : 0, stdout, stderr }));
  });
}

// A server that wants tokens, and a node.
async function startGuarded(t) {
  const dir = tempDir(t);
  const write = (name, text) => {
    fs.writeFileSync(path.join(dir, name), text, { mode: 0o600 });
    return path.join(dir, name);
  };
  const file = write('tokens', Object.entries(tokens).map((pair) => `${pair.join(' ')}\n`).join(''));
  const server = await startServer(t, { args: ['--token-file', file] });
  await startAgent(t, server, 'node-1', { args: ['--token-file', write('agent', `${tokens.agent}\n`)], ready: false });
  await waitFor(async () => (await server.request('GET', '/api/v1/nodes/node-1',
    { headers: { Authorization: `Bearer ${tokens.viewer}` } })).json.state === 'idle', 'node-1');
  return server;
}

test('a stream says how to stop its run, and that does', limit, async (t) => {
  for (const start of [startServer, startGuarded]) {
    const server = await start(t);
    const headers = { Accept: 'text/plain', Authorization: `Bearer ${tokens.operator}` };
    const stream = await new Lines(t).open(server.url, 'POST', '/api/v1/runs',
      { body: JSON.stringify({ ...long, nodes: { wait_s: 600 } }), headers });
    const [, command] = await stream.line(/^# stop: (.*)$/);
    assert.equal(stream.lines.findIndex((line) => line.startsWith('# stop: ')), 1, stream.describe());
    assert.equal(command.includes('Authorization'), start === startGuarded);
    const { code, stdout, stderr } = await shell(`${command} -sSf`, { TOKEN: tokens.operator });
    assert.equal(code, 0, stderr);
    assert.match((await stream.ended()).at(-1), /^cancelled: /);
    const { id } = JSON.parse(stdout);
    const again = await new Lines(t).open(server.url, 'GET', `/api/v1/runs/${id}/events?format=text`, { headers });
    assert.equal((await again.ended()).some((line) => line.startsWith('# stop:')), false, again.describe());
  }
});

test('who comes without a token is told how to send one', limit, async (t) => {
  const server = await startGuarded(t);
  const refused = await server.request('GET', '/api/v1/runs');
  const { detail } = assertProblem(refused, 401, /^this needs a token: .* Authorization: Bearer TOKEN/);
  const [, option] = detail.match(/curl (-H ".*?\$TOKEN")/);
  const { stdout } = await shell(`curl -sS ${option} ${server.url}/api/v1/runs`, { TOKEN: tokens.viewer });
  assert.deepEqual(JSON.parse(stdout).runs, []);
  assertProblem(await server.request('GET', '/api/v1/runs', { headers: { Authorization: 'Bearer wrong' } }), 401,
    /^no token of this server: .* Authorization: Bearer TOKEN/);
});
