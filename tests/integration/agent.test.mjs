// agent.test.mjs - the agent against a server that is told what to answer, with workers
// that do what they are told
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { FakeServer } from './lib/fake_server.mjs';
import { Program, binDir, isAlive, patience, processesWithEnv, tempDir, waitFor } from './lib/fixture.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const fakeWorker = path.join(here, 'lib/fake_worker.sh');
const limit = { timeout: 60000 * patience };

let serial = 0;

// An agent with its own folders. Its environment holds a mark that its workers inherit.
function startAgent(t, url, extra = [], env = {}, bin = binDir) {
  const dir = tempDir(t);
  const mark = `${process.pid}-${serial++}`;
  fs.mkdirSync(path.join(dir, 'workers'));
  fs.mkdirSync(path.join(dir, 'config'));
  fs.copyFileSync(fakeWorker, path.join(dir, 'workers/ringbench-worker-fake'));
  const agent = new Program(
    t,
    path.join(bin, 'ringbench-agent'),
    [
      '--server',
      url,
      '--name',
      'node-1',
      '--worker-dir',
      path.join(dir, 'workers'),
      '--spool-dir',
      path.join(dir, 'spool'),
      '--config-dir',
      path.join(dir, 'config'),
      ...extra,
    ],
    { env: { ...process.env, TEST_MARK: mark, RINGBENCH_PASS_ENV: 'TEST_MARK', ...env } },
  );
  const workers = () => processesWithEnv('TEST_MARK', mark).filter((pid) => pid !== agent.pid);
  return Object.assign(agent, { dir, workers });
}

function startCommand(
  mode,
  /** @type {any} */ { run = 'r1', number = 0, ranks = [0], env = {}, ...rest } = {},
) {
  return {
    type: 'start',
    run,
    case: number,
    attempt: 1,
    backend: 'fake',
    master_addr: '127.0.0.1',
    master_port: 4000,
    world_size: 4,
    group_rank: 1,
    group_world_size: 2,
    ranks: ranks.map((rank, i) => ({ rank, local_rank: i })),
    env: { HOST_MODE: mode, ...env },
    spec: { run, case: number, sizes: [8] },
    ...rest,
  };
}

async function up(t, options = {}, extra = [], env = {}, bin = binDir) {
  const server = await new FakeServer(t, options).listen();
  const agent = startAgent(t, server.url, extra, env, bin);
  await registered(server, agent);
  return { server, agent };
}

async function registered(server, agent, times = 1) {
  await waitFor(
    () => {
      assert.equal(agent.status, null, agent.describe());
      return server.registrations.length >= times && server.waiting.length > 0;
    },
    () => `no registration ${times}: ${agent.describe()}`,
  );
}

const gone = (server, n = 1) =>
  waitFor(
    () => server.ofType('gone').length >= n,
    () => `no ${n} gone in ${JSON.stringify(server.events).slice(0, 3000)}`,
    15000,
  );

const running = (server) => waitFor(() => server.ofType('phase').length > 0, 'no worker is running');

function assertNumbered(events) {
  assert.deepEqual(
    events.map((event) => event.seq),
    events.map((_, i) => i + 1),
  );
}

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
      'events.ndjson',
      'identity',
      'lock',
      'reapers',
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
      [startCommand('done', { ranks: [9] }), /no 'rank' from 0 to 3/],
      [startCommand('done', { master_port: 0 }), /no 'master_port'/],
      [startCommand('done', { spec: 1 }), /no spec/],
    ];
    cases.forEach(([command], i) => server.command({ ...command, case: i }));
    server.command({ type: 'start', run: '../../etc', case: 1, attempt: 1 });
    server.command({ type: 'dance' });
    await gone(server, cases.length);
    assert.equal(server.ofType('spawn').length, 0);
    const reasons = server.ofType('refused').map((event) => event.reason);
    cases.forEach(([, pattern], i) => assert.match(reasons[i], pattern));
    await agent.errorLine(/command .*ignored: .*\brun\b/);
    await agent.errorLine(/command .*ignored: .*'dance'/);
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

  test('an agent after a killed one delivers what that left', limit, async (t) => {
    const { server, agent } = await up(t);
    server.command(startCommand('rows', { env: { HOST_ROWS: '300', HOST_PAUSE: '0.01' } }));
    await waitFor(() => server.ofType('result').length > 20, 'no rows');
    await server.die();
    const spool = path.join(agent.dir, 'spool');
    const file = path.join(spool, 'events.ndjson');
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
    await second.errorLine(/killed: \d+ events/);
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

  test('goes on where it was after the server was away', limit, async (t) => {
    const { server, agent } = await up(t);
    server.command(startCommand('rows', { env: { HOST_ROWS: '300', HOST_PAUSE: '0.01' } }));
    await waitFor(() => server.ofType('result').length > 20, 'no rows');
    await server.die();
    const before = server.acked;
    await agent.errorLine(/lost the server at .* trying again/);
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
    assert.deepEqual(server.registrations[1].cases, [{ run: 'r1', case: 0, attempt: 1 }]);
    await gone(server);
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
    assert.match(agent.errors.join('\n'), /leaving: told to terminate \(SIGTERM\), job slurm-8/);
    assert.deepEqual(server.leaves, [['told to terminate (SIGTERM), job slurm-8', before]]);
    assert.equal(server.events.at(-1).type, 'gone');
    assert.ok(server.hasLeft);
  });

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

  // As after an upgrade under an agent that runs.
  test('a reaper of another build is refused by name', limit, async (t) => {
    const bin = tempDir(t);
    const reaper = path.join(bin, 'ringbench-reaper');
    for (const name of ['ringbench-agent', 'ringbench-reaper']) {
      fs.copyFileSync(path.join(binDir, name), path.join(bin, name));
    }
    const { server } = await up(t, {}, [], {}, bin);
    fs.rmSync(reaper);
    fs.writeFileSync(
      reaper,
      `#!/usr/bin/perl
open(my $agent, "+<&=", 3);
syswrite($agent, pack("l4 Z1000", 1, 0, 0, 0, ""));
sleep(1) while 1;`,
      { mode: 0o755 },
    );
    server.command(startCommand('done'));
    await gone(server);
    assert.match(JSON.stringify(server.events), /ringbench-reaper .*build/);
    assert.deepEqual(server.ofType('spawn'), []);
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
    await agent.errorLine(/no answer from the server at .* trying again/);
    assert.equal((await agent.ended()).code, 1);
    assert.match(agent.errors.join('\n'), /never reached the server/);
  });

  // A self-signed certificate for 127.0.0.1, as files and as options of a TLS server.
  function certificate(t) {
    const dir = tempDir(t);
    const [key, cert] = ['key.pem', 'cert.pem'].map((name) => path.join(dir, name));
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-keyout',
        key,
        '-out',
        cert,
        '-days',
        '2',
        '-subj',
        '/CN=localhost',
        '-addext',
        'subjectAltName=IP:127.0.0.1',
      ],
      { stdio: 'ignore' },
    );
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
    assert.match(agent.errors.join('\n'), /refuses this agent: SSL certificate problem/);
    assert.equal(server.registrations.length, 0);
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
    await agent.errorLine(/no room for events in .*: workers wait/);
    server.answer = null;
    await gone(server);
    assertNumbered(server.events);
    assert.equal(server.ofType('result').length, 3000);
    await agent.errorLine(/spool .*again/);
  });
});
