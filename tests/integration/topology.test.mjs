// SPDX-License-Identifier: Apache-2.0
// topology.test.mjs - files that a run brings for NCCL, and the topology that NCCL writes
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { describe, test } from 'node:test';

import { assertProblem, emulatedGpus, lacksNccl, quick, startAgent, startServer } from './lib/cluster.mjs';
import { patience, tempDir } from './lib/fixture.mjs';
import { Schemas } from './lib/schema.mjs';

const limit = { timeout: 120000 * patience, skip: lacksNccl };

const startNode = (t, server, name, spool, settings) =>
  startAgent(t, server, name, {
    args: ['--spool-dir', spool],
    env: emulatedGpus(settings),
  });

async function end(server, spec) {
  const run = await server.runToEnd({ ...quick, backend: 'nccl', ...spec });
  assert.equal(run.state, 'completed', run.reason);
  return run;
}

describe('topology', { concurrency: 2 }, () => {
  test('what NCCL takes its nodes to be comes back with the run', limit, async (t) => {
    const server = await startServer(t);
    const spools = [tempDir(t), tempDir(t)];
    await startNode(t, server, 'node-1', spools[0], 'devices=2');
    await startNode(t, server, 'node-2', spools[1], 'devices=2,slow_link');
    const run = await end(server, { topology: 'dump', repeats: 2 });
    const at = `/api/v1/runs/${run.id}/artifacts`;
    const { artifacts: all, next } = await server.get(at);
    const artifacts = all.slice(2);
    assert.equal(next, null);
    assert.deepEqual(
      all.slice(0, 2).map((one) => [one.case, one.node, one.name]),
      ['node-1', 'node-2'].map((node) => [null, node, 'inventory.json']),
    );
    assert.deepEqual(
      artifacts.map((one) => [one.case, one.node, one.name]),
      [0, 1].flatMap((no) =>
        ['node-1', 'node-2'].flatMap((node) => ['graph.xml', 'topology.xml'].map((name) => [no, node, name])),
      ),
    );
    const text = async (one) => (await server.request('GET', `${at}/${one.digest}`)).text;
    for (const one of artifacts) {
      const xml = await text(one);
      assert.equal(createHash('sha256').update(xml).digest('hex'), one.digest);
      assert.equal(Buffer.byteLength(xml), one.bytes);
    }
    const [graph, first] = artifacts;
    assert.equal(
      new Set(artifacts.map(({ digest }) => digest)).size,
      3,
      'a graph, and a topology of each node',
    );
    assert.match(await text(graph), /^<graphs version="1">/);
    assert.match(await text(first), /^<system version="1">[\s\S]*rank="0"/);
    assert.match(await text(artifacts[3]), /rank="2"[\s\S]*<\/system>\n$/);
    assert.match((await server.request('GET', `${at}/${first.digest}`)).type, /^text\/plain/);
    assert.deepEqual((await server.events(run.id)).filter(({ type }) => type === 'artifact').length, 8);

    const page = await server.get(`${at}?name=topology.xml&limit=3`);
    assert.deepEqual([page.artifacts.length, page.next], [3, 3]);
    assert.equal((await server.get(`${at}?name=topology.xml&after=3`)).artifacts.length, 1);
    assertProblem(await server.request('GET', `${at}/${'0'.repeat(64)}`), 404);
    const other = await end(server, {});
    assert.deepEqual(
      (await server.get(`/api/v1/runs/${other.id}/artifacts`)).artifacts,
      all.slice(0, 2),
      'the same, kept once',
    );
    assertProblem(await server.request('GET', `/api/v1/runs/${other.id}/artifacts/${graph.digest}`), 404);

    const judged = await server.get(`/api/v1/runs/${run.id}/topology?case=1`);
    const { verdict, kinds, unread } = judged;
    const document = await server.get('/openapi.json');
    assert.deepEqual(new Schemas(document).faults(document.components.schemas.Topology, judged), []);
    assert.deepEqual([verdict.kind, verdict.answer, unread], ['topology', 'differs', []]);
    assert.match(verdict.sentence, /^2 .* 2 nodes \(emulated\)$/);
    assert.deepEqual(
      kinds.map(({ nodes }) => nodes),
      [['node-1'], ['node-2']],
    );
    assert.equal(kinds[0].xml, await text(artifacts[5]));
    assertProblem(
      await server.request('GET', `/api/v1/runs/${other.id}/topology`),
      404,
      /set "topology": "dump"/,
    );

    // Of a pattern's cases none has all nodes: of each the first.
    const pairs = await end(server, { topology: 'dump', pattern: 'scaling' });
    assert.equal(
      (await server.get(`/api/v1/runs/${pairs.id}/topology?case=0`)).verdict.answer,
      'not_enough_data',
    );
    const over = await server.get(`/api/v1/runs/${pairs.id}/topology`);
    assert.deepEqual([over.case, over.verdict.answer, over.verdict.evidence.nodes], [null, 'differs', 2]);

    // What was written, given back: the emulation says what the file says.
    const files = { NCCL_TOPO_FILE: await text(first), NCCL_GRAPH_FILE: '<graphs version="1"/>\n' };
    const given = await end(server, { topology: 'dump', files });
    assert.deepEqual(given.spec.files, files);
    const back = (await server.get(`/api/v1/runs/${given.id}/artifacts`)).artifacts;
    assert.deepEqual(
      [...new Set(back.filter(({ name }) => name === 'topology.xml').map(({ digest }) => digest))],
      [first.digest],
    );
    assert.equal(
      (await server.request('GET', `/api/v1/runs/${given.id}/artifacts/${back[2].digest}`)).text,
      files.NCCL_GRAPH_FILE,
    );
    assert.equal((await server.get(`/api/v1/runs/${given.id}/topology`)).verdict.answer, 'same');
    const { verdict: compared } = await server.get(`/api/v1/compare?base=${run.id}&head=${given.id}`);
    const given_files = compared.evidence.differences.filter(({ what }) => what.startsWith('files.'));
    assert.deepEqual(
      given_files.map(({ what, base }) => [what, base]),
      [
        ['files.NCCL_TOPO_FILE', null],
        ['files.NCCL_GRAPH_FILE', null],
      ],
    );
    assert.match(given_files[1].head, /^22 bytes, FNV-1a [0-9a-f]{16}$/);
    for (const spool of spools) {
      assert.deepEqual(
        fs.readdirSync(spool).filter((name) => name.startsWith('case-')),
        [],
        'nothing is left',
      );
    }

    // A text goes with the last run that has it.
    assert.equal((await server.request('DELETE', `/api/v1/runs/${run.id}`)).status, 204);
    assert.equal(
      (await server.request('GET', `/api/v1/runs/${given.id}/artifacts/${first.digest}`)).text,
      files.NCCL_TOPO_FILE,
    );
    for (const [spec, pointer, why] of /** @type {any[][]} */ ([
      [{ files: { NCCL_CONF_FILE: 'x' } }, '/files/NCCL_CONF_FILE', /NCCL_TOPO_FILE.*NCCL_GRAPH_FILE/],
      [{ files: { NCCL_TOPO_FILE: 'x'.repeat(65537) } }, '/files/NCCL_TOPO_FILE', /65536.*65537/],
      [{ files: { NCCL_TOPO_FILE: 7 } }, '/files/NCCL_TOPO_FILE', /integer/],
      [{ files: 'x' }, '/files', /string/],
      [
        { files: { NCCL_TOPO_FILE: 'x' }, env: { NCCL_TOPO_FILE: '/x' } },
        '/files/NCCL_TOPO_FILE',
        /env or matrix/,
      ],
      [{ files: { NCCL_TOPO_FILE: 'x' }, backend: 'host' }, '/files', /backend to nccl/],
      [{ topology: 'dump', backend: 'sim' }, '/topology', /backend to nccl/],
      [{ topology: 'dump', split: 'node' }, '/topology', /split/],
    ])) {
      const { errors } = assertProblem(await server.post({ ...quick, backend: 'nccl', ...spec }), 422);
      assert.deepEqual(
        errors.map((error) => error.pointer),
        [pointer],
      );
      assert.match(errors[0].detail, why);
    }
  });

  test('a node as it was for an old run can be read, and held against what it is now', limit, async (t) => {
    const server = await startServer(t, { args: ['--lease-s', '8'] });
    const first = await startNode(t, server, 'node-1', tempDir(t), 'devices=2');
    const before = await end(server, {});
    const again = await end(server, {});
    await first.kill();
    await server.nodeIs('node-1', 'lost');
    await startNode(t, server, 'node-1', tempDir(t), 'devices=3,memory_mib=512');
    const now = await end(server, {});
    const inventory = (run) => server.get(`/api/v1/runs/${run.id}/nodes/node-1/inventory`);
    assert.equal((await inventory(before)).backends.nccl.devices.length, 2);
    assert.deepEqual(await inventory(again), await inventory(before));
    assert.deepEqual(await inventory(now), (await server.node('node-1')).inventory);
    const differ = async (run, query) =>
      (await server.get(`/api/v1/runs/${run.id}/nodes/node-1/differences?${query}`)).differences;
    assert.deepEqual(await differ(again, `base=${before.id}`), []);
    const found = await differ(now, `base=${before.id}`);
    const of = (what) => found.find((one) => one.what === what);
    assert.deepEqual(of('backends.nccl.devices.0.memory_bytes'), {
      what: 'backends.nccl.devices.0.memory_bytes',
      base: 1024 << 20,
      head: 512 << 20,
    });
    assert.equal(of('backends.nccl.devices.2').base, null);
    // What a run that is deleted had alone goes; what others have stays, and is kept anew.
    assert.equal((await server.request('DELETE', `/api/v1/runs/${now.id}`)).status, 204);
    assertProblem(await server.request('GET', `/api/v1/runs/${now.id}/nodes/node-1/inventory`), 404);
    assert.equal((await inventory(await end(server, {}))).backends.nccl.devices.length, 3);
    assert.equal((await inventory(before)).backends.nccl.devices.length, 2);
  });
});
