// SPDX-License-Identifier: Apache-2.0
// slurm.test.mjs - nodes of a real Slurm: the shipped job script as it is, and the shipped launcher
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { long, quick } from '../integration/lib/cluster.mjs';
import { Program, patience, processesWithEnv, tempDir, waitFor } from '../integration/lib/fixture.mjs';
import { Slurm, processesIn } from './cluster.mjs';

const limit = { timeout: 240000 * patience };
const root = fileURLToPath(new URL('../..', import.meta.url));
const cpus = os.availableParallelism();
const script = path.join(root, 'deploy/slurm/agents.sbatch');

// One cluster and one server for all tests, which end with the last.
const endings = [];
const all = { after: (action) => endings.push(action) };
let slurm, server, timed, requeued;

const nodesOf = async (group) =>
  (await server.get('/api/v1/nodes')).nodes.filter((node) => node.group === group);
let seen;
const nodesAre = (group, n, state) =>
  waitFor(
    async () => {
      seen = await nodesOf(group);
      const found = seen.filter((node) => node.state === state);
      return found.length === n && found;
    },
    () =>
      `${group} has not ${n} ${state}: ${JSON.stringify(seen)}\n${slurm.call('squeue')}\n` +
      slurm.outputOf(group),
    60000,
  );
const submit = (...args) => slurm.submit({ RINGBENCH_SERVER: server.url }, ...args);
// A job of one's own making, and what it says.
const submitText = (text, ...args) => {
  const file = path.join(tempDir(all), 'job.sh');
  fs.writeFileSync(file, `#!/bin/bash\n${text}\n`);
  const id = slurm.submit(
    { RINGBENCH_SERVER: server.url, OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1' },
    `--output=${file}.out`,
    ...args,
    file,
  );
  return {
    id,
    output: () => {
      try {
        return fs.readFileSync(`${file}.out`, 'utf8');
      } catch {
        return '';
      }
    },
  };
};
const cancel = async (job, n) => {
  slurm.call('scancel', job);
  await nodesAre(`slurm-${job}`, n, 'left');
};
const stateIs = (id, state, reason) =>
  server.event(
    id,
    (event) => event.type === 'state' && event.state === state && reason.test(event.reason ?? ''),
    60000,
  );

before(
  async () => {
    slurm = await Slurm.start(all);
    const launchers = tempDir(all);
    for (const name of ['slurm.json', 'slurm-submit', 'agents.sbatch']) {
      fs.writeFileSync(
        path.join(launchers, name),
        fs.readFileSync(path.join(root, 'deploy/launchers.d', name)),
        { mode: 0o755 },
      );
    }
    server = await slurm.startServer(all, ['--launchers', launchers]);
    // Slurm's shortest limit is a minute, which goes by meanwhile.
    timed = (
      await server.run({
        ...long,
        backend: 'host',
        nodes: { count: 1, wait_s: 60 },
        launch: { name: 'slurm', args: { time: '1', constraint: 'plain' } },
      })
    ).id;
    await stateIs(timed, 'running', /.?/);
    // A job that is requeued waits for cred_expire.
    requeued = { job: submit('--nodes=1', '--constraint=plain', script), node: null };
    [requeued.node] = await nodesAre(`slurm-${requeued.job}`, 1, 'idle');
    slurm.call('scontrol', 'requeue', requeued.job);
    await nodesAre(`slurm-${requeued.job}`, 1, 'left');
  },
  { timeout: 120000 * patience },
);

// Cancel the jobs that a failed test left, because they would hold the nodes of the next tests.
afterEach(() => {
  for (const job of slurm.jobs.splice(0)) {
    if (job !== requeued.job) slurm.call('scancel', '--quiet', job);
  }
});

after(async () => {
  for (const ending of endings.reverse()) await ending();
});

test(
  'the shipped script: nodes come with names of their own, measure, and go with their job',
  limit,
  async () => {
    const job = submit('--nodes=2', script);
    const nodes = await nodesAre(`slurm-${job}`, 2, 'idle');
    assert.equal(new Set(nodes.map((node) => node.name)).size, 2);
    assert.ok(
      nodes.every((node) => /^n[1-5]$/.test(node.name)),
      JSON.stringify(nodes.map((node) => node.name)),
    );
    const run = await server.runEnds(
      (await server.run({ ...quick, backend: 'host', nodes: { count: 2, group: `slurm-${job}` } })).id,
    );
    assert.equal(run.state, 'completed', run.reason);
    await cancel(job, 2);
  },
);

test('scancel in the middle of a run ends it, and it says what happened', limit, async () => {
  const job = submit('--nodes=1', script);
  await nodesAre(`slurm-${job}`, 1, 'idle');
  const { id } = await server.run({ ...long, backend: 'host', nodes: { count: 1, group: `slurm-${job}` } });
  await stateIs(id, 'running', /.?/);
  slurm.call('scancel', job);
  const run = await server.runEnds(id);
  assert.equal(run.state, 'failed');
  assert.match(run.reason, new RegExp(`^n[1-5]: agent left: .*\\(SIGTERM\\), job slurm-${job}$`));
});

test('several jobs at once are groups of their own', limit, async () => {
  const first = submit('--nodes=1', script),
    second = submit('--nodes=1', script);
  const [one] = await nodesAre(`slurm-${first}`, 1, 'idle');
  const [other] = await nodesAre(`slurm-${second}`, 1, 'idle');
  assert.notEqual(one.name, other.name);
  await cancel(first, 1);
  await cancel(second, 1);
});

test('nodes of two kinds in a job: each agent has all CPUs of its node', limit, async () => {
  const job = submit('--nodes=2', '--nodelist=n5', script);
  const nodes = await nodesAre(`slurm-${job}`, 2, 'idle');
  assert.deepEqual(
    nodes.map((node) => node.ranks),
    [cpus, cpus],
  );
  assert.ok(
    nodes.some((node) => node.name === 'n5'),
    JSON.stringify(nodes),
  );
  await cancel(job, 2);
});

test('the components of a heterogeneous job are one group', limit, async () => {
  const job = submit(
    '--nodes=1',
    '--constraint=other',
    '--exclusive',
    ':',
    '--nodes=2',
    '--exclusive',
    script,
  );
  const nodes = await nodesAre(`slurm-${job}`, 3, 'idle');
  assert.ok(nodes.some((node) => node.name === 'n5'));
  await cancel(job, 3);
});

test('more tasks than nodes are still an agent a node', limit, async () => {
  const job = submit('--nodes=2', '--ntasks-per-node=2', script);
  await nodesAre(`slurm-${job}`, 2, 'idle');
  await cancel(job, 2);
});

// By node: what a variable is in the environment of a job's agent.
const agentsHave = (job, variable) =>
  Object.fromEntries(
    slurm.processes().flatMap(({ pid, name }) => {
      if (name !== 'ringbench-agent') return [];
      const lines = fs.readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      const value = (of) => lines.find((line) => line.startsWith(`${of}=`))?.slice(of.length + 1);
      return value('SLURM_JOB_ID') === job ? [[value('SLURMD_NODENAME'), value(variable) ?? '']] : [];
    }),
  );
const four = '0,1,2,3';
const gpuJobs = {
  'an exclusive job on nodes with different GPUs, or none': [
    ['--nodes=3', '--nodelist=n1,n2,n5'],
    { n1: four, n2: '0,1', n5: '' },
  ],
  'an exclusive job on a node with GPUs and one without': [
    ['--nodes=2', '--nodelist=n2,n5'],
    { n2: '0,1', n5: '' },
  ],
  'a job with GPUs per task': [
    ['--nodes=1', '--nodelist=n1', '--ntasks-per-node=2', '--gpus-per-task=2'],
    { n1: four },
  ],
};
for (const [what, [args, expected]] of /** @type {[string, any[]][]} */ (Object.entries(gpuJobs))) {
  test(`${what}: each agent has all GPUs of the job on its node`, limit, async () => {
    const job = submit(...args, script);
    const nodes = await nodesAre(`slurm-${job}`, Object.keys(expected).length, 'idle');
    assert.deepEqual(nodes.map((node) => node.name).sort(), Object.keys(expected));
    assert.deepEqual(agentsHave(job, 'CUDA_VISIBLE_DEVICES'), expected);
    await cancel(job, nodes.length);
  });
}

test('RINGBENCH_SRUN adds options to srun', limit, async () => {
  const env = { RINGBENCH_SERVER: server.url, RINGBENCH_SRUN: '--mpi=none --export=ALL,ADDED=by-srun' };
  const job = slurm.submit(env, '--nodes=1', '--nodelist=n1', script);
  await nodesAre(`slurm-${job}`, 1, 'idle');
  assert.deepEqual(agentsHave(job, 'ADDED'), { n1: 'by-srun' });
  await cancel(job, 1);
});

const ways = {
  'srun --ntasks-per-node=3': 'srun --overcommit --ntasks-per-node=3 ringbench-agent',
  'srun with variables of PMI': 'srun --mpi=pmi2 --overcommit --ntasks-per-node=3 ringbench-agent',
  'mpirun of Open MPI': 'mpirun.openmpi --oversubscribe -n 6 ringbench-agent',
};
for (const [way, command] of Object.entries(ways)) {
  test(`${way}: of three agents a node one offers it, and the others end well`, limit, async () => {
    const job = submitText(`${command} --once; echo "status $?"`, '--nodes=2');
    await nodesAre(`slurm-${job.id}`, 2, 'idle');
    const run = await server.runEnds(
      (await server.run({ ...quick, backend: 'host', nodes: { count: 2, group: `slurm-${job.id}` } })).id,
    );
    assert.equal(run.state, 'completed', run.reason);
    await nodesAre(`slurm-${job.id}`, 2, 'left');
    await waitFor(() => /^status/m.test(job.output()), job.output);
    assert.match(job.output(), /^status 0$/m);
    assert.equal(job.output().match(/ is [12]: the first process offers node n[1-5]\./g).length, 4);
  });
}

test('a second agent under a name that is taken says so, and the first goes on', limit, async () => {
  const job = submit('--nodes=1', script);
  const [node] = await nodesAre(`slurm-${job}`, 1, 'idle');
  const { stderr, code } = await promisify(execFile)(
    'srun',
    ['--overlap', `--jobid=${job}`, '--ntasks=1', 'ringbench-agent'],
    { env: { ...slurm.env, RINGBENCH_SERVER: server.url } },
  ).then(
    () => ({ code: 0 }),
    (error) => error,
  );
  assert.equal(code, 1);
  assert.match(stderr, new RegExp(`agent ${node.name}: .*spool directory`));
  assert.equal((await server.node(node.name)).registered, node.registered);
  await cancel(job, 1);
});

test('one curl: nodes come, the table is printed, nodes go', limit, async () => {
  const { stdout } = await promisify(execFile)('curl', [
    '-sSN',
    '-H',
    'Accept: text/plain',
    `${server.url}/api/v1/runs`,
    '-d',
    JSON.stringify({
      sizes: ['8', '64K', '1M'],
      nodes: { count: 2, wait_s: 60 },
      launch: { name: 'slurm', args: { time: '00:05:00' } },
    }),
  ]);
  assert.match(stdout, /launching: job \S+ of slurm is (starting|pending)/);
  assert.match(stdout, /completed: 6 rows/, stdout);
  if (process.env.RINGBENCH_TRANSCRIPT) fs.writeFileSync(process.env.RINGBENCH_TRANSCRIPT, stdout);
  const [job] = (await server.get('/api/v1/jobs')).jobs;
  await waitFor(
    () => slurm.call('squeue', '--noheader', `--jobs=${job.job}`) === '',
    () => slurm.call('squeue'),
    60000,
  );
});

test('what Slurm says of a waiting job is the reason, and scancel of it the end', limit, async () => {
  const { id } = await server.run({ ...quick, nodes: { count: 5 }, launch: { name: 'slurm' } });
  await stateIs(id, 'launching', /is pending: PENDING (Resources|Priority)/);
  const job = (await server.get('/api/v1/jobs')).jobs.find((found) => found.run === id);
  slurm.call('scancel', job.job);
  const run = await server.runEnds(id);
  assert.equal(run.state, 'failed');
  assert.match(run.reason, /^job \d+ of slurm has ended: CANCELLED/);
});

test('what Slurm refuses is said in its words', limit, async () => {
  const run = await server.runEnds(
    (
      await server.run({
        ...quick,
        nodes: { count: 1 },
        launch: { name: 'slurm', args: { partition: 'none' } },
      })
    ).id,
  );
  assert.match(run.reason, /invalid partition specified: none/);
});

test('a job that is requeued offers its node again', limit, async () => {
  const [again] = await nodesAre(`slurm-${requeued.job}`, 1, 'idle');
  assert.notEqual(again.registered, requeued.node.registered);
  await cancel(requeued.job, 1);
});

test('a job that is out of time says so in its run', limit, async () => {
  const run = await server.runEnds(timed, 150000);
  assert.equal(run.state, 'failed');
  assert.match(run.reason, /; job \d+ of slurm has ended: TIMEOUT TimeLimit/);
});

// Slurm would put it back into its queue, for a run that has ended.
test('a job that is preempted, or loses its node, says so in its run', limit, async () => {
  const launched = async () => {
    const { id } = await server.run({
      ...long,
      backend: 'host',
      nodes: { count: 1, wait_s: 60 },
      launch: { name: 'slurm', args: { constraint: 'usual' } },
    });
    await stateIs(id, 'running', /.?/);
    const { job } = (await server.get('/api/v1/jobs')).jobs.find((found) => found.run === id);
    return { id, job };
  };
  const preempted = await launched();
  const urgent = slurm.submit(
    {},
    '--partition=urgent',
    '--nodes=4',
    '--exclusive',
    '--constraint=usual',
    '--wrap=sleep 1',
  );
  const first = await server.runEnds(preempted.id, 60000);
  assert.equal(first.state, 'failed');
  assert.match(first.reason, /; job \d+ of slurm .*: PREEMPTED\b[^,;]*, \d+ s /);
  await waitFor(
    () => slurm.call('squeue', '--noheader', `--jobs=${urgent}`) === '',
    () => slurm.call('squeue'),
    60000,
  );

  const { id, job } = await launched();
  const node = slurm.call('squeue', '--noheader', '--format=%N', `--jobs=${job}`).trim();
  slurm.call('scontrol', 'update', `nodename=${node}`, 'state=down', 'reason=test');
  const second = await server.runEnds(id, 60000);
  // It may have come again by itself.
  if (/down/i.test(slurm.call('sinfo', '--noheader', '--format=%T', `--nodes=${node}`)))
    slurm.call('scontrol', 'update', `nodename=${node}`, 'state=resume');
  assert.equal(second.state, 'failed');
  assert.match(second.reason, /; job \d+ of slurm .*: NODE_FAIL\b[^,;]*, \d+ s /);
});

test('of the jobs nothing is left', limit, async () => {
  await waitFor(
    () => slurm.call('squeue', '--noheader') === '',
    () => slurm.call('squeue'),
    60000,
  );
  const left = () =>
    slurm
      .processes()
      .filter(({ name }) => !['bash', 'munged', 'slurmctld', 'slurmscriptd', 'slurmd'].includes(name));
  await waitFor(
    () => left().length === 0,
    () => JSON.stringify(left()),
    60000,
  );
  assert.deepEqual(
    fs.readdirSync(slurm.dir).filter((name) => name.startsWith('ringbench-')),
    [],
  );
});

for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL']) {
  test(`a test that ${signal} ends in the middle of a job leaves no process`, limit, async (t) => {
    const program = new Program(
      t,
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `
      import { Slurm } from '${new URL('cluster.mjs', import.meta.url)}';
      const t = { after() {} };
      const slurm = await Slurm.start(t);
      await slurm.startServer(t);
      slurm.submit({}, '--wrap=srun sleep 1000');
      setInterval(() => { if (slurm.processes().some(({ name }) => name === 'sleep')) console.log(slurm.dir, slurm.space); }, 100);`,
      ],
      { env: { ...process.env, TMPDIR: tempDir(t) } },
    );
    const [, dir, space] = await program.line(/^(\S+) (\S+)$/, 60000);
    const left = () => [
      ...processesIn(space),
      ...processesWithEnv('SLURM_CONF', path.join(dir, 'slurm.conf')),
    ];
    assert.notEqual(left().length, 0);
    program.signal(signal);
    await program.ended();
    await waitFor(
      () => left().length === 0,
      () => JSON.stringify(left()),
    );
  });
}
