// SPDX-License-Identifier: Apache-2.0
// hooks.test.mjs - the shipped hooks drain a suspect of a real Slurm and resume it, and nothing else
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { startAgent } from '../integration/lib/cluster.mjs';
import { patience, tempDir, waitFor } from '../integration/lib/fixture.mjs';
import { Slurm } from './cluster.mjs';

const shipped = fileURLToPath(new URL('../../deploy/hooks.d/', import.meta.url));

test('a suspect is drained, and resumed when it passes', { timeout: 240000 * patience }, async (t) => {
  const hooks = tempDir(t);
  for (const name of ['slurm-drain.json', 'slurm-resume.json', 'webhook.json'])
    fs.copyFileSync(path.join(shipped, name), path.join(hooks, name));
  const slurm = await Slurm.start(t);
  const server = await slurm.startServer(t, ['--hooks', hooks]);
  await Promise.all(['n1', 'n2', 'n3'].map((name) => startAgent(t, server, name)));
  const nodeOf = (name) => slurm.call('scontrol', 'show', 'node', name);
  slurm.call('scontrol', 'update', 'nodename=n3', 'state=drain', 'reason=mine');

  const watch = async (env) => {
    const spec = {
      backend: 'sim',
      pattern: 'pairs',
      sizes: ['64M'],
      iters: 5,
      in_place: false,
      env: { SIM_SLEEP_FRACTION: '0', SIM_NOISE: '0.002', ...env },
    };
    const body = JSON.stringify({ name: 'nightly', every: '5s', mode: 'act', spec });
    const answer = await server.request('POST', '/api/v1/watches', { body });
    assert.equal(answer.status, 201, answer.text);
    return `/api/v1/watches/${answer.json.id}`;
  };
  const acted = (url, hook) => {
    let actions;
    return waitFor(
      async () => {
        ({ actions } = await server.get(url));
        return actions.find((one) => one.hook === hook && one.state === 'done');
      },
      () => `${hook}: ${JSON.stringify(actions)}\n${slurm.logs()}`,
      90000,
    );
  };

  const slow = await watch({ SIM_SLOW: 'n2:0.5' });
  assert.deepEqual((await acted(slow, 'slurm-drain')).nodes, ['n2']);
  assert.match(nodeOf('n2'), /State=\S*DRAIN[\s\S]*Reason=ringbench: n2 is slow/);
  assert.doesNotMatch(nodeOf('n1'), /DRAIN/);
  assert.equal((await server.request('DELETE', slow)).status, 204);

  const healthy = await watch({});
  assert.deepEqual((await acted(healthy, 'slurm-resume')).nodes, ['n2']);
  assert.doesNotMatch(nodeOf('n2'), /DRAIN/);
  assert.match(nodeOf('n3'), /State=\S*DRAIN[\s\S]*Reason=mine/);
});
