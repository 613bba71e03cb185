// SPDX-License-Identifier: Apache-2.0
// lone_agent.mjs - an agent whose server is the test, with workers that do what they are told
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { FakeServer } from './fake_server.mjs';
import { Program, binDir, processesWithEnv, tempDir, waitFor } from './fixture.mjs';

const fakeWorker = fileURLToPath(new URL('fake_worker.sh', import.meta.url));

let serial = 0;

// An agent with its own folders. Its environment holds a mark that its workers inherit.
export function startAgent(t, url, extra = [], env = {}, bin = binDir) {
  const dir = tempDir(t);
  const mark = `${process.pid}-${serial++}`;
  fs.mkdirSync(path.join(dir, 'workers'));
  fs.mkdirSync(path.join(dir, 'config'));
  fs.copyFileSync(fakeWorker, path.join(dir, 'workers/ringbench-worker-fake'));
  const agent = new Program(
    t,
    path.join(bin, 'ringbench-agent'),
    [
      '--server',
      url,
      '--name',
      'node-1',
      '--worker-dir',
      path.join(dir, 'workers'),
      '--spool-dir',
      path.join(dir, 'spool'),
      '--config-dir',
      path.join(dir, 'config'),
      ...extra,
    ],
    { env: { ...process.env, TEST_MARK: mark, RINGBENCH_PASS_ENV: 'TEST_MARK', ...env } },
  );
  const workers = () => processesWithEnv('TEST_MARK', mark).filter((pid) => pid !== agent.pid);
  return Object.assign(agent, { dir, workers });
}

export function startCommand(
  mode,
  /** @type {any} */ { run = 'r1', number = 0, ranks = [0], env = {}, ...rest } = {},
) {
  return {
    type: 'start',
    run,
    case: number,
    attempt: 1,
    backend: 'fake',
    master_addr: '127.0.0.1',
    master_port: 4000,
    world_size: 4,
    group_rank: 1,
    group_world_size: 2,
    ranks: ranks.map((rank, i) => ({ rank, local_rank: i })),
    env: { HOST_MODE: mode, ...env },
    spec: { run, case: number, sizes: [8] },
    ...rest,
  };
}

export async function up(t, options = {}, extra = [], env = {}, bin = binDir) {
  const server = await new FakeServer(t, options).listen();
  const agent = startAgent(t, server.url, extra, env, bin);
  await registered(server, agent);
  return { server, agent };
}

export async function registered(server, agent, times = 1) {
  await waitFor(
    () => {
      assert.equal(agent.status, null, agent.describe());
      return server.registrations.length >= times && server.waiting.length > 0;
    },
    () => `no registration ${times}: ${agent.describe()}`,
  );
}

export const gone = (server, n = 1) =>
  waitFor(
    () => server.ofType('gone').length >= n,
    () => `no ${n} gone in ${JSON.stringify(server.events).slice(0, 3000)}`,
    15000,
  );

export const running = (server) => waitFor(() => server.ofType('phase').length > 0, 'no worker is running');

export function assertNumbered(events) {
  assert.deepEqual(
    events.map((event) => event.seq),
    events.map((_, i) => i + 1),
  );
}
