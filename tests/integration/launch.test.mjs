// launch.test.mjs - runs whose nodes come from an engine: jobs are started, asked after and ended
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { isFinal, quick, request, startAgent, startServer } from './lib/cluster.mjs';
import { atEnd, binDir, patience, processesWithEnv, tempDir, waitFor } from './lib/fixture.mjs';

const limit = { timeout: 180000 * patience };
const shipped = fileURLToPath(new URL('../../deploy/launchers.d', import.meta.url));
const admin = 'admin-0123456789abcdef';

// An engine that says what stands in files: `answer` to START, where @ is a number that no other
// job has, `status` to STATUS; and notes what it was asked.
const engineScript = `#!/bin/bash
dir="$(dirname "$0")"
echo "$*" >>"$dir/asked"
case "$1" in
start) sed "s/@/$$/" "$dir/answer" ;;
status) [[ ! -e "$dir/babbles" ]] || { echo "no controller since $EPOCHREALTIME" >&2; exit 1; }
    [[ ! -e "$dir/hangs" ]] || exec sleep 1000; cat "$dir/status-$2" 2>/dev/null || cat "$dir/status"; [[ ! -e "$dir/down" ]] || { echo "no controller" >&2; exit 1; } ;;
stop) [[ ! -e "$dir/stuck" ]] || { rm "$dir/stuck"; echo "not now" >&2; exit 1; }
    echo "CANCELLED by us" >"$dir/status" ;;
find) [[ ! -e "$dir/slow" ]] || cat "$dir/slow"; [[ ! -e "$dir/down" ]] || { echo "no controller" >&2; exit 1; }; cat "$dir/found" 2>/dev/null || true ;;
esac
`;

const engine = {
  description: 'says what it is told',
  parameters: {
    queue: { type: 'string', pattern: '[a-z]+', default: 'main' },
  },
  start: { argv: ['{config_dir}/engine', 'start', '{name}', '{nodes}', '{queue}'], job: 'job ([0-9]+)' },
  status: { argv: ['{config_dir}/engine', 'status', '{job}'], every_s: 0.1, gone: 'no such job' },
  stop: { argv: ['{config_dir}/engine', 'stop', '{job}'] },
  find: { argv: ['{config_dir}/engine', 'find', '{name}'] },
  states: { PENDING: 'pending', RUNNING: 'running', TIMEOUT: 'ended', CANCELLED: 'ended' },
  limits: { nodes: 4, jobs: 1 },
  command_s: patience,
};

function makeLaunchers(t, other = {}) {
  const dir = tempDir(t);
  const local = JSON.parse(fs.readFileSync(path.join(shipped, 'local.json'), 'utf8'));
  local.status.every_s = 0.1;
  fs.writeFileSync(path.join(dir, 'local.json'), JSON.stringify(local));
  fs.copyFileSync(path.join(shipped, 'local-agents'), path.join(dir, 'local-agents'));
  fs.writeFileSync(path.join(dir, 'engine'), engineScript, { mode: 0o755 });
  fs.writeFileSync(path.join(dir, 'engine.json'), JSON.stringify({ ...engine, ...other }));
  const say = (name, text) => {
    fs.writeFileSync(path.join(dir, `${name}.new`), text);
    fs.renameSync(path.join(dir, `${name}.new`), path.join(dir, name));
  };
  const asked = () =>
    fs.existsSync(path.join(dir, 'asked'))
      ? fs.readFileSync(path.join(dir, 'asked'), 'utf8').trim().split('\n')
      : [];
  return { dir, say, asked };
}

async function start(t, args = [], other = {}) {
  const launchers = makeLaunchers(t, other),
    jobs = tempDir(t);
  const mark = path.basename(jobs);
  const server = await startServer(t, {
    args: ['--launchers', launchers.dir, ...args],
    env: { PATH: `${binDir}:${process.env.PATH}`, LOCAL_AGENTS_DIR: jobs, LAUNCH_MARK: mark },
  });
  const left = () => processesWithEnv('LAUNCH_MARK', mark).filter((pid) => pid !== server.pid);
  atEnd(t, () =>
    left().forEach((pid) => {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        /* gone */
      }
    }),
  );
  return { server, launchers, left };
}

function commandOf(pid) {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

const jobsOf = async (server) => (await server.get('/api/v1/jobs')).jobs;

const jobIs = (server, state, i = 0) =>
  waitFor(
    async () => {
      const job = (await jobsOf(server))[i];
      return job?.state === state && job;
    },
    async () => `no job is ${state}: ${JSON.stringify(await jobsOf(server))}`,
    20000,
  );

const stateIs = (server, id, state, reason = /./) =>
  server.event(
    id,
    (event) => event.type === 'state' && event.state === state && reason.test(event.reason ?? ''),
  );

describe('launchers', { concurrency: 6 }, () => {
  test('one request gets nodes, measures and gives them back', limit, async (t) => {
    const { server, left } = await start(t);
    const names = (await server.get('/api/v1/launchers')).launchers.map((launcher) => launcher.name);
    assert.deepEqual(names, ['engine', 'local']);

    const { id } = await server.run({ ...quick, nodes: { count: 2, wait_s: 60 }, launch: { name: 'local' } });
    const run = await server.runEnds(id);
    assert.equal(run.state, 'completed', run.reason);
    assert.equal(run.world_size, 4);
    assert.match(run.spec.nodes.group, /^job-/);
    const states = (await server.events(id))
      .filter((event) => event.type === 'state')
      .map((event) => event.state);
    assert.equal(states[1], 'launching');
    const job = await jobIs(server, 'ended');
    assert.equal(job.run, id);
    assert.match(job.sentence, /has ended/);
    await waitFor(
      () => left().length === 0,
      () => `left: ${left()}`,
      20000,
    );
  });

  test('kept nodes serve the next run that is alike, and no other', limit, async (t) => {
    const { server, left } = await start(t);
    const spec = {
      ...quick,
      nodes: { count: 1, wait_s: 60 },
      launch: { name: 'local', args: { ranks: 2 }, keep_s: 600 },
    };
    const first = await server.runToEnd(spec);
    const second = await server.runToEnd(spec);
    assert.deepEqual([first.state, second.state], ['completed', 'completed'], second.reason);
    assert.equal(first.spec.nodes.group, second.spec.nodes.group);
    assert.equal((await jobsOf(server)).length, 1);

    const other = await server.runEnds(
      (
        await server.run({
          ...spec,
          launch: { name: 'local', args: { ranks: 3 } },
        })
      ).id,
    );
    assert.equal(other.world_size, 3);
    const [, kept] = await jobsOf(server);
    assert.equal(kept.state, 'running');
    assert.ok(left().length > 0);
    assert.equal((await server.request('DELETE', `/api/v1/jobs/${kept.id}`)).status, 202);
    assert.match((await jobIs(server, 'ended', 1)).sentence, /request/);
    assert.equal((await server.request('DELETE', `/api/v1/jobs/${kept.id}`)).status, 409);
    assert.equal((await server.request('DELETE', '/api/v1/jobs/none')).status, 404);
    await waitFor(
      () => left().length === 0,
      () => `left: ${left()}`,
      20000,
    );
  });

  test('kept nodes that have died do not serve the next run', limit, async (t) => {
    const { server, left } = await start(t);
    const spec = { ...quick, nodes: { count: 2, wait_s: 60 }, launch: { name: 'local', keep_s: 600 } };
    const first = await server.runToEnd(spec);
    assert.equal(first.state, 'completed', first.reason);
    await waitFor(
      async () => (await jobsOf(server))[0].idle_since,
      () => 'it is not idle',
    );
    const [agent] = left().filter((pid) => /ringbench-agent/.test(commandOf(pid)));
    process.kill(agent, 'SIGTERM');
    await waitFor(
      async () =>
        (await server.get('/api/v1/nodes')).nodes.filter((node) => node.state === 'idle').length === 1,
      () => 'both are there',
    );
    const second = await server.runToEnd(spec);
    assert.equal(second.state, 'completed', second.reason);
    assert.notEqual(second.spec.nodes.group, first.spec.nodes.group);
  });

  test('kept nodes serve others only by the name of their group', limit, async (t) => {
    const { server } = await start(t);
    const lent = await server.runEnds(
      (
        await server.run({
          ...quick,
          nodes: { count: 1, wait_s: 60 },
          launch: { name: 'local', keep_s: 600 },
        })
      ).id,
    );
    assert.equal(lent.state, 'completed', lent.reason);
    const plain = await server.runToEnd({ ...quick, nodes: { count: 1, wait_s: 0 } });
    assert.equal(plain.state, 'failed');
    assert.ok(
      /waiting_for_nodes: 0 of 1 nodes /.test(plain.reason) && plain.reason.includes(lent.spec.nodes.group),
      plain.reason,
    );
    const named = await server.runToEnd({ ...quick, nodes: { group: lent.spec.nodes.group, wait_s: 0 } });
    assert.equal(named.state, 'completed', named.reason);
  });

  const placementOf = async (server, spec) => {
    const answer = await server.request('POST', '/api/v1/runs/validate', { body: JSON.stringify(spec) });
    assert.equal(answer.status, 200, answer.text);
    return answer.json.placement;
  };

  test('it is foreseen that kept nodes would serve a run', limit, async (t) => {
    const { server, launchers } = await start(t);
    launchers.say('answer', 'job 7\n');
    launchers.say('status', 'PENDING Resources\n');
    const spec = { ...quick, nodes: { count: 1, wait_s: 60 }, launch: { name: 'engine', keep_s: 600 } };
    const { reason: asks, ...placement } = await placementOf(server, spec);
    assert.match(asks, /\bengine\b/);
    assert.deepEqual(placement, { outcome: 'unknown', backend: null, world_size: 0, nodes: [] });
    const first = await server.run(spec);
    await stateIs(server, first.id, 'launching', /job 7 .*PENDING Resources/);
    assert.match((await placementOf(server, spec)).reason, /job 7 .*PENDING Resources/);
    launchers.say('status', 'RUNNING\n');
    await startAgent(t, server, 'lent', { args: ['--group', first.spec.nodes.group], ready: false });
    assert.equal((await server.runEnds(first.id)).state, 'completed');
    const { outcome, nodes } = await placementOf(server, spec);
    assert.deepEqual([outcome, nodes.map(({ name }) => name)], ['ready', ['lent']]);
    // What has other arguments, or needs more, gets nodes of its own.
    for (const other of [{ launch: { ...spec.launch, args: { queue: 'fast' } } }, { nodes: { count: 2 } }]) {
      assert.equal((await placementOf(server, { ...spec, ...other })).reason, asks);
    }
    // Nothing was begun or stored.
    assert.deepEqual([(await server.get('/api/v1/runs')).runs.length, (await jobsOf(server)).length], [1, 1]);
    assert.equal((await server.run(spec)).spec.nodes.group, first.spec.nodes.group);
  });

  test('nodes of a job that has ended are forgotten, and those of others are not', limit, async (t) => {
    const { server, launchers } = await start(t, ['--lease-s', '8', '--poll-s', '2']);
    launchers.say('answer', 'job 7\n');
    launchers.say('status', 'RUNNING\n');
    const first = await server.run({
      ...quick,
      nodes: { count: 3, wait_s: 60 },
      launch: { name: 'engine', keep_s: 600 },
    });
    const args = ['--group', first.spec.nodes.group];
    const [left, lost] = await Promise.all(
      ['left', 'lost', 'stays'].map((name) => startAgent(t, server, name, { args, ready: false })),
    );
    const own = await startAgent(t, server, 'own', { ready: false });
    assert.equal((await server.runEnds(first.id)).state, 'completed');
    const nodes = async () =>
      Object.fromEntries((await server.get('/api/v1/nodes')).nodes.map(({ name, state }) => [name, state]));
    const nodesAre = (expected) =>
      waitFor(
        async () => JSON.stringify(await nodes()) === JSON.stringify(expected),
        async () => JSON.stringify(await nodes()),
        20000,
      );
    left.signal('SIGTERM');
    lost.signal('SIGKILL');
    own.signal('SIGTERM');
    // As long as the job is there they may come back.
    await nodesAre({ left: 'left', lost: 'lost', own: 'left', stays: 'idle' });
    launchers.say('status', 'TIMEOUT TimeLimit\n');
    await nodesAre({ own: 'left', stays: 'idle' });
  });

  test('what the engine says is shown as it changes, and how a job ends', limit, async (t) => {
    const { server, launchers } = await start(t);
    launchers.say('answer', 'Submitted job 41 to the queue\n');
    launchers.say('status', 'PENDING Resources\n');
    const { id } = await server.run({
      ...quick,
      nodes: { count: 2 },
      launch: { name: 'engine', args: { queue: 'fast' } },
    });
    await stateIs(server, id, 'launching', /job 41 .*PENDING Resources/);
    launchers.say('status', 'PENDING Priority\n');
    await stateIs(server, id, 'launching', /Priority/);
    launchers.say('down', '');
    await stateIs(server, id, 'launching', /no controller/);
    fs.renameSync(path.join(launchers.dir, 'down'), path.join(launchers.dir, 'hangs'));
    await stateIs(server, id, 'launching', /too long/);
    fs.rmSync(path.join(launchers.dir, 'hangs'));

    // Another waits for its turn: there may be one at once.
    const other = await server.run({ ...quick, nodes: { count: 1 }, launch: { name: 'engine' } });
    await stateIs(server, other.id, 'launching', /waits for another/);

    launchers.say('answer', 'Submitted job 42\n');
    launchers.say('status-42', 'PENDING\n');
    launchers.say('status', 'TIMEOUT TimeLimit\n');
    const run = await server.runEnds(id);
    assert.equal(run.state, 'failed');
    assert.match(run.reason, /job 41 .*TIMEOUT TimeLimit/);
    assert.match(launchers.asked()[0], /^start ringbench-\w{12} 2 fast$/);

    // The next is asked for then. It is cancelled before it runs.
    await stateIs(server, other.id, 'launching', /job 42 .*pending/);
    await server.request('POST', `/api/v1/runs/${other.id}/cancel`, { body: '{}' });
    assert.equal((await server.runEnds(other.id)).state, 'cancelled');
    await jobIs(server, 'stopping');
    launchers.say('status-42', 'CANCELLED by us\n');
    await jobIs(server, 'ended');
    assert.ok(launchers.asked().includes('stop 42'), launchers.asked().join('\n'));
    const asked = launchers.asked().length;
    assert.equal((await jobsOf(server)).filter((job) => job.state !== 'ended').length, 0);

    // A start that says no id. Nor has the engine one of its name.
    launchers.say('answer', 'queue main is closed\n');
    const refused = await server.runToEnd({ ...quick, launch: { name: 'engine' } });
    assert.match(refused.reason, /queue main is closed/);
    assert.deepEqual(
      [
        ...new Set(
          launchers
            .asked()
            .slice(asked)
            .map((line) => line.split(' ')[0]),
        ),
      ],
      ['start', 'find'],
    );
  });

  const long = {
    sizes: { min: 4096, max: 4096 * 2000, step: 4096 },
    iters: 200,
    nodes: { count: 1, wait_s: 60 },
    backend: 'host',
    launch: { name: 'engine' },
  };

  test('a run says that its job was ended under it', limit, async (t) => {
    const { server, launchers } = await start(t);
    launchers.say('answer', 'job 7\n');
    launchers.say('status', 'RUNNING\n');
    const { id, spec } = await server.run(long);
    const agent = await startAgent(t, server, 'lent', { args: ['--group', spec.nodes.group], ready: false });
    await stateIs(server, id, 'running', /.?/);
    launchers.say('status', 'TIMEOUT TimeLimit\n');
    agent.signal('SIGTERM');
    const run = await server.runEnds(id);
    assert.equal(run.state, 'failed');
    assert.match(run.reason, /; job 7 .*TIMEOUT TimeLimit/);
  });

  test(
    'a job that runs for longer than its launcher allows is stopped, and its run says so',
    limit,
    async (t) => {
      const { server, launchers } = await start(t, [], { limits: { hours: 0.0002 } });
      assert.equal((await server.get('/api/v1/launchers')).launchers[0].limits.hours, 0.0002);
      launchers.say('answer', 'job 7\n');
      launchers.say('status', 'PENDING\n');
      const { id } = await server.run({
        ...quick,
        nodes: { count: 1, wait_s: 600 },
        launch: { name: 'engine' },
      });
      // A second of waiting for the engine is none of running.
      await stateIs(server, id, 'launching', /job 7 .*pending/);
      const asked = launchers.asked().length;
      await waitFor(
        () => launchers.asked().length >= asked + 12,
        () => 'not asked',
      );
      assert.deepEqual(stopsOf(launchers), []);
      launchers.say('status', 'RUNNING\n');
      const run = await server.runEnds(id);
      assert.match(run.reason, /^job 7 .*\b0\.0002 hours.* \d+ s /);
      assert.deepEqual(stopsOf(launchers), ['stop 7']);
    },
  );

  test('a failed run ends though nobody can say what became of its job', limit, async (t) => {
    const { server, launchers } = await start(t);
    launchers.say('answer', 'job 7\n');
    launchers.say('status', 'RUNNING\n');
    const { id, spec } = await server.run(long);
    const agent = await startAgent(t, server, 'lent', { args: ['--group', spec.nodes.group], ready: false });
    await stateIs(server, id, 'running', /.?/);
    fs.rmSync(path.join(launchers.dir, 'engine.json'));
    server.signal('SIGHUP');
    await waitFor(
      async () => (await jobsOf(server))[0].sentence.includes('not among'),
      () => 'still known',
    );
    agent.signal('SIGTERM');
    const run = await server.runEnds(id);
    assert.equal(run.state, 'failed');
    assert.doesNotMatch(run.reason, /job 7/);
    // Nor can it be stopped: whoever says so a second time gives it up.
    await jobIs(server, 'stopping');
    const [job] = await jobsOf(server);
    await server.request('DELETE', `/api/v1/jobs/${job.id}`);
    assert.match((await jobIs(server, 'ended')).sentence, /request.*engine.*launcher/);
  });

  test('a job whose launcher goes while it is being started keeps its id', limit, async (t) => {
    const { server, launchers } = await start(t, [], { find: undefined, command_s: 60 });
    execFileSync('mkfifo', [path.join(launchers.dir, 'answer')]);
    launchers.say('status', 'PENDING\n');
    const { id } = await server.run({ ...quick, nodes: { count: 1 }, launch: { name: 'engine' } });
    await waitFor(
      () => launchers.asked().length > 0,
      () => 'not started',
    );
    const config = path.join(launchers.dir, 'engine.json'),
      file = fs.readFileSync(config);
    fs.rmSync(config);
    server.signal('SIGHUP');
    await waitFor(
      async () => (await server.get('/api/v1/launchers')).launchers.length === 1,
      () => 'still known',
    );
    fs.writeFileSync(path.join(launchers.dir, 'answer'), 'job 7\n');
    await stateIs(server, id, 'launching', /^job 7 .*launcher/);
    fs.writeFileSync(config, file);
    server.signal('SIGHUP');
    await server.request('POST', `/api/v1/runs/${id}/cancel`, { body: '{}' });
    await jobIs(server, 'ended');
    assert.deepEqual(
      launchers.asked().filter((line) => line.startsWith('stop')),
      ['stop 7'],
    );
  });

  test('a run that waits for kept nodes gets others when their job ends', limit, async (t) => {
    const { server, launchers } = await start(t);
    launchers.say('answer', 'job 7\n');
    launchers.say('status', 'RUNNING\n');
    const spec = { ...long, launch: { name: 'engine', keep_s: 600 } };
    const first = await server.run(spec);
    const agent = await startAgent(t, server, 'lent', {
      args: ['--group', first.spec.nodes.group],
      ready: false,
    });
    await stateIs(server, first.id, 'running', /.?/);
    const second = await server.run(spec);
    assert.equal(second.spec.nodes.group, first.spec.nodes.group);
    await stateIs(server, second.id, 'queued', /./);
    launchers.say('answer', 'job 8\n');
    launchers.say('status-8', 'PENDING Resources\n');
    launchers.say('status', 'TIMEOUT TimeLimit\n');
    // The job that replaces it may be there before its agents leave.
    await stateIs(server, second.id, 'launching', /job 8 .*PENDING Resources/);
    agent.signal('SIGTERM');
    assert.match((await server.runEnds(first.id)).reason, /job 7 .*TIMEOUT/);
    const jobs = await jobsOf(server);
    assert.deepEqual(
      jobs.map((job) => job.run),
      [second.id, first.id],
    );
    assert.equal(jobs[0].group, jobs[1].group);
  });

  test('a job that replaces another has nodes for all that wait for it', limit, async (t) => {
    const { server, launchers } = await start(t);
    launchers.say('answer', 'job 7\n');
    launchers.say('status', 'RUNNING\n');
    const spec = { ...long, nodes: { count: 2, wait_s: 60 }, launch: { name: 'engine', keep_s: 600 } };
    const first = await server.run(spec);
    const args = ['--group', first.spec.nodes.group];
    const agents = await Promise.all(
      ['a', 'b'].map((name) => startAgent(t, server, name, { args, ready: false })),
    );
    await stateIs(server, first.id, 'running', /.?/);
    const runs = [await server.run({ ...spec, nodes: { count: 1, wait_s: 60 } }), await server.run(spec)];
    for (const run of runs) assert.equal(run.spec.nodes.group, first.spec.nodes.group);
    launchers.say('answer', 'job 8\n');
    launchers.say('status-8', 'PENDING Resources\n');
    launchers.say('status', 'TIMEOUT TimeLimit\n');
    agents.forEach((agent) => agent.signal('SIGTERM'));
    for (const run of runs) await stateIs(server, run.id, 'launching', /job 8 .*pending/);
    assert.deepEqual(
      launchers
        .asked()
        .filter((line) => line.startsWith('start'))
        .map((line) => line.split(' ')[2]),
      ['2', '2'],
    );
  });

  test('a job in use of which a node has died gets no run that needs it', limit, async (t) => {
    const { server, launchers } = await start(t);
    launchers.say('answer', 'job 7\n');
    launchers.say('status', 'RUNNING\n');
    const spec = { ...long, nodes: { count: 2, wait_s: 60 }, launch: { name: 'engine', keep_s: 600 } };
    const first = await server.run({ ...spec, sizes: ['4K'], iters: 1 });
    const group = first.spec.nodes.group;
    const [, b] = await Promise.all(
      ['a', 'b'].map((name) => startAgent(t, server, name, { args: ['--group', group], ready: false })),
    );
    assert.equal((await server.runEnds(first.id)).state, 'completed');
    const busy = await server.run({ ...spec, nodes: { count: 1, wait_s: 60 } });
    await stateIs(server, busy.id, 'running', /.?/);
    b.signal('SIGTERM');
    await b.ended();
    await waitFor(
      async () => (await server.get('/api/v1/nodes')).nodes.find(({ name }) => name === 'b').state === 'left',
      () => 'b is there',
    );
    const [one, two] = [
      await server.run({ ...spec, nodes: { count: 1, wait_s: 60 } }),
      await server.run(spec),
    ];
    assert.deepEqual(
      [one, two].map((run) => run.spec.nodes.group === group),
      [true, false],
    );
  });

  test('a server that was killed knows its jobs, and ends those that nobody needs', limit, async (t) => {
    const { server, launchers } = await start(t);
    launchers.say('answer', 'job 51\n');
    launchers.say('status', 'PENDING Resources\n');
    const { id } = await server.run({ ...quick, nodes: { count: 1 }, launch: { name: 'engine' } });
    await stateIs(server, id, 'launching', /job 51/);
    await server.killHard();
    launchers.say('status', 'PENDING Priority\n');
    fs.renameSync(path.join(launchers.dir, 'engine.json'), path.join(launchers.dir, 'gone'));
    const again = await server.startAgain();
    await stateIs(again, id, 'launching', /job 51 .*launcher/);
    fs.renameSync(path.join(launchers.dir, 'gone'), path.join(launchers.dir, 'engine.json'));
    again.signal('SIGHUP');
    await stateIs(again, id, 'launching', /job 51 .*PENDING Priority/);
    assert.equal(launchers.asked().filter((line) => line.startsWith('start')).length, 1);
    await again.request('POST', `/api/v1/runs/${id}/cancel`, { body: '{}' });
    await jobIs(again, 'ended');
    assert.deepEqual(
      launchers.asked().filter((line) => line.startsWith('stop')),
      ['stop 51'],
    );
  });

  test('the hours of a job are not counted by a clock that was set meanwhile', limit, async (t) => {
    const { server: first, launchers } = await start(t, [], { limits: { hours: 24 } });
    let server = first;
    launchers.say('answer', 'job 7\n');
    launchers.say('status', 'RUNNING\n');
    await server.run({ ...quick, nodes: { count: 1, wait_s: 600 }, launch: { name: 'engine' } });
    const { id } = await jobIs(server, 'running');
    const file = path.join(server.options.dataDir, 'jobs', `${id}.json`);
    const again = async (change) => {
      await server.killHard();
      fs.writeFileSync(file, JSON.stringify({ ...JSON.parse(fs.readFileSync(file, 'utf8')), ...change }));
      server = await server.startAgain();
    };
    await again({ started: '2020-01-01T00:00:00.000Z' });
    const asked = launchers.asked().length;
    await waitFor(
      () => launchers.asked().length >= asked + 3,
      () => 'not asked',
    );
    assert.equal((await jobsOf(server))[0].state, 'running');
    // Nothing else tells where the machine was started anew.
    await again({ boot_id: '00000000-0000-4000-8000-000000000000' });
    assert.match((await jobIs(server, 'ended')).sentence, /its 24 hours were over/);
  });

  test('a job that was being started is found by its name', limit, async (t) => {
    const { server, launchers, left } = await start(t);
    launchers.say('status', 'PENDING\n');
    // `cat` of a pipe waits: the server is killed while its command runs.
    execFileSync('mkfifo', [path.join(launchers.dir, 'answer')]);
    const { id } = await server.run({ ...quick, nodes: { count: 1 }, launch: { name: 'engine' } });
    await waitFor(
      () => launchers.asked().some((line) => line.startsWith('start')),
      () => 'not started',
    );
    await server.killHard();
    launchers.say('found', '61\n');
    const again = await server.startAgain();
    await stateIs(again, id, 'launching', /job 61 .*pending/);
    // What was left of its start has no effect any more.
    await waitFor(
      () => !left().some((pid) => /engine\0start/.test(commandOf(pid))),
      () => 'it goes on',
    );
    assert.match(
      launchers.asked().find((line) => line.startsWith('find')),
      /^find ringbench-\w{12}$/,
    );
    fs.rmSync(path.join(launchers.dir, 'answer'));
  });

  test(
    'a job whose start failed or took too long is looked for until the engine answers',
    limit,
    async (t) => {
      const { server, launchers } = await start(t, [], { command_s: 1 });
      launchers.say('answer', 'Welcome to head\n');
      launchers.say('status', 'PENDING\n');
      launchers.say('down', '');
      const { id } = await server.run({ ...quick, nodes: { count: 1 }, launch: { name: 'engine' } });
      await stateIs(server, id, 'launching', /starting: .*no controller/);
      fs.rmSync(path.join(launchers.dir, 'down'));
      await server.request('POST', `/api/v1/runs/${id}/cancel`, { body: '{}' });
      assert.match((await jobIs(server, 'ended')).sentence, /no run needs it any more/);

      // The command hangs: it is killed, and what it had sent arrives later.
      fs.rmSync(path.join(launchers.dir, 'answer'));
      execFileSync('mkfifo', [path.join(launchers.dir, 'answer')]);
      const late = await server.run({ ...quick, nodes: { count: 1 }, launch: { name: 'engine' } });
      await stateIs(server, late.id, 'launching', /starting: .*too long/);
      launchers.say('found', '62\n');
      await stateIs(server, late.id, 'launching', /job 62 .*pending/);
      fs.rmSync(path.join(launchers.dir, 'answer'));
    },
  );

  test('a start that failed is looked for a while: the engine may have it late', limit, async (t) => {
    const { server, launchers } = await start(t);
    launchers.say('answer', 'Socket timed out on send/recv operation\n');
    launchers.say('status', 'PENDING\n');
    const { id } = await server.run({ ...quick, nodes: { count: 1 }, launch: { name: 'engine' } });
    const finds = () => launchers.asked().filter((line) => line.startsWith('find')).length;
    await waitFor(
      () => finds() >= 2,
      () => 'not looked for again',
    );
    launchers.say('found', `${'x'.repeat(200)}\n`);
    await stateIs(server, id, 'launching', /: xxx/);
    launchers.say('found', '62\n');
    await stateIs(server, id, 'launching', /job 62 .*pending/);
  });

  const stopsOf = (launchers) => launchers.asked().filter((line) => line.startsWith('stop'));

  test('an engine that hangs holds up a few commands, and no stop', limit, async (t) => {
    const { server, launchers } = await start(t, [], { limits: { jobs: 24 }, command_s: 3600 });
    launchers.say('answer', 'job @\n');
    launchers.say('status', 'PENDING\n');
    launchers.say('hangs', '');
    const runs = await Promise.all(
      Array.from({ length: 24 }, () =>
        server.run({ ...quick, nodes: { count: 1 }, launch: { name: 'engine' } }),
      ),
    );
    const commands = async () => (await server.get('/api/v1/launchers')).launchers[0].commands;
    const askedFor = (what) => launchers.asked().filter((line) => line.startsWith(what)).length;
    await waitFor(
      () => askedFor('status') === 12,
      () => `${askedFor('start')} starts, ${askedFor('status')} hang`,
    );
    assert.equal(await commands(), 12);
    assert.match(
      (await server.request('GET', '/metrics')).text,
      /^ringbench_launcher_commands\{launcher="engine"\} 12$/m,
    );

    // Those of the jobs that are to stop are not waited for.
    await Promise.all(
      runs.map(({ id }) => server.request('POST', `/api/v1/runs/${id}/cancel`, { body: '{}' })),
    );
    await waitFor(
      async () => (await jobsOf(server)).every(({ state }) => ['stopping', 'ended'].includes(state)),
      () => 'not stopping',
    );
    const stopped = async () =>
      (await jobsOf(server)).every(({ job }) => !job || launchers.asked().includes(`stop ${job}`));
    await waitFor(stopped, () => `${stopsOf(launchers).length} stops`, 20000);
    assert.ok((await commands()) <= 16);

    // Nor by who stops one again, which no start has to wait for.
    const hung = (await jobsOf(server)).filter(({ state }) => state === 'stopping');
    const stops = (job) => launchers.asked().filter((line) => line === `stop ${job}`).length;
    await waitFor(
      async () => (await commands()) === 12,
      async () => `${await commands()} commands`,
    );
    await Promise.all(hung.map(({ id }) => server.request('DELETE', `/api/v1/jobs/${id}`)));
    await waitFor(
      () => hung.every(({ job }) => stops(job) >= 2),
      () => JSON.stringify(hung.map(({ job }) => stops(job))),
      20000,
    );
    fs.rmSync(path.join(launchers.dir, 'hangs'));
    await Promise.all(hung.map(({ id }) => server.request('DELETE', `/api/v1/jobs/${id}`)));
    await waitFor(
      async () => (await jobsOf(server)).every(({ state }) => state === 'ended'),
      async () => JSON.stringify(await jobsOf(server)),
      20000,
    );
    await waitFor(
      async () => (await commands()) === 0,
      async () => `${await commands()} commands`,
    );
  });

  test('of several jobs of one name none is taken or stopped', limit, async (t) => {
    const { server, launchers } = await start(t);
    launchers.say('answer', 'Welcome to head\n');
    launchers.say('status', 'PENDING\n');
    launchers.say('found', '61\n62 too\n');
    const { id } = await server.run({ ...quick, nodes: { count: 1 }, launch: { name: 'engine' } });
    await stateIs(server, id, 'launching', /starting: .*: 61 62 too/);
    await server.request('POST', `/api/v1/runs/${id}/cancel`, { body: '{}' });
    await jobIs(server, 'stopping');
    const asked = launchers.asked().length;
    await waitFor(
      () => launchers.asked().length >= asked + 3,
      () => 'not looked for again',
    );
    assert.deepEqual(stopsOf(launchers), []);
    launchers.say('found', '62\n62\n');
    await jobIs(server, 'ended');
    assert.deepEqual(stopsOf(launchers), ['stop 62']);
  });

  test('the id of one job is not taken for another', limit, async (t) => {
    const { server, launchers } = await start(t, [], { find: undefined, limits: { jobs: 2 } });
    launchers.say('answer', 'job 7\n');
    launchers.say('status', 'PENDING\n');
    const spec = { ...quick, nodes: { count: 1 }, launch: { name: 'engine' } };
    const first = await server.run(spec);
    await stateIs(server, first.id, 'launching', /job 7 .*pending/);
    const second = await server.runToEnd(spec);
    assert.match(second.reason, /\b7\b.*job \w{12}/);
    const [, job] = await jobsOf(server);
    assert.deepEqual([job.state, job.job], ['pending', '7']);
    assert.deepEqual(stopsOf(launchers), []);
  });

  test('a job that cannot be written down is not started', limit, async (t) => {
    const { server, launchers } = await start(t);
    fs.rmSync(path.join(server.options.dataDir, 'jobs'), { recursive: true });
    const run = await server.runToEnd({ ...quick, nodes: { count: 1 }, launch: { name: 'engine' } });
    assert.match(run.reason, /not started.*written/);
    assert.deepEqual(launchers.asked(), []);
  });

  test('a job that was given up stays so, whatever the engine says later', limit, async (t) => {
    const { server, launchers } = await start(t, [], { command_s: 60 });
    launchers.say('answer', 'Welcome to head\n');
    launchers.say('status', 'PENDING\n');
    launchers.say('down', '');
    const { id } = await server.run({ ...quick, nodes: { count: 1 }, launch: { name: 'engine' } });
    await stateIs(server, id, 'launching', /no controller/);
    await server.request('POST', `/api/v1/runs/${id}/cancel`, { body: '{}' });
    await waitFor(
      async () => /stopping: .*no controller/.test((await jobsOf(server))[0].sentence),
      () => 'asked',
    );
    assert.match((await jobsOf(server))[0].reason, /no controller/);
    execFileSync('mkfifo', [path.join(launchers.dir, 'slow')]);
    // A look for it hangs: its pipe can be written to.
    const pipe = await waitFor(
      () => {
        try {
          return fs.openSync(
            path.join(launchers.dir, 'slow'),
            fs.constants.O_WRONLY | fs.constants.O_NONBLOCK,
          );
        } catch {
          return 0;
        }
      },
      () => 'nobody reads',
    );
    fs.rmSync(path.join(launchers.dir, 'down'));
    const [job] = await jobsOf(server);
    await server.request('DELETE', `/api/v1/jobs/${job.id}`);
    await jobIs(server, 'ended');
    fs.rmSync(path.join(launchers.dir, 'slow'));
    fs.writeSync(pipe, '62\n');
    fs.closeSync(pipe);
    launchers.say('answer', 'job 63\n');
    const next = await server.run({ ...quick, nodes: { count: 1 }, launch: { name: 'engine' } });
    await stateIs(server, next.id, 'launching', /job 63 .*pending/);
    const after = (await jobsOf(server)).find(({ id: one }) => one === job.id);
    assert.equal(after.job, null);
    assert.match(after.sentence, /ended: .*request/);
  });

  test('an engine that says no UTF-8 is quoted once', limit, async (t) => {
    const { server, launchers } = await start(t);
    launchers.say('answer', 'job 7\n');
    launchers.say('status', Buffer.from('PENDING f\xfcr sp\xe4ter\n', 'latin1'));
    const { id } = await server.run({ ...quick, nodes: { count: 1 }, launch: { name: 'engine' } });
    await stateIs(server, id, 'launching', /PENDING f\?r sp\?ter/);
    const asked = launchers.asked().length;
    await waitFor(
      () => launchers.asked().length >= asked + 10,
      () => 'not asked',
    );
    const said = (await server.events(id)).filter((event) => /PENDING/.test(event.reason ?? ''));
    assert.equal(said.length, 1);
  });

  test('an engine that says something else each time is quoted for a while', limit, async (t) => {
    const { server, launchers } = await start(t);
    launchers.say('answer', 'job 7\n');
    launchers.say('status', 'PENDING\n');
    launchers.say('babbles', '');
    const { id } = await server.run({ ...quick, nodes: { count: 1 }, launch: { name: 'engine' } });
    await waitFor(
      () => launchers.asked().length >= 60,
      () => `asked ${launchers.asked().length} times`,
    );
    const said = (await server.events(id)).filter((event) =>
      /no controller since/.test(event.reason ?? ''),
    ).length;
    const logged = server.errors.filter((line) => /no controller since/.test(line)).length;
    for (const n of [said, logged]) assert.ok(n >= 1 && n <= 40, `${said} events, ${logged} lines`);
    // What is more than other words is said all the same.
    fs.rmSync(path.join(launchers.dir, 'babbles'));
    launchers.say('status', 'TIMEOUT TimeLimit\n');
    assert.match((await server.runEnds(id)).reason, /job 7 .*TIMEOUT TimeLimit/);
  });

  test(
    'a job whose run is cancelled while it is being started is stopped, and again until it is',
    limit,
    async (t) => {
      const { server, launchers } = await start(t);
      execFileSync('mkfifo', [path.join(launchers.dir, 'answer')]);
      launchers.say('status', 'PENDING\n');
      launchers.say('stuck', '');
      const { id } = await server.run({ ...quick, nodes: { count: 1 }, launch: { name: 'engine' } });
      await waitFor(
        () => launchers.asked().some((line) => line.startsWith('start')),
        () => 'not started',
      );
      await server.request('POST', `/api/v1/runs/${id}/cancel`, { body: '{}' });
      await server.runEnds(id);
      await jobIs(server, 'stopping');
      fs.writeFileSync(path.join(launchers.dir, 'answer'), 'job 71\n');
      await jobIs(server, 'ended');
      assert.deepEqual(
        launchers.asked().filter((line) => line.startsWith('stop')),
        ['stop 71', 'stop 71'],
      );
    },
  );

  test('a job has a token of its own, for its group and its time', limit, async (t) => {
    const tokens = path.join(tempDir(t), 'tokens');
    fs.writeFileSync(tokens, `${admin}\n`, { mode: 0o600 });
    const { server, left } = await start(t, ['--token-file', tokens]);
    const headers = { Authorization: `Bearer ${admin}` };
    const ask = (method, target, body) =>
      request(server.url, method, target, {
        headers: { ...headers, 'Content-Type': 'application/json' },
        body: body && JSON.stringify(body),
      });
    const posted = await ask('POST', '/api/v1/runs', {
      ...quick,
      nodes: { count: 1, wait_s: 60 },
      launch: { name: 'local', keep_s: 600 },
    });
    assert.equal(posted.status, 201, posted.text);
    /** @type {any} */
    let run;
    await waitFor(
      async () => {
        run = (await ask('GET', `/api/v1/runs/${posted.json.id}`)).json;
        return isFinal(run.state);
      },
      () => JSON.stringify(run),
      60000,
    );
    assert.equal(run.state, 'completed', run.reason);

    const dir = path.join(server.options.dataDir, 'jobs');
    const file = path.join(
      dir,
      fs.readdirSync(dir).find((name) => name.endsWith('.token')),
    );
    assert.equal(fs.statSync(file).mode & 0o777, 0o600);
    const token = fs.readFileSync(file, 'utf8').trim();
    const register = (group, bearer = token) =>
      request(server.url, 'POST', '/api/v1/agents', {
        headers: {
          Authorization: `Bearer ${bearer}`,
          'Ringbench-Agent-Key': 'k'.repeat(40),
          'Content-Type': 'application/json',
        },
        body: JSON.stringify({
          name: 'stranger',
          boot_id: '00000000-0000-4000-8000-000000000000',
          protocol: 1,
          ranks: 1,
          group,
        }),
      });
    assert.equal((await register('other')).status, 422);
    assert.equal((await register(run.spec.nodes.group)).status, 201);
    assert.equal(
      (
        await request(server.url, 'POST', '/api/v1/runs', {
          headers: { Authorization: `Bearer ${token}` },
          body: '{}',
        })
      ).status,
      401,
    );

    const [job] = (await ask('GET', '/api/v1/jobs')).json.jobs;
    assert.ok(!JSON.stringify(job).includes(token));
    assert.equal((await ask('DELETE', `/api/v1/jobs/${job.id}`)).status, 202);
    await waitFor(
      async () => (await ask('GET', `/api/v1/jobs/${job.id}`)).json.state === 'ended',
      () => 'not ended',
      20000,
    );
    assert.equal((await register(run.spec.nodes.group)).status, 401);
    assert.ok(!fs.existsSync(file));
    await waitFor(
      () => left().length === 0,
      () => `left: ${left()}`,
      20000,
    );
  });

  test('a launcher is for whom it says', limit, async (t) => {
    const tokens = path.join(tempDir(t), 'tokens');
    const of = { ann: 'ann-token-0123456789', ben: 'ben-token-0123456789' };
    fs.writeFileSync(tokens, `${admin}\noperator ${of.ann} ann\noperator ${of.ben} ben\n`, { mode: 0o600 });
    const { server, launchers } = await start(t, ['--token-file', tokens], {
      limits: { nodes: 4, jobs: 1, who: ['ann'] },
    });
    launchers.say('answer', 'job 7\n');
    launchers.say('status', 'PENDING\n');
    const ask = (token, method, target, body) =>
      request(server.url, method, target, {
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body: body && JSON.stringify(body),
      });
    const post = (token) =>
      ask(token, 'POST', '/api/v1/runs', { ...quick, nodes: { count: 1 }, launch: { name: 'engine' } });
    const refused = [await post(of.ben), await post(admin)];
    assert.deepEqual(
      refused.map(({ status }) => status),
      [403, 403],
    );
    assert.match(refused[0].json.detail, /\bengine .*\bben\b.*limits\.who/);
    assert.match(refused[1].json.detail, /token/);
    assert.equal((await post(of.ann)).status, 201);
    await waitFor(
      () => launchers.asked().length > 0,
      () => 'not started',
    );
    const [job] = (await ask(of.ben, 'GET', '/api/v1/jobs')).json.jobs;
    assert.equal((await ask(of.ben, 'DELETE', `/api/v1/jobs/${job.id}`)).status, 403);
    // Nor for others when it is gone.
    fs.rmSync(path.join(launchers.dir, 'engine.json'));
    await server.killHard();
    await server.startAgain();
    await waitFor(
      async () => (await ask(of.ann, 'GET', `/api/v1/jobs/${job.id}`)).json.sentence.includes('not among'),
      () => 'still known',
    );
    assert.equal((await ask(of.ben, 'DELETE', `/api/v1/jobs/${job.id}`)).status, 403);
    assert.equal((await ask(of.ann, 'DELETE', `/api/v1/jobs/${job.id}`)).status, 202);
  });

  // Stand-ins that behave as the manual says; `qsub` starts the script as PBS would on one node.
  const pbs = {
    qsub: `#!/bin/bash
echo "$@" >>"$PBS_DIR/calls"
[[ -n "$RINGBENCH_GROUP" ]] || exit 1
(PBS_JOBID=77.head setsid bash "\${@: -1}" >"$PBS_DIR/out" 2>&1 & echo $! >"$PBS_DIR/pid")
echo 77.head`,
    pbsdsh: '#!/bin/bash\n[[ "$1" == -- ]] && shift\nexec "$@"',
    qstat: `#!/bin/bash
if [[ ! -e "$PBS_DIR/deleted" ]]; then state=R; else state=F; fi
printf 'Job Id: %s\\n    Job_Name = x\\n    job_state = %s\\n    comment = Job run at Mon\\n' "$4" "$state"`,
    qdel: '#!/bin/bash\ntouch "$PBS_DIR/deleted"; kill -- -"$(cat "$PBS_DIR/pid")"',
    qselect: '#!/bin/bash\n',
  };

  test('PBS, by its manual', limit, async (t) => {
    const dir = tempDir(t),
      bin = tempDir(t);
    for (const [name, text] of Object.entries(pbs))
      fs.writeFileSync(path.join(bin, name), text, { mode: 0o755 });
    for (const name of ['pbs-submit', 'agents.pbs']) {
      fs.writeFileSync(path.join(dir, name), fs.readFileSync(path.join(shipped, name)), { mode: 0o755 });
    }
    const file = JSON.parse(fs.readFileSync(path.join(shipped, 'pbs.json'), 'utf8'));
    file.status.every_s = 0.1;
    fs.writeFileSync(path.join(dir, 'pbs.json'), JSON.stringify(file));
    const server = await startServer(t, {
      args: ['--launchers', dir],
      env: { PATH: `${bin}:${binDir}:${process.env.PATH}`, PBS_DIR: bin },
    });
    const run = await server.runToEnd({
      ...quick,
      nodes: { count: 1, wait_s: 60 },
      launch: { name: 'pbs', args: { queue: 'gpu', ncpus: 4 } },
    });
    assert.equal(run.state, 'completed', run.reason);
    assert.match(
      fs.readFileSync(path.join(bin, 'calls'), 'utf8'),
      /^-V -N ringbench-\w{12} -q gpu -l walltime=01:00:00 -l select=1:ncpus=4:ngpus=0 -l place=scatter:excl -j oe -o \/dev\/null \S+agents.pbs$/m,
    );
    assert.match((await jobIs(server, 'ended')).sentence, /^job 77\.head of pbs .*ended/);
  });

  test('what does not fit a launcher is refused by name', limit, async (t) => {
    const { server } = await start(t);
    const faults = async (spec) => {
      const answer = await server.post({ ...quick, ...spec });
      assert.equal(answer.status, 422, answer.text);
      return answer.json.errors.map((error) => error.pointer);
    };
    assert.deepEqual(await faults({ launch: { name: 'none' } }), ['/launch/name']);
    assert.deepEqual(await faults({ launch: {} }), ['/launch/name']);
    assert.deepEqual((await faults({ launch: { name: 'engine', args: { queue: 'A;rm', x: 1 } } })).sort(), [
      '/launch/args/queue',
      '/launch/args/x',
    ]);
    assert.deepEqual(await faults({ launch: { name: 'engine' }, nodes: { count: 5 } }), ['/nodes']);
    assert.deepEqual(await faults({ launch: { name: 'engine' }, nodes: { names: ['a'] } }), ['/nodes/names']);
    assert.deepEqual(await faults({ launch: { name: 'engine' }, nodes: { group: 'g' } }), ['/nodes/group']);
  });

  test(
    'a server does not start with a launcher that is none, or where anybody may add one',
    limit,
    async (t) => {
      const { dir } = makeLaunchers(t);
      fs.chmodSync(dir, 0o777);
      await assert.rejects(startServer(t, { args: ['--launchers', dir] }), /anybody/);
      fs.chmodSync(dir, 0o755);
      fs.writeFileSync(
        path.join(dir, 'bad.json'),
        JSON.stringify({ ...engine, start: { argv: ['{queue}'] } }),
      );
      await assert.rejects(
        startServer(t, { args: ['--launchers', dir] }),
        /bad\.json: \/start\/argv\/0: .*parameter/,
      );
      fs.writeFileSync(path.join(dir, 'bad.json'), JSON.stringify({ ...engine, limits: { who: [1] } }));
      await assert.rejects(
        startServer(t, { args: ['--launchers', dir] }),
        /bad\.json: \/limits\/who: .*strings/,
      );
      // A limit that is written wrongly would be none.
      for (const [faulty, said] of [
        [{ limits: { noeds: 4 } }, /bad\.json: \/limits\/noeds: .*nodes, jobs, hours, who/],
        [{ limits: 'none' }, /bad\.json: \/limits: .*object/],
        [{ status: { ...engine.status, evry_s: 1 } }, /bad\.json: \/status\/evry_s: unknown key/],
      ]) {
        fs.writeFileSync(path.join(dir, 'bad.json'), JSON.stringify({ ...engine, ...faulty }));
        await assert.rejects(startServer(t, { args: ['--launchers', dir] }), said);
      }
    },
  );
});
