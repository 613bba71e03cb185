// SPDX-License-Identifier: Apache-2.0
// standing.test.mjs - the standing rendezvous of the server, as its users and those who run
// it see it
import assert from 'node:assert/strict';
import net from 'node:net';
import { describe, test } from 'node:test';

import { startServer } from './lib/cluster.mjs';
import { Program, binDir, freePort, patience, tempDir, waitFor } from './lib/fixture.mjs';
import { Schemas } from './lib/schema.mjs';
import { TcpStoreClient } from './lib/tcpstore_client.mjs';

const limit = { timeout: 60000 * patience };

async function startStanding(t, { args = [], ...options } = {}) {
  const server = await startServer(t, { args: ['--rendezvous-listen', '127.0.0.1:0', ...args], ...options });
  return { server, port: (await standing(server)).port };
}

async function standing(server) {
  const { stores } = await server.get('/api/v1/rendezvous');
  assert.equal(stores.length, 1);
  assert.equal(stores[0].name, 'standing');
  return stores[0];
}

async function metric(server, name) {
  const text = await server.get('/metrics');
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `));
  assert.ok(line, `no ${name}`);
  return Number(line.split(' ')[1]);
}

describe('the standing store', { concurrency: 4 }, () => {
  test('there is none unless asked for', limit, async (t) => {
    const server = await startServer(t);
    assert.deepEqual((await server.get('/api/v1/rendezvous')).stores, []);
    assert.equal(await metric(server, 'ringbench_rendezvous_stores{store="standing"}'), 0);
  });

  test('it shows its clients, its keys, and who waits for what', limit, async (t) => {
    const { server, port } = await startStanding(t);
    const a = await TcpStoreClient.connect(t, port);
    const b = await TcpStoreClient.connect(t, port);
    await a.set('value', 'twelve bytes');
    a.beginWait(['value', 'missing']);
    const store = await waitFor(async () => {
      const seen = await standing(server);
      return seen.waits.length === 1 && seen;
    }, 'nobody waits');
    const document = await server.get('/openapi.json');
    assert.deepEqual(
      new Schemas(document).faults(document.components.schemas.RendezvousStores, { stores: [store] }),
      [],
    );
    assert.equal(store.standing, true);
    assert.equal(store.ttl_s, 3600);
    assert.equal(store.connections, 2);
    assert.deepEqual(store.keys, [{ key: '/value', bytes: 12 }]);
    assert.equal(store.key_count, 1);
    assert.deepEqual(
      store.clients.map(({ peer, protocol }) => [peer, protocol]),
      [a, b].map(({ socket }) => [`127.0.0.1:${socket.localPort}`, 2]),
    );
    assert.equal(store.waits[0].peer, store.clients[0].peer);
    assert.deepEqual(store.waits[0].keys, ['/missing']);
    assert.ok(Math.abs(Date.parse(store.waits[0].since) - Date.now()) < 20000);
    assert.equal(await metric(server, 'ringbench_rendezvous_connections{store="standing"}'), 2);
    assert.equal(await metric(server, 'ringbench_rendezvous_keys{store="standing"}'), 1);
    assert.equal(await metric(server, 'ringbench_rendezvous_parked_waits{store="standing"}'), 1);
    assert.equal(await metric(server, 'ringbench_rendezvous_queries_total{query="set"}'), 1);
    await b.set('missing', '');
    await a.waited();
  });

  test('keys expire, and metrics tell', limit, async (t) => {
    const { server, port } = await startStanding(t, { args: ['--rendezvous-ttl-s', '1'] });
    const client = await TcpStoreClient.connect(t, port);
    await client.set('left', 'behind');
    await waitFor(async () => (await standing(server)).key_count === 0, 'the key stays');
    assert.equal(await metric(server, 'ringbench_rendezvous_expired_keys_total'), 1);
    assert.equal(await metric(server, 'ringbench_rendezvous_bytes{store="standing"}'), 0);
  });

  test('only the networks that are named get in', limit, async (t) => {
    const { server, port } = await startStanding(t, { args: ['--rendezvous-allow', '192.0.2.0/24'] });
    await assert.rejects(TcpStoreClient.connect(t, port), /closed the connection/);
    assert.equal(await metric(server, 'ringbench_rendezvous_refused_total{reason="address_not_allowed"}'), 1);
  });

  test('each kind of refusal has its own line and counter', limit, async (t) => {
    const { server, port } = await startStanding(t, { args: ['--rendezvous-id-mib', '1'] });
    const refusals = (kind) => metric(server, `ringbench_rendezvous_refused_total{reason="${kind}"}`);
    const probe = net.connect(port, '127.0.0.1', () => probe.write('GET / HTTP/1.1\r\n\r\n'));
    probe.on('error', () => {});
    await server.errorLine(/127\.0\.0\.1:\d+ refused: .*unknown query/);
    const clients = [await TcpStoreClient.connect(t, port), await TcpStoreClient.connect(t, port)];
    for (let i = 0; i < 5; i++) {
      const client = await TcpStoreClient.connect(t, port);
      await assert.rejects(client.set('job/key', 'x'.repeat(1 << 20)), /closed the connection/);
    }
    await server.errorLine(/127\.0\.0\.1:\d+ refused: .*--rendezvous-id-mib\)$/);
    assert.equal(await refusals('unknown_query'), 1);
    assert.equal(await refusals('id_bytes'), 5);
    assert.equal(await refusals('store_connections'), 0);
    // A stop logs how many were not logged.
    for (const client of clients) client.send(200);
    await waitFor(async () => (await refusals('unknown_query')) === 3, 'they are not counted');
    server.signal('SIGTERM');
    assert.deepEqual(await server.ended(), { code: 0, signal: null });
    const logged = (kind) =>
      server.errors
        .filter((line) => line.includes(kind))
        .map((line) => Number(/127\.0\.0\.1:/.test(line)) + Number(line.match(/(\d+) more /)?.[1] ?? 0))
        .reduce((sum, count) => sum + count);
    assert.equal(logged('unknown query'), 3);
    assert.equal(logged('--rendezvous-id-mib'), 5);
  });

  test('variables of the environment do as well', limit, async (t) => {
    const server = await startServer(t, {
      env: { RINGBENCH_RENDEZVOUS_LISTEN: '127.0.0.1:0', RINGBENCH_RENDEZVOUS_TTL_S: '77' },
    });
    assert.equal((await standing(server)).ttl_s, 77);
  });

  test('a network without a list of who may come is warned about', limit, async (t) => {
    const args = ['--rendezvous-listen', '0.0.0.0:0'];
    const open = await startServer(t, { args });
    await open.errorLine(/warn .*every host/);
    const closed = await startServer(t, { args: [...args, '--rendezvous-allow', '127.0.0.0/8'] });
    await TcpStoreClient.connect(t, (await standing(closed)).port);
    assert.ok(!closed.errors.some((line) => line.includes('every host')));
  });

  test('a port that is in use ends the start with its reason', limit, async (t) => {
    const { port } = await startStanding(t);
    const second = new Program(t, `${binDir}/ringbench-server`, [
      '--listen',
      '127.0.0.1:0',
      '--data-dir',
      tempDir(t),
      '--rendezvous-listen',
      `127.0.0.1:${port}`,
    ]);
    assert.deepEqual(await second.ended(), { code: 1, signal: null });
    assert.match(
      second.errors.join('\n'),
      new RegExp(`rendezvous: .*127\\.0\\.0\\.1:${port}: Address already in use`),
    );
  });

  test('a stop lets clients go, and a new start takes the port again', limit, async (t) => {
    const port = await freePort();
    const args = ['--rendezvous-listen', `127.0.0.1:${port}`];
    const server = await startServer(t, { args });
    const client = await TcpStoreClient.connect(t, port);
    await client.set('key', 'value');
    client.beginWait(['never']);
    server.signal('SIGTERM');
    assert.deepEqual(await server.ended(), { code: 0, signal: null });
    await assert.rejects(client.waited(), /closed the connection/);
    const again = await server.startAgain();
    const other = await TcpStoreClient.connect(t, port);
    assert.equal(await other.numKeys(), 0);
    assert.equal((await standing(again)).connections, 1);
  });
});
