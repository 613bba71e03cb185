// SPDX-License-Identifier: Apache-2.0
// monitoring.test.mjs - the dashboard and the alerts ask only for what /metrics has
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { assertProblem, quick, startAgent, startCluster, startServer } from './lib/cluster.mjs';
import { binDir, patience, waitFor } from './lib/fixture.mjs';

const limit = { timeout: 60000 * patience };
const read = (file) => fs.readFileSync(new URL(`../../deploy/${file}`, import.meta.url), 'utf8');

// What Prometheus adds itself.
const own = { up: new Set(), labels: new Set(['job', 'instance']) };

// {name: Map of label name to the set of its values}, and the types by name.
function parseMetrics(text) {
  const metrics = new Map(),
    types = new Map();
  for (const line of text.split('\n').filter(Boolean)) {
    const type = line.match(/^# TYPE (\w+) (\w+)$/);
    if (type) types.set(type[1], type[2]);
    if (line.startsWith('#')) continue;
    const [, name, labels = ''] = line.match(/^(\w+)(?:\{(.*)\})? \S+$/);
    const known = metrics.get(name) ?? new Map();
    metrics.set(name, known);
    for (const [, key, value] of labels.matchAll(/(\w+)="([^"]*)"/g)) {
      known.set(key, (known.get(key) ?? new Set()).add(value));
    }
  }
  return { metrics, types };
}

// Each metric of an expression, with its matchers.
function selectors(expression) {
  return [...expression.matchAll(/\b(up|(?:ringbench|process)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, name, matchers = '']) => ({ name, matchers: [...matchers.matchAll(/(\w+)(=~?)"([^"]*)"/g)] }),
  );
}

function assertKnown(expression, { metrics, types }) {
  const found = selectors(expression);
  assert.ok(found.length > 0, expression);
  for (const { name, matchers } of found) {
    assert.ok(name === 'up' || metrics.has(name), `${name} of ${expression} is no metric of the server`);
    for (const [, key, , value] of matchers) {
      if (own.labels.has(key)) continue;
      assert.ok(metrics.get(name)?.get(key)?.has(value), `${name}{${key}="${value}"} is not there`);
    }
  }
  for (const [, name] of expression.matchAll(/(?:rate|increase)\((\w+)/g)) {
    assert.equal(types.get(name), 'counter', `${name} in ${expression}`);
  }
  for (const [, labels] of expression.matchAll(/\bby \(([^)]*)\)/g)) {
    for (const label of labels.split(/,\s*/)) {
      assert.ok(
        found.every(({ name }) => metrics.get(name).has(label)),
        `${label} of ${expression}`,
      );
    }
  }
}

async function metricsOf(t) {
  const { server } = await startCluster(t, 1);
  const { id } = await server.run({ ...quick, thresholds: { one: { figure: 'ranks', max: 1 } } });
  await server.runEnds(id);
  return parseMetrics(await server.get('/metrics'));
}

describe('monitoring', { concurrency: 3 }, () => {
  test('the last figures of a name are there, also after a restart', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const spec = { ...quick, name: 'nightly', sizes: ['8', '16M'], in_place: false };
    const measured = async () => {
      const lines = (await server.get('/metrics')).split('\n');
      return lines.filter((line) => /^ringbench_run_(busbw|time)_.*\brun_name="nightly"/.test(line)).sort();
    };
    await server.runToEnd(spec);
    const first = await waitFor(
      async () => (await measured()).length === 2 && measured(),
      () => 'no figures',
    );
    const labels = 'run_name="nightly",backend="host",collective="all_reduce",dtype="float32",in_place="no"';
    assert.ok(
      first[0].startsWith(`ringbench_run_busbw_bytes_per_second{${labels},band="bandwidth"} `),
      first[0],
    );
    assert.ok(first[1].startsWith(`ringbench_run_time_seconds{${labels},band="latency"} `), first[1]);
    const trend = '/api/v1/trends?collective=all_reduce&band=bandwidth&dtype=float32&in_place=false';
    const [point] = await waitFor(
      async () => {
        const { points } = await server.get(trend);
        return points.length > 0 && points;
      },
      () => 'the run is in no trend',
    );
    assert.ok(Math.abs(Number(first[0].split(' ').at(-1)) / (point.value * 1e9) - 1) < 1e-6);

    // A simulated run of the same name does not take the place of a measured one.
    await server.runToEnd({ ...spec, backend: 'sim' });
    const all = await waitFor(
      async () => (await measured()).length === 4 && measured(),
      () => 'no figures of the simulated run',
    );
    for (const line of first) assert.ok(all.includes(line), line);
    assert.equal(all.filter((line) => line.includes(',backend="sim",')).length, 2);

    await server.runToEnd(spec);
    // Bandwidths differ. The latencies of two runs, 70 ns over three calls, may be equal.
    const second = await waitFor(
      async () => (await measured()).length === 4 && (await measured())[0] !== first[0] && measured(),
      () => 'the figures of the second run are not there',
    );
    await server.killHard();
    const again = await server.startAgain();
    const text = await again.get('/metrics');
    for (const line of second) assert.ok(text.includes(line), line);
  });

  test('histograms count each request, each write and each wait for nodes', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    await server.runToEnd(quick);
    const text = await server.get('/metrics');
    for (const [name, labels] of [
      ['ringbench_http_request_seconds', '{by="clients"}'],
      ['ringbench_http_request_seconds', '{by="agents"}'],
      ['ringbench_store_write_seconds', ''],
      ['ringbench_run_wait_seconds', ''],
    ]) {
      const within = labels.replace(/[{}]/g, '').replace(/$/, labels && ',');
      const buckets = [
        ...text.matchAll(new RegExp(`^${name}_bucket\\{${within}le="([^"]+)"\\} (\\d+)$`, 'gm')),
      ];
      const counts = buckets.map(([, , n]) => Number(n));
      const [, total] = text.match(new RegExp(`^${name}_count${labels} (\\d+)$`, 'm'));
      assert.equal(buckets.at(-1)[1], '+Inf');
      assert.equal(counts.at(-1), Number(total));
      assert.ok(counts.at(-1) > 0, name);
      assert.deepEqual(
        counts,
        [...counts].sort((a, b) => a - b),
      );
    }
    assert.match(text, /^ringbench_run_wait_seconds_count 1$/m);
    const size = fs.statSync(path.join(server.options.dataDir, 'ringbench.db')).size;
    assert.match(text, new RegExp(`^ringbench_database_bytes\\{file="data"\\} ${size}$`, 'm'));
  });

  test('promtool has nothing to say', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: await server.get('/metrics'),
      encoding: 'utf8',
    });
    if (status !== null) assert.deepEqual([status, stdout, stderr], [0, '', '']);
  });

  test('the dashboard draws what there is', limit, async (t) => {
    const known = await metricsOf(t);
    const board = JSON.parse(read('grafana/ringbench.json'));
    const variables = new Set(board.templating.list.map(({ name }) => name));
    const expressions = [
      ...board.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
      ...board.annotations.list.map(({ expr }) => expr),
    ];
    assert.ok(expressions.length >= 20);
    for (const expression of expressions) {
      assertKnown(expression, known);
      for (const [, name] of expression.matchAll(/\$\{?(\w+)/g)) assert.ok(variables.has(name), name);
    }
    assert.equal(new Set(board.panels.map(({ id }) => id)).size, board.panels.length);
    for (const {
      gridPos: { x, w },
    } of board.panels)
      assert.ok(x + w <= 24);
    // No data source of somebody's own installation.
    for (const [, uid] of JSON.stringify(board).matchAll(/"uid":"([^"]*)"/g)) {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana replaces it
      assert.ok(['${datasource}', 'ringbench'].includes(uid), uid);
    }
  });

  test('the alerts watch what there is', limit, async (t) => {
    const known = await metricsOf(t);
    const lines = read('prometheus/ringbench.rules.yml').split('\n');
    const expressions = [];
    lines.forEach((line, i) => {
      const [, text] = line.match(/^ +expr: (.*)$/) ?? [];
      if (text && text !== '>-') expressions.push(text);
      if (text === '>-') {
        const end = lines.findIndex((next, j) => j > i && /^ {8}\S/.test(next));
        expressions.push(
          lines
            .slice(i + 1, end)
            .map((part) => part.trim())
            .join(' '),
        );
      }
    });
    assert.equal(expressions.length, lines.filter((line) => line.includes('- alert: ')).length);
    for (const expression of expressions) assertKnown(expression, known);
  });

  const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

  test('Prometheus raises the alerts when it should', {
    ...limit,
    skip: !hasPromtool && 'promtool is missing',
  }, () => {
    const file = fileURLToPath(new URL('./prometheus_rules.yml', import.meta.url));
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
    assert.equal(status, 0, stdout + stderr);
  });

  // {`NAME/CHECK`: its answer}
  async function checksOf(server) {
    const text = await server.get('/metrics');
    return Object.fromEntries(
      [
        ...text.matchAll(
          /^ringbench_check\{run_name="((?:[^"\\]|\\.)*)",check="((?:[^"\\]|\\.)*)",answer="(\w+)"\} 1$/gm,
        ),
      ].map(([, name, check, answer]) => [`${name}/${check}`, answer]),
    );
  }

  test('the last answer of each check is there, after a restart too', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const ask = async (name, max, check = 'one') => {
      const { id } = await server.run({ ...quick, name, thresholds: { [check]: { figure: 'ranks', max } } });
      await server.runEnds(id);
    };
    await ask('nightly', 1);
    await ask('a "b\\', 0, 'c "d\\');
    await server.runToEnd({ ...quick, name: 'asks for nothing' });
    const names = {
      'nightly/completed': 'pass',
      'a \\"b\\\\/completed': 'pass',
      'a \\"b\\\\/c \\"d\\\\': 'fail',
    };
    assert.deepEqual(await checksOf(server), { ...names, 'nightly/one': 'pass' });
    await ask('nightly', 0);
    const latest = await checksOf(server);
    assert.deepEqual(latest, { ...names, 'nightly/one': 'fail' });
    const times = async () =>
      (await server.get('/metrics')).match(/^ringbench_check_time_seconds.*$/gm).sort();
    const before = await times();
    assert.equal(before.length, 4);
    assert.ok(Math.abs(Number(before[0].split(' ').at(-1)) - Date.now() / 1000) < 600, before[0]);
    server.signal('SIGTERM');
    await server.ended();
    const again = await server.startAgain();
    assert.deepEqual(await checksOf(again), latest);
    assert.deepEqual(
      (await again.get('/metrics')).match(/^ringbench_check_time_seconds.*$/gm).sort(),
      before,
    );
  });

  test('nodes that went with their batch job raise no alert', limit, async (t) => {
    const server = await startServer(t, { args: ['--lease-s', '8', '--batch-lost-s', '1'] });
    const job = await startAgent(t, server, 'node-1', { env: { SLURM_JOB_ID: '8' } });
    const service = await startAgent(t, server, 'node-2');
    job.signal('SIGKILL');
    service.signal('SIGKILL');
    const states = async () => (await server.node('node-1')).history.map(({ state }) => state);
    await waitFor(async () => `${await states()}` === 'left,lost,registered', 'node-1 has not left');
    await server.nodeIs('node-2', 'lost');
    assert.match(await server.get('/metrics'), /^ringbench_nodes\{state="lost"\} 1$/m);
    assert.equal((await server.request('DELETE', '/api/v1/nodes/node-2')).status, 204);
    assert.match(await server.get('/metrics'), /^ringbench_nodes\{state="lost"\} 0$/m);
    assert.deepEqual(
      (await server.get('/api/v1/nodes')).nodes.map(({ name }) => name),
      ['node-1'],
    );
    // By default they are gone before the alert's time is over.
    const help = execFileSync(path.join(binDir, 'ringbench-server'), ['--help'], { encoding: 'utf8' });
    const [, seconds] = help.match(/--batch-lost-s[\s\S]*?default:? (\d+)/);
    const [, minutes] = read('prometheus/ringbench.rules.yml').match(/RingbenchNodesLost[\s\S]*?for: (\d+)m/);
    assert.ok(Number(seconds) + 15 < Number(minutes) * 60, `${seconds} s, ${minutes} m`);
  });

  test('only a node that is gone can be forgotten', limit, async (t) => {
    const { server, agents } = await startCluster(t, 1);
    const forget = (name) => server.request('DELETE', `/api/v1/nodes/${name}`);
    assertProblem(await forget('node-1'), 409, /node-1/);
    assertProblem(await forget('node-7'), 404, /node-7/);
    agents[0].signal('SIGTERM');
    await server.nodeIs('node-1', 'left');
    assert.equal((await forget('node-1')).status, 204);
    assert.equal(await server.node('node-1'), null);
    await startAgent(t, server, 'node-1');
    assert.equal((await server.runToEnd(quick)).state, 'completed');
  });
});
