// SPDX-License-Identifier: Apache-2.0
// prolog.test.mjs - the shipped prolog takes a sick node of a real Slurm out of use, and no other
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { noNccl, startAgent, startServer } from '../integration/lib/cluster.mjs';
import { binDir, patience, tempDir, waitFor } from '../integration/lib/fixture.mjs';
import { nodeTree } from '../integration/lib/node_tree.mjs';
import { Slurm } from './cluster.mjs';

const shipped = fileURLToPath(new URL('../../deploy/slurm/prolog-check', import.meta.url));

test('a node that fails its check is drained, and its job waits; others run', {
  timeout: 240000 * patience,
}, async (t) => {
  const server = await startServer(t);
  await startAgent(t, server, 'n3', { env: { ...noNccl, RINGBENCH_ROOT: nodeTree(t, 'laptop') } });
  await startAgent(t, server, 'n4', { env: { ...noNccl, RINGBENCH_ROOT: nodeTree(t, 'dgx_memlock') } });
  // What an administrator writes at its head.
  const prolog = path.join(tempDir(t), 'prolog');
  const settings = `RINGBENCH_SERVER=${server.url} RINGBENCH_TOKEN_FILE= RINGBENCH=${binDir}/ringbench`;
  fs.writeFileSync(prolog, `#!/bin/sh\n${settings}\n${fs.readFileSync(shipped)}`, { mode: 0o755 });
  const slurm = await Slurm.start(t, `Prolog=${prolog}\n`);
  const submit = (node) => slurm.submit({}, `--nodelist=${node}`, '--wrap=true');
  const jobOf = (id) => slurm.call('scontrol', 'show', 'job', id);
  const nodeOf = (name) => slurm.call('scontrol', 'show', 'node', name);

  // n1 has no agent: the check can't say anything.
  for (const node of ['n1', 'n3']) {
    const job = submit(node);
    await waitFor(
      () => /JobState=COMPLETED/.test(jobOf(job)),
      () => `${jobOf(job)}\n${nodeOf(node)}\n${slurm.logs()}`,
      60000,
    );
    assert.doesNotMatch(nodeOf(node), /DRAIN/);
  }
  const run = (await server.get('/api/v1/runs')).runs;
  assert.deepEqual(
    run.map(({ name, state }) => [name, state]),
    [['check', 'completed']],
  );

  const job = submit('n4');
  await waitFor(
    () => /State=\S*DRAIN[\s\S]*Reason=Prolog error/.test(nodeOf('n4')),
    () => `${jobOf(job)}\n${nodeOf('n4')}\n${slurm.logs()}`,
    60000,
  );
  await waitFor(
    () => /JobState=PENDING/.test(jobOf(job)),
    () => jobOf(job),
  );
  assert.equal((await server.get('/api/v1/runs')).runs.length, 1);
});
