// torch_programs.test.mjs - the programs of deploy/ with real PyTorch: gloo on CPUs, ranks
// of two nodes that meet in the server's store. Skipped where there is no PyTorch.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { noWorkersLeft, startCluster } from './lib/cluster.mjs';

const deploy = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../deploy');

// The distribution's python has its packages.
const env = { PATH: `/usr/bin:${process.env.PATH}`, CUDA_VISIBLE_DEVICES: '' };

function whyNot() {
  const python = spawnSync('python3', ['-c', 'import torch.distributed as d; assert d.is_gloo_available()'],
    { env: { ...process.env, ...env }, encoding: 'utf8' });
  if (python.error) return `no python3: ${python.error.message}`;
  return python.status === 0 ? false : `no PyTorch: ${python.stderr.trim().split('\n').at(-1)}`;
}

const options = { timeout: 300000, skip: whyNot() };

async function runProgram(t, name, args, ranks = 2) {
  const { server, agents } = await startCluster(t, 2, {
    agent: { args: ['--config-dir', deploy], env, ranks },
  });
  const { id } = await server.run({
    program: { name, args }, nodes: { count: 2 }, stall_s: 120, env: { GLOO_SOCKET_IFNAME: 'lo' },
  });
  const run = await server.runEnds(id, 240000);
  assert.equal(run.state, 'completed', run.reason);
  assert.equal(run.world_size, 2 * ranks);
  await noWorkersLeft(agents);
  const rows = await server.rows(id);
  const values = (metric) => rows.filter((row) => row.metric === metric).map(({ value }) => value);
  return { server, run, rows, values };
}

test('every shipped program is offered', options, async (t) => {
  const { server } = await startCluster(t, 1, { agent: { args: ['--config-dir', deploy], env } });
  const { programs } = await server.get('/api/v1/programs');
  assert.deepEqual(programs.map(({ name }) => name), ['torch-all-reduce', 'torch-demo', 'torch-object-or-tensor',
    'torch-one-or-many', 'torch-train']);
});

test('all-reduce bandwidth over a range of sizes', options, async (t) => {
  const { rows, values } = await runProgram(t, 'torch-all-reduce', { max_bytes: 65536, iters: 3 });
  const busbw = rows.filter((row) => row.metric === 'busbw');
  assert.deepEqual(busbw.map(({ labels }) => labels.size), [1024, 4096, 16384, 65536]);
  const [algbw, time] = [values('algbw'), values('time')];
  busbw.forEach(({ value, labels }, i) => {
    assert.ok(Math.abs(algbw[i] - labels.size / time[i] / 1e3) < 1e-6 * algbw[i]);
    assert.ok(Math.abs(value - algbw[i] * 1.5) < 1e-6 * value);
  });
});

test('one large reduction against many small ones', options, async (t) => {
  const { values } = await runProgram(t, 'torch-one-or-many', { pieces: 200, bytes: 400000, iters: 2 }, 1);
  assert.ok(values('many')[0] > values('one')[0], 'pieces cost more than the whole');
});

test('a flag as an object and as a tensor', options, async (t) => {
  const { values } = await runProgram(t, 'torch-object-or-tensor', { iters: 5 }, 1);
  assert.ok(values('object')[0] > 0 && values('tensor')[0] > 0);
});

test('the demonstration shows each rank before and after', options, async (t) => {
  const { server, run, values } = await runProgram(t, 'torch-demo', {});
  assert.deepEqual(values('collectives_right'), [4]);
  const { lines } = await server.get(`/api/v1/runs/${run.id}/logs?case=0&rank=3`);
  const text = lines.map((line) => line.text).join('\n');
  assert.match(text, /all_reduce: rank 3 of 4: before \[4\.0, 40\.0\] after \[10\.0, 100\.0\]/);
});

test('training reports samples per second, and learns', options, async (t) => {
  const { run, values } = await runProgram(t, 'torch-train', { steps: 20, report: 5, batch: 4, width: 32, layers: 1 }, 1);
  assert.equal(values('samples_per_s').length, 4);
  assert.ok(values('samples_per_s').every((value) => value > 0));
  assert.ok(values('loss').at(-1) < values('loss')[0]);
  assert.equal(run.summary.metrics.find(({ metric }) => metric === 'samples_per_s').rank0.last, values('samples_per_s').at(-1));
});
