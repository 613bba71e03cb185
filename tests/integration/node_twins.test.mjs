// SPDX-License-Identifier: Apache-2.0
// node_twins.test.mjs - machines of tests/data/nodes as agents and their probes tell of them: what preflight finds of each is
// what its tree says, with evidence and what mends it, and nothing of one that is well
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import {
  emulatedGpus,
  emulation,
  lacksNccl,
  quick,
  startAgent,
  startIn,
  startServer,
  startServerIn,
} from './lib/cluster.mjs';
import { FakeAgent } from './lib/fake_agent.mjs';
import { atEnd, binDir, patience, tempDir, waitFor } from './lib/fixture.mjs';
import { nodeTree, nodeTrees } from './lib/node_tree.mjs';
import * as netns from './netns.mjs';

const limit = { timeout: 240000 * patience, skip: lacksNccl };

// How many GPUs of NVIDIA's are on the bus.
function gpuCount(root) {
  const bus = path.join(root, 'sys/bus/pci/devices');
  const is = (device, file, value) =>
    fs.existsSync(path.join(bus, device, file)) &&
    fs.readFileSync(path.join(bus, device, file), 'utf8').startsWith(value);
  const devices = fs.existsSync(bus) ? fs.readdirSync(bus) : [];
  return devices.filter((one) => is(one, 'vendor', '0x10de') && is(one, 'class', '0x03')).length;
}

// Of a node with CUDA, NCCL and NVML that say what the tree says of them.
function environment(t, tree) {
  const root = nodeTree(t, tree);
  const settings = path.join(root, 'emulation');
  const said = fs.existsSync(settings) ? fs.readFileSync(settings, 'utf8').trim() : '';
  return {
    RINGBENCH_ROOT: root,
    ...emulatedGpus(said.includes('devices=') ? said : `devices=${gpuCount(root) || 2},${said}`),
    RINGBENCH_NVML_LIB: path.join(emulation, 'libnvidia-ml.so.1'),
  };
}

const startNode = (t, server, tree, name = tree) =>
  startAgent(t, server, name, { env: environment(t, tree) });

// A few at a time: each starts the probes of all workers.
async function startNodes(t, server, trees) {
  for (let i = 0; i < trees.length; i += 4) {
    await Promise.all(trees.slice(i, i + 4).map(([tree, name]) => startNode(t, server, tree, name)));
  }
}

// How many CPUs there are is the machine's on which the test runs.
const plain = (text) => text.replace(/ of \d+ CPUs/, ' of N CPUs');

const findingsOf = (verdict) =>
  verdict.evidence.checks
    .filter(({ answer }) => answer === 'finding')
    .map(({ check, severity, sentence, command, nodes }) => ({
      check,
      severity,
      sentence: plain(sentence),
      command,
      nodes,
    }));

// Checks that no tree can be the sick twin of.
const elsewhere = {
  versions: 'a build has one version: "another version, and a clock that is off" below',
  clock: 'machines have one clock: the same',
};

// Those of the hardware, which a node's own preflight compares with all others.
const besideAll = ['gpu_count', 'nvlinks'];

describe('nodes and their twins', { concurrency: 4 }, () => {
  test('each machine that is well has no finding, each sick twin its one', limit, async (t) => {
    const server = await startServer(t);
    const trees = nodeTrees().filter(({ interfaces }) => !interfaces);
    await startNodes(
      t,
      server,
      trees.map(({ name }) => [name]),
    );
    const expected = {};
    const found = {};
    for (const { name, finding: own, beside } of trees) {
      const verdict = await server.get(`/api/v1/nodes/${name}/preflight`);
      const finding = own ?? (besideAll.includes(beside?.check) ? beside : undefined);
      expected[name] = ['nccl', ...(finding ? ['finding', { ...finding, nodes: [name] }] : ['ok'])];
      found[name] = [verdict.evidence.backend, verdict.answer, ...findingsOf(verdict)];
    }
    assert.deepEqual(found, expected);

    // What NVML says is told in full, and looked at: nothing of it is well for want of being known.
    const { gpus } = (await server.node('dgx_nvlink')).inventory;
    const { acs, cpus, numa, pcie, paths, p2p, ...gpu } = gpus[1];
    assert.deepEqual(gpu, {
      pci: '0000:3d:00.0',
      name: 'NVIDIA H100 80GB HBM3',
      memory_bytes: 85520809984,
      sm_mhz_max: 1980,
      memory_mhz_max: 2619,
      power_limit_mw: 700000,
      persistence: true,
      ecc: true,
      mig: false,
      fabric: 'completed',
      nvlink: { active: 17, inactive: [7], to: { switch: 17 } },
      now: {
        sm_mhz: 345,
        memory_mhz: 2619,
        temperature_c: 31,
        power_mw: 72000,
        slowed_by: [],
        ecc_errors: 0,
      },
    });
    assert.deepEqual(
      [paths['0000:1b:00.0'], paths['0000:dd:00.0'], p2p['0000:dd:00.0']],
      ['NODE', 'SYS', 'ok'],
    );
    const { checks } = (await server.get('/api/v1/nodes/dgx/preflight')).evidence;
    assert.deepEqual(
      checks.filter(({ answer }) => answer !== 'ok').map(({ check }) => check),
      ['versions', 'nccl_versions', 'clock'],
    );

    const inTrees = new Set(
      nodeTrees().flatMap(({ finding, beside }) =>
        [finding, beside].filter(Boolean).map(({ check }) => check),
      ),
    );
    assert.deepEqual(
      checks.map(({ check }) => check).sort(),
      [...inTrees, ...Object.keys(elsewhere)].sort(),
      'each check has a sick twin, or is among those that are tried elsewhere',
    );
  });

  test('a node that is unlike others is found beside them', limit, async (t) => {
    const odd = nodeTrees().filter(({ beside }) => beside);
    for (const base of new Set(odd.map((tree) => tree.base))) {
      const server = await startServer(t);
      await startNodes(t, server, [
        [base, 'one'],
        [base, 'other'],
      ]);
      const verdict = () => server.get('/api/v1/preflight');
      assert.deepEqual(findingsOf(await verdict()), [], base);
      for (const { name, beside } of odd.filter((tree) => tree.base === base)) {
        const agent = await startNode(t, server, name);
        assert.deepEqual(findingsOf(await verdict()), [
          { ...beside, sentence: `${name}: ${beside.sentence}`, nodes: [name] },
        ]);
        agent.signal('SIGTERM');
        await server.nodeIs(name, 'left');
      }
    }
  });

  test('interfaces that NCCL would take in vain are found where they are', {
    ...limit,
    skip: limit.skip || (netns.whyNot() ?? false),
  }, async (t) => {
    const trees = nodeTrees().filter(({ interfaces }) => interfaces);
    const net = netns.setup(trees.length, null);
    atEnd(t, () => net.teardown());
    const url = await startServerIn(t, net);
    const get = async (target) => {
      const curl = startIn(t, net.hub, 'curl', ['-s', `${url}/api/v1${target}`]);
      await curl.ended();
      return JSON.parse(curl.lines.join('\n'));
    };
    await Promise.all(
      trees.map(async ({ name, interfaces }, i) => {
        for (const [k, one] of interfaces.entries()) {
          const ip = (...args) => execFileSync('ip', ['-n', net.hosts[i].namespace, ...args]);
          ip('link', 'add', one, 'type', 'bridge');
          ip('addr', 'add', `172.${17 + k}.0.1/16`, 'dev', one);
          ip('link', 'set', one, 'up');
        }
        startIn(
          t,
          net.hosts[i],
          path.join(binDir, 'ringbench-agent'),
          ['--server', url, '--name', name, '--ranks', '1', '--spool-dir', tempDir(t)],
          { env: { ...process.env, ...environment(t, name) } },
        );
        await waitFor(async () => (await get(`/nodes/${name}`)).state === 'idle', `${name} is not idle`);
      }),
    );
    for (const { name, finding } of trees) {
      const verdict = await get(`/nodes/${name}/preflight`);
      assert.deepEqual(findingsOf(verdict), finding ? [{ ...finding, nodes: [name] }] : [], name);
      assert.equal(
        verdict.evidence.checks.find(({ check }) => check === 'interface').answer,
        finding ? 'finding' : 'ok',
        name,
      );
    }
  });

  test('another version, and a clock that is off', limit, async (t) => {
    const server = await startServer(t);
    const [odd] = await Promise.all(
      ['odd', 'one', 'other'].map(async (name) => {
        const agent = new FakeAgent(server, name, { version: name === 'odd' ? '0.9' : '1.0' });
        assert.equal((await agent.register()).status, 201);
        return agent;
      }),
    );
    const verdict = () => server.get('/api/v1/preflight');
    const version = {
      check: 'versions',
      severity: 'error',
      nodes: ['odd'],
      command: 'install ringbench 1.0 on this node',
      sentence: 'odd: the version of ringbench is 0.9, but 1.0 on most nodes',
    };
    assert.deepEqual(findingsOf(await verdict()), [version]);

    await server.run({ ...quick, nodes: { names: ['odd'] } });
    const start = await odd.command('start');
    await odd.say(start, { type: 'spawn', rank: 0, pid: 1 });
    const tell = (ahead) =>
      odd.say(start, { type: 'progress', rank: 0, op: 1, done: 1, time_ms: Date.now() + ahead * 1000 });
    await tell(-3600);
    const [, clock] = findingsOf(await verdict());
    assert.match(clock.sentence, /^odd: .*36\d\d\.\d s behind/);
    assert.deepEqual([clock.check, clock.severity, clock.command], ['clock', 'warn', 'chronyc makestep']);
    await tell(3600);
    assert.match(findingsOf(await verdict())[1].sentence, /^odd: .*3\d\d\d\.\d s ahead/);
    // On a busy machine a message may arrive too late to tell the time by.
    await waitFor(
      async () => {
        await tell(0);
        return findingsOf(await verdict()).length === 1;
      },
      () => 'the clock is still off',
    );
    assert.deepEqual(findingsOf(await verdict()), [version]);
  });
});
