// SPDX-License-Identifier: Apache-2.0
// preflight.test.mjs - what is found of nodes before a run is said, and keeps it from starting where that is asked for
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { noNccl, quick, startAgent, startServer } from './lib/cluster.mjs';
import { patience } from './lib/fixture.mjs';
import { nodeTree } from './lib/node_tree.mjs';
import { verdictOf } from './lib/verdicts.mjs';

const limit = { timeout: 120000 * patience };

const sentence = /cgroup .*1\.5 of \d+ CPUs/;

test('what is found of the nodes of a run is in its text, its document and its refusal', limit, async (t) => {
  const server = await startServer(t);
  for (const [name, tree] of [
    ['well', 'laptop'],
    ['sick', 'laptop_cgroup'],
    ['gpus', 'dgx_memlock'],
  ])
    await startAgent(t, server, name, { env: { ...noNccl, RINGBENCH_ROOT: nodeTree(t, tree) } });
  const text = async (target) =>
    (await server.request('GET', target, { headers: { Accept: 'text/plain' } })).text;
  const run = async (names, more) => {
    const stream = await server.followText({ ...quick, backend: 'host', nodes: { names }, ...more });
    const lines = await stream.ended();
    const id = lines[0].match(/^# run (\S+)/)[1];
    return {
      said: lines.filter((line) => line.startsWith('# preflight')),
      last: lines.at(-1),
      run: await server.getRun(id),
    };
  };

  // A node alone: a finding with what mends it, for what the node has.
  assert.match(
    await text('/api/v1/nodes/gpus/preflight'),
    /^finding: 1 finding: memlock: only 64 KiB .*\nANSWER +CHECK +WHAT +FIX\nfinding +memlock +only 64 KiB .* LimitMEMLOCK=infinity/,
  );
  assert.match(await text('/api/v1/preflight'), /^finding +memlock +gpus: only 64 KiB /m);
  assert.equal((await server.get('/api/v1/nodes/well/preflight')).answer, 'ok');

  // What the agent's environment tells NCCL, which its workers get.
  await startAgent(t, server, 'told', {
    env: { ...noNccl, RINGBENCH_ROOT: nodeTree(t, 'dgx'), NCCL_SOCKET_IFNAME: 'nosuch' },
  });
  assert.match(
    await text('/api/v1/nodes/told/preflight'),
    /^finding +interface +NCCL_SOCKET_IFNAME=nosuch /m,
  );

  const sick = await run(['sick', 'well']);
  assert.equal(sick.said.length, 1, sick.said.join('\n'));
  assert.match(sick.said[0], /^# preflight cgroup: finding: sick: .*cgroup .* \(.*CPUs.*\)$/);
  assert.equal(sick.run.state, 'completed');
  const [check] = verdictOf(sick.run, 'preflight').evidence.checks;
  assert.deepEqual([check.check, check.answer, check.nodes], ['cgroup', 'finding', ['sick']]);

  // Of one node nobody need say which.
  const refused = await run(['sick'], { preflight: 'require' });
  assert.equal(refused.run.state, 'failed');
  assert.equal(refused.run.started, null);
  assert.match(refused.run.reason, sentence);
  assert.match(refused.last, /^failed: preflight: 1 finding: cgroup: /);
  assert.equal(refused.run.cases[0].state, 'skipped');

  const well = await run(['well'], { preflight: 'require' });
  assert.deepEqual(
    [well.run.state, verdictOf(well.run, 'preflight').answer, well.said],
    ['completed', 'ok', []],
  );
  // Nothing says how fast memory is.
  assert.equal(verdictOf(well.run, 'ceiling').answer, 'not_enough_data');
  for (const query of ['ceiling:not_enough_data', 'not_enough_data', 'preflight:ok', 'ok']) {
    const { runs } = await server.get(`/api/v1/runs?verdict=${query}`);
    assert.ok(
      runs.some(({ id }) => id === well.run.id),
      query,
    );
  }
  const off = await run(['sick'], { preflight: 'off' });
  assert.deepEqual([off.run.state, verdictOf(off.run, 'preflight'), off.said], ['completed', undefined, []]);

  // What a GPU needs is nobody's business on the host.
  assert.equal(verdictOf((await run(['gpus'])).run, 'preflight').answer, 'ok');
});
