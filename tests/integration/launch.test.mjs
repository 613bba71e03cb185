// SPDX-License-Identifier: Apache-2.0
// launch.test.mjs - runs whose nodes come from a launcher, and which runs use the nodes of a job
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { faulty, quick, startAgent } from './lib/cluster.mjs';
import { patience, waitFor } from './lib/fixture.mjs';
import { jobIs, jobsOf, launched, start, stateIs } from './lib/launching.mjs';
import { verdictOf } from './lib/verdicts.mjs';

const limit = { timeout: 180000 * patience };

const askedFor = (launchers, what) => launchers.asked().filter((line) => line.startsWith(what));

// The same figures each time.
const sim = {
  backend: 'sim',
  sizes: [8, '64M'],
  iters: 5,
  warmup: 1,
  repeats: 2,
  env: { SIM_SLEEP_FRACTION: '0', SIM_SEED: '7', SIM_NOISE: '0' },
};

// A server of which each launched run gets a job of its own that runs at once: 7, 8 and so on.
async function engineOf(t, jobs, args = []) {
  const { server, launchers } = await start(t, args, { limits: { jobs } });
  launchers.say('status', 'RUNNING\n');
  const launch = async (spec, job) => {
    launchers.say('answer', `job ${job}\n`);
    launchers.say(`status-${job}`, 'RUNNING\n');
    const run = await server.run({ ...spec, launch: { name: 'engine' } });
    await waitFor(
      async () => (await jobsOf(server)).some((one) => one.job === String(job) && one.state === 'running'),
      () => `job ${job} does not run`,
    );
    return run;
  };
  const stateOf = async (job) => (await jobsOf(server)).find((one) => one.job === String(job)).state;
  return { server, launchers, launch, stateOf };
}

const nodesIn = (t, server, group, names, options = {}) =>
  Promise.all(
    names.map((name) => startAgent(t, server, name, { ready: false, ...options, args: ['--group', group] })),
  );

describe('launchers', { concurrency: 6 }, () => {
  test('one request gets nodes, measures and gives them back', limit, async (t) => {
    const { server, left } = await start(t);
    const names = (await server.get('/api/v1/launchers')).launchers.map((launcher) => launcher.name);
    assert.deepEqual(names, ['engine', 'local']);

    const spec = { ...quick, nodes: { count: 2, wait_s: 60 }, launch: { name: 'local' } };
    const run = await server.runToEnd(spec);
    assert.equal(run.state, 'completed', run.reason);
    assert.equal(run.world_size, 4);
    assert.match(run.spec.nodes.group, /^job-/);
    const states = (await server.events(run.id))
      .filter((event) => event.type === 'state')
      .map((event) => event.state);
    assert.equal(states[1], 'launching');
    const job = await jobIs(server, 'ended');
    assert.deepEqual([job.run, job.group], [run.id, run.spec.nodes.group]);
    await waitFor(
      () => left().length === 0,
      () => `left: ${left()}`,
      20000,
    );
    const next = await server.runToEnd(spec);
    assert.equal(next.state, 'completed', next.reason);
    assert.notEqual(next.spec.nodes.group, run.spec.nodes.group);
  });

  test('a job is stopped by request, whoever needs it', limit, async (t) => {
    const { server, launch } = await engineOf(t, 1);
    const run = await launch({ ...quick, nodes: { count: 1, wait_s: 60 } }, 7);
    const [{ id }] = await jobsOf(server);
    assert.equal((await server.request('DELETE', `/api/v1/jobs/${id}`)).status, 202);
    await stateIs(server, run.id, 'launching', /\bjob 7 .*stopping/);
    const { spec } = await server.getRun(run.id);
    assert.match((await server.request('GET', `/api/v1/jobs/${id}`)).json.group, /^job-/);
    assert.equal(spec.nodes.group, `job-${id}`);
    assert.equal((await server.request('DELETE', '/api/v1/jobs/none')).status, 404);
  });

  test('a job that has ended fails the run that waits for its nodes', limit, async (t) => {
    const { server, launchers, launch } = await engineOf(t, 1);
    const { id } = await launch({ ...quick, nodes: { count: 1, wait_s: 60 } }, 7);
    launchers.say('status-7', 'TIMEOUT TimeLimit\n');
    assert.match((await server.runEnds(id)).reason, /job 7 .*TIMEOUT/);
    const said = server.errors.join('\n');
    assert.match(said, / warn job 7 of engine has ended: TIMEOUT/);
    assert.match(said, new RegExp(` warn run ${id} failed: job 7 `));
    const [job] = await jobsOf(server);
    assert.equal((await server.request('DELETE', `/api/v1/jobs/${job.id}`)).status, 409);
  });

  test('a run starts with its nodes, whatever its engine last said', limit, async (t) => {
    const { server, launchers } = await start(t, [], {});
    launchers.say('answer', 'job 7\n');
    launchers.say('status', 'PENDING Resources\n');
    const { id, spec } = await server.run({ ...launched, nodes: { count: 2, wait_s: 60 } });
    await stateIs(server, id, 'launching', /job 7 .*PENDING/);
    await nodesIn(t, server, spec.nodes.group, ['first']);
    await startAgent(t, server, 'own'); // of no job
    assert.equal((await server.getRun(id)).state, 'launching');
    await nodesIn(t, server, spec.nodes.group, ['second']);
    await stateIs(server, id, 'running', /.?/);
  });

  test('a run whose job does not run in launch.wait_s fails', limit, async (t) => {
    const { server, launchers } = await start(t);
    launchers.say('answer', 'job 7\n');
    launchers.say('status', 'PENDING Resources\n');
    const run = await server.runToEnd({ ...launched, launch: { name: 'engine', wait_s: 4 } });
    assert.equal(run.state, 'failed');
    assert.match(run.reason, /^launching: job 7 .*launch\.wait_s of 4 s/);
    await jobIs(server, 'ended');
  });

  test('nodes of a job serve no other run', limit, async (t) => {
    const { server, launchers, launch } = await engineOf(t, 2);
    const spec = { ...launched, nodes: { count: 1, wait_s: 60 } };
    const first = await launch(spec, 7);
    const { group } = first.spec.nodes;
    await nodesIn(t, server, group, ['used']);
    await stateIs(server, first.id, 'running', /.?/);
    await nodesIn(t, server, group, ['spare']);
    await server.nodeIs('spare', 'idle');
    const refused = [{ count: 1 }, { group }, { names: ['spare'] }, { labels: { group } }];
    for (const nodes of refused) {
      const plain = await server.runToEnd({ ...quick, nodes: { ...nodes, wait_s: 0 } });
      assert.equal(plain.state, 'failed', JSON.stringify(nodes));
      assert.ok(plain.reason.includes(group), plain.reason);
    }
    const second = await launch(spec, 8);
    assert.notEqual(second.spec.nodes.group, group);
    await stateIs(server, second.id, 'waiting_for_nodes', /: 0 of 1 nodes|^0 of 1 nodes/);
    assert.equal(askedFor(launchers, 'start').length, 2);
  });

  test('a run that is measured again does so in its job', limit, async (t) => {
    const { server, launchers, launch, stateOf } = await engineOf(t, 1, faulty.server.args);
    const names = ['a', 'b'];
    const night = (n, more) => ({
      ...sim,
      env: { ...sim.env, SIM_RUN_NOISE: '0.005', SIM_NIGHT: String(n) },
      nodes: { count: 2, wait_s: 60 },
      baseline: { last: 10 },
      ...more,
    });
    const before = await Promise.all(names.map((name) => startAgent(t, server, name, faulty.agent)));
    for (let n = 0; n < 5; n++) await server.runToEnd(night(n));
    for (const agent of before) agent.signal('SIGTERM');
    await Promise.all(before.map((agent) => agent.ended()));

    const { id, spec } = await launch(night(5, { fault: { kind: 'slow', rank: 1, us: 20000 } }), 7);
    await nodesIn(t, server, spec.nodes.group, names, faulty.agent);
    const again = await server.event(id, ({ type, confirms }) => type === 'plan' && confirms);
    assert.ok(again);
    assert.equal(await stateOf(7), 'running');
    const run = await server.runEnds(id);
    assert.equal(verdictOf(run, 'gate').answer, 'fail');
    assert.deepEqual(
      run.cases.map(({ state, confirms }) => [state, confirms ?? false]),
      [false, false, true, true].map((confirms) => ['completed', confirms]),
    );
    assert.equal((await jobIs(server, 'stopping')).follow_up_until, null);
    launchers.say('status-7', 'CANCELLED by us\n');
    const job = await jobIs(server, 'ended');
    assert.ok(Date.parse(job.ended) >= Date.parse(run.ended), `${job.ended}, run ${run.ended}`);
    assert.deepEqual(askedFor(launchers, 'stop'), ['stop 7']);
  });

  test('a follow-up measures the nodes of the run before it', limit, async (t) => {
    const { server, launchers, launch, stateOf } = await engineOf(t, 2);
    const thresholds = { large: { figure: 'busbw_gbs', min: 1e6, size: '64M' } };
    const nodes = { count: 3, wait_s: 60 };
    const first = await launch({ ...sim, nodes, thresholds }, 7);
    const { group } = first.spec.nodes;
    await nodesIn(t, server, group, ['a', 'b', 'c']);
    assert.equal(verdictOf(await server.runEnds(first.id), 'gate').answer, 'fail');
    const [held] = await jobsOf(server);
    assert.equal(held.state, 'running');
    assert.ok(Date.parse(held.follow_up_until) > Date.parse((await server.getRun(first.id)).ended));

    // Another run that asks for the same gets a job of its own.
    const other = await launch({ ...sim, nodes }, 8);
    assert.notEqual(other.spec.nodes.group, group);

    const followUp = (id) => server.request('POST', `/api/v1/runs/${id}/follow_up`);
    const posted = await followUp(first.id);
    assert.equal(posted.status, 201, posted.text);
    assert.equal(posted.json.spec.nodes.group, group);
    const run = await server.runEnds(posted.json.id);
    assert.equal(run.state, 'completed', run.reason);
    assert.deepEqual(
      run.nodes.map(({ name }) => name),
      ['a', 'b', 'c'],
    );
    await waitFor(
      () => askedFor(launchers, 'stop').length === 1,
      async () => JSON.stringify(await jobsOf(server)),
    );
    assert.deepEqual(askedFor(launchers, 'stop'), ['stop 7']);
    assert.equal(await stateOf(8), 'running');
    assert.equal(askedFor(launchers, 'start').length, 2);
    launchers.say('status-7', 'CANCELLED by us\n');
    await jobIs(server, 'ended', 1);

    // Later there is no job to follow: the next one asks for one.
    launchers.say('answer', 'job 9\n');
    const late = await followUp(first.id);
    assert.notEqual(late.json.spec.nodes.group, group);
  });

  test('a job waits for a follow-up only where its run has a reason for one', limit, async (t) => {
    const { server, launch } = await engineOf(t, 1);
    const { id, spec } = await launch({ ...sim, nodes: { count: 3, wait_s: 60 } }, 7);
    await nodesIn(t, server, spec.nodes.group, ['a', 'b', 'c']);
    const run = await server.runEnds(id);
    assert.equal(run.state, 'completed', run.reason);
    assert.equal(run.follow_up.why, null);
    await jobIs(server, 'stopping');
  });

  test('nodes of a job that has ended are forgotten, and those of others are not', limit, async (t) => {
    const { server, launchers, launch } = await engineOf(t, 1, ['--lease-s', '13']);
    const { id, spec } = await launch({ ...launched, nodes: { count: 1, wait_s: 60 } }, 7);
    await nodesIn(t, server, spec.nodes.group, ['a-used']);
    await stateIs(server, id, 'running', /.?/);
    const [left, lost] = await nodesIn(t, server, spec.nodes.group, ['left', 'lost', 'stays']);
    await Promise.all(['left', 'lost', 'stays'].map((name) => server.nodeIs(name, 'idle')));
    const own = await startAgent(t, server, 'own');
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
    await nodesAre({ 'a-used': 'busy', left: 'left', lost: 'lost', own: 'left', stays: 'idle' });
    launchers.say('status-7', 'TIMEOUT TimeLimit\n');
    await jobIs(server, 'ended');
    await server.request('POST', `/api/v1/runs/${id}/cancel`);
    await nodesAre({ 'a-used': 'idle', own: 'left', stays: 'idle' });
  });
});
