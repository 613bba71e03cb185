// SPDX-License-Identifier: Apache-2.0
// node_limits.test.mjs - how many nodes there may be, and how much they may say of themselves
import assert from 'node:assert/strict';
import http from 'node:http';
import { describe, test } from 'node:test';

import { assertProblem, startServer } from './lib/cluster.mjs';
import { FakeAgent } from './lib/fake_agent.mjs';
import { patience } from './lib/fixture.mjs';

const limit = { timeout: 120000 * patience };

// Text of many small values, which take more memory than long ones.
const inventory = (bytes) => ({ x: Array.from({ length: bytes / 10 }, (_, i) => `abc${1000 + (i % 1000)}`) });

describe('limits of nodes', { concurrency: 3 }, () => {
  test('no more nodes than there may be; those that are gone make room', limit, async (t) => {
    const server = await startServer(t, { args: ['--max-nodes', '2', '--lease-s', '8'] });
    const agents = ['node-1', 'node-2', 'node-3'].map((name) => new FakeAgent(server, name));
    assert.equal((await agents[0].register()).status, 201);
    assert.equal((await agents[1].register()).status, 201);
    assertProblem(await agents[2].register(), 422, /\b2 nodes .*--max-nodes/);
    assert.equal((await agents[0].register()).status, 200);
    const names = async () => (await server.get('/api/v1/nodes')).nodes.map(({ name }) => name);
    // One that has left before one that is lost.
    await server.nodeIs('node-1', 'lost');
    assert.equal((await agents[1].register()).status, 200);
    assert.equal((await agents[1].call('DELETE')).status, 204);
    assert.equal((await agents[2].register()).status, 201);
    assert.deepEqual(await names(), ['node-1', 'node-3']);
    assert.equal((await agents[1].register()).status, 201);
    assert.deepEqual(await names(), ['node-2', 'node-3']);
  });

  test('an inventory has a limit, and all together have one', limit, async (t) => {
    // However long the many take to register, the first is not lost meanwhile.
    const server = await startServer(t, { args: ['--lease-s', '3600'] });
    assert.equal(
      (await new FakeAgent(server, 'huge', { inventory: inventory(200000) }).register()).status,
      413,
    );
    let answer,
      agent,
      first,
      n = 0;
    do {
      agent = new FakeAgent(server, `node-${++n}`, { inventory: inventory(120000) });
      first ??= agent;
      answer = await agent.register();
    } while (answer.status === 201 && n < 1000);
    assertProblem(answer, 422, /inventories .*25\d MiB/);
    assert.ok(n > 200, `${n}`);
    // What has left makes room.
    assert.equal((await first.call('DELETE')).status, 204);
    assert.equal((await agent.register()).status, 201);
    // Far more than is made in one go: whole, and in order.
    const { nodes } = await server.get('/api/v1/nodes');
    assert.deepEqual(
      nodes.map(({ name }) => name),
      Array.from({ length: n - 1 }, (_, i) => `node-${i + 2}`),
    );
    for (const node of nodes) assert.equal(node.inventory.x.length, 12000);
    // The half of it that a server sends which stops is not taken for the whole.
    const end = await new Promise((resolve) => {
      http.get(`${server.url}/api/v1/nodes`, (response) => {
        // Nothing more is read before the server has ended: it can't have sent all by then.
        response.once('data', async () => {
          response.pause();
          server.signal('SIGTERM');
          await server.ended();
          response.resume();
        });
        response.on('error', () => resolve('broken off')).on('end', () => resolve('whole'));
      });
    });
    assert.equal(end, 'broken off');
  });

  test('many nodes come whole and in order, in every form', limit, async (t) => {
    const server = await startServer(t, { args: ['--lease-s', '3600'] });
    const names = Array.from({ length: 300 }, (_, i) => `node-${String(i + 1000)}`);
    for (const name of names) await new FakeAgent(server, name).register();
    const { nodes } = await server.get('/api/v1/nodes?inventory=0');
    assert.deepEqual(
      nodes.map(({ name }) => name),
      names,
    );
    assert.ok(nodes.every((node) => node.inventory === undefined && node.state === 'idle'));
    const { text } = await server.request('GET', '/api/v1/nodes', { headers: { Accept: 'text/plain' } });
    const [heading, ...lines] = text.trimEnd().split('\n');
    assert.match(heading, /^NAME +STATE /);
    assert.deepEqual(
      lines.map((line) => line.split(/ +/).slice(0, 2)),
      names.map((name) => [name, 'idle']),
    );
  });
});
