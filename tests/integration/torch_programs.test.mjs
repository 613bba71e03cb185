// SPDX-License-Identifier: Apache-2.0
// torch_programs.test.mjs - the programs of deploy/ with real PyTorch: gloo on CPUs, ranks
// of two nodes that meet in the server's store. Skipped where there is no PyTorch.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { noWorkersLeft, startCluster } from './lib/cluster.mjs';
import { patience } from './lib/fixture.mjs';

const deploy = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../deploy');

// The distribution's python has its packages.
const env = { PATH: `/usr/bin:${process.env.PATH}`, CUDA_VISIBLE_DEVICES: '' };

function whyNot() {
  const python = spawnSync('python3', ['-c', 'import torch.distributed as d; assert d.is_gloo_available()'], {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  if (python.error) return `no python3: ${python.error.message}`;
  return python.status === 0 ? false : `no PyTorch: ${python.stderr.trim().split('\n').at(-1)}`;
}

const options = { timeout: 300000 * patience, skip: whyNot() };

async function runProgram(t, name, args, ranks = 2) {
  const { server, agents } = await startCluster(t, 2, {
    agent: { args: ['--config-dir', deploy], env, ranks },
  });
  const { id } = await server.run({
    program: { name, args },
    nodes: { count: 2 },
    stall_s: 120,
    env: { GLOO_SOCKET_IFNAME: 'lo' },
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
  assert.deepEqual(
    programs.map(({ name }) => name),
    ['torch-all-reduce', 'torch-demo', 'torch-object-or-tensor', 'torch-one-or-many', 'torch-train'],
  );
});

test('all-reduce bandwidth over a range of sizes', options, async (t) => {
  const { rows, values } = await runProgram(t, 'torch-all-reduce', { max_bytes: 65536, iters: 3 });
  const busbw = rows.filter((row) => row.metric === 'busbw');
  assert.deepEqual(
    busbw.map(({ labels }) => labels.size),
    [1024, 4096, 16384, 65536],
  );
  const [algbw, time] = [values('algbw'), values('time')];
  busbw.forEach(({ value, labels }, i) => {
    assert.ok(Math.abs(algbw[i] - labels.size / time[i] / 1e3) < 1e-6 * algbw[i]);
    assert.ok(Math.abs(value - algbw[i] * 1.5) < 1e-6 * value);
  });
});

test('one large reduction against many small ones', options, async (t) => {
  const { values } = await runProgram(t, 'torch-one-or-many', { pieces: 200, bytes: 400000, iters: 2 }, 1);
  const [one, many, slower] = [values('one')[0], values('many')[0], values('slower')[0]];
  assert.ok(one > 0 && Math.abs(slower - many / one) < 1e-6 * slower, `${one} ${many} ${slower}`);
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
  const { run, values } = await runProgram(
    t,
    'torch-train',
    { steps: 20, report: 5, batch: 4, width: 32, layers: 1 },
    1,
  );
  assert.equal(values('samples_per_s').length, 4);
  assert.ok(values('samples_per_s').every((value) => value > 0));
  assert.ok(values('loss').at(-1) < values('loss')[0]);
  assert.equal(
    run.summary.metrics.find(({ metric }) => metric === 'samples_per_s').rank0.last,
    values('samples_per_s').at(-1),
  );
});

test('a setting on and off, three times each, is one request', options, async (t) => {
  const { server, agents } = await startCluster(t, 2, {
    agent: { args: ['--config-dir', deploy], env, ranks: 1 },
  });
  const { id } = await server.run({
    program: {
      name: 'torch-train',
      args: { steps: 6, warmup: 1, report: 3, batch: 4, width: 32, layers: 1 },
    },
    nodes: { count: 2 },
    matrix: { NCCL_P2P_DISABLE: ['0', '1'] },
    repeats: 3,
    env: { GLOO_SOCKET_IFNAME: 'lo' },
    stall_s: 120,
  });
  const run = await server.runEnds(id, 240000);
  assert.equal(run.state, 'completed', run.reason);
  assert.deepEqual(
    run.cases.map((one) => `${one.repeat}${one.env.NCCL_P2P_DISABLE}`),
    ['00', '01', '11', '10', '20', '21'],
  );
  await noWorkersLeft(agents);
  // What somebody with a table of it does: a mean per setting, with nothing joined by hand.
  const csv = (await server.request('GET', `/api/v1/runs/${id}/results?format=csv`)).text
    .trim()
    .split('\r\n');
  const columns = csv[0].split(',');
  const rows = csv
    .slice(1)
    .map((line) => Object.fromEntries(line.split(',').map((field, i) => [columns[i], field])));
  for (const setting of ['0', '1']) {
    const mine = rows.filter((row) => row.metric === 'samples_per_s' && row.NCCL_P2P_DISABLE === setting);
    assert.deepEqual(mine.map(({ repeat }) => repeat).sort(), ['0', '0', '1', '1', '2', '2']);
    assert.ok(mine.every(({ value }) => Number(value) > 0));
  }
});

// What group.py does where there are GPUs, with PyTorch's calls replaced by records of them.
const onGpus = `
import sys
sys.path.insert(0, sys.argv[1])
import torch, torch.distributed as dist
calls = []
torch.cuda.is_available = lambda: True
torch.cuda.device_count = lambda: int(sys.argv[2])
torch.cuda.set_device = lambda device: calls.append(f"set_device {device}")
dist.is_nccl_available = lambda: True
dist.get_rank, dist.get_world_size = lambda: 1, lambda: 2
if sys.argv[3] == "new":
    def init(backend=None, init_method=None, timeout=None, device_id=None):
        calls.append(f"init {backend} {init_method} {device_id}")
else:
    def init(backend, init_method=None, timeout=None):
        calls.append(f"init {backend} {init_method}")
dist.init_process_group = init
from group import Group
print(Group().device, calls)
`;

test('ranks with a GPU each use NCCL, of old and new PyTorch', options, () => {
  const start = (gpus, age) =>
    spawnSync('python3', ['-B', '-c', onGpus, path.join(deploy, 'programs'), gpus, age], {
      env: { ...process.env, ...env, LOCAL_RANK: '1', LOCAL_WORLD_SIZE: '2' },
      encoding: 'utf8',
    });
  assert.equal(start('2', 'new').stdout, "cuda:1 ['set_device 1', 'init nccl env:// cuda:1']\n");
  assert.equal(start('4', 'old').stdout, "cuda:1 ['set_device 1', 'init nccl env://']\n");
  assert.equal(start('0', 'old').stdout, "cpu ['init gloo env://']\n");
  // Some on NCCL and some on gloo would wait for each other.
  const short = start('1', 'new');
  assert.equal(short.status, 1);
  assert.match(short.stderr, /\b2 ranks, but 1 GPU.*ranks_per_node/);
});
