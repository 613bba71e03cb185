// SPDX-License-Identifier: Apache-2.0
// lingering.test.mjs - a process that is stuck in the driver, which nothing kills, keeps its
// GPU from the next case, and the server hears of it
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { emulatedGpus, lacksNccl, quick, startAgent, startServer } from './lib/cluster.mjs';
import { waitFor } from './lib/fixture.mjs';
import { nodeTree } from './lib/node_tree.mjs';

const limit = { timeout: 120000, skip: lacksNccl };
const held =
  'a process of an earlier case was killed but has not exited and may hold a GPU: 4242 (ringbench-worke) in state D';

test('a process that does not die keeps NCCL from the node until it has', limit, async (t) => {
  const root = nodeTree(t, 'two_gpus');
  const put = (file, text) => {
    fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    fs.writeFileSync(path.join(root, file), text);
  };
  const server = await startServer(t);
  await startAgent(t, server, 'node-1', {
    env: {
      RINGBENCH_ROOT: root,
      ...emulatedGpus('devices=2'),
    },
  });
  const ends = async (backend) => server.runToEnd({ ...quick, backend, nodes: { names: ['node-1'] } });
  const nccl = async () => (await server.node('node-1')).inventory.backends.nccl;
  const run = await ends('nccl');
  assert.equal(run.state, 'completed', run.reason);

  // One of an earlier case, and one that has ended and was not waited for.
  put('proc/self/task/7/children', '4242 4243 ');
  put('proc/4242/stat', '4242 (ringbench-worke) D 1 4242');
  put('proc/4243/stat', '4243 (ringbench-worke) Z 1 4243');
  assert.ok((await ends('nccl')).reason.includes(held));
  await waitFor(async () => (await nccl()).reason === held, 'the server has not heard why');
  const host = await ends('host');
  assert.equal(host.state, 'completed', host.reason);

  fs.rmSync(path.join(root, 'proc/self/task'), { recursive: true });
  await waitFor(async () => (await nccl()).available, 'NCCL is not back', 30000);
  const last = await ends('nccl');
  assert.equal(last.state, 'completed', last.reason);
});
