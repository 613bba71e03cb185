// SPDX-License-Identifier: Apache-2.0
// agent.test.mjs - how an agent registers with a server, and when it leaves
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { FakeServer } from './lib/fake_server.mjs';
import { Program, binDir, killTree, makeCertificate, patience, tempDir, waitFor } from './lib/fixture.mjs';
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

describe('the agent', { concurrency: 6 }, () => {
  test('registers with what the host is', limit, async (t) => {
    const { server } = await up(t, {}, [
      '--label',
      'rack=7',
      '--group',
      'g',
      '--ranks',
      '3',
      '--advertise',
      '10.0.0.9',
    ]);
    const [body] = server.registrations;
    assert.equal(body.protocol, 1);
    assert.equal(body.name, 'node-1');
    assert.match(body.boot_id, /^[0-9a-f-]{36}$/);
    assert.equal(body.group, 'g');
    assert.deepEqual(body.labels, { rack: '7' });
    assert.equal(body.ranks, 3);
    assert.equal(body.advertise, '10.0.0.9');
    assert.equal(body.server_host, '127.0.0.1');
    assert.equal(body.once, false);
    assert.deepEqual(body.cases, []);
    assert.ok(body.inventory.memory_bytes > 1e6);
    assert.ok(body.inventory.cpu.threads >= 1);
    assert.ok(body.inventory.addresses.some((entry) => entry.address === '127.0.0.1'));
    assert.equal(body.inventory.backends.fake.available, true);
  });

  test('takes its group and name from Slurm', limit, async (t) => {
    const server = await new FakeServer(t).listen();
    const dir = tempDir(t);
    const agent = new Program(
      t,
      path.join(binDir, 'ringbench-agent'),
      ['--server', server.url, '--worker-dir', dir, '--spool-dir', path.join(dir, 's')],
      { env: { ...process.env, SLURM_JOB_ID: '8123', SLURMD_NODENAME: 'n3' } },
    );
    await registered(server, agent);
    assert.equal(server.registrations[0].group, 'slurm-8123');
    assert.equal(server.registrations[0].name, 'n3');
  });

  test('a worker whose probe fails is reported as unavailable', limit, async (t) => {
    const server = await new FakeServer(t).listen();
    const dir = tempDir(t);
    const script = (name, text) =>
      fs.writeFileSync(path.join(dir, `ringbench-worker-${name}`), text, { mode: 0o755 });
    script('dies', '#!/bin/sh\nkill -ABRT $$\n');
    script('lies', '#!/bin/sh\necho hello\n');
    script('fails', '#!/bin/sh\nexit 4\n');
    fs.writeFileSync(path.join(dir, 'ringbench-worker-plain'), 'no program', { mode: 0o644 });
    const agent = startAgent(t, server.url, ['--worker-dir', dir]);
    await registered(server, agent);
    const { backends } = server.registrations[0].inventory;
    assert.match(backends.dies.reason, /died by signal 6/);
    assert.match(backends.lies.reason, /not valid JSON/);
    assert.match(backends.fails.reason, /status 4/);
    assert.match(backends.plain.reason, /Permission denied/);
    for (const backend of Object.values(backends)) assert.equal(backend.available, false);
  });

  test('a backend that fails is probed again, and the server hears when it does well', limit, async (t) => {
    const server = await new FakeServer(t).listen();
    const dir = tempDir(t);
    fs.writeFileSync(
      path.join(dir, 'ringbench-worker-late'),
      `#!/bin/sh\n[ -e ${dir}/loaded ] && echo '{"available":true}' && exit\ntouch ${dir}/loaded\nexit 1\n`,
      { mode: 0o755 },
    );
    const agent = startAgent(t, server.url, ['--worker-dir', dir]);
    await registered(server, agent);
    assert.match(server.registrations[0].inventory.backends.late.reason, /status 1/);
    await registered(server, agent, 2);
    const [first, second] = server.registrations;
    assert.deepEqual(second.inventory.backends.late, { available: true });
    assert.equal(second.boot_id, first.boot_id);
  });

  test('says so and exits when its name is held', limit, async (t) => {
    const server = await new FakeServer(t).listen();
    server.answer = () => ({ status: 409, body: { detail: 'agent a-7 has it since 10:00' } });
    const agent = startAgent(t, server.url);
    assert.deepEqual(await agent.ended(), { code: 1, signal: null });
    assert.match(agent.errors.join('\n'), /'node-1' .*agent a-7 has it since 10:00/);
  });

  test('exits with the detail when its token is refused', limit, async (t) => {
    const server = await new FakeServer(t).listen();
    let seen;
    server.answer = (request) => {
      seen = request.headers.authorization;
      return { status: 401, body: { detail: 's3cret is out of date' } };
    };
    const file = path.join(tempDir(t), 'token');
    fs.writeFileSync(file, 's3cret\n', { mode: 0o600 });
    const agent = startAgent(t, server.url, ['--token-file', file]);
    assert.equal((await agent.ended()).code, 1);
    assert.match(agent.errors.join('\n'), /s3cret is out of date/);
    assert.equal(seen, 'Bearer s3cret');
  });

  test('exits with what a server of another protocol says', limit, async (t) => {
    const server = await new FakeServer(t).listen();
    const errors = [{ pointer: '/protocol', detail: 'upgrade one of us' }];
    server.answer = () => ({ status: 422, body: { detail: 'refused', errors } });
    const agent = startAgent(t, server.url);
    assert.deepEqual(await agent.ended(), { code: 1, signal: null });
    assert.match(agent.errors.join('\n'), /\/protocol: upgrade one of us/);
  });

  test('refuses a token file that anybody can read', limit, async (t) => {
    const file = path.join(tempDir(t), 'token');
    fs.writeFileSync(file, 's3cret\n');
    fs.chmodSync(file, 0o644);
    const agent = startAgent(t, 'http://127.0.0.1:1', ['--token-file', file]);
    assert.equal((await agent.ended()).code, 1);
    assert.match(agent.errors.join('\n'), /token file .*\(mode 0644\): chmod 600/);
  });

  test('refuses a second agent on the same spool directory', limit, async (t) => {
    const { server, agent } = await up(t);
    const second = startAgent(t, server.url, ['--spool-dir', path.join(agent.dir, 'spool')]);
    assert.equal((await second.ended()).code, 1);
    assert.match(second.errors.join('\n'), /another agent .*spool/);
  });

  test('a name whose agent seems gone is waited for', limit, async (t) => {
    const server = await new FakeServer(t).listen();
    let refusals = 0;
    server.answer = (request) =>
      request.url === '/api/v1/agents' && refusals++ < 2
        ? { status: 409, body: { detail: 'it may be free in 9 s', retry_after_s: 9 } }
        : undefined;
    const agent = startAgent(t, server.url);
    await registered(server, agent);
    assert.equal(
      agent.errors.filter((line) => /waiting for the name 'node-1': it may be free in 9 s/.test(line)).length,
      1,
    );
  });

  test('after a reconnect a held name is waited for', limit, async (t) => {
    const { server, agent } = await up(t);
    let refusals = 0;
    await server.die();
    server.answer = (request) =>
      request.url === '/api/v1/agents' && refusals++ < 3
        ? { status: 409, body: { detail: 'held' } }
        : undefined;
    await server.comeBack();
    await registered(server, agent, 2);
    assert.equal(agent.status, null);
    assert.equal(refusals, 4);
  });

  test('leaves when the server says so', limit, async (t) => {
    const { server, agent } = await up(t);
    server.command({ type: 'leave', reason: 'maintenance' });
    assert.deepEqual(await agent.ended(), { code: 0, signal: null });
    assert.ok(server.hasLeft);
    assert.match(agent.errors.join('\n'), /leaving: maintenance/);
    assert.ok(!fs.existsSync(path.join(agent.dir, 'spool')));
  });

  test('SIGTERM: workers first, then their events, then good-bye', limit, async (t) => {
    const { server, agent } = await up(t);
    server.command(startCommand('polite', { ranks: [0, 1] }));
    await waitFor(() => server.ofType('phase').length === 2, 'no two workers');
    agent.signal('SIGTERM');
    assert.deepEqual(await agent.ended(), { code: 0, signal: null });
    assertNumbered(server.events);
    assert.equal(server.ofType('exit').length, 2);
    assert.equal(server.events.at(-1).type, 'gone');
    assert.match(server.requests.at(-1), /^DELETE /);
    assert.ok(server.hasLeft);
  });

  test('SIGTERM while the server is away ends within its deadline', limit, async (t) => {
    const { server, agent } = await up(t);
    server.command(startCommand('polite'));
    await running(server);
    await server.die();
    agent.signal('SIGTERM');
    assert.equal((await agent.ended(9000)).code, 0);
    assert.deepEqual(agent.workers(), []);
  });

  // A signal again and again, as long as the agent lives.
  async function insist(agent, signal) {
    const ended = agent.ended();
    const timer = setInterval(() => agent.status === null && agent.signal(signal), 100);
    try {
      return await ended;
    } finally {
      clearInterval(timer);
    }
  }

  test('SIGTERM again and again is one leave, announced first', limit, async (t) => {
    const { server, agent } = await up(t, {}, [], { SLURM_JOB_ID: '8' });
    server.command(startCommand('stubborn'));
    await running(server);
    const before = server.events.length;
    agent.signal('SIGTERM');
    agent.signal('SIGTERM');
    // The worker has to be killed: some seconds.
    assert.deepEqual(await insist(agent, 'SIGTERM'), { code: 0, signal: null });
    assert.match(agent.errors.join('\n'), /leaving: .*\(SIGTERM\), job slurm-8/);
    assert.deepEqual(server.leaves, [['terminated (SIGTERM), job slurm-8', before]]);
    assert.equal(server.events.at(-1).type, 'gone');
    assert.ok(server.hasLeft);
  });

  test(
    'a signal to agent and workers alike: the leave is known before the end of these',
    limit,
    async (t) => {
      const { server, agent } = await up(t);
      server.leaveAfterMs = 400;
      server.command(startCommand('polite'));
      await running(server);
      agent.signal('SIGTERM');
      for (const pid of agent.workers()) killTree(Number(pid), 'SIGTERM');
      assert.deepEqual(await agent.ended(), { code: 0, signal: null });
      const [[reason, before]] = server.leaves;
      assert.equal(reason, 'terminated (SIGTERM)');
      const types = server.events.map(({ type }) => type);
      assert.ok(types.includes('exit'));
      assert.deepEqual(
        types.slice(0, before).filter((type) => ['done', 'exit', 'gone'].includes(type)),
        [],
      );
    },
  );

  test('^C again ends it at once', limit, async (t) => {
    const { server, agent } = await up(t);
    server.command(startCommand('stubborn'));
    await running(server);
    agent.signal('SIGINT');
    await agent.errorLine(/leaving: interrupted \(SIGINT\)$/);
    // Patience with the worker would end with 0.
    assert.equal((await insist(agent, 'SIGINT')).code, 130);
    await waitFor(() => agent.workers().length === 0, 'a worker is left');
  });

  test('--once leaves after its first run', limit, async (t) => {
    const { server, agent } = await up(t, {}, ['--once']);
    assert.equal(server.registrations[0].once, true);
    server.command(startCommand('done', { number: 0 }));
    await gone(server);
    server.command(startCommand('done', { number: 1 }));
    await gone(server, 2);
    assert.equal((await agent.ended(9000)).code, 0);
    assert.ok(server.hasLeft);
  });

  test('--idle-exit leaves when nothing runs, and not before', limit, async (t) => {
    const { server, agent } = await up(t, {}, ['--idle-exit', '3']);
    const begin = Date.now();
    server.command(startCommand('rows', { env: { HOST_ROWS: '8', HOST_PAUSE: '0.5' } }));
    await gone(server);
    assert.equal((await agent.ended()).code, 0);
    assert.ok(Date.now() - begin > 6900);
    assert.ok(server.hasLeft);
  });

  test('waits for a server that is not there yet, but not past --idle-exit', limit, async (t) => {
    const agent = startAgent(t, 'http://127.0.0.1:1', ['--idle-exit', '2']);
    await agent.errorLine(/no answer from the server at .* retrying/);
    assert.equal((await agent.ended()).code, 1);
    assert.match(agent.errors.join('\n'), /never reached the server/);
  });

  // As a file, and as options of a TLS server.
  function certificate(t) {
    const { key, cert } = makeCertificate(tempDir(t));
    return { file: cert, tls: { key: fs.readFileSync(key), cert: fs.readFileSync(cert) } };
  }

  test('talks TLS to a server whose certificate --ca-file vouches for', limit, async (t) => {
    const { file, tls } = certificate(t);
    const { server } = await up(t, { tls }, ['--ca-file', file]);
    server.command(startCommand('done'));
    await gone(server);
    assertNumbered(server.events);
  });

  test('exits when the certificate is not to be trusted', limit, async (t) => {
    const { tls } = certificate(t);
    const other = certificate(t);
    const server = await new FakeServer(t, { tls }).listen();
    const agent = startAgent(t, server.url, ['--ca-file', other.file]);
    assert.equal((await agent.ended()).code, 1);
    assert.match(
      agent.errors.join('\n'),
      /this agent does not trust the server's certificate .*: SSL certificate problem/m,
    );
    assert.equal(server.registrations.length, 0);
  });
});
