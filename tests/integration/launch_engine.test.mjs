// SPDX-License-Identifier: Apache-2.0
// launch_engine.test.mjs - jobs are started, asked after and ended, whatever their engine says
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { quick, startAgent } from './lib/cluster.mjs';
import { patience, waitFor } from './lib/fixture.mjs';
import { jobIs, jobsOf, launched, start, stateIs } from './lib/launching.mjs';

const limit = { timeout: 180000 * patience };

const stopsOf = (launchers) => launchers.asked().filter((line) => line.startsWith('stop'));

// A run on a node that job 7 of the engine lends.
async function running(t) {
  const { server, launchers } = await start(t);
  launchers.say('answer', 'job 7\n');
  launchers.say('status', 'RUNNING\n');
  const { id, spec } = await server.run(launched);
  const agent = await startAgent(t, server, 'lent', { args: ['--group', spec.nodes.group], ready: false });
  await stateIs(server, id, 'running', /.?/);
  return { server, launchers, id, agent };
}

describe('jobs of an engine', { concurrency: 6 }, () => {
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

  test('a run says that its job was ended under it', limit, async (t) => {
    const { server, launchers, id, agent } = await running(t);
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
    const { server, launchers, id, agent } = await running(t);
    fs.rmSync(path.join(launchers.dir, 'engine.json'));
    server.signal('SIGHUP');
    await waitFor(
      async () => (await jobsOf(server))[0].sentence.includes('was removed'),
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
    assert.deepEqual(stopsOf(launchers), ['stop 7']);
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
    assert.deepEqual(stopsOf(launchers), ['stop 51']);
  });

  test('a job that was being started is found by its name', limit, async (t) => {
    const { server, launchers } = await start(t);
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
      await server.request('POST', `/api/v1/runs/${id}/cancel`, { body: '{}' });
      await jobIs(server, 'stopping');
      fs.rmSync(path.join(launchers.dir, 'down'));
      assert.match((await jobIs(server, 'ended')).sentence, /no run needs it/);

      // The command hangs: it is killed, and what it had sent arrives later.
      fs.rmSync(path.join(launchers.dir, 'answer'));
      execFileSync('mkfifo', [path.join(launchers.dir, 'answer')]);
      launchers.say('down', '');
      const late = await server.run({ ...quick, nodes: { count: 1 }, launch: { name: 'engine' } });
      await stateIs(server, late.id, 'launching', /starting: .*no controller/);
      launchers.say('found', '62\n');
      fs.rmSync(path.join(launchers.dir, 'down'));
      await stateIs(server, late.id, 'launching', /job 62 .*pending/);
      fs.rmSync(path.join(launchers.dir, 'answer'));
    },
  );

  test('a start that failed is looked for a while: the engine may have it late', limit, async (t) => {
    const { server, launchers } = await start(t);
    launchers.say('answer', 'Socket timed out on send/recv operation\n');
    launchers.say('status', 'PENDING\n');
    // `cat` of a pipe waits: the engine has the job after it was asked for it.
    const slow = path.join(launchers.dir, 'slow');
    execFileSync('mkfifo', [slow]);
    const { id } = await server.run({ ...quick, nodes: { count: 1 }, launch: { name: 'engine' } });
    await waitFor(
      () => launchers.asked().some((line) => line.startsWith('find')),
      () => 'not looked for',
    );
    launchers.say('found', `${'x'.repeat(200)}\n`);
    fs.writeFileSync(slow, '');
    fs.rmSync(slow);
    await stateIs(server, id, 'launching', /: xxx/);
    launchers.say('found', '62\n');
    await stateIs(server, id, 'launching', /job 62 .*pending/);
  });

  // As a parent leaves it that does not want to know how its children end.
  test('commands end where the server was started with SIGCHLD ignored', limit, async (t) => {
    const { server, launchers } = await start(t, [], {}, ['env', '--ignore-signal=CHLD']);
    launchers.say('answer', 'job 71\n');
    launchers.say('status', 'PENDING Resources\n');
    const { id } = await server.run({ ...quick, nodes: { count: 1 }, launch: { name: 'engine' } });
    await stateIs(server, id, 'launching', /job 71 .*PENDING Resources/);
  });

  test('an engine that hangs holds up so many commands, and no stop', limit, async (t) => {
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
      () => askedFor('status') === 16,
      () => `${askedFor('start')} starts, ${askedFor('status')} hang`,
    );
    assert.equal(await commands(), 16);
    assert.match(
      (await server.request('GET', '/metrics')).text,
      /^ringbench_launcher_commands\{launcher="engine"\} 16$/m,
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
      () => askedFor('status') >= 32,
      () => `${askedFor('status')} were queried`,
    );
    assert.equal(await commands(), 16);
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
    assert.match(after.sentence, /ended .*: .*request/);
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
      const job = await jobIs(server, 'stopping');
      // Its start goes on, also if somebody asks for the stop again.
      assert.equal((await server.request('DELETE', `/api/v1/jobs/${job.id}`)).status, 202);
      fs.writeFileSync(path.join(launchers.dir, 'answer'), 'job 71\n');
      await jobIs(server, 'ended');
      assert.deepEqual(stopsOf(launchers), ['stop 71', 'stop 71']);
    },
  );
});
