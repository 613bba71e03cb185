// SPDX-License-Identifier: Apache-2.0
// attacks.cjs - what a stranger may do to a server, for run_attack: a table of attacks. Run as a
// program it is one attacking process: attacks.cjs NAME SHARE SHARES TARGET, where TARGET is JSON.
'use strict';
const fs = require('node:fs');
const http = require('node:http');
const net = require('node:net');
const { Duplex } = require('node:stream');
const tls = require('node:tls');

const BURST = 200; // connections begun at the same time
const STORE_MAGIC = 0x3c85f7ce;
const KEY_BYTES = 8 << 20;
const LOOK_EVERY_MS = 1000;

let again = 0; // connections that came again, since the server had closed them

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// A loopback address for the nth connection of an attack from so many of them.
const source = (n, addresses) => `127.0.1.${1 + (n % addresses)}`;

// Connect; resolves with the socket, or null where the server is full.
function open(target, address) {
  return new Promise((resolve) => {
    const socket = net.connect({ host: target.host, port: target.port, localAddress: address });
    const giveUp = setTimeout(() => socket.destroy(), 30000);
    socket.on('error', () => {});
    socket.once('close', () => resolve(null));
    socket.once('connect', () => {
      clearTimeout(giveUp);
      resolve(socket);
    });
  });
}

// The clients to which the server's side of a connection is open, as /proc writes them: who does
// not read is not told of an end that comes after the data.
function served(port) {
  const [, ...rows] = fs.readFileSync('/proc/net/tcp', 'utf8').trimEnd().split('\n');
  const open = rows
    .map((row) => row.trim().split(/\s+/, 4))
    .filter(
      ([, local, , state]) =>
        parseInt(local.split(':')[1], 16) === port && (state === '01' || state === '03'),
    );
  return new Set(open.map(([, , remote]) => remote));
}

function procName({ localAddress, localPort }) {
  const hex = (n, digits) => Number(n).toString(16).toUpperCase().padStart(digits, '0');
  return `${localAddress
    .split('.')
    .reverse()
    .map((n) => hex(n, 2))
    .join('')}:${hex(localPort, 4)}`;
}

const unread = new Map(); // sockets that do not read, by their names in /proc

function lookForClosed(port) {
  const still = served(port);
  for (const [name, socket] of unread) {
    if (!still.has(name)) {
      unread.delete(name);
      socket.destroy();
    }
  }
}

// `count` connections from so many addresses; each says `bytes` and nothing else. One that the
// server closes comes again.
async function hold(target, count, addresses, /** @type {string | Buffer} */ bytes = '', reads = true) {
  let begun = 0;
  const keep = async (n) => {
    const socket = await open(target, source(n, addresses));
    if (!socket) {
      await sleep(500);
      return;
    }
    const closed = new Promise((resolve) => socket.once('close', resolve));
    if (reads) {
      socket.resume();
    } else {
      socket.pause();
      unread.set(procName(socket), socket);
    }
    if (bytes.length > 0) {
      socket.write(bytes);
    }
    await closed;
    again++;
  };
  if (!reads) {
    setInterval(() => lookForClosed(target.port), LOOK_EVERY_MS);
  }
  while (begun < count) {
    for (let end = Math.min(begun + BURST, count); begun < end; begun++) {
      const n = begun;
      (async () => {
        for (;;) {
          await keep(n);
        }
      })();
    }
    await sleep(20);
  }
}

// The same, where nobody reads what the server sends.
const holdUnread = (target, count, addresses, bytes) => hold(target, count, addresses, bytes, false);

// Ask without end on so many connections, and read the answers.
function ask(target, clients, method, path, body, headers = {}) {
  const agent = new http.Agent({ keepAlive: true });
  for (let i = 0; i < clients; i++) {
    (async () => {
      for (let n = 0; ; n++) {
        await new Promise((resolve) => {
          const text = typeof body === 'function' ? body(i, n) : body;
          const request = http.request(
            { host: target.host, port: target.port, method, path, agent, headers },
            (response) => response.resume().once('close', resolve),
          );
          request.on('error', resolve);
          request.end(text);
        });
        await sleep(1);
      }
    })();
  }
}

// The first bytes that a TLS client sends.
function clientHello() {
  return new Promise((resolve) => {
    const wire = new Duplex({
      read() {},
      write(chunk, _encoding, done) {
        resolve(chunk);
        done();
      },
    });
    tls.connect({ socket: wire, host: 'localhost', rejectUnauthorized: false }).on('error', () => {});
  });
}

const get = (path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const u32 = (n) => Buffer.from(Uint32Array.of(n).buffer);
const i64 = (n) => Buffer.from(BigInt64Array.of(BigInt(n)).buffer);
const blob = (bytes) => Buffer.concat([i64(bytes.length), Buffer.from(bytes)]);

// Clients of the standing store, each of which asks for one key of 8 MiB 31 times at once.
async function multiGet(target, clients) {
  const store = { host: target.host, port: target.storePort };
  const greeting = Buffer.concat([Buffer.from([0]), u32(STORE_MAGIC)]);
  const set = Buffer.concat([greeting, Buffer.from([1]), blob('/k'), blob(Buffer.alloc(KEY_BYTES))]);
  const query = Buffer.concat([Buffer.from([10]), i64(31), ...Array(31).fill(blob('/k'))]);
  const writer = await open(store);
  writer.write(set);
  await sleep(500);
  for (let i = 0; i < clients; i++) {
    (async () => {
      for (;;) {
        const socket = await open(store);
        if (!socket) {
          await sleep(500);
          continue;
        }
        let left = 31 * (KEY_BYTES + 8);
        socket.write(Buffer.concat([greeting, query]));
        await new Promise((resolve) => {
          socket.on('data', (chunk) => {
            left -= chunk.length;
            if (left <= 0) {
              left += 31 * (KEY_BYTES + 8);
              socket.write(query);
            }
          });
          socket.once('close', resolve);
        });
      }
    })();
  }
}

const unknownKeys = () =>
  JSON.stringify(Object.fromEntries(Array.from({ length: 86000 }, (_, i) => [`u${i}`, 0])));

// As much as a spec may have of values, and of names.
const largeSpecs = [
  { nodes: { names: Array.from({ length: 32000 }, (_, i) => `node-${i}`) } },
  { labels: Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`label-${i}`, 'x'])) },
].map((spec) => JSON.stringify(spec));

const registration = (process_, n) =>
  JSON.stringify({
    protocol: 1,
    name: `node-${process_}-${n}`,
    version: '0',
    ranks: 1,
    labels: {},
    boot_id: `00000000-0000-4000-8000-${String(process_).padStart(4, '0')}${String(n).padStart(8, '0')}`,
    inventory: {
      host: 'h',
      programs: [],
      backends: {},
      notes: Array.from({ length: 2000 }, (_, i) => `a note of some length, number ${i}, of node ${n}`),
    },
  });

// tls: against a server with TLS; processes: a process may open 20,000 files, as may the server;
// noFloor: not by HTTP.
const attacks = {
  nothing: { run: () => {} },
  '20,000 silent connections from 8 addresses': {
    processes: 2,
    run: (target, share) => hold(target, share(20000), 8),
  },
  '20,000 idle connections after a request': {
    processes: 2,
    run: (target, share) => hold(target, share(20000), 8, get('/healthz')),
  },
  '20,000 halves of a request': {
    processes: 2,
    run: (target, share) => hold(target, share(20000), 8, 'GET / HTTP/1.1\r\nHost:'),
  },
  'nothing, TLS': { tls: true, run: () => {} },
  '1 half of a hello': {
    tls: true,
    run: (target) => hold(target, 1, 1, Buffer.from('16030102000100', 'hex')),
  },
  '250 halves of a hello from one address': {
    tls: true,
    run: (target) => hold(target, 250, 1, Buffer.from('16030102000100', 'hex')),
  },
  '4,000 halves of a hello from 32 addresses': {
    tls: true,
    run: (target) => hold(target, 4000, 32, Buffer.from('16030102000100', 'hex')),
  },
  '250 hellos without an end from one address': {
    tls: true,
    run: async (target) => hold(target, 250, 1, await clientHello()),
  },
  '4,000 hellos without an end from 32 addresses': {
    tls: true,
    run: async (target) => hold(target, 4000, 32, await clientHello()),
  },
  '12 who ask for 181 MB of logs and do not read': {
    run: (target) => holdUnread(target, 12, 1, get(`/api/v1/runs/${target.logs}/logs?limit=10000`)),
  },
  '12 who read 181 MB of logs': {
    run: (target) => ask(target, 12, 'GET', `/api/v1/runs/${target.logs}/logs?limit=10000`),
  },
  '1,900 who ask for 181 MB of logs and do not read': {
    run: (target) => holdUnread(target, 1900, 8, get(`/api/v1/runs/${target.logs}/logs?limit=10000`)),
  },
  '2,000 streams that nobody reads': {
    run: (target) => holdUnread(target, 2000, 8, get(`/api/v1/runs/${target.rows}/events?format=ndjson`)),
  },
  'validate with 86,000 unknown keys, 16 clients': {
    run: (target) => ask(target, 16, 'POST', '/api/v1/runs/validate', unknownKeys()),
  },
  'specs near the limits, validated by 16 clients': {
    run: (target) => ask(target, 16, 'POST', '/api/v1/runs/validate', (i) => largeSpecs[i % 2]),
  },
  '1,000 who ask for small answers again and again and do not read': {
    run: (target) => holdUnread(target, 1000, 8, Buffer.from(get('/healthz').repeat(5000))),
  },
  'MULTI_GET of 31 x 8 MiB, 32 clients': { noFloor: true, run: (target) => multiGet(target, 32) },
  'registrations of 120 KB, and GET /nodes, 8 clients each': {
    run: (target) => {
      ask(target, 8, 'POST', '/api/v1/agents', registration, { 'Ringbench-Agent-Key': 'k'.repeat(32) });
      ask(target, 8, 'GET', '/api/v1/nodes');
    },
  },
  'GET /metrics and /nodes, 32 clients each': {
    run: (target) => {
      ask(target, 32, 'GET', '/metrics');
      ask(target, 32, 'GET', '/api/v1/nodes');
    },
  },
};

async function main(name, share, shares, target) {
  const of = (count) => Math.floor(count / shares) + (share < count % shares ? 1 : 0);
  await attacks[name].run(JSON.parse(target), of);
  process.once('message', () => process.send(again));
  process.send('running');
}

if (require.main === module) {
  process.on('disconnect', () => process.exit());
  const [name, share, shares, target] = process.argv.slice(2);
  main(name, Number(share), Number(shares), target);
}

module.exports = { attacks };
