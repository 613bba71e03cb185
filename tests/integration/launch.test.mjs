// launch.test.mjs - runs whose nodes come from a launcher, and nodes that it keeps for others
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { quick, startAgent } from './lib/cluster.mjs';
import { patience, waitFor } from './lib/fixture.mjs';
import { commandOf, jobIs, jobsOf, launched, start, stateIs } from './lib/launching.mjs';

const limit = { timeout: 180000 * patience };

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

  test('a run that waits for kept nodes gets others when their job ends', limit, async (t) => {
    const { server, launchers } = await start(t);
    launchers.say('answer', 'job 7\n');
    launchers.say('status', 'RUNNING\n');
    const spec = { ...launched, launch: { name: 'engine', keep_s: 600 } };
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
    const spec = { ...launched, nodes: { count: 2, wait_s: 60 }, launch: { name: 'engine', keep_s: 600 } };
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
    const spec = { ...launched, nodes: { count: 2, wait_s: 60 }, launch: { name: 'engine', keep_s: 600 } };
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
});
