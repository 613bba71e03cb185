// SPDX-License-Identifier: Apache-2.0
// bind.test.mjs - where ranks run, and what is said of it and of the machine
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { long, noWorkersLeft, quick, startAgent, startServer } from './lib/cluster.mjs';
import { buildDir } from './lib/fixture.mjs';
import { nodeTree } from './lib/node_tree.mjs';
import { Schemas } from './lib/schema.mjs';
import { verdictOf } from './lib/verdicts.mjs';

const limit = { timeout: 240000 };
const vectors = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../vectors');

// A machine that no agent of another test is on.
let serial = 0;
const machine = () => ({ RINGBENCH_MACHINE: `bind-${process.pid}-${serial++}` });

// The CPUs that a process may use, as numbers.
function cpusOf(pid) {
  const [, list] = fs.readFileSync(`/proc/${pid}/status`, 'utf8').match(/^Cpus_allowed_list:\s*(\S+)/m);
  return expand(list);
}

const expand = (list) =>
  list.split(',').flatMap((range) => {
    const [first, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });

const isWorker = (pid) => fs.readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('ringbench-worke');

// As many ranks as there are cores, two at most.
const cores = Math.min(os.cpus().length, 2);

const conditionsOf = (run, number = 0) => run.cases[number].conditions;

describe('binding', { concurrency: 4 }, () => {
  test('each rank keeps to a core of its own, and the run says which', limit, async (t) => {
    const server = await startServer(t);
    const agent = await startAgent(t, server, 'n', { ranks: cores, env: machine() });
    const { id } = await server.run({ ...long, backend: 'host' });
    await server.event(id, (event) => event.type === 'result');
    const [{ bind }] = conditionsOf(await server.getRun(id));
    assert.equal(bind.to, 'core');
    assert.equal(bind.cpus.length, cores);
    const live = agent
      .workers()
      .filter(isWorker)
      .map((pid) => cpusOf(pid).join())
      .sort();
    assert.deepEqual(live, bind.cpus.map((list) => expand(list).join()).sort());
    assert.equal(new Set(live).size, cores);
    await server.request('POST', `/api/v1/runs/${id}/cancel`);
    await server.runEnds(id);
    await noWorkersLeft([agent]);
  });

  test('a case comes with numbers of the machine beside it', limit, async (t) => {
    const server = await startServer(t);
    await startAgent(t, server, 'n', { ranks: 2, env: machine() });
    const { id } = await server.run({ sizes: [8], iters: 200000, repeats: 2, bind: 'none', backend: 'host' });
    const run = await server.runEnds(id);
    assert.equal(run.state, 'completed', run.reason);
    const schemas = new Schemas(await server.get('/openapi.json'));
    const fits = (name, value) =>
      assert.deepEqual(schemas.faults(schemas.document.components.schemas[name], value), [], name);
    fits('Run', run);
    const events = await server.events(id);
    for (const event of events) fits('Event', event);
    for (const number of [0, 1]) {
      const [one, ...more] = conditionsOf(run, number);
      assert.deepEqual(more, []);
      assert.equal(one.node, 'n');
      assert.equal(one.bind.to, 'none');
      assert.ok(one.seconds > 0 && one.ranks_cores > 0 && one.ranks_cores <= 2.5, JSON.stringify(one));
      assert.ok(one.involuntary_per_s >= 0 && one.load_before >= 0, JSON.stringify(one));
      // What the kernel counts by ticks, where the case was long enough for them.
      if (one.seconds > 1) assert.ok(one.others_cores >= 0 && one.steal_percent >= 0, JSON.stringify(one));
      assert.deepEqual(
        events
          .filter((event) => event.type === 'conditions' && event.case === number)
          .map((event) => 'seconds' in event),
        [false, true],
      );
    }
  });

  test('not where agents share a machine, or ranks exceed cores', limit, async (t) => {
    const server = await startServer(t);
    const shared = machine();
    const agents = [
      await startAgent(t, server, 'a', { env: shared }),
      await startAgent(t, server, 'b', { env: shared }),
    ];
    // One run on one of them: the other may get another run at any time.
    // Longer than a second, from which on the kernel's ticks say something.
    const lasting = {
      ...quick,
      sizes: [8],
      iters: 'auto',
      block_ms: 20,
      samples: { min: 60, max: 60, max_s: 5 },
      nodes: { names: ['a'] },
      backend: 'host',
    };
    const one = await server.run(lasting);
    const [together] = conditionsOf(await server.runEnds(one.id));
    assert.equal(together.bind.to, 'none');
    assert.match(together.bind.reason, /^2 agents/);
    assert.equal(
      together.others_cores,
      undefined,
      'strangers are not told from the ranks of the other agent',
    );
    const must = await server.run({ ...quick, nodes: { names: ['a'] }, bind: 'core', backend: 'host' });
    assert.match((await server.runEnds(must.id)).reason, /\ba: bind core: 2 agents/);
    agents[1].signal('SIGTERM');
    await server.nodeIs('b', 'left');
    await agents[1].ended();
    const { id } = await server.run(lasting);
    const [alone] = conditionsOf(await server.runEnds(id));
    assert.equal(alone.bind.to, 'core');
    assert.ok(alone.others_cores >= 0, JSON.stringify(alone));
    await startAgent(t, server, 'c', { ranks: 300, env: machine() });
    const text = await server.followText({
      ...quick,
      nodes: { names: ['c'] },
      ranks_per_node: os.cpus().length + 1,
      backend: 'host',
    });
    await text.line(/^# ranks not bound: \d+ ranks, but \d+ cores? \(c\)$/);
    await text.ended();
  });

  test('never outside of the CPUs that the agent was given', limit, async (t) => {
    const server = await startServer(t);
    const cpu = cpusOf('self').at(-1);
    // The agent is started on one CPU, as a batch system would.
    const agent = await startAgent(t, server, 'n', {
      env: machine(),
      within: ['taskset', '-c', String(cpu)],
    });
    assert.equal((await server.node('n')).inventory.cpus, String(cpu));
    const { id } = await server.run({ ...quick, backend: 'host' });
    assert.deepEqual(conditionsOf(await server.runEnds(id))[0].bind, { to: 'core', cpus: [String(cpu)] });
    await noWorkersLeft([agent]);
  });

  const emulation = path.join(buildDir, 'tests/emulation');
  const canPretend =
    fs.existsSync(path.join(emulation, 'libnccl.so.2')) && cpusOf('self').slice(0, 2).join() === '0,1';
  const emulated = {
    RINGBENCH_EMULATION: 'devices=2',
    RINGBENCH_CUDART_LIB: path.join(emulation, 'libcudart.so.13'),
    RINGBENCH_NCCL_LIB: path.join(emulation, 'libnccl.so.2'),
    RINGBENCH_NVML_LIB: path.join(emulation, 'libnvidia-ml.so.1'),
  };

  test('a rank of NCCL keeps to the memory domain of its GPU', {
    ...limit,
    skip: !canPretend && 'no emulated GPUs, or not on CPUs 0 and 1',
  }, async (t) => {
    const server = await startServer(t);
    // Two domains of one CPU each, and the first GPU in the second of them.
    const topology = { HWLOC_XMLFILE: path.join(vectors, 'a_gpu_in_each_domain.xml') };
    const agent = await startAgent(t, server, 'n', {
      env: { ...machine(), ...emulated, ...topology, RINGBENCH_ROOT: nodeTree(t, 'two_gpus_hot') },
    });
    // What the bus says of a GPU and what the driver does are one.
    const { gpus, backends } = (await server.node('n')).inventory;
    assert.deepEqual(
      gpus.map(({ pcie, nvlink, persistence, p2p, now }) => [
        pcie.width,
        nvlink,
        persistence,
        p2p,
        now.slowed_by,
      ]),
      [
        [16, { active: 4, inactive: [], to: { '0000:02:00.0': 4 } }, false, { '0000:02:00.0': 'ok' }, []],
        [
          16,
          { active: 4, inactive: [], to: { '0000:01:00.0': 4 } },
          false,
          { '0000:01:00.0': 'ok' },
          ['heat'],
        ],
      ],
    );
    assert.equal(backends.nccl.gpus, undefined);
    const run = await server.runToEnd({ ...quick, sizes: ['8', '1M'], backend: 'nccl' });
    assert.equal(run.state, 'completed', run.reason);
    assert.equal(verdictOf(run, 'traffic'), undefined, 'one node moves nothing to another');
    const [conditions] = conditionsOf(run);
    assert.deepEqual(conditions.bind, { to: 'numa', cpus: ['1', '0'] });
    // What the emulated driver says of the slower one's clock, and that it is hot.
    const { gpu_mhz_first, gpu_mhz_last, ranks_gpu_slowed, nvlink_bytes } = conditions;
    assert.deepEqual(
      { gpu_mhz_first, gpu_mhz_last, ranks_gpu_slowed, nvlink_bytes },
      { gpu_mhz_first: 1500, gpu_mhz_last: 1470, ranks_gpu_slowed: 1, nvlink_bytes: 2 ** 21 },
    );
    assert.ok(
      conditions.notes.includes('ranks whose GPU was slowed down by heat or power: 1'),
      conditions.notes.join(),
    );
    // Numbers of GPUs that are not those of the inventory say nothing of places.
    const renumbered = await server.run({
      ...quick,
      backend: 'nccl',
      env: { CUDA_VISIBLE_DEVICES: '1' },
      ranks_per_node: 1,
    });
    assert.equal(conditionsOf(await server.runEnds(renumbered.id))[0].bind.to, 'none');
    // A host that does not show its GPUs says nothing of where they are.
    const blind = await startAgent(t, server, 'm', {
      env: { ...machine(), ...emulated, HWLOC_SYNTHETIC: 'core:2 pu:1' },
    });
    const other = await server.run({ ...quick, backend: 'nccl', nodes: { names: ['m'] } });
    const { to, reason } = conditionsOf(await server.runEnds(other.id))[0].bind;
    assert.equal(to, 'none');
    assert.match(reason, /^GPU 0000:01:00\.0 /);
    await noWorkersLeft([agent, blind]);
  });
});
