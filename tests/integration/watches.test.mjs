// SPDX-License-Identifier: Apache-2.0
// watches.test.mjs - the server runs a spec by itself, again and again
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { assertProblem, startAgent, startFleet, startServer } from './lib/cluster.mjs';
import { binDir, patience, tempDir, waitFor } from './lib/fixture.mjs';
import { jobsOf, start } from './lib/launching.mjs';
import { verdictOf } from './lib/verdicts.mjs';
import {
  addWatch,
  Calendar,
  day,
  hour,
  sim,
  startChanging,
  sweepsAre,
  until,
  watchOf,
} from './lib/watches.mjs';

const limit = { timeout: 180000 * patience };

const runsOf = async (server, id) => (await server.get(`/api/v1/runs?label=watch=${id}&limit=500`)).runs;

// Pairs, which name the slow node without runs before them.
const slowPairs = (node) => ({
  ...sim,
  pattern: 'pairs',
  env: { ...sim.env, SIM_SLOW: `${node}:0.5`, SIM_NOISE: '0.002' },
});

describe('watches', { concurrency: 3 }, () => {
  test('nodes are measured some at a time, at each due time, and compared', limit, async (t) => {
    const calendar = new Calendar(t);
    const server = await startServer(t, { env: calendar.env });
    await startFleet(t, server, 5, ['--ranks', '2']);
    const id = await addWatch(server, { name: 'nightly', every: '24h', nodes_at_once: 3, spec: sim });
    const spec = { ...sim, nodes: { group: 'nobody' } };
    const other = await addWatch(server, { name: 'other', every: '24h', spec });
    assert.match((await watchOf(server, other)).coverage.sentence, /no node/, 'nodes may have no group');

    let watch = await sweepsAre(server, id, 1);
    const [first] = watch.sweeps;
    assert.equal(first.verdict.kind, 'watch');
    assert.equal(first.verdict.answer, 'not_evaluated');
    assert.equal(first.verdict.evidence.measured, 5);
    assert.deepEqual(
      (await runsOf(server, id)).map((run) => run.nodes.length).sort(),
      [2, 3],
      'all nodes, at most three together',
    );
    assert.deepEqual(watch.coverage.measured, 5);
    assert.deepEqual(watch.stale, []);
    assert.equal(Date.parse(watch.next) - Date.parse(watch.created), day);
    for (const node of watch.nodes) assert.ok(node.level > 0, node.name);

    for (let night = 2; night <= 7; night++) {
      calendar.move(day);
      watch = await sweepsAre(server, id, night);
    }
    assert.equal(watch.last.answer, 'pass', watch.last.sentence);
    assert.equal(watch.sweeps.length, 7);
    assert.equal((await runsOf(server, id)).length, 14);
    // Noise may put a level above its interval, which is no alarm.
    for (const { name, level, low, high } of watch.nodes)
      assert.ok(low < level && low < high, `${name}: ${low} ${level} ${high}`);
    const [run] = await runsOf(server, id);
    assert.equal((await server.getRun(run.id)).spec.background, true);

    const text = await server.get('/metrics');
    const sample = (name, more) =>
      Number(
        text.match(
          new RegExp(`^${name}\\{watch="${id}",name="nightly",node="sim-3"${more}\\} (\\S+)$`, 'm'),
        )?.[1],
      );
    const { level, low, high, measured } = watch.nodes.find(({ name }) => name === 'sim-3');
    for (const [value, of] of Object.entries({ level, low, high })) {
      const labels = `,figure="busbw_bytes_per_second",value="${value}"`;
      assert.ok(Math.abs(sample('ringbench_watch_level', labels) / (of * 1e9) - 1) < 1e-6, value);
    }
    assert.equal(sample('ringbench_watch_measured_time_seconds', ''), Date.parse(measured) / 1000);
    assert.equal(sample('ringbench_watch_stale', ''), 0);
    assert.match(text, /^ringbench_watch_nodes\{state="measured"\} 5$/m);
    const check = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
    if (check.status !== null) assert.deepEqual([check.status, check.stdout, check.stderr], [0, '', '']);
  });

  test('what nobody measured is stale, and times that passed are made up once', limit, async (t) => {
    const calendar = new Calendar(t);
    const server = await startServer(t, { env: calendar.env });
    const fleet = await startFleet(t, server, 3);
    const id = await addWatch(server, { name: 'nightly', every: '6h', spec: sim });
    await sweepsAre(server, id, 1);

    await server.killHard();
    calendar.move(3 * day + hour);
    const again = await server.startAgain();
    let watch = await sweepsAre(again, id, 2);
    assert.equal(watch.last.evidence.skipped, 11);
    assert.equal(watch.counts.missed, 11);
    assert.equal((await runsOf(again, id)).length, 2, 'one run for all of them');
    assert.deepEqual(watch.stale, []);

    fleet.signal('SIGKILL');
    await waitFor(
      async () => (await again.get('/api/v1/nodes?inventory=0')).nodes.every((node) => node.state === 'lost'),
      'the nodes are not lost',
      90000,
    );
    calendar.move(6 * hour);
    await until(again, id, (seen) => seen.sweep, 'no sweep has begun');
    calendar.move(12 * hour);
    watch = await until(again, id, (seen) => seen.sweeps.length === 3, 'the sweep has not ended');
    assert.equal(watch.last.answer, 'not_evaluated');
    assert.deepEqual(watch.last.evidence.missed, ['sim-1', 'sim-2', 'sim-3']);
    assert.deepEqual(watch.stale, ['sim-1', 'sim-2', 'sim-3']);
  });

  test('a watch is paused, resumed and deleted, and only runs within its window', limit, async (t) => {
    const calendar = new Calendar(t);
    const server = await startServer(t, { env: calendar.env });
    await startFleet(t, server, 2);
    const clockAt = (ms) => new Date(Date.now() + calendar.ahead + ms).toISOString().slice(11, 16);
    const spec = { ...sim, nodes: { names: ['sim-1', 'sim-2'] } };
    const id = await addWatch(server, {
      name: 'nightly',
      every: '24h',
      window: { from: clockAt(8 * hour), until: clockAt(10 * hour) },
      spec,
    });
    let watch = await watchOf(server, id);
    assert.equal(watch.next.slice(11, 16), watch.window.from);
    calendar.move(8 * hour + 60000);
    watch = await sweepsAre(server, id, 1);

    const change = (method, what = '') => server.request(method, `/api/v1/watches/${id}${what}`);
    assert.equal((await change('POST', '/pause')).json.state, 'paused');
    calendar.move(2 * day);
    const resumed = (await change('POST', '/resume')).json;
    assert.equal(resumed.state, 'waiting');
    assert.ok(Date.parse(resumed.next) > Date.now() + calendar.ahead, 'nothing is made up');
    assert.equal(resumed.counts.missed ?? 0, 0);
    assert.match((await server.get('/api/v1/watches?format=text')).toString(), /nightly/);
    const [listed] = (await server.get('/api/v1/watches')).watches;
    assert.deepEqual([listed.coverage.measured, listed.sweeps.length], [0, 1], 'two days ago');
    for (const member of ['nodes', 'stale', 'actions', 'sweep']) assert.ok(!(member in listed), member);
    const { nodes, ...others } = spec;
    assert.deepEqual([resumed.spec, listed.spec], [spec, others], 'its names can be thousands');
    assert.deepEqual((await watchOf(server, id)).spec.nodes, nodes, 'the list has changed the watch');
    assert.equal((await change('DELETE')).status, 204);
    assertProblem(await change('GET'), 404, /no watch/);
    assert.deepEqual((await server.get('/api/v1/watches')).watches, []);
    assert.equal((await runsOf(server, id)).length, 1, 'its runs stay');
  });

  test('its run yields to a run that waits, and is made up', limit, async (t) => {
    const calendar = new Calendar(t);
    const server = await startServer(t, { env: calendar.env });
    await startFleet(t, server, 2);
    const slow = { ...sim, sizes: { min: 4096, max: 4096 * 200, step: 4096 } };
    slow.env = { SIM_SLEEP_FRACTION: '1', SIM_BASE_US: '100000' };
    const id = await addWatch(server, { name: 'nightly', every: '24h', spec: slow });
    const { run } = await until(server, id, (watch) => watch.run, 'it has not begun');
    const isThere = async () => (await server.request('GET', `/api/v1/runs/${run}`)).status === 200;
    await waitFor(isThere, 'its run is not stored');
    await server.event(run, (event) => event.state === 'running');

    const own = await server.runToEnd(sim);
    assert.equal(own.state, 'completed', own.reason);
    const yielded = await server.runEnds(run);
    assert.equal(yielded.state, 'cancelled');
    assert.match(yielded.reason, new RegExp(own.id));
    const watch = await until(server, id, (seen) => seen.run && seen.run !== run, 'it is not made up');
    assert.equal(watch.counts.yielded, 1);
    assert.equal(watch.counts.sweeps, 1);
  });

  test('a slow node is named, suspected, avoided, and cleared when it passes', limit, async (t) => {
    const calendar = new Calendar(t);
    const server = await startServer(t, { env: calendar.env });
    const slow = await startChanging(t, server);
    const spec = { ...sim, env: { ...sim.env, SIM_NOISE: '0.002' } };
    const id = await addWatch(server, { name: 'nightly', every: '24h', spec });
    const night = async (n) => {
      calendar.move(day);
      return sweepsAre(server, id, n);
    };
    const suspects = async () => (await server.get('/api/v1/suspects')).suspects;
    let n = 1;
    let watch = await sweepsAre(server, id, n);
    while (n < 7) watch = await night(++n);
    assert.equal(watch.last.answer, 'pass', watch.last.sentence);

    const [{ level_measured: passed }] = watch.nodes;
    slow('sim-2:0.5');
    watch = await night(++n);
    assert.equal(watch.last.answer, 'slow_node', watch.last.sentence);
    const { level_run: leveled, run: paired, ...node } = watch.nodes[0];
    assert.deepEqual([...watch.last.evidence.runs], [leveled, paired], 'pairs have no level');
    assert.ok(passed < node.level_measured && node.level_measured < node.measured);
    assert.deepEqual(watch.last.nodes, ['sim-2']);
    const [named] = watch.last.evidence.named;
    assert.deepEqual(named.nodes, ['sim-2']);
    assert.equal(verdictOf(await server.getRun(named.run), 'culprit').answer, 'slow_node');
    assert.equal(watch.last.evidence.runs.length, 2, 'the run, which measured again, and its pairs');
    assert.equal(watch.counts.alarms, 1);
    assert.deepEqual(await suspects(), [], 'once is not enough');

    watch = await night(++n);
    assert.deepEqual(
      (await suspects()).map(({ node, watch: by }) => [node, by]),
      [['sim-2', id]],
    );
    assert.equal(watch.last.evidence.runs.length, 1, 'pairs at once');
    assert.match(
      await server.get('/metrics'),
      /^ringbench_suspects 1\n(#.*\n)*ringbench_suspect\{node="sim-2"\} 1$/m,
    );
    const avoiding = await server.runToEnd({ ...sim, avoid_suspects: true });
    assert.deepEqual(
      avoiding.nodes.map((node) => node.name),
      ['sim-1', 'sim-3', 'sim-4'],
    );
    await server.killHard();
    const again = await server.startAgain();
    assert.equal((await again.get('/api/v1/suspects')).suspects.length, 1, 'it is remembered');
    await waitFor(
      async () => (await again.get('/api/v1/nodes?inventory=0')).nodes.every((node) => node.state === 'idle'),
      'the nodes are not back',
    );

    slow('');
    watch = await night(++n);
    assert.equal(watch.last.answer, 'pass', watch.last.sentence);
    assert.deepEqual(await suspects(), []);
    assertProblem(await server.request('DELETE', '/api/v1/suspects/sim-2'), 404, /sim-2/);
  });

  test('a suspect whose machine was started anew is measured at once', limit, async (t) => {
    const calendar = new Calendar(t);
    const server = await startServer(t, { env: calendar.env });
    const agentOf = (name, host) => startAgent(t, server, name, { env: { RINGBENCH_HOSTID: host } });
    const [, b] = await Promise.all(['a', 'b', 'c'].map((name) => agentOf(name, `${name}-boot-1`)));
    const clockAt = (ms) => new Date(Date.now() + ms).toISOString().slice(11, 16);
    const window = { from: clockAt(-hour), until: clockAt(hour) };
    const id = await addWatch(server, { name: 'nightly', every: '24h', window, spec: slowPairs('b') });
    await sweepsAre(server, id, 1);
    calendar.move(day);
    await sweepsAre(server, id, 2);
    const suspects = async () => (await server.get('/api/v1/suspects')).suspects;
    assert.deepEqual(
      (await suspects()).map(({ node, changed }) => [node, changed]),
      [['b', false]],
    );

    b.signal('SIGKILL');
    await b.ended();
    const repaired = await agentOf('b', 'b-boot-2');
    const watch = await sweepsAre(server, id, 3);
    assert.deepEqual(watch.last.nodes, ['b'], 'nobody has mended it');
    assert.ok(Date.parse(watch.next) > Date.now() + calendar.ahead);
    assert.equal((await suspects())[0].results.length, 3);

    calendar.move(2 * hour);
    repaired.signal('SIGTERM');
    await repaired.ended();
    await agentOf('b', 'b-boot-3');
    await waitFor(
      async () => (await suspects())[0].changed,
      'nobody has seen that the machine changed',
      60000,
    );
    assert.equal((await watchOf(server, id)).counts.sweeps, 3, 'the window is closed');
    calendar.move(22 * hour);
    await sweepsAre(server, id, 4);
    assert.equal((await suspects())[0].results.length, 4);
  });

  test('a suspect that came back replaces no sweep, and needs its watch', limit, async (t) => {
    const calendar = new Calendar(t);
    const server = await startServer(t, { env: calendar.env });
    const agentOf = (name, host, args) =>
      startAgent(t, server, name, { env: { RINGBENCH_HOSTID: host }, args });
    const pool = ['--label', 'pool=a'];
    const [, b] = await Promise.all(
      ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => agentOf(name, `${name}-boot-1`, pool)),
    );
    const spec = { ...slowPairs('b'), nodes: { labels: { pool: 'a' } } };
    const id = await addWatch(server, { name: 'nightly', every: '24h', nodes_at_once: 3, spec });
    await sweepsAre(server, id, 1);
    calendar.move(day);
    await sweepsAre(server, id, 2);
    b.signal('SIGTERM');
    await b.ended();
    await server.killHard();
    calendar.move(day);
    const again = await server.startAgain();
    const second = await agentOf('b', 'b-boot-2', pool);
    const isOver = ({ sweep, sweeps }) => !sweep && sweeps.length >= 3;
    const watch = await until(again, id, isOver, 'no sweep has ended');
    const { of } = watch.sweeps.at(-3).verdict.evidence;
    assert.ok(of > 3, `the sweep that was due measured ${of} nodes`);

    second.signal('SIGTERM');
    await second.ended();
    await agentOf('b', 'b-boot-3', []);
    const suspects = async () => (await again.get('/api/v1/suspects')).suspects;
    await waitFor(async () => (await suspects())[0].changed, 'nobody has seen that the machine changed');
    const { counts } = await until(again, id, ({ sweep }) => !sweep, 'a sweep goes on');
    assert.deepEqual(counts, watch.counts, 'it is none of its nodes any more');
  });

  test('a suspect passes by the watch that named it, or when that is gone', limit, async (t) => {
    const calendar = new Calendar(t);
    const server = await startServer(t, { env: calendar.env });
    await startFleet(t, server, 4, ['--ranks', '2']);
    const [id, other] = await Promise.all(
      ['sim-2', 'sim-9'].map((node) => addWatch(server, { name: node, every: '24h', spec: slowPairs(node) })),
    );
    const suspects = async () => (await server.get('/api/v1/suspects')).suspects.map(({ node }) => node);
    let n = 1;
    for (; n <= 3; n++) {
      await sweepsAre(server, id, n);
      await sweepsAre(server, other, n);
      calendar.move(day);
    }
    assert.deepEqual(await suspects(), ['sim-2']);
    await sweepsAre(server, id, n);
    assert.equal((await sweepsAre(server, other, n)).last.answer, 'pass');
    assert.equal((await server.request('DELETE', `/api/v1/watches/${id}`)).status, 204);
    calendar.move(day);
    await sweepsAre(server, other, n + 1);
    assert.deepEqual(await suspects(), []);
  });

  test('a run that waits for a suspect begins when that is cleared', limit, async (t) => {
    const calendar = new Calendar(t);
    const server = await startServer(t, { env: calendar.env });
    await startFleet(t, server, 4, ['--ranks', '2']);
    const id = await addWatch(server, { name: 'nightly', every: '24h', spec: slowPairs('sim-2') });
    await sweepsAre(server, id, 1);
    calendar.move(day);
    await sweepsAre(server, id, 2);
    const waiting = await server.run({
      ...sim,
      avoid_suspects: true,
      nodes: { names: ['sim-2'], wait_s: 600 },
    });
    await new Promise((resolve) => setTimeout(resolve, 2000));
    assert.equal((await server.getRun(waiting.id)).state, 'waiting_for_nodes');
    assert.equal((await server.request('DELETE', '/api/v1/suspects/sim-2')).status, 204);
    assert.equal((await server.runEnds(waiting.id, 20000)).state, 'completed');
  });

  test('a clock that is set back does not put a watch off', limit, async (t) => {
    const calendar = new Calendar(t);
    calendar.move(30 * day);
    const server = await startServer(t, { env: calendar.env });
    await startFleet(t, server, 2);
    const id = await addWatch(server, { name: 'nightly', every: '24h', spec: sim });
    await sweepsAre(server, id, 1);
    calendar.move(-30 * day);
    const isSoon = ({ next }) => Date.parse(next) <= Date.now() + day;
    await until(server, id, isSoon, 'it is due when the wrong clock said so');
    calendar.move(day);
    const watch = await sweepsAre(server, id, 2);
    assert.equal(watch.last.evidence.measured, 2);
  });

  test('a server that is killed at any moment does nothing twice', limit, async (t) => {
    const calendar = new Calendar(t);
    let server = await startServer(t, { env: calendar.env });
    await startFleet(t, server, 6, ['--ranks', '2']);
    const id = await addWatch(server, { name: 'nightly', every: '24h', nodes_at_once: 2, spec: sim });
    await sweepsAre(server, id, 1);
    const nights = 5;
    for (let n = 2; n <= nights; n++) {
      calendar.move(day);
      await until(server, id, (watch) => watch.counts.sweeps === n, 'no sweep has begun');
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 1500));
      await server.killHard();
      server = await server.startAgain();
      await sweepsAre(server, id, n);
    }
    const watch = await watchOf(server, id);
    assert.equal(watch.counts.missed ?? 0, 0);
    assert.equal(watch.sweeps.length, nights);
    for (const { verdict } of watch.sweeps) {
      assert.equal(verdict.evidence.measured, 6, verdict.sentence);
      assert.equal(new Set(verdict.evidence.runs).size, 3);
    }
    const stored = (await runsOf(server, id)).map((run) => run.id).sort();
    assert.deepEqual(stored, watch.sweeps.flatMap(({ verdict }) => verdict.evidence.runs).sort());
  });

  test('one job of a launcher serves the run and its pairs', limit, async (t) => {
    const { server } = await start(t);
    const spec = {
      ...sim,
      launch: { name: 'local' },
      nodes: { count: 3, wait_s: 60 },
      thresholds: { 'far too fast': { figure: 'busbw_gbs', min: 100000 } },
    };
    const id = await addWatch(server, { name: 'nightly', every: '24h', spec });
    const watch = await sweepsAre(server, id, 1);
    assert.equal(watch.last.answer, 'none', watch.last.sentence);
    assert.equal(watch.coverage.measured, 3);
    const groups = (await runsOf(server, id)).map(({ id: run }) => server.getRun(run));
    const [pairs, first] = await Promise.all(groups);
    assert.equal(pairs.spec.pattern, 'pairs');
    assert.match(first.spec.nodes.group, /^job-/);
    assert.equal(pairs.spec.nodes.group, first.spec.nodes.group);
    assert.equal((await jobsOf(server)).length, 1);
  });

  test('hooks drain a suspect once, resume it when it passes, and are killed', limit, async (t) => {
    const calendar = new Calendar(t);
    const hooks = tempDir(t);
    const done = path.join(hooks, 'done.txt');
    const hook = (name, more) => fs.writeFileSync(path.join(hooks, `${name}.json`), JSON.stringify(more));
    const script = path.join(hooks, 'act');
    fs.writeFileSync(script, `#!/bin/sh\necho "$@" >>${done}\necho "told $1"\n`, { mode: 0o755 });
    const argv = (what) => ['{config_dir}/act', what, '{node}', '{event}', '{sentence}; $(touch x)', '{url}'];
    hook('drain', { on: ['culprit'], argv: argv('drain'), most_nodes: 1 });
    hook('resume', { on: ['recovered'], argv: argv('resume'), undoes: 'drain' });
    hook('hung', { on: ['fail'], argv: ['/bin/sleep', '1000'], command_s: 0.5 });
    const server = await startServer(t, { env: calendar.env, args: ['--hooks', hooks] });
    const slow = await startChanging(t, server);
    const spec = { ...sim, env: { ...sim.env, SIM_NOISE: '0.002' } };
    const id = await addWatch(server, { name: 'nightly', every: '24h', spec });
    let n = 1;
    const night = async () => {
      calendar.move(day);
      await sweepsAre(server, id, ++n);
      const isOpen = ({ state }) => state === 'due' || state === 'running';
      return until(server, id, (watch) => !watch.actions.some(isOpen), 'an action has not ended');
    };
    const told = ({ actions }) => actions.map((one) => `${one.hook} ${one.event} ${one.nodes} ${one.state}`);
    await sweepsAre(server, id, n);
    while (n < 6) await night();

    slow('sim-2:0.5');
    assert.deepEqual(told(await night()), ['hung fail sim-2 observed']);
    let watch = await night();
    assert.deepEqual(told(watch), [
      'hung fail sim-2 observed',
      'drain culprit sim-2 observed',
      'hung fail sim-2 observed',
    ]);
    assert.equal(fs.existsSync(done), false, 'nothing is done');
    assert.equal((await server.request('DELETE', '/api/v1/suspects/sim-2')).status, 204);
    assert.equal((await server.request('POST', `/api/v1/watches/${id}/act`)).json.mode, 'act');

    await night();
    watch = await night();
    assert.deepEqual(told(watch).slice(0, 3), [
      'hung fail sim-2 killed',
      'drain culprit sim-2 done',
      'hung fail sim-2 killed',
    ]);
    assert.equal(watch.actions[1].output, 'told drain');
    const page = `${server.url}/runs/${watch.actions[1].run}`;
    assert.deepEqual(Object.keys((await server.get('/api/v1/suspects')).suspects[0].held), ['drain']);

    await server.killHard();
    const again = await server.startAgain();
    await waitFor(
      async () =>
        (await again.get('/api/v1/nodes?inventory=0')).nodes.filter((node) => node.state === 'idle')
          .length === 4,
      'the nodes are not back',
    );
    await night();
    slow('');
    watch = await night();
    assert.equal(told(watch)[0], 'resume recovered sim-2 done');
    assert.deepEqual((await server.get('/api/v1/suspects')).suspects, []);
    assert.equal(watch.counts.passed_suspects, 1, 'nobody has started the machine anew');
    const lines = fs.readFileSync(done, 'utf8').trim().split('\n');
    assert.deepEqual(
      lines.map((line) => line.split(' ').slice(0, 3).join(' ')),
      ['drain sim-2 culprit', 'resume sim-2 recovered'],
    );
    assert.match(lines[0], /\$\(touch x\)/, 'no shell has read it');
    assert.equal(lines[0].split(' ').at(-1), page);
  });

  test('no node is drained twice, whenever the server is killed', limit, async (t) => {
    const calendar = new Calendar(t);
    const hooks = tempDir(t);
    const done = path.join(hooks, 'done.txt');
    fs.writeFileSync(path.join(hooks, 'act'), `#!/bin/sh\necho "$1 $$" >>${done}\nexec sleep 60\n`, {
      mode: 0o755,
    });
    const drain = { on: ['culprit'], argv: ['{config_dir}/act', '{node}'], command_s: 600 };
    fs.writeFileSync(path.join(hooks, 'drain.json'), JSON.stringify(drain));
    const server = await startServer(t, { env: calendar.env, args: ['--hooks', hooks] });
    await startFleet(t, server, 4, ['--ranks', '2']);
    const spec = slowPairs('sim-2');
    const id = await addWatch(server, { name: 'nightly', every: '24h', mode: 'act', spec });
    await sweepsAre(server, id, 1);
    calendar.move(day);
    await waitFor(
      () => fs.existsSync(done) && fs.readFileSync(done, 'utf8').endsWith('\n'),
      () => 'the hook has not begun',
      60000,
    );
    await server.killHard();
    const again = await server.startAgain();
    const [action] = (await watchOf(again, id)).actions;
    assert.deepEqual([action.hook, action.state], ['drain', 'unknown']);
    calendar.move(day);
    const watch = await sweepsAre(again, id, 3);
    assert.deepEqual(watch.last.nodes, ['sim-2']);
    assert.equal(watch.actions.length, 1);
    const [, pid] = fs.readFileSync(done, 'utf8').match(/^sim-2 (\d+)\n$/);
    process.kill(Number(pid));
  });

  test('who clears a suspect has resumed it, and a failure counts without its watch', limit, async (t) => {
    const calendar = new Calendar(t);
    const hooks = tempDir(t);
    const go = path.join(hooks, 'go');
    fs.writeFileSync(
      path.join(hooks, 'act'),
      `#!/bin/sh\nuntil [ -e ${go} ]; do sleep 0.05; done\nexit $(cat ${go})\n`,
      { mode: 0o755 },
    );
    const drain = { on: ['culprit'], argv: ['{config_dir}/act', '{node}'], most_nodes: 1 };
    fs.writeFileSync(path.join(hooks, 'drain.json'), JSON.stringify(drain));
    fs.writeFileSync(go, '0');
    const server = await startServer(t, { env: calendar.env, args: ['--hooks', hooks] });
    await startFleet(t, server, 4, ['--ranks', '2']);
    const watch = { name: 'nightly', every: '24h', mode: 'act', spec: slowPairs('sim-2') };
    const id = await addWatch(server, watch);
    const suspect = async () => (await server.get('/api/v1/suspects')).suspects[0];
    const drained = async (n, state) => {
      await sweepsAre(server, id, n);
      calendar.move(day);
      await sweepsAre(server, id, n + 1);
      await until(server, id, ({ actions }) => actions[0]?.state === state, 'it is not drained');
    };
    await drained(1, 'done');
    assert.deepEqual((await suspect()).held, { drain: true });
    assert.equal((await server.request('DELETE', '/api/v1/suspects/sim-2')).status, 204);
    fs.rmSync(go);
    calendar.move(day);
    await drained(3, 'running');
    assert.equal((await watchOf(server, id)).actions.length, 2);
    assert.equal((await server.request('DELETE', `/api/v1/watches/${id}`)).status, 204);
    fs.writeFileSync(go, '1');
    await waitFor(async () => !(await suspect()).held.drain, 'its failure is lost', 60000);
  });

  test('a drain that fails is tried again when the node is named again', limit, async (t) => {
    const calendar = new Calendar(t);
    const hooks = tempDir(t);
    const fault = path.join(hooks, 'fault');
    fs.writeFileSync(fault, '');
    fs.writeFileSync(path.join(hooks, 'act'), `#!/bin/sh\ntest ! -e ${fault}\n`, { mode: 0o755 });
    const drain = { on: ['culprit'], argv: ['{config_dir}/act', '{node}'], most_nodes: 1 };
    fs.writeFileSync(path.join(hooks, 'drain.json'), JSON.stringify(drain));
    const server = await startServer(t, { env: calendar.env, args: ['--hooks', hooks] });
    await startFleet(t, server, 4, ['--ranks', '2']);
    const watch = { name: 'nightly', every: '24h', mode: 'act', spec: slowPairs('sim-2') };
    const id = await addWatch(server, watch);
    await sweepsAre(server, id, 1);
    calendar.move(day);
    await until(server, id, ({ actions }) => actions[0]?.state === 'failed', 'it has not failed');
    fs.rmSync(fault);
    calendar.move(day);
    const { actions } = await until(
      server,
      id,
      (seen) => seen.actions[0].state === 'done',
      'it is not drained',
    );
    assert.deepEqual(
      actions.map(({ event, state }) => [event, state]),
      [
        ['culprit', 'done'],
        ['culprit', 'failed'],
      ],
    );
  });

  test('a hook that makes no sense keeps the server from starting', limit, async (t) => {
    const hooks = tempDir(t);
    const refused = (file) => {
      fs.writeFileSync(path.join(hooks, 'h.json'), JSON.stringify(file));
      const args = ['--check-config', '--data-dir', path.join(hooks, 'data'), '--hooks', hooks];
      const ended = spawnSync(path.join(binDir, 'ringbench-server'), args, { encoding: 'utf8' });
      assert.equal(ended.status, 1, ended.stdout);
      return ended.stderr;
    };
    const argv = ['/bin/echo', '{node}'];
    assert.match(refused({ on: ['dawn'], argv }), /h\.json: \/on: /);
    assert.match(refused({ on: ['fail'], argv: ['/bin/echo', '{who}'] }), /\/argv\/1: .*who/);
    assert.match(refused({ on: ['fail'], argv: ['/nonexistent/echo'] }), /\/argv\/0: /);
    assert.match(refused({ on: ['fail'], argv: ['/bin/echo', '{nodes}'], most_nodes: 1 }), /\/most_nodes: /);
    assert.match(refused({ on: ['recovered'], argv, undoes: 'drain' }), /undoes.*drain/);
  });

  test('a request that makes no sense is refused, field by field', limit, async (t) => {
    const server = await startServer(t);
    const post = (body) => server.request('POST', '/api/v1/watches', { body: JSON.stringify(body) });
    const answer = await post({
      name: 'x',
      every: 'daily',
      window: { from: '22:00' },
      spec: { sizes: 'many', nodes: { count: 2 } },
      odd: 1,
    });
    assertProblem(answer, 422, /watch/);
    const pointers = answer.json.errors.map((error) => error.pointer).sort();
    assert.deepEqual(pointers, ['/every', '/odd', '/spec/sizes', '/window']);
    const count = await post({ name: 'x', every: ['02:00', '25:00'], spec: { nodes: { count: 2 } } });
    assert.deepEqual(
      count.json.errors.map((error) => error.pointer),
      ['/every/1', '/spec/nodes/count'],
    );
    const avoiding = await post({ name: 'x', every: '1h', spec: { avoid_suspects: true } });
    assert.deepEqual(
      avoiding.json.errors.map((error) => error.pointer),
      ['/spec/avoid_suspects'],
    );
    const backend = 'nobody-has-it';
    const run = await server.request('POST', '/api/v1/runs', { body: JSON.stringify({ backend }) });
    assert.deepEqual(
      (await post({ name: 'x', every: '1h', spec: { backend } })).json.errors,
      run.json.errors.map((error) => ({ ...error, pointer: `/spec${error.pointer}` })),
    );
    const none = await post({ name: 'x', every: '1h', spec: { nodes: { labels: { pool: 'typo' } } } });
    assert.match(none.json.coverage.sentence, /no node/);
    const launch = { name: 'nowhere' };
    assert.deepEqual(
      (await post({ name: 'x', every: '1h', spec: { launch } })).json.errors.map((error) => error.pointer),
      ['/spec/launch/name'],
    );
  });
});
