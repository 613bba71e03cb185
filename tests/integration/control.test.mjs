// control.test.mjs - the control series: a barrier, a small object gathered, a large
// reduction in pieces, on each backend
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import {
  assertProblem,
  faulty,
  noWorkersLeft,
  quick,
  startCluster,
  startServer,
  startAgent,
} from './lib/cluster.mjs';
import { binDir, buildDir } from './lib/fixture.mjs';
import { Schemas } from './lib/schema.mjs';

const limit = { timeout: 120000 };
const names = [
  'barrier',
  'gather_object',
  'reduce_flag',
  'object_slower',
  'one_large',
  'many_small',
  'many_slower',
];
// Workers heed faults.
const withFaults = { ...faulty, agent: { ...faulty.agent, ranks: 3 } };
const small = { bytes: '1M', pieces: 64, iters: 20 };

async function end(server, spec) {
  const { id } = await server.run(spec);
  const run = await server.runEnds(id);
  return { run, rows: await server.rows(id) };
}

const metricValue = (rows, metric) => rows.find((row) => row.metric === metric).value;

describe('control series', { concurrency: 4 }, () => {
  test('figures come after the rows, and show wherever results do', limit, async (t) => {
    const { server, agents } = await startCluster(t, 2, { agent: { ranks: 2 } });
    const schemas = new Schemas(await server.get('/openapi.json'));
    const fits = (name, value) =>
      assert.deepEqual(schemas.faults(schemas.document.components.schemas[name], value), [], name);
    const text = await server.followText({ ...quick, control: small });
    const lines = await text.ended();
    assert.match(lines.at(-1), /^completed: 4 rows and 7 figures in .*, busbw /);
    assert.ok(
      lines.some((line) =>
        /^barrier +[0-9.e+]+ +us +all {2}p99=\S+ {2}rank_min=\S+ {2}rank_max=\S+/.test(line),
      ),
      lines.join('\n'),
    );
    const id = text.headers.location.split('/').pop();
    const run = await server.getRun(id);
    fits('Run', run);
    assert.deepEqual(run.spec.control, {
      series: ['barrier', 'gather_object', 'chunks'],
      bytes: 1 << 20,
      pieces: 64,
      object_bytes: 64,
      iters: 20,
    });
    assert.deepEqual(run.control, run.spec.control.series);
    assert.deepEqual([run.rows_done, run.rows_total], [11, 11]);
    assert.deepEqual(
      run.summary.metrics.map(({ metric }) => metric),
      names,
    );

    const rows = await server.rows(id);
    const figures = rows.filter((row) => row.metric);
    assert.deepEqual(
      figures.map(({ metric, row }) => [metric, row]),
      names.map((name, i) => [name, 4 + i]),
    );
    for (const figure of figures) {
      fits('Figure', figure);
      assert.ok(figure.value > 0 && figure.higher_is_better === false, JSON.stringify(figure));
      if (figure.unit === 'times') continue;
      assert.equal(figure.values.length, 4);
      assert.equal(figure.min, Math.min(...figure.values));
      assert.equal(figure.max, Math.max(...figure.values));
      assert.ok(figure.p99 >= figure.value);
      assert.equal(figure.iters, figure.control === 'chunks' ? quick.iters : 20);
    }
    const ratio = metricValue(rows, 'gather_object') / metricValue(rows, 'reduce_flag');
    assert.ok(Math.abs(metricValue(rows, 'object_slower') / ratio - 1) < 1e-6);
    for (const event of await server.events(id)) fits('Event', event);
    const csv = (await server.request('GET', `/api/v1/runs/${id}/results?format=csv`)).text.split('\r\n');
    assert.equal(csv.filter((line) => line.includes(',barrier,')).length, 1);
    // The effective spec asks for the same again.
    const again = await server.post(run.spec);
    assert.equal(again.status, 201, again.text);
    await server.runEnds(again.json.id);
    await noWorkersLeft(agents);
  });

  test('a run may be of control series alone, across hosts', limit, async (t) => {
    const server = await startServer(t);
    // Two host identities on one machine: bytes go by TCP.
    for (const name of ['node-1', 'node-2']) {
      await startAgent(t, server, name, { env: { RINGBENCH_HOSTID: name }, ranks: 2 });
    }
    const { run, rows } = await end(server, {
      collectives: [],
      control: ['gather_object', 'barrier'],
      backend: 'host',
    });
    assert.equal(run.state, 'completed', run.reason);
    assert.deepEqual(
      rows.map(({ metric }) => metric),
      names.slice(0, 4),
    );
    assert.deepEqual(run.collectives, []);
    assert.ok(metricValue(rows, 'object_slower') > 0);
    const none = assertProblem(await server.post({ collectives: [], control: false }), 422);
    assert.deepEqual(
      none.errors.map(({ pointer }) => pointer),
      ['/collectives'],
    );
    const wrong = assertProblem(
      await server.post({ control: { series: ['ring'], pieces: 0, bytes: '1x', what: 1 } }),
      422,
    );
    assert.deepEqual(
      wrong.errors.map(({ pointer }) => pointer),
      ['/control/series/0', '/control/bytes', '/control/pieces', '/control/what'],
    );
    const both = assertProblem(await server.post({ control: true, program: { name: 'p' } }), 422);
    assert.deepEqual(
      both.errors.map(({ pointer }) => pointer),
      ['/control'],
    );
  });

  test('a late rank shows in every figure, and by its own time', limit, async (t) => {
    const { server } = await startCluster(t, 1, withFaults);
    // So late that it shows in whatever else a busy machine makes the ranks wait for.
    const us = 300000;
    const { run, rows } = await end(server, {
      ...quick,
      collectives: [],
      control: { bytes: '1M', pieces: 8, iters: 3 },
      backend: 'host',
      fault: { kind: 'slow', rank: 1, us },
    });
    assert.equal(run.state, 'completed', run.reason);
    for (const { metric, value, values, unit } of rows) {
      if (unit !== 'us') continue;
      assert.ok(value > 0.95 * us, `${metric}: ${value}`);
      assert.ok(values[0] - values[1] > us / 2 && values[2] - values[1] > us / 2, `${metric}: ${values}`);
    }
  });

  test('a rank that hangs or dies in a figure is named', limit, async (t) => {
    const { server, agents } = await startCluster(t, 1, withFaults);
    const spec = { ...quick, sizes: [8], in_place: false, control: small, backend: 'host', stall_s: 8 };
    const hung = await end(server, { ...spec, fault: { kind: 'hang', rank: 2, row: 2 } });
    assert.equal(hung.run.state, 'failed');
    assert.match(hung.run.reason, /stalled: .* 8 s; .*rank 2 on node-1/);
    assert.deepEqual(
      hung.rows.filter((row) => row.metric).map(({ metric }) => metric),
      ['barrier'],
    );
    const dead = await end(server, { ...spec, fault: { kind: 'die', rank: 1, row: 5 } });
    assert.match(dead.run.reason, /rank 1 on node-1: .*signal 9/);
    await noWorkersLeft(agents);
  });

  test('what does not fit is skipped with the numbers', limit, async (t) => {
    const { server } = await startCluster(t, 1, { agent: { ranks: 2 } });
    const { run, rows } = await end(server, {
      collectives: [],
      backend: 'sim',
      env: { SIM_MEMORY_GIB: '1', SIM_SLEEP_FRACTION: '0' },
      control: { series: ['chunks', 'barrier'], bytes: '4G' },
    });
    assert.equal(run.state, 'completed', run.reason);
    assert.equal(run.summary.skipped, 3);
    assert.deepEqual(
      rows.map(({ metric, skipped }) => [metric, skipped === undefined]),
      [
        ['barrier', true],
        ['one_large', false],
        ['many_small', false],
        ['many_slower', false],
      ],
    );
    assert.match(rows[1].skipped, /\b2 buffers of 4(\.0)? GiB .*\b1(\.0)? GiB: /);
    assert.deepEqual(
      run.summary.metrics.map(({ metric }) => metric),
      ['barrier'],
    );
    const summary = await server.get(`/api/v1/runs/${run.id}/summary`);
    assert.deepEqual(
      summary.figures.map(({ metric }) => metric),
      ['barrier'],
    );
    const text = (await server.request('GET', `/api/v1/runs/${run.id}/results?format=text`)).text;
    assert.match(text, /^# one_large skipped: needs 2 buffers/m);
  });

  test("simulated figures are the model's, and say so", limit, async (t) => {
    const { server } = await startCluster(t, 2, { agent: { ranks: 4 } });
    const { run, rows } = await end(server, {
      ...quick,
      backend: 'sim',
      control: true,
      env: { SIM_SLEEP_FRACTION: '0', SIM_NOISE: '0' },
    });
    assert.equal(run.state, 'completed', run.reason);
    assert.ok(rows.every((row) => row.simulated === true));
    // The model has no barrier: it is a reduction of one element.
    assert.equal(metricValue(rows, 'barrier'), metricValue(rows, 'reduce_flag'));
    assert.ok(metricValue(rows, 'object_slower') > 1 && metricValue(rows, 'many_slower') > 1);
  });

  const emulation = path.join(buildDir, 'tests/emulation');
  const isEmulated =
    fs.existsSync(path.join(binDir, 'ringbench-worker-nccl')) &&
    fs.existsSync(path.join(emulation, 'libnccl.so.2'));

  test("on GPUs the figures are NCCL's", {
    ...limit,
    skip: !isEmulated && 'built without the NCCL worker',
  }, async (t) => {
    const { server } = await startCluster(t, 1, {
      agent: {
        env: {
          RINGBENCH_CUDART_LIB: path.join(emulation, 'libcudart.so.13'),
          RINGBENCH_NCCL_LIB: path.join(emulation, 'libnccl.so.2'),
          RINGBENCH_EMULATION: 'devices=4',
        },
      },
    });
    const { run, rows } = await end(server, { ...quick, backend: 'nccl', control: small });
    assert.equal(run.state, 'completed', run.reason);
    const figures = rows.filter((row) => row.metric);
    assert.deepEqual(
      figures.map(({ metric }) => metric),
      names,
    );
    assert.ok(figures.every((row) => row.emulated === true && row.value > 0));
  });
});
