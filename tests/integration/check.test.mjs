// SPDX-License-Identifier: Apache-2.0
// check.test.mjs - `ringbench check`: is a node fit for a job?
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { call, limit, shells, start } from './lib/client.mjs';
import { noNccl, startAgent, startServer } from './lib/cluster.mjs';
import { tempDir, waitFor } from './lib/fixture.mjs';
import { nodeTree } from './lib/node_tree.mjs';

describe('check', { concurrency: 4 }, () => {
  test(
    'check says whether a node is as fast as it was, and first what is wrong with it',
    limit,
    async (t) => {
      const server = await startServer(t);
      await startAgent(t, server, 'well', { env: { ...noNccl, RINGBENCH_ROOT: nodeTree(t, 'laptop') } });
      await startAgent(t, server, 'sick', { env: { ...noNccl, RINGBENCH_ROOT: nodeTree(t, 'dgx_memlock') } });
      const check = (...args) => call(t, server, ['check', ...args, '--backend', 'sim', '-n', '5']);

      for (let i = 0; i < 5; i++) {
        const { code, out, err } = await check('--nodes', 'well');
        assert.equal(code, 2, `${out}${err}`);
        assert.match(out, /^not_evaluated: .*baseline/);
      }
      const { code, out, err } = await check('--nodes', 'well');
      assert.equal(code, 0, `${out}${err}`);
      assert.match(out, /^pass: [\s\S]*^pass +baseline /m);
      const { runs } = await server.get('/api/v1/runs');
      assert.deepEqual([runs.length, runs[0].labels], [6, { check: 'nodes' }]);

      const sick = await check('--nodes', 'well,sick');
      assert.equal(sick.code, 1, sick.out + sick.err);
      assert.match(sick.out, /^# preflight memlock: error: sick: .*\n[\s\S]*^fail: .*sick$/m);
      const unknown = await check('--nodes', 'well,nobody');
      assert.deepEqual([unknown.code, unknown.out], [2, 'not_evaluated: unknown node nobody']);
      assert.equal((await check('--nodes')).code, 3);
      assert.equal((await server.get('/api/v1/runs')).runs.length, 6);
    },
  );

  test('check takes names of nodes as they are, before and behind its other options', limit, async (t) => {
    const server = await startServer(t);
    await startAgent(t, server, 'half', { env: noNccl }); // also a data type of nccl-tests
    const check = (...args) => call(t, server, ['check', '--backend', 'sim', '-n', '5', ...args]);
    for (const args of [
      ['--nodes=half', '--last=7'],
      ['--nodes', 'half', '--last', '7'],
    ]) {
      const { code, out, err } = await check(...args);
      assert.equal(code, 2, `${out}${err}`);
      const [{ id, state }] = (await server.get('/api/v1/runs')).runs;
      const { spec } = await server.getRun(id);
      assert.deepEqual(
        [state, spec.nodes.names, spec.baseline.last, spec.iters],
        ['completed', ['half'], 7, 5],
      );
    }
    for (const name of ['*', 'a\\c'])
      assert.equal((await check('--nodes', name)).out, `not_evaluated: unknown node ${name}`);
  });

  // A check whose run has begun. The run takes about 4 of the 13 s that a check allows.
  async function startCheck(t, server, options) {
    const before = (await server.get('/api/v1/runs')).runs.length;
    const program = start(t, server, ['check', '--nodes', 'half', '--backend', 'sim', '-n', '8000'], options);
    const { id } = await waitFor(
      async () => {
        const { runs } = await server.get('/api/v1/runs');
        return runs.length > before && runs[0].state === 'running' && runs[0];
      },
      () => `no check is running: ${program.describe()}`,
    );
    return { program, id };
  }

  test('^C cancels the run of check, which ends with 3', limit, async (t) => {
    const server = await startServer(t);
    await startAgent(t, server, 'half', { env: noNccl });
    for (const shell of shells) {
      const { program, id } = await startCheck(t, server, { shell, detached: true });
      process.kill(-program.pid, 'SIGINT');
      assert.equal((await program.ended(30000)).code, 3, program.describe());
      assert.deepEqual(program.errors, [`ringbench: cancelling run ${id}`]);
      assert.equal((await server.runEnds(id)).state, 'cancelled');
    }
  });

  test('^C while the client reads the id of its run cancels that run', limit, async (t) => {
    const server = await startServer(t);
    await startAgent(t, server, 'half', { env: noNccl });
    const bin = tempDir(t);
    const mark = path.join(bin, 'reads');
    fs.writeFileSync(
      path.join(bin, 'awk'),
      `#!/bin/sh\ncase "$*" in *path=/id*) touch ${mark}; sleep 1 ;; esac\nexec /usr/bin/awk "$@"\n`,
      { mode: 0o755 },
    );
    const PATH = `${bin}:${process.env.PATH}`;
    for (const shell of shells) {
      for (const command of [
        ['check', '--nodes', 'half', '--backend', 'sim'],
        ['run', 'all_reduce', '--nodes', '1', '--backend', 'sim'],
      ]) {
        fs.rmSync(mark, { force: true });
        const program = start(t, server, command, { shell, detached: true, env: { PATH } });
        await waitFor(() => fs.existsSync(mark), 'the id is not read');
        process.kill(-program.pid, 'SIGINT');
        assert.equal((await program.ended(30000)).code, 3, program.describe());
        const [{ id }] = (await server.get('/api/v1/runs')).runs;
        assert.deepEqual(program.errors[0], `ringbench: cancelling run ${id}`);
      }
    }
  });

  test('check does not wait for nodes that other runs use', limit, async (t) => {
    const server = await startServer(t);
    await startAgent(t, server, 'half', { env: noNccl });
    const spec = { backend: 'sim', iters: 20000, nodes: { names: ['half'] } };
    const other = await server.run({ ...spec, env: { SIM_SLEEP_FRACTION: '1', SIM_BASE_US: '100000' } });
    await server.event(other.id, (event) => event.state === 'running');
    const begun = Date.now();
    const { code, out } = await call(t, server, ['check', '--nodes', 'half', '--backend', 'sim']);
    const unstarted = 'not_evaluated: the run did not start in 5 s: 0 of 1 nodes are free; ';
    assert.deepEqual([code, out], [2, `${unstarted}others are in use`]);
    assert.ok(Date.now() - begun < 20000);
    const [{ state, labels }] = (await server.get('/api/v1/runs')).runs;
    assert.deepEqual([state, labels], ['cancelled', { check: 'nodes' }]);

    await startAgent(t, server, 'idle', { env: noNccl });
    const both = await server.run({ ...spec, nodes: { names: ['half', 'idle'] } });
    await server.event(both.id, (event) => event.state === 'queued' && event.reason);
    const kept = await call(t, server, ['check', '--nodes', 'idle', '--backend', 'sim']);
    assert.equal(kept.code, 2, kept.out);
    assert.ok(kept.out.startsWith(`${unstarted}1 idle node is reserved for run ${both.id}`), kept.out);
    await server.request('POST', `/api/v1/runs/${other.id}/cancel`);
  });

  test('a check outlives a restart of its server', limit, async (t) => {
    const server = await startServer(t);
    await startAgent(t, server, 'half', { env: noNccl });
    const { program, id } = await startCheck(t, server);
    await server.killHard();
    const again = await server.startAgain();
    const { code } = await program.ended(90000);
    assert.deepEqual([code, program.lines[0].split(':')[0]], [2, 'not_evaluated'], program.describe());
    assert.equal((await again.runEnds(id)).state, 'completed');
  });
});
