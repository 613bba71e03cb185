// node_twins.test.mjs - machines of tests/data/nodes as agents and their probes tell of them: what preflight finds of each is
// what its tree says, with evidence and what mends it, and nothing of one that is well
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { startAgent, startServer } from './lib/cluster.mjs';
import { binDir, buildDir, patience } from './lib/fixture.mjs';
import { nodeTree, nodeTrees } from './lib/node_tree.mjs';

const dir = path.join(buildDir, 'tests/emulation');
const isBuilt = fs.existsSync(path.join(binDir, 'ringbench-worker-nccl')) &&
  fs.existsSync(path.join(dir, 'libnvidia-ml.so.1'));
const limit = { timeout: 240000 * patience, skip: !isBuilt && 'built without the NCCL worker' };

// A node with CUDA, NCCL and NVML that say what the tree says of them.
function startNode(t, server, tree, name = tree) {
  const root = nodeTree(t, tree);
  const settings = path.join(root, 'emulation');
  return startAgent(t, server, name, {
    env: {
      RINGBENCH_ROOT: root,
      RINGBENCH_CUDART_LIB: path.join(dir, 'libcudart.so.13'),
      RINGBENCH_NCCL_LIB: path.join(dir, 'libnccl.so.2'),
      RINGBENCH_NVML_LIB: path.join(dir, 'libnvidia-ml.so.1'),
      RINGBENCH_EMULATION: fs.existsSync(settings) ? fs.readFileSync(settings, 'utf8') : '',
    },
  });
}

// A few at a time: each starts the probes of all workers.
async function startNodes(t, server, trees) {
  for (let i = 0; i < trees.length; i += 4) {
    await Promise.all(trees.slice(i, i + 4).map(([tree, name]) => startNode(t, server, tree, name)));
  }
}

// How many CPUs there are is the machine's on which the test runs.
const plain = (text) => text.replace(/ of \d+ CPUs/, ' of N CPUs');

const findingsOf = (verdict) => verdict.evidence.checks.filter(({ answer }) => answer === 'finding')
  .map(({ check, severity, sentence, command, nodes }) => ({ check, severity, sentence: plain(sentence), command, nodes }));

test('each machine that is well has no finding, each sick twin its one', limit, async (t) => {
  const server = await startServer(t);
  const trees = nodeTrees();
  await startNodes(t, server, trees.map(({ name }) => [name]));
  const expected = {};
  const found = {};
  for (const { name, finding } of trees) {
    const verdict = await server.get(`/api/v1/nodes/${name}/preflight`);
    expected[name] = ['nccl', ...finding ? ['finding', { ...finding, nodes: [name] }] : ['ok']];
    found[name] = [verdict.evidence.backend, verdict.answer, ...findingsOf(verdict)];
  }
  assert.deepEqual(found, expected);

  // What NVML says is told in full, and looked at: nothing of it is well for want of being known.
  const { gpus } = (await server.node('dgx_nvlink')).inventory;
  const { acs, cpus, numa, pcie, paths, p2p, ...gpu } = gpus[1];
  assert.deepEqual(gpu, {
    pci: '0000:3d:00.0', name: 'NVIDIA H100 80GB HBM3', memory_bytes: 85520809984, sm_mhz_max: 1980, memory_mhz_max: 2619,
    power_limit_mw: 700000, persistence: true, ecc: true, mig: false, fabric: 'completed',
    nvlink: { active: 17, inactive: [7], to: { switch: 17 } },
    now: { sm_mhz: 345, memory_mhz: 2619, temperature_c: 31, power_mw: 72000, slowed_by: [], ecc_errors: 0 },
  });
  assert.deepEqual([paths['0000:1b:00.0'], paths['0000:dd:00.0'], p2p['0000:dd:00.0']], ['NODE', 'SYS', 'ok']);
  const { checks } = (await server.get('/api/v1/nodes/dgx/preflight')).evidence;
  assert.deepEqual(checks.filter(({ answer }) => answer !== 'ok').map(({ check }) => check), ['versions', 'nccl_versions', 'clock']);
});
