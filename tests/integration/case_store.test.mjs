// SPDX-License-Identifier: Apache-2.0
// case_store.test.mjs - who reaches the store of a case, and what they find there
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { long, startCluster } from './lib/cluster.mjs';
import { Program, atEnd, binDir, patience, tempDir } from './lib/fixture.mjs';
import { TcpStoreClient } from './lib/tcpstore_client.mjs';
import * as netns from './netns.mjs';

const limit = { timeout: 120000 * patience };

test("keys of a case's workers are neither listed nor found without its secret", limit, async (t) => {
  const { server, agents } = await startCluster(t, 2);
  const { id } = await server.run(long);
  await server.event(id, (event) => event.type === 'result');
  const [store] = (await server.get('/api/v1/rendezvous')).stores;
  const names = store.keys.map(({ key }) => key).sort();
  assert.deepEqual(
    names,
    ['build', 'joined', 'rank/0', 'rank/1', 'tree'].map((name) => `ringbench/${name}`),
  );

  // A process of this host gets in, as the case's nodes are on it.
  const stranger = await TcpStoreClient.connect(t, store.port);
  assert.deepEqual(await stranger.listKeys(), []);
  await stranger.set('own', 'value');
  assert.deepEqual(await stranger.listKeys(), ['/own']);
  assert.equal(await stranger.hasWireKey('ringbench/joined'), false);

  const [, file] = agents[0]
    .workers()
    .map((pid) => fs.readFileSync(`/proc/${pid}/environ`, 'utf8').match(/RINGBENCH_CASE=([^\0]+)/))
    .find(Boolean);
  const { store_secret: secret } = JSON.parse(fs.readFileSync(file, 'utf8'));
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  assert.match(secret, /^[0-9a-f-]{36}$/);
  assert.equal(await stranger.hasWireKey(`${secret}/ringbench/joined`), true);
  for (const target of [
    '/api/v1/rendezvous',
    `/api/v1/runs/${id}`,
    `/api/v1/runs/${id}/events?format=ndjson&follow=0`,
    '/api/v1/nodes',
    '/metrics',
  ]) {
    const { text } = await server.request('GET', target);
    assert.ok(!text.includes(secret), target);
  }
});

// Asks for a greeting at HOST PORT, and says whether there is one.
const knock = `
  const socket = require('node:net').connect(process.argv[2], process.argv[1]);
  socket.on('connect', () => socket.write(Buffer.from('00cef7853c0d01000000', 'hex')));
  socket.on('data', () => { console.log('let in'); process.exit(); });
  socket.on('error', () => {});
  socket.on('close', () => { console.log('sent away'); process.exit(); });`;

test("processes of the server's host stay out of a case on other hosts", {
  ...limit,
  skip: netns.whyNot() ?? false,
}, async (t) => {
  const net = netns.setup(2, null);
  atEnd(t, () => net.teardown());
  const startIn = (where, file, args) =>
    new Program(t, where.exec[0], [...where.exec.slice(1), file, ...args]);
  const server = startIn(net.hub, path.join(binDir, 'ringbench-server'), [
    '--listen',
    '0.0.0.0:0',
    '--insecure',
    '--data-dir',
    tempDir(t),
    '--poll-s',
    '2',
  ]);
  const [, port] = await server.line(/^listening on http:\S+:(\d+)$/);
  const url = `http://${net.hub.address}:${port}`;
  const agents = net.hosts.map((host, i) =>
    startIn(host, path.join(binDir, 'ringbench-agent'), [
      '--server',
      url,
      '--name',
      `node-${i + 1}`,
      '--ranks',
      '1',
      '--spool-dir',
      tempDir(t),
    ]),
  );
  await Promise.all(agents.map((agent) => agent.errorLine(/registered with/)));
  const curl = startIn(net.hub, 'curl', [
    '-sN',
    '-H',
    'Accept: application/x-ndjson',
    '-d',
    JSON.stringify(long),
    `${url}/api/v1/runs`,
  ]);
  await curl.line(/"type":"result"/);
  const asked = startIn(net.hub, 'curl', ['-s', `${url}/api/v1/rendezvous`]);
  await asked.ended();
  const [store] = JSON.parse(asked.lines.join('')).stores;

  const knockFrom = async (where, host) => {
    const program = startIn(where, process.execPath, ['-e', knock, host, String(store.port)]);
    const [answer] = await program.line(/.+/);
    return answer;
  };
  assert.equal(await knockFrom(net.hosts[0], net.hub.address), 'let in');
  assert.equal(await knockFrom(net.hub, '127.0.0.1'), 'sent away');
  assert.equal(await knockFrom(net.hub, net.hub.address), 'sent away');
});
