// SPDX-License-Identifier: Apache-2.0
// environment.test.mjs - what workers and programs find in their environment: what a run may
// set, what needs the node's consent, and what they inherit
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { startCluster } from './lib/cluster.mjs';
import { patience, tempDir } from './lib/fixture.mjs';

const limit = { timeout: 120000 * patience };

// A node with a program that prints its environment, and with what it consents to.
async function startNode(t, { allow = '', args = [], env = {} } = {}) {
  const dir = tempDir(t);
  fs.mkdirSync(path.join(dir, 'programs.d'));
  fs.writeFileSync(path.join(dir, 'allow_env'), allow, { mode: 0o644 });
  fs.writeFileSync(
    path.join(dir, 'programs.d', 'show.json'),
    JSON.stringify({
      argv: [process.execPath, '-e', 'console.log(JSON.stringify(process.env))'],
    }),
  );
  return startCluster(t, 1, { agent: { args: ['--config-dir', dir, ...args], env } });
}

async function environments(server, spec) {
  const { id } = await server.run({ program: { name: 'show' }, ...spec });
  const run = await server.runEnds(id);
  assert.equal(run.state, 'completed', run.reason);
  const { lines } = await server.get(`/api/v1/runs/${id}/logs`);
  return lines.map(({ text }) => JSON.parse(text));
}

const risky = {
  NCCL_IBVERBS_LIB: /NCCL_IBVERBS_LIB .*load.*allow_env/,
  FI_LOG_LOCATION: /FI_LOG_LOCATION .*write/,
  FI_UCX_CONFIG: /FI_UCX_CONFIG .*variables/,
  NCCL_RAS_ADDR: /NCCL_RAS_ADDR .*listen/,
  NCCL_FROM_TOMORROW: /NCCL_FROM_TOMORROW .*known/,
};

test('a variable that is not known to be harmless needs the consent of the node', limit, async (t) => {
  const { server } = await startNode(t);
  for (const [name, reason] of Object.entries(risky)) {
    for (const spec of [{ env: { [name]: 'x' } }, { matrix: { [name]: ['x'] } }]) {
      const run = await server.runToEnd({ program: { name: 'show' }, ...spec });
      assert.equal(run.state, 'failed', name);
      assert.match(run.reason, reason);
    }
  }
});

test('with the consent of the node it reaches the process', limit, async (t) => {
  const { server } = await startNode(t, { allow: Object.keys(risky).join('\n') });
  const [name, ...rest] = Object.keys(risky);
  const set = Object.fromEntries(rest.map((other) => [other, 'x']));
  const [first, second] = await environments(server, { env: set, matrix: { [name]: ['a', 'b'] } });
  for (const other of rest) assert.equal(first[other], 'x');
  assert.deepEqual([first[name], second[name]], ['a', 'b']);
});

test("processes inherit what the site's software needs, and no secrets", limit, async (t) => {
  const passed = {
    LD_LIBRARY_PATH: '/opt/lib',
    CONDA_PREFIX: '/opt/conda',
    MODULEPATH: '/opt/modules',
    LC_ALL: 'C',
    SLURM_JOB_NODELIST: 'n[1-2]',
    OMPI_COMM_WORLD_SIZE: '2',
    NCCL_IB_HCA: 'mlx5',
    UCX_IB_PKEY: '1',
    FI_CXI_PROV_KEY_CACHE: '0',
    CUDA_PATH: '/opt/cuda',
    OMP_NUM_THREADS: '3',
    RINGBENCH_HOSTID: 'h',
    SITE_LICENSE: 'a',
    OUR_KEY: 'b', // that the administrator adds
  };
  const kept = {
    AWS_SECRET_ACCESS_KEY: 'hush',
    GITHUB_TOKEN: 'hush',
    https_proxy: 'http://me:hush@proxy',
    DB_URL: 'hush',
    SLURM_JWT: 'hush',
    HF_TOKEN: 'hush',
    NVIDIA_API_KEY: 'hush',
    CUDA_password: 'hush',
    PBS_JOBCOOKIE: 'hush',
    SITE_TOKEN: 'hush',
  };
  const {
    server,
    agents: [agent],
  } = await startNode(t, {
    args: [
      '--log-level',
      'debug',
      '--pass-env',
      'SITE_*',
      '--pass-env',
      'OUR_KEY',
      '--pass-env',
      'TEST_MARK',
    ],
    env: { ...passed, ...kept },
  });
  const [got] = await environments(server, {});
  for (const [name, value] of Object.entries(passed)) assert.equal(got[name], value, name);
  for (const name of Object.keys(kept)) assert.ok(!(name in got), name);
  for (const name of ['PATH', 'TEST_MARK', 'RANK', 'MASTER_ADDR']) assert.ok(got[name], name);

  const names = (pattern) => agent.errors.flatMap((line) => line.match(pattern)?.[1].split(' ') ?? []);
  const inherited = names(/ debug .*inherit: (.*)$/);
  const left = names(/ debug .*--pass-env NAME.*: (.*)$/);
  for (const name of Object.keys(passed)) assert.ok(inherited.includes(name), name);
  for (const name of Object.keys(kept)) assert.ok(left.includes(name) && !inherited.includes(name), name);
  assert.doesNotMatch(agent.errors.join('\n'), /hush/);
});

test("the agent's unit leaves the devices to its workers", limit, () => {
  const file = new URL('../../deploy/systemd/ringbench-agent.service', import.meta.url);
  const settings = fs
    .readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => /^[A-Z]\w*=/.test(line));
  const names = settings.map((line) => line.split('=')[0]);

  // ProtectClock implies a DeviceAllow, which denies all other devices.
  for (const name of ['PrivateDevices', 'ProtectClock', 'DeviceAllow', 'DevicePolicy'])
    assert.ok(!names.includes(name), name);
  const before = settings.find((line) => line.startsWith('ExecStartPre='));
  // A failure is ignored, and the unit's limits do not apply.
  assert.match(before, /^ExecStartPre=(-\+|\+-)\S+\/nvidia-modprobe -u -c 0$/);
});
