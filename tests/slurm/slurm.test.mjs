// slurm.test.mjs - nodes of a real Slurm: the shipped job script as it is, and the shipped launcher
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { long, quick, startServer } from '../integration/lib/cluster.mjs';
import { binDir, patience, tempDir, waitFor } from '../integration/lib/fixture.mjs';
import { Slurm } from './cluster.mjs';

const limit = { timeout: 240000 * patience };
const root = fileURLToPath(new URL('../..', import.meta.url));
const script = path.join(root, 'deploy/slurm/agents.sbatch');

// One cluster and one server for all tests, which end with the last.
const endings = [];
const all = { after: (action) => endings.push(action) };
let slurm, server, timed;

const nodesOf = async (group) => (await server.get('/api/v1/nodes')).nodes.filter((node) => node.group === group);
let seen;
const nodesAre = (group, n, state) => waitFor(async () => {
  seen = await nodesOf(group);
  const found = seen.filter((node) => node.state === state);
  return found.length === n && found;
}, () => `${group} has not ${n} ${state}: ${JSON.stringify(seen)}\n${slurm.call('squeue')}`, 60000);
const submit = (...args) => slurm.submit({ RINGBENCH_SERVER: server.url }, ...args);
const stateIs = (id, state, reason) => server.event(id,
  (event) => event.type === 'state' && event.state === state && reason.test(event.reason ?? ''), 60000);

before(async () => {
  slurm = await Slurm.start(all);
  const launchers = tempDir(all);
  for (const name of ['slurm.json', 'agents.sbatch']) {
    fs.writeFileSync(path.join(launchers, name), fs.readFileSync(path.join(root, 'deploy/launchers.d', name)), { mode: 0o755 });
  }
  server = await startServer(all, { args: ['--launchers', launchers], env: slurm.env });
  // Slurm's shortest limit is a minute, which goes by meanwhile.
  timed = (await server.run({
    ...long, backend: 'host', nodes: { count: 1, wait_s: 60 }, launch: { name: 'slurm', args: { time: '1', constraint: 'usual' } },
  })).id;
  await stateIs(timed, 'running', /.?/);
}, { timeout: 120000 * patience });

after(async () => {
  for (const ending of endings.reverse()) await ending();
});

test('the shipped script: nodes come with names of their own, measure, and go with their job', limit, async () => {
  const job = submit('--nodes=2', script);
  const nodes = await nodesAre(`slurm-${job}`, 2, 'idle');
  assert.equal(new Set(nodes.map((node) => node.name)).size, 2);
  assert.ok(nodes.every((node) => /^n[1-4]$/.test(node.name)), JSON.stringify(nodes.map((node) => node.name)));
  const run = await server.runEnds((await server.run({ ...quick, backend: 'host', nodes: { count: 2, group: `slurm-${job}` } })).id);
  assert.equal(run.state, 'completed', run.reason);
  slurm.call('scancel', job);
  await nodesAre(`slurm-${job}`, 2, 'left');
});

test('scancel in the middle of a run ends it, and it says what happened', limit, async () => {
  const job = submit('--nodes=1', script);
  await nodesAre(`slurm-${job}`, 1, 'idle');
  const { id } = await server.run({ ...long, backend: 'host', nodes: { count: 1, group: `slurm-${job}` } });
  await stateIs(id, 'running', /.?/);
  slurm.call('scancel', job);
  const run = await server.runEnds(id);
  assert.equal(run.state, 'failed');
  assert.match(run.reason, new RegExp(`^n[1-4]: agent left: told to terminate \\(SIGTERM\\), job slurm-${job}$`));
});

test('several jobs at once are groups of their own; features choose nodes; a job is requeued', limit, async () => {
  const first = submit('--nodes=1', '--constraint=other', script), second = submit('--nodes=1', script);
  const [other] = await nodesAre(`slurm-${first}`, 1, 'idle');
  const [one] = await nodesAre(`slurm-${second}`, 1, 'idle');
  assert.equal(other.name, 'n4');
  assert.notEqual(one.name, 'n4');
  const registered = other.registered;
  slurm.call('scontrol', 'requeue', first);
  await nodesAre(`slurm-${first}`, 1, 'left');
  // It waits for two minutes by itself, once it has ended: told not to until it does not.
  const again = await waitFor(async () => {
    try {
      slurm.call('scontrol', 'update', `JobId=${first}`, 'StartTime=now');
    } catch { /* it runs */ }
    return (await nodesOf(`slurm-${first}`)).find((node) => node.state === 'idle');
  }, () => slurm.call('squeue'), 60000);
  assert.equal(again.name, 'n4');
  assert.notEqual(again.registered, registered);
  slurm.call('scancel', first, second);
  await nodesAre(`slurm-${first}`, 1, 'left');
  await nodesAre(`slurm-${second}`, 1, 'left');
});

test('more tasks than nodes are still an agent a node', limit, async () => {
  const job = submit('--nodes=2', '--ntasks-per-node=2', script);
  await nodesAre(`slurm-${job}`, 2, 'idle');
  slurm.call('scancel', job);
  await nodesAre(`slurm-${job}`, 2, 'left');
});

test('one curl: nodes come, the table is printed, nodes go', limit, async () => {
  const { stdout } = await promisify(execFile)('curl', ['-sSN', '-H', 'Accept: text/plain', `${server.url}/api/v1/runs`,
    '-d', JSON.stringify({ sizes: ['8', '64K', '1M'], nodes: { count: 2, wait_s: 60 }, launch: { name: 'slurm', args: { time: '00:05:00' } } })]);
  assert.match(stdout, /launching: job \d+ of slurm is (starting|pending)/);
  assert.match(stdout, /completed: 6 rows/, stdout);
  if (process.env.RINGBENCH_TRANSCRIPT) fs.writeFileSync(process.env.RINGBENCH_TRANSCRIPT, stdout);
  const [job] = (await server.get('/api/v1/jobs')).jobs;
  await waitFor(() => slurm.call('squeue', '--noheader', `--jobs=${job.job}`) === '', () => slurm.call('squeue'), 60000);
});

test('what Slurm says of a waiting job is the reason, and scancel of it the end', limit, async () => {
  const { id } = await server.run({ ...quick, nodes: { count: 4 }, launch: { name: 'slurm' } });
  await stateIs(id, 'launching', /is pending: PENDING (Resources|Priority)/);
  const job = (await server.get('/api/v1/jobs')).jobs.find((found) => found.run === id);
  slurm.call('scancel', job.job);
  const run = await server.runEnds(id);
  assert.equal(run.state, 'failed');
  assert.match(run.reason, /^job \d+ of slurm has ended: CANCELLED/);
});

test('what Slurm refuses is said in its words', limit, async () => {
  const run = await server.runEnds((await server.run({
    ...quick, nodes: { count: 1 }, launch: { name: 'slurm', args: { partition: 'none' } },
  })).id);
  assert.match(run.reason, /it was not started: .*invalid partition specified: none/);
});

test('a job that is out of time says so in its run', limit, async () => {
  const run = await server.runEnds(timed, 150000);
  assert.equal(run.state, 'failed');
  assert.match(run.reason, /; job \d+ of slurm has ended: TIMEOUT TimeLimit/);
});

test('nothing is left', limit, async () => {
  await waitFor(() => slurm.call('squeue', '--noheader') === '', () => slurm.call('squeue'), 60000);
  const agents = fs.readdirSync('/proc').filter((pid) => /^\d+$/.test(pid)).filter((pid) => {
    try {
      return fs.readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`SLURM_CONF=${slurm.conf}`) &&
        fs.readlinkSync(`/proc/${pid}/exe`).startsWith(`${binDir}/ringbench-agent`);
    } catch {
      return false;
    }
  });
  assert.deepEqual(agents, []);
});
