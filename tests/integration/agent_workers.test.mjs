// SPDX-License-Identifier: Apache-2.0
// agent_workers.test.mjs - what an agent starts, passes on, stops and reports of workers
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { FakeServer } from './lib/fake_server.mjs';
import { binDir, isAlive, patience, tempDir, waitFor } from './lib/fixture.mjs';
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

// An agent under which ringbench-case has become this script, as an upgrade would replace it.
async function withCase(t, script) {
  const bin = tempDir(t);
  const program = path.join(bin, 'ringbench-case');
  for (const name of ['ringbench-agent', 'ringbench-case']) {
    fs.copyFileSync(path.join(binDir, name), path.join(bin, name));
  }
  const { server } = await up(t, {}, [], {}, bin);
  fs.rmSync(program);
  fs.writeFileSync(program, script, { mode: 0o755 });
  return { server, program };
}

describe('workers of an agent', { concurrency: 6 }, () => {
  test('runs a case and reports it whole', limit, async (t) => {
    const { server } = await up(t);
    server.command(startCommand('done', { ranks: [2, 3] }));
    await gone(server);
    assertNumbered(server.events);
    for (const event of server.events) {
      assert.equal(event.run, 'r1');
      assert.equal(event.case, 0);
      assert.equal(event.attempt, 1);
      assert.ok(Math.abs(event.time_ms - Date.now()) < 60000);
    }
    for (const rank of [2, 3]) {
      const own = server.events.filter((event) => event.rank === rank);
      const types = own.map((event) => event.type);
      assert.equal(types[0], 'spawn');
      assert.equal(types.at(-1), 'exit');
      assert.ok(types.includes('hello') && types.includes('done'));
      const out = own.find((event) => event.type === 'output' && event.stream === 'stdout');
      assert.equal(out.text, `this is rank ${rank}\n`);
      assert.equal(own.at(-1).code, 0);
      assert.deepEqual(own.at(-1).tail, ['a warning']);
    }
    assert.equal(server.events.at(-1).type, 'gone');
    assert.equal(server.ofType('gone').length, 1);
  });

  test('its log level is also that of its cases', limit, async (t) => {
    const { server, agent } = await up(t, {}, ['--log-level', 'warn']);
    server.command(startCommand('done'));
    await gone(server);
    server.command(startCommand('done', { backend: 'none', number: 1 }));
    await gone(server, 2);
    await agent.errorLine(/ringbench-case warn run r1 case 1 cannot start/);
    assert.doesNotMatch(agent.errors.join('\n'), / info /);
  });

  test('gives a worker the environment, descriptors and case file of the contract', limit, async (t) => {
    const token = path.join(tempDir(t), 'token');
    fs.writeFileSync(token, 's3cret\n', { mode: 0o600 });
    const { server, agent } = await up(t, {}, [], {
      RINGBENCH_TOKEN_FILE: token,
      RINGBENCH_LOG_LEVEL: 'debug',
      RINGBENCH_HOSTID: 'h7',
      NCCL_ALGO: 'Ring',
      NCCL_PROTO: 'LL',
    });
    server.command(startCommand('env', { ranks: [2, 3], env: { NCCL_ALGO: 'Tree', NCCL_PROTO: null } }));
    await gone(server);
    const text = server.events
      .filter((event) => event.type === 'output' && event.rank === 3)
      .map((event) => event.text)
      .join('');
    const lines = text.split('\n');
    for (const line of [
      'RANK=3',
      'WORLD_SIZE=4',
      'LOCAL_RANK=1',
      'LOCAL_WORLD_SIZE=2',
      'GROUP_RANK=1',
      'GROUP_WORLD_SIZE=2',
      'MASTER_ADDR=127.0.0.1',
      'MASTER_PORT=4000',
      'TORCHELASTIC_USE_AGENT_STORE=True',
      'TORCHELASTIC_RESTART_COUNT=0',
      'TORCHELASTIC_MAX_RESTARTS=0',
      'RINGBENCH_NODE=node-1',
      'RINGBENCH_ADDRESS=127.0.0.1',
      'RINGBENCH_HOSTID=h7',
      'NCCL_ALGO=Tree',
      'HOST_MODE=env',
    ]) {
      assert.ok(lines.includes(line), `no ${line} in\n${text}`);
    }
    assert.ok(!/RINGBENCH_TOKEN_FILE|RINGBENCH_LOG_LEVEL|NCCL_PROTO/.test(text), text);
    assert.ok(text.includes('{"run":"r1","case":0,"sizes":[8]}'), text);
    const fds = lines.map((line) => line.match(/ (\d+) -> (.*)/)).filter(Boolean);
    assert.deepEqual(
      fds.filter(([, , target]) => !target.startsWith('/proc/')).map(([, fd]) => Number(fd)),
      [0, 1, 2, 3],
    );
    assert.equal(fds[0][2], '/dev/null');
    assert.deepEqual(fs.readdirSync(path.join(agent.dir, 'spool')).sort(), [
      'cases',
      'events.db',
      'events.db-journal',
      'identity',
    ]);
  });

  test('between the ranks that it starts it is heard of', limit, async (t) => {
    const { server } = await up(t);
    const bodies = [];
    server.answer = (request, body) => {
      if (request.url.endsWith('/events')) bodies.push(body.split('"type":"spawn"').length - 1);
      return undefined;
    };
    const ranks = Array.from({ length: 300 }, (_, i) => i);
    server.command(startCommand('done', { ranks, world_size: 300 }));
    await gone(server);
    assert.equal(server.ofType('spawn').length, 300);
    // However many there are, the first to be told of are not all.
    assert.ok(bodies.find((n) => n > 0) < 300, `${bodies}`);
  });

  test('a start that is repeated runs once', limit, async (t) => {
    const { server } = await up(t);
    server.command(startCommand('done'));
    server.command(startCommand('done'));
    await gone(server);
    server.command(startCommand('done'));
    server.command({ type: 'stop', run: 'none', case: 3, attempt: 1, reason: 'x' });
    await gone(server, 2);
    assert.equal(server.ofType('spawn').length, 1);
    assert.equal(server.ofType('gone')[1].run, 'none');
  });

  test('a crash is reported with its signal and last words', limit, async (t) => {
    const { server } = await up(t);
    server.command(startCommand('crash'));
    await gone(server);
    const [exit] = server.ofType('exit');
    assert.equal(exit.signal, 11);
    assert.equal(exit.code, undefined);
    assert.equal(exit.tail.length, 20);
    assert.equal(exit.tail[0], 'line 11');
    assert.equal(exit.tail[18], 'line 29');
    // A byte that is no UTF-8 and a NUL are replaced.
    assert.equal(exit.tail[19], 'caf\ufffd \ufffd last words');
  });

  test('an exit status is reported', limit, async (t) => {
    const { server } = await up(t);
    server.command(startCommand('fail'));
    await gone(server);
    assert.equal(server.ofType('exit')[0].code, 3);
  });

  test('of a flood the beginning and the end are kept and the cut is said', limit, async (t) => {
    const { server } = await up(t);
    server.command(startCommand('flood'));
    await gone(server);
    const text = server
      .ofType('output')
      .map((event) => event.text)
      .join('');
    const total = 100000 * 33 + 'the very end\n'.length;
    assert.ok(text.length < 1024 * 1024, `${text.length} bytes`);
    const cut = text.match(/\[ringbench: (\d+) .*\bstderr\b.*\]\n/);
    assert.equal(text.length - cut[0].length + Number(cut[1]), total);
    assert.ok(text.endsWith('the very end\n'));
    for (const event of server.ofType('output')) assert.ok(event.text.endsWith('\n'));
  });

  test('lines that are no events are told and left out', limit, async (t) => {
    const { server } = await up(t);
    server.command(startCommand('bad'));
    await gone(server);
    const logs = server.ofType('log').map((event) => event.text);
    assert.equal(logs.length, 4);
    assert.match(logs[0], /not valid JSON.*this is no JSON/);
    assert.match(logs[1], /'exit'/);
    assert.match(logs[2], /'seq'/);
    assert.match(logs[3], /1100000 .*1048576/);
    assert.equal(server.ofType('done').length, 1);
    assert.equal(server.ofType('exit').length, 1);
  });

  test('of progress only the latest is sent, without a number', limit, async (t) => {
    const { server } = await up(t);
    server.command(startCommand('progress'));
    await running(server);
    await waitFor(
      () => server.progress.at(-1)?.op === 3,
      () => JSON.stringify(server.progress),
    );
    assert.equal(server.progress[0].rank, 0);
    assertNumbered(server.events);
  });

  test('SIGTERM ends a worker that heeds it', limit, async (t) => {
    const { server } = await up(t);
    server.command(startCommand('polite'));
    await running(server);
    server.command({ type: 'stop', run: 'r1', case: 0, attempt: 1, reason: 'cancelled' });
    await gone(server);
    assert.equal(server.ofType('done')[0].ok, false);
    assert.equal(server.ofType('exit')[0].code, 1);
  });

  test('before a stop that asks for stacks, workers may print them', limit, async (t) => {
    const { server } = await up(t);
    server.command(startCommand('stacks'));
    server.command(startCommand('stacks', { number: 1 }));
    await waitFor(() => server.ofType('phase').length === 2, 'no two workers');
    const begin = Date.now();
    server.command({ type: 'stop', run: 'r1', case: 0, attempt: 1, reason: 'stall', stacks: true });
    server.command({ type: 'stop', run: 'r1', case: 1, attempt: 1, reason: 'cancelled' });
    await gone(server, 2);
    assert.ok(Date.now() - begin > 450);
    const exits = server.ofType('exit').sort((a, b) => a.case - b.case);
    assert.equal(exits[0].signal, 15);
    assert.deepEqual(exits[0].tail, ['where I am']);
    assert.deepEqual(exits[1].tail, []);
  });

  test('a worker without a handler lives through the question for its stack', limit, async (t) => {
    const { server } = await up(t);
    server.command(startCommand('polite'));
    await running(server);
    server.command({ type: 'stop', run: 'r1', case: 0, attempt: 1, reason: 'stall', stacks: true });
    await gone(server);
    assert.equal(server.ofType('exit')[0].code, 1);
  });

  test('a worker that ignores SIGTERM is killed after 5 s, with its children', limit, async (t) => {
    const { server, agent } = await up(t);
    server.command(startCommand('stubborn'));
    await running(server);
    const begin = Date.now();
    server.command({ type: 'stop', run: 'r1', case: 0, attempt: 1, reason: 'cancelled' });
    await gone(server);
    assert.ok(Date.now() - begin > 4900, `${Date.now() - begin} ms`);
    assert.equal(server.ofType('exit')[0].signal, 9);
    assert.deepEqual(agent.workers(), []);
  });

  test('what a worker leaves in its group dies with it', limit, async (t) => {
    const { server, agent } = await up(t);
    server.command(startCommand('child'));
    await gone(server);
    assert.equal(server.ofType('exit')[0].code, 0);
    await waitFor(() => agent.workers().length === 0, 'a child is left');
  });

  test(
    'a descendant that holds the pipes does not hold the exit, and goes with the case',
    limit,
    async (t) => {
      const { server, agent } = await up(t);
      server.command(startCommand('escape'));
      await running(server);
      await gone(server);
      assert.deepEqual(agent.workers(), []);
    },
  );

  test('refuses what it can not or must not start', limit, async (t) => {
    const { server, agent } = await up(t);
    /** @type {[object, RegExp][]} */
    const cases = [
      [startCommand('done', { env: { LD_PRELOAD: '/x' } }), /LD_PRELOAD /],
      [startCommand('done', { env: { NCCL_NET_PLUGIN: 'x' } }), /NCCL_NET_PLUGIN .*allow_env/],
      [startCommand('done', { env: { UCX_FROM_TOMORROW: '1' } }), /UCX_FROM_TOMORROW .*allow_env/],
      [startCommand('done', { env: { RINGBENCH_ALLOW_FAULTS: '1' } }), /RINGBENCH_ALLOW_FAULTS/],
      [startCommand('done', { backend: 'none' }), /No such file/],
      [startCommand('done', { backend: '../x' }), /names no backend/],
      [startCommand('done', { ranks: [] }), /0 ranks/],
      [startCommand('done', { ranks: [1, 1] }), /rank 1 twice/],
      [startCommand('done', { ranks: [9] }), /'rank' is missing or not in 0 to 3/],
      [startCommand('done', { master_port: 0 }), /'master_port' is missing/],
      [startCommand('done', { spec: 1 }), /lacks a spec/],
    ];
    cases.forEach(([command], i) => server.command({ ...command, case: i }));
    server.command({ type: 'start', run: '../../etc', case: 1, attempt: 1 });
    server.command({ type: 'dance' });
    await gone(server, cases.length);
    assert.equal(server.ofType('spawn').length, 0);
    const reasons = new Map(server.ofType('refused').map((event) => [event.case, event.reason]));
    cases.forEach(([, pattern], i) => assert.match(reasons.get(i), pattern));
    await agent.errorLine(/ignoring a command .*'run'/);
    await agent.errorLine(/ignoring a command .*'dance'/);
  });

  test('a list of allowed variables that others can change is refused', limit, async (t) => {
    const config = tempDir(t);
    fs.writeFileSync(path.join(config, 'allow_env'), 'NCCL_NET_PLUGIN\n');
    fs.chmodSync(path.join(config, 'allow_env'), 0o666);
    const agent = startAgent(t, 'http://127.0.0.1:1', ['--config-dir', config]);
    assert.notEqual((await agent.ended()).code, 0);
    assert.match(agent.errors.join('\n'), /allow_env .*\(mode 0666\): chmod 644/);
  });

  test('its own configuration allows more variables', limit, async (t) => {
    const server = await new FakeServer(t).listen();
    const config = tempDir(t);
    fs.writeFileSync(path.join(config, 'allow_env'), '# ours\nNCCL_NET_PLUGIN\n', { mode: 0o644 });
    const agent = startAgent(t, server.url, ['--config-dir', config], { RINGBENCH_ALLOW_FAULTS: '1' });
    await registered(server, agent);
    server.command(startCommand('env', { env: { NCCL_NET_PLUGIN: 'aws', RINGBENCH_ALLOW_FAULTS: '1' } }));
    await gone(server);
    const text = server
      .ofType('output')
      .map((event) => event.text)
      .join('');
    assert.match(text, /^NCCL_NET_PLUGIN=aws$/m);
    assert.match(text, /^RINGBENCH_ALLOW_FAULTS=1$/m);
  });

  test('kill -9 of the agent leaves no worker', limit, async (t) => {
    const { server, agent } = await up(t);
    server.command(startCommand('stubborn', { ranks: [0, 1, 2] }));
    await waitFor(() => server.ofType('phase').length === 3, 'no three workers');
    const pids = server.ofType('spawn').map((event) => event.pid);
    agent.signal('SIGKILL');
    await agent.ended();
    await waitFor(() => pids.every((pid) => !isAlive(pid)), 'workers outlive their agent');
  });

  test("kill -9 of a case's ringbench-case is reported by name", limit, async (t) => {
    const { server, agent } = await up(t);
    server.command(startCommand('stubborn'));
    await running(server);
    const [{ pid }] = server.ofType('spawn');
    const parent = Number(fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[3]);
    process.kill(parent, 'SIGKILL');
    await gone(server);
    assert.ok(
      server
        .ofType('log')
        .some(({ text }) => text.includes(`ringbench-case ${parent} was killed by signal 9`)),
    );
    assert.equal(server.ofType('exit')[0].signal, 9);
    assert.deepEqual(agent.workers(), []);
  });

  // It waits for its input to end, as one does that a slow file system holds up.
  test('an agent does not wait for a ringbench-case that is slow to start', limit, async (t) => {
    const { server } = await withCase(t, '#!/bin/sh\nexec cat >/dev/null');
    const polls = () => server.requests.filter((request) => request.includes('/commands?')).length;
    const before = polls();
    server.command(startCommand('done'));
    await waitFor(() => polls() > before, 'it has not polled again');
    assert.deepEqual(server.events, []);
  });

  test('a ringbench-case of another build is refused by name', limit, async (t) => {
    const { server, program } = await withCase(t, '#!/bin/sh\necho "c 0 "\nsleep 1000');
    server.command(startCommand('done'));
    await gone(server);
    assert.match(JSON.stringify(server.events), /ringbench-case comes from a different build/);
    fs.writeFileSync(program, '#!/bin/sh\nread document', { mode: 0o755 });
    server.command(startCommand('done', { number: 1 }));
    await gone(server, 2);
    assert.match(server.ofType('refused')[1].reason, /ringbench-case \d+ exited with status 0/);
    assert.deepEqual(server.ofType('spawn'), []);
  });
});
