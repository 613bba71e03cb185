// SPDX-License-Identifier: Apache-2.0
// agent_delivery.test.mjs - what an agent has to tell arrives once, whatever fails meanwhile
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { FakeServer } from './lib/fake_server.mjs';
import { Program, patience, waitFor } from './lib/fixture.mjs';
import {
  assertNumbered,
  gone,
  registered,
  running,
  startAgent,
  startCommand,
  up,
} from './lib/lone_agent.mjs';

const limit = { timeout: 60000 * patience };

describe('what an agent delivers', { concurrency: 6 }, () => {
  test('an agent after a killed one delivers what that left', limit, async (t) => {
    const { server, agent } = await up(t);
    server.command(startCommand('rows', { env: { HOST_ROWS: '300', HOST_PAUSE: '0.01' } }));
    await waitFor(() => server.ofType('result').length > 20, 'no rows');
    await server.die();
    const spool = path.join(agent.dir, 'spool');
    const file = path.join(spool, 'events.db');
    await waitFor(() => /"gone"/.test(fs.readFileSync(file, 'utf8')), 'the case does not end');
    agent.signal('SIGKILL');
    await agent.ended();
    await server.comeBack();
    const second = startAgent(t, server.url, ['--spool-dir', spool]);
    await registered(server, second, 2);
    const [before, after] = server.registrations;
    assert.equal(after.boot_id, before.boot_id);
    assert.deepEqual(after.cases, [{ run: 'r1', case: 0, attempt: 1 }]);
    await gone(server, 2);
    assertNumbered(server.events);
    assert.deepEqual(
      server.ofType('result').map((event) => event.row),
      Array.from({ length: 300 }, (_, i) => i),
    );
    await second.errorLine(/killed \(\d+ events/);
  });

  test('an agent after a killed one says that its workers are gone', limit, async (t) => {
    const { server, agent } = await up(t);
    const spool = path.join(agent.dir, 'spool');
    server.command(startCommand('stubborn'));
    await running(server);
    const keys = () => server.headers.map((headers) => headers['ringbench-agent-key']);
    const key = keys()[0];
    assert.equal(fs.statSync(path.join(spool, 'identity')).mode & 0o777, 0o600);
    agent.signal('SIGKILL');
    await agent.ended();
    const second = startAgent(t, server.url, ['--spool-dir', spool]);
    await registered(server, second, 2);
    assert.deepEqual(server.registrations[1].cases, [{ run: 'r1', case: 0, attempt: 1 }]);
    await gone(server);
    assert.match(server.ofType('gone')[0].reason, /agent was killed/);
    assertNumbered(server.events);
    assert.match(key, /^[0-9a-f-]{72}$/);
    assert.deepEqual([...new Set(keys())], [key]);
    second.signal('SIGTERM');
    assert.equal((await second.ended()).code, 0);
    assert.deepEqual(fs.readdirSync(spool), []);
  });

  test('on the spool of a killed agent of another server starts as a new agent', limit, async (t) => {
    const { server, agent } = await up(t);
    server.command(startCommand('rows', { env: { HOST_ROWS: '300', HOST_PAUSE: '0.01' } }));
    await waitFor(() => server.ofType('result').length > 20, 'no rows');
    await server.die();
    const spool = path.join(agent.dir, 'spool');
    const isSpooled = () => fs.readFileSync(path.join(spool, 'events.db')).includes('"gone"');
    await waitFor(isSpooled, 'the case does not end');
    agent.signal('SIGKILL');
    await agent.ended();
    const other = await new FakeServer(t).listen();
    const second = startAgent(t, other.url, ['--spool-dir', spool]);
    await registered(other, second, 2);
    assert.equal(other.registrations[0].boot_id, server.registrations[0].boot_id);
    assert.notEqual(other.registrations[1].boot_id, server.registrations[0].boot_id);
    assert.deepEqual(other.registrations[1].cases, []);
    await second.errorLine(/ info .* does not know the earlier agent/);
    assert.doesNotMatch(second.errors.join('\n'), / (warn|error) /);
  });

  test('goes on where it was after the server was away', limit, async (t) => {
    const { server, agent } = await up(t);
    server.command(startCommand('rows', { env: { HOST_ROWS: '300', HOST_PAUSE: '0.01' } }));
    await waitFor(() => server.ofType('result').length > 20, 'no rows');
    await server.die();
    const before = server.acked;
    await agent.errorLine(/lost the server at .* retrying/);
    await server.comeBack();
    await registered(server, agent, 2);
    assert.equal(server.registrations[1].boot_id, server.registrations[0].boot_id);
    assert.deepEqual(server.registrations[1].cases, [{ run: 'r1', case: 0, attempt: 1 }]);
    await gone(server);
    assert.ok(server.acked > before);
    assertNumbered(server.events);
    assert.deepEqual(
      server.ofType('result').map((event) => event.row),
      Array.from({ length: 300 }, (_, i) => i),
    );
    assert.equal(server.ofType('spawn').length, 1);
    await agent.errorLine(/reconnected to .* after \d+\.\d s/);
  });

  test('an end that the server has not heard of is told at the next registration', limit, async (t) => {
    const { server, agent } = await up(t);
    server.command(startCommand('rows', { env: { HOST_ROWS: '20', HOST_PAUSE: '0.2' } }));
    await waitFor(() => server.ofType('result').length > 0, 'no rows');
    await server.die();
    await waitFor(() => agent.workers().length === 0, 'the worker does not end');
    await server.comeBack();
    await registered(server, agent, 2);
    const [{ gone: seq, ...ended }, ...others] = server.registrations[1].cases;
    assert.deepEqual([ended, others], [{ run: 'r1', case: 0, attempt: 1 }, []]);
    await gone(server);
    assert.deepEqual(
      server.ofType('gone').map((event) => event.seq),
      [seq],
    );
    assertNumbered(server.events);
    assert.equal(server.ofType('result').length, 20);
  });

  test('nothing is lost or counted twice when answers are lost', limit, async (t) => {
    const { server } = await up(t);
    let n = 0;
    server.answer = (request, body) => {
      if (!request.url.endsWith('/events')) return undefined;
      n++;
      // Stored, but the answer is a failure; or not stored at all.
      if (n % 3 === 1) {
        server.store({ writeHead() {}, end() {} }, body);
        return { status: 503, body: { detail: 'the answer is lost' } };
      }
      return n % 3 === 2 ? { status: 500, body: { detail: 'nothing is stored' } } : undefined;
    };
    server.command(startCommand('rows', { env: { HOST_ROWS: '40', HOST_PAUSE: '0.02' } }));
    await gone(server);
    assertNumbered(server.events);
    assert.equal(server.ofType('result').length, 40);
  });

  test('a gap is mended from where the server says', limit, async (t) => {
    const { server } = await up(t);
    let isOnce = false;
    server.answer = (request, body) => {
      if (!request.url.endsWith('/events') || isOnce || server.acked > 3) return undefined;
      isOnce = true;
      // As a server that stored the first of several lines only.
      server.store({ writeHead() {}, end() {} }, body.split('\n')[0]);
      return { status: 409, body: { detail: 'a gap', acked: server.acked } };
    };
    server.command(startCommand('rows', { env: { HOST_ROWS: '40' } }));
    await gone(server);
    assertNumbered(server.events);
    assert.equal(server.ofType('result').length, 40);
  });

  test('an event that the server refuses does not block those behind it', limit, async (t) => {
    const { server } = await up(t);
    server.refuse = (event) => (event.type === 'result' && event.row === 17 ? 'row 17 is odd' : null);
    server.command(startCommand('rows', { env: { HOST_ROWS: '40' } }));
    await gone(server);
    assertNumbered(server.events);
    assert.equal(server.ofType('result').length, 39);
    const [note] = server.ofType('log');
    assert.match(note.text, /refused .*'result': row 17 is odd/);
    assert.equal(note.rank, 0);
  });

  test('big events go in bodies within the limit', limit, async (t) => {
    const { server } = await up(t);
    const sizes = [];
    server.answer = (request, body) => {
      if (request.url.endsWith('/events')) sizes.push(body.length);
      return undefined;
    };
    await server.die();
    await server.comeBack();
    await waitFor(() => server.registrations.length === 2 && server.waiting.length > 0, 'no return');
    server.command(startCommand('big', { ranks: [0, 1, 2] }));
    await gone(server);
    assertNumbered(server.events);
    assert.equal(server.ofType('log').filter((event) => event.text.length === 500000).length, 9);
    assert.ok(Math.max(...sizes) <= 1024 * 1024, `${Math.max(...sizes)} bytes`);
  });

  test('starts afresh when the server has lost what it acknowledged', limit, async (t) => {
    const { server, agent } = await up(t);
    server.command(startCommand('stubborn', { env: {} }));
    await running(server);
    await server.die();
    server.acked = 0;
    server.bootId = null;
    server.events = [];
    await server.comeBack();
    await agent.errorLine(/acknowledged/);
    await registered(server, agent, 3);
    assert.notEqual(server.registrations[2].boot_id, server.registrations[0].boot_id);
    await gone(server);
    assertNumbered(server.events);
  });

  test('a full disk makes workers wait, and nothing is lost', limit, async (t) => {
    const { server, agent } = await up(t);
    // No file of the agent may grow beyond this: writes then fail as on a full disk.
    const limitFile = (bytes) =>
      new Program(t, 'prlimit', ['--pid', String(agent.pid), `--fsize=${bytes}:unlimited`]).ended();
    await limitFile(20000);
    await server.die();
    await agent.errorLine(/lost the server/);
    await server.comeBack();
    server.answer = (request) =>
      request.url.endsWith('/events') ? { status: 503, body: { detail: 'not now' } } : undefined;
    await registered(server, agent, 2);
    server.command(startCommand('rows', { env: { HOST_ROWS: '3000' } }));
    await agent.errorLine(/cannot write events to .*: workers are paused/);
    // A command that the agent has already: the poll after it tells the server.
    server.command(startCommand('rows', { env: { HOST_ROWS: '3000' } }));
    await waitFor(
      () => server.requests.some((request) => request.endsWith('&spool_full=true')),
      'the poll that says so',
    );
    server.answer = null;
    await gone(server);
    assertNumbered(server.events);
    assert.equal(server.ofType('result').length, 3000);
    await agent.errorLine(/events can be written .*again/);
  });
});
