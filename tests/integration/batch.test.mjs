// SPDX-License-Identifier: Apache-2.0
// batch.test.mjs - agents that a launcher of parallel programs started, several on a node
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';

import { startServer } from './lib/cluster.mjs';
import { Program, binDir, patience, tempDir } from './lib/fixture.mjs';

const limit = { timeout: 60000 * patience };

// As mpirun starts them: the same command for all, each with its number on the node.
const startCopies = (t, server, n, args = (_i) => []) => {
  const env = {
    ...process.env,
    XDG_RUNTIME_DIR: tempDir(t),
    SLURMD_NODENAME: 'n7',
    SLURM_JOB_ID: '8',
    SLURM_LOCALID: '0',
  };
  return Array.from(
    { length: n },
    (_, i) =>
      new Program(t, path.join(binDir, 'ringbench-agent'), ['--server', server.url, ...args(i)], {
        env: { ...env, OMPI_COMM_WORLD_LOCAL_RANK: String(i) },
      }),
  );
};

test(
  'of several copies on a node the first offers it, and the others leave without failure',
  limit,
  async (t) => {
    const server = await startServer(t);
    const [first, ...others] = startCopies(t, server, 3);
    for (const [i, other] of others.entries()) {
      assert.deepEqual(await other.ended(), { code: 0, signal: null });
      assert.match(other.errors.join('\n'), new RegExp(`OMPI_COMM_WORLD_LOCAL_RANK is ${i + 1}: .*n7`));
    }
    await server.nodeIs('n7', 'idle');
    first.signal('SIGTERM');
    assert.deepEqual(await first.ended(), { code: 0, signal: null });
  },
);

test('copies with names of their own are nodes of their own', limit, async (t) => {
  const server = await startServer(t);
  startCopies(t, server, 3, (i) => ['--name', `a-${i}`]);
  for (let i = 0; i < 3; i++) assert.equal((await server.nodeIs(`a-${i}`, 'idle')).group, 'slurm-8');
});
