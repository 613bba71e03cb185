// SPDX-License-Identifier: Apache-2.0
// processes.test.mjs - what a program starts and leaves behind: nothing outlives its case or
// its agent, and a node is not idle before
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { startAgent, startServer } from './lib/cluster.mjs';
import { atEnd, isAlive, patience, tempDir, waitFor } from './lib/fixture.mjs';

const limit = { timeout: 120000 * patience };

// A child in its group; one in a session of its own whose parent has ended, deaf to signals;
// then it goes on or ends.
const leaving = `
trap '' TERM
sleep 3000 &
echo "left $!"
setsid sh -c 'trap "" TERM HUP INT; sleep 3000 <&- >&- 2>&- & echo "left $!"'
trap - TERM
[ "$1" = end ] || sleep 3000`;

// Each generation is a session of its own, and ends when it has started the next one; the
// last of them stays.
const fleeing = `
n=$(($1 + 1))
[ $n -lt 300 ] || exec sleep 3000
[ $n -eq 1 ] || sleep 0.01
setsid sh "$0" $n <&- >&- 2>&- 3>&- &
[ $n -gt 1 ] || { echo "left $$"; sleep 3000; }`;

async function nodeWith(t, script, more = []) {
  const config = tempDir(t);
  const server = await startServer(t);
  fs.mkdirSync(path.join(config, 'programs.d'));
  fs.writeFileSync(path.join(config, 'leaving.sh'), script);
  fs.writeFileSync(
    path.join(config, 'programs.d/leaving.json'),
    JSON.stringify({
      argv: ['sh', '{config_dir}/leaving.sh', '{finally}'],
      parameters: { finally: { type: 'enum', values: ['end', 'stay', '0'] } },
    }),
  );
  const args = ['--config-dir', config, ...more];
  return { server, args, agent: await startAgent(t, server, 'node-1', { args }) };
}

// A run of it, and the pids of what it leaves behind.
async function started(server, end, n = 2) {
  const { id } = await server.run({ program: { name: 'leaving', args: { finally: end } }, stall_s: 600 });
  const pids = await waitFor(async () => {
    const { lines } = await server.get(`/api/v1/runs/${id}/logs?case=0&rank=0`);
    const found = lines.flatMap(({ text }) => [...text.matchAll(/left (\d+)/g)].map((m) => Number(m[1])));
    return found.length === n && found;
  }, 'it has not said what it leaves');
  return { id, pids };
}

// The processes of an agent's cases.
function caseProcessesOf(agent) {
  return fs
    .readFileSync(`/proc/${agent.pid}/task/${agent.pid}/children`, 'utf8')
    .split(' ')
    .filter(Boolean)
    .map(Number)
    .filter((pid) => isAlive(pid) && fs.readFileSync(`/proc/${pid}/comm`, 'utf8') === 'ringbench-case\n');
}

async function idleWithNothingLeft(server, agent, pids) {
  await server.nodeIs('node-1', 'idle');
  assert.deepEqual(pids.filter(isAlive), [], 'the node is idle while these live');
  assert.deepEqual(agent.workers(), []);
  assert.deepEqual(caseProcessesOf(agent), []);
}

describe('processes', { concurrency: 4 }, () => {
  test("a program's end ends what it started", limit, async (t) => {
    const { server, agent } = await nodeWith(t, leaving);
    const { id, pids } = await started(server, 'end');
    assert.equal((await server.runEnds(id)).state, 'completed');
    await idleWithNothingLeft(server, agent, pids);
  });

  test('so does a cancel', limit, async (t) => {
    const { server, agent } = await nodeWith(t, leaving);
    const { id, pids } = await started(server, 'stay');
    assert.deepEqual(pids.filter(isAlive), pids);
    await server.request('POST', `/api/v1/runs/${id}/cancel`);
    assert.equal((await server.runEnds(id)).state, 'cancelled');
    await idleWithNothingLeft(server, agent, pids);
  });

  test('so does the death of the agent', limit, async (t) => {
    const { server, agent } = await nodeWith(t, leaving);
    const { pids } = await started(server, 'stay');
    const processes = caseProcessesOf(agent);
    agent.signal('SIGKILL');
    await waitFor(
      () => agent.workers().length === 0 && ![...pids, ...processes].some(isAlive),
      () => `these are left: ${agent.workers()}`,
    );
  });

  test('so does it where a case has stopped its process', limit, async (t) => {
    const { server, agent } = await nodeWith(t, leaving);
    const { pids } = await started(server, 'stay');
    const [caseProcess] = caseProcessesOf(agent);
    process.kill(caseProcess, 'SIGSTOP');
    agent.signal('SIGKILL');
    await waitFor(
      () => agent.workers().length === 0 && ![...pids, caseProcess].some(isAlive),
      () => `these are left: ${agent.workers()}`,
    );
  });

  // The lock is what a case's process holds that waits for a driver to let go.
  test('an agent that is started again waits for what a killed one left', limit, async (t) => {
    const spool = path.join(tempDir(t), 'spool');
    const { server, agent, args } = await nodeWith(t, leaving, ['--spool-dir', spool]);
    const { id, pids } = await started(server, 'stay');
    const [caseProcess] = caseProcessesOf(agent);
    agent.signal('SIGKILL');
    await waitFor(() => ![agent.pid, caseProcess].some(isAlive), 'the agent lives');
    const holder = spawn('flock', [path.join(spool, 'cases'), '-c', 'echo locked; read line']);
    atEnd(t, () => holder.stdin.end());
    await once(holder.stdout, 'data');
    const next = await startAgent(t, server, 'node-1', { args, ready: false });
    await next.errorLine(/earlier agent/);
    assert.notEqual((await server.node('node-1')).state, 'idle');
    holder.stdin.end();
    assert.equal((await server.runEnds(id)).state, 'failed');
    await idleWithNothingLeft(server, next, [...pids, caseProcess]);
  });

  test('so does the death of its process; the next case has another one', limit, async (t) => {
    const { server, agent } = await nodeWith(t, leaving);
    const { id, pids } = await started(server, 'stay');
    const [caseProcess] = caseProcessesOf(agent);
    process.kill(caseProcess, 'SIGKILL');
    const run = await server.runEnds(id);
    assert.equal(run.state, 'failed');
    assert.match(run.reason, /^rank 0 on node-1: .*signal 9/);
    await agent.find(agent.errors, new RegExp(`ringbench-case ${caseProcess} `));
    await idleWithNothingLeft(server, agent, pids);
    const second = await started(server, 'end');
    assert.equal((await server.runEnds(second.id)).state, 'completed');
  });

  test('what flees from session to session is caught', limit, async (t) => {
    const { server, agent } = await nodeWith(t, fleeing);
    const { id } = await started(server, '0', 1);
    await server.request('POST', `/api/v1/runs/${id}/cancel`);
    assert.equal((await server.runEnds(id)).state, 'cancelled');
    await idleWithNothingLeft(server, agent, []);
  });
});
