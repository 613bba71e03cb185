// SPDX-License-Identifier: Apache-2.0
// openapi.test.mjs - what the server says of itself, held against what it answers
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { long, quick, startAgent, startCluster, startFleet, startServer } from './lib/cluster.mjs';
import { buildDir, patience, tempDir, waitFor } from './lib/fixture.mjs';
import { nodeTree } from './lib/node_tree.mjs';
import { Schemas } from './lib/schema.mjs';
import { verdictOf } from './lib/verdicts.mjs';

const limit = { timeout: 120000 * patience };

// Requests whose answers are checked against the document.
class Contract {
  constructor(server, document) {
    this.server = server;
    this.document = document;
    this.schemas = new Schemas(document);
    this.answered = new Set();
  }

  pathOf(target) {
    const path = target.split('?')[0];
    return Object.keys(this.document.paths).find((known) =>
      new RegExp(`^${known.replace(/\{\w+\}/g, '[^/]+')}$`).test(path),
    );
  }

  assertFits(schema, value, what) {
    assert.deepEqual(this.schemas.faults(schema, value), [], what);
  }

  async call(method, target, options = {}) {
    const answer = await this.server.request(method, target, options);
    const what = `${method} ${target}: ${answer.status} ${answer.text.slice(0, 300)}`;
    const path = this.pathOf(target);
    const operation = this.document.paths[path]?.[method.toLowerCase()];
    assert.ok(operation, `${what}: no such operation`);
    assert.ok(operation.responses[answer.status], `${what}: the status is not described`);
    const { content } = this.schemas.resolve(operation.responses[answer.status]);
    this.answered.add(`${method} ${path}`);
    if (!content) {
      assert.equal(answer.text, '', what);
      return answer;
    }
    const type = answer.type.split(';')[0];
    assert.ok(content[type], `${what}: ${type} is not described`);
    this.assertFits(content[type].schema, answer.json ?? answer.text, what);
    this.checkLines(type, path, content, answer.text, what);
    return answer;
  }

  // What a worker sends has an entry in the table of fields that the schema is made from.
  assertAllKnown(row) {
    const { Row, Figure } = this.document.components.schemas;
    const known = row.metric === undefined ? Row.properties : Figure.properties;
    assert.deepEqual(
      Object.keys(row).filter((name) => !['id', 'time', 'type'].includes(name) && !known[name]),
      [],
    );
  }

  // The schema of a line: of a list its items'.
  lineSchema(path, content) {
    const resource = path.split('/').at(-1);
    const { schemas } = this.document.components;
    const named = { results: schemas.Row, trends: schemas.TrendPoint, compare: {} }[resource];
    const list = content['application/json'] && this.schemas.resolve(content['application/json'].schema);
    return named ?? list?.properties?.[resource]?.items ?? schemas.Event;
  }

  checkLines(type, path, content, text, what) {
    const schema = this.lineSchema(path, content);
    if (type === 'application/x-ndjson') {
      for (const line of text.split('\n').filter(Boolean)) {
        this.assertFits(schema, JSON.parse(line), what);
        if (path.endsWith('results')) this.assertAllKnown(JSON.parse(line));
      }
    } else if (type === 'text/event-stream') {
      for (const [, data] of text.matchAll(/^data: (\{"id".*)$/gm))
        this.assertFits(schema, JSON.parse(data), what);
    }
  }

  post(spec, headers = {}) {
    const body = typeof spec === 'string' ? spec : JSON.stringify(spec);
    return this.call('POST', '/api/v1/runs', { body, headers });
  }
}

async function begin(t, nodes, agent = {}) {
  const { server } = await startCluster(t, nodes, { agent });
  return new Contract(server, await server.get('/openapi.json'));
}

async function baselinesAreAsDescribed(api) {
  const { runs } = (await api.call('GET', '/api/v1/runs?state=completed')).json;
  for (const query of [
    '',
    '&limit=1',
    '&in_place=1&collective=all_gather',
    '&nodes=node-1,node-2&ranks=2&backend=host',
    '&format=ndjson',
    '&format=csv',
    '&format=text',
  ]) {
    assert.equal(
      (await api.call('GET', `/api/v1/trends?band=latency&run=${runs.at(-1).id}&like=hardware${query}`))
        .status,
      200,
    );
  }
  assert.equal((await api.call('GET', '/api/v1/trends?run=nobody')).status, 404);
  assert.equal((await api.call('GET', '/api/v1/trends?dtype=x')).status, 422);
  const accept = (body) => api.call('POST', '/api/v1/baselines', { body: JSON.stringify(body) });
  assert.equal((await accept({ run: runs[0].id })).status, 422);
  assert.equal((await accept({ run: '000000000000', by: 'a', why: 'b' })).status, 404);
  const {
    status,
    json: { id },
  } = await accept({ run: runs[0].id, by: 'ann', why: 'because' });
  assert.equal(status, 201);
  assert.equal((await api.call('DELETE', `/api/v1/runs/${runs[0].id}`)).status, 409);
  assert.equal((await api.call('DELETE', `/api/v1/baselines/${id}`)).status, 422);
  assert.equal((await api.call('DELETE', `/api/v1/baselines/${id}?by=ann&why=because`)).status, 204);
  for (const target of [
    `/api/v1/baselines/${id}`,
    '/api/v1/baselines?removed=1&limit=1',
    '/api/v1/baselines?format=text',
  ]) {
    assert.equal((await api.call('GET', target)).status, 200);
  }
}

test('examples in the description fit their schemas', limit, () => {
  const document = JSON.parse(fs.readFileSync(path.join(buildDir, 'server/api/openapi.json'), 'utf8'));
  const schemas = new Schemas(document);
  let n = 0;
  for (const operation of Object.values(document.paths).flatMap((one) => Object.values(one))) {
    for (const part of [operation.requestBody ?? {}, ...Object.values(operation.responses)]) {
      for (const { schema, example } of Object.values(part.content ?? {})) {
        if (example === undefined) continue;
        assert.deepEqual(schemas.faults(schema, example), [], operation.operationId);
        n++;
      }
    }
  }
  assert.ok(n > 20);
});

describe('the description', { concurrency: 4 }, () => {
  test('runs, results, events and logs are as described', limit, async (t) => {
    const api = await begin(t, 2);
    const specs = [
      { ...quick, collectives: ['all_reduce', 'all_gather'], labels: { a: 'b' } },
      { ...quick, repeats: 2, timing: 'isolated', in_place: false, root: -1, collectives: ['broadcast'] },
      { ...quick, nodes: { names: ['nobody'], wait_s: 0 } },
      { ...quick, sizes: ['1T'] },
      {
        ...quick,
        thresholds: { a: { figure: 'time_us', max: 1e9, size: 8 }, b: { figure: 'ranks', min: 1, max: 1 } },
      },
      { ...quick, split: 'node', collectives: ['alltoallv', 'hypercube'], traffic: { spread: 0 } },
    ];
    let before = (await api.post(specs[0])).json.id;
    for (const spec of specs) {
      const { id } = (await api.post(spec)).json;
      const at = `/api/v1/runs/${id}`;
      await api.call('GET', at);
      for (const patch of [{ labels: { c: 'd' }, notes: 'e' }, { labels: null }, { notes: 1 }]) {
        await api.call('PATCH', at, { body: JSON.stringify(patch) });
      }
      for (const query of ['', '?format=ndjson', '?format=text', '?follow=0', '?after=4']) {
        await api.call('GET', `${at}/events${query}`);
      }
      for (const query of ['', '?format=ndjson', '?format=csv', '?format=text']) {
        await api.call('GET', `${at}/results${query}`);
      }
      for (const query of [
        '?limit=1',
        '?case=0&series=1&size=4096',
        '?limit=2&format=ndjson',
        '?limit=2&format=csv',
        '?after=3&format=text',
        '?row=0&group=0&rank=0&metric=none',
      ]) {
        await api.call('GET', `${at}/results${query}`);
      }
      for (const query of ['', '?by=case&points=100', '?by=cycle']) {
        await api.call('GET', `${at}/summary${query}`);
      }
      for (const query of ['', '?format=text', '?case=0&rank=1&limit=1']) {
        await api.call('GET', `${at}/logs${query}`);
      }
      const { artifacts } = (await api.call('GET', `${at}/artifacts?limit=2`)).json;
      const kept = artifacts[0] && `${at}/nodes/${artifacts[0].node}`;
      if (kept) {
        await api.call('GET', `${at}/artifacts/${artifacts[0].digest}`);
        await api.call('GET', `${kept}/inventory`);
        assert.equal(
          (await api.call('GET', `${kept}/differences?base_node=${artifacts.at(-1).node}`)).status,
          200,
        );
        assert.equal((await api.call('GET', `${kept}/differences`)).status, 422);
        assert.equal((await api.call('GET', `${kept}/differences?base=0`)).status, 404);
      }
      assert.equal((await api.call('GET', `${at}/artifacts/0`)).status, 404);
      assert.equal((await api.call('GET', `${at}/topology`)).status, 404);
      for (const query of ['', '?wait=100', '?format=text']) await api.call('GET', `${at}/verdict${query}`);
      const budget = { run: id, parameters: 1e9, step_s: 1.6 };
      for (const [question, status] of [
        [budget, 200],
        [{ ...budget, zero: 3 }, 200],
        [{ ...budget, zero: 4 }, 422],
        [{ ...budget, run: 'nothing' }, 422],
        [{ ...budget, run: '000000000000' }, 404],
      ]) {
        const { status: got } = await api.call('POST', '/api/v1/budget', { body: JSON.stringify(question) });
        assert.equal(got, status, JSON.stringify(question));
      }
      for (const query of ['', '&format=text']) await api.call('GET', `${at}/projection?nodes=8${query}`);
      for (const query of ['', '?last=3&like=hardware']) await api.call('GET', `${at}/baseline${query}`);
      for (const query of ['', '&format=csv', '&format=markdown', '&format=ndjson', '&format=text']) {
        await api.call('GET', `/api/v1/compare?base=${before}&head=${id}${query}`);
      }
      before = id;
      await api.call('GET', `${at}/report.html`);
      await api.call('GET', at);
      await api.call('POST', `${at}/cancel`);
      assert.equal((await api.call('POST', `${at}/follow_up`)).status, 409);
    }
    for (const accept of ['application/json', 'text/plain', 'text/event-stream', 'application/x-ndjson']) {
      await api.post(quick, { Accept: accept, 'Idempotency-Key': 'one' });
    }
    for (const spec of [...specs, { nodes: { count: 99 } }, { iters: 100, repeats: 3 }]) {
      await api.call('POST', '/api/v1/runs/validate', { body: JSON.stringify(spec) });
    }
    assert.equal((await api.call('GET', '/api/v1/runs?node=nobody')).json.runs.length, 0);
    await baselinesAreAsDescribed(api);
    await api.call('GET', '/api/v1/runs?sort=figure&order=asc&total=1&since=2026-01-31T23:59:59.000Z');
    const page = (await api.call('GET', '/api/v1/runs?limit=2&state=completed&node=node-1')).json;
    assert.equal(page.runs.length, 2);
    await api.call('GET', `/api/v1/runs?cursor=${encodeURIComponent(page.next)}`);
    await api.call('DELETE', `/api/v1/runs/${page.runs[0].id}`);
    for (const list of ['runs?limit=1', 'nodes', 'programs', 'launchers', 'jobs', 'rendezvous']) {
      const asked = await api.call('GET', `/api/v1/${list}`, { headers: { Accept: 'text/plain' } });
      const named = await api.call('GET', `/api/v1/${list}${list.includes('?') ? '&' : '?'}format=text`);
      const withoutTimes = ({ text }) => text.replace(/\d{4}-\S+Z/g, 'TIME');
      assert.equal(withoutTimes(asked), withoutTimes(named));
      for (const format of ['csv', 'markdown', 'ndjson'])
        await api.call('GET', `/api/v1/${list}${list.includes('?') ? '&' : '?'}format=${format}`);
      assert.equal((await api.call('GET', `/api/v1/${list.replace(/\?.*/, '')}?format=sse`)).status, 422);
    }
  });

  test('a run over node counts, and what it says of more, are as described', limit, async (t) => {
    const server = await startServer(t);
    const api = new Contract(server, await server.get('/openapi.json'));
    await startFleet(t, server, 32, ['--ranks', '2']);
    const spec = {
      backend: 'sim',
      pattern: 'scaling',
      sizes: { min: '1M', max: '64M' },
      in_place: false,
      env: { SIM_SLEEP_FRACTION: '0', NCCL_ALGO: 'ring' },
    };
    const { id } = (await api.post(spec)).json;
    await server.runEnds(id);
    for (const part of ['', '/events?follow=0', '/results', '/summary', '/summary?by=case', '/verdict']) {
      assert.equal((await api.call('GET', `/api/v1/runs/${id}${part}`)).status, 200);
    }
    const answers = new Set();
    for (const query of ['nodes=128', 'nodes=1000', 'nodes=128&format=text']) {
      const { status, json } = await api.call('GET', `/api/v1/runs/${id}/projection?${query}`);
      assert.equal(status, 200, query);
      json?.sizes.forEach(({ verdict }) => answers.add(verdict.answer));
    }
    assert.ok(answers.has('projected') && answers.has('not_enough_data'), [...answers].join());
  });

  test('pairs, their rounds and whom they name are as described', limit, async (t) => {
    const server = await startServer(t);
    const api = new Contract(server, await server.get('/openapi.json'));
    await startFleet(t, server, 16, ['--racks', '4', '--ranks', '1']);
    for (const [fault, answer] of /** @type {any[][]} */ ([
      [{ SIM_SLOW: 'sim-3:0.5' }, 'slow_node'],
      [{}, 'none'],
      [{ SIM_SLOW: 'sim-5/sim-6:0.5' }, 'slow_link'],
    ])) {
      const spec = {
        backend: 'sim',
        pattern: 'pairs',
        sizes: ['64M'],
        in_place: false,
        iters: 4,
        env: { SIM_SLEEP_FRACTION: '0', ...fault },
      };
      assert.equal(
        (await api.call('POST', '/api/v1/runs/validate', { body: JSON.stringify(spec) })).status,
        200,
      );
      const { id } = (await api.post(spec)).json;
      await server.runEnds(id);
      for (const part of [
        '',
        '/events?follow=0',
        '/events?follow=0&format=ndjson',
        '/results',
        '/summary?by=case',
        '/verdict',
      ]) {
        assert.equal((await api.call('GET', `/api/v1/runs/${id}${part}`)).status, 200, part);
      }
      const run = await server.getRun(id);
      const { cases } = run;
      const culprit = verdictOf(run, 'culprit');
      assert.equal(culprit.answer, answer, culprit.sentence);
      assert.equal(
        culprit.evidence.suspects.some((one) => one.state === 'guilty'),
        answer !== 'none',
      );
      assert.ok(culprit.evidence.unexplained.of > 0 && culprit.evidence.groups === cases.length);
      await api.call('GET', `/api/v1/runs?node=sim-3`);
    }
  });

  test('the server, its nodes and its refusals are as described', limit, async (t) => {
    const api = await begin(t, 1, { env: { RINGBENCH_ROOT: nodeTree(t, 'dgx') } });
    const { inventory } = (await api.call('GET', '/api/v1/nodes/node-1')).json;
    assert.deepEqual(
      [inventory.gpus.length, inventory.rdma.length, inventory.net.length, inventory.modules.gdrdrv],
      [8, 10, 13, '2.4'],
    );
    for (const target of [
      '/healthz',
      '/readyz',
      '/metrics',
      '/openapi.json',
      '/api/v1/collectives',
      '/api/v1/access',
      '/api/v1/nodes',
      '/api/v1/nodes/node-1',
      '/api/v1/nodes/node-1/preflight',
      '/api/v1/preflight',
      '/api/v1/preflight?format=text',
      '/api/v1/rendezvous',
    ]) {
      assert.equal((await api.call('GET', target)).status, 200);
    }
    for (const [status, target, headers] of /** @type {any[][]} */ ([
      [404, '/api/v1/nodes/nobody'],
      [404, '/api/v1/nodes/nobody/preflight'],
      [404, '/api/v1/runs/nothing'],
      [404, '/api/v1/runs/nothing/events'],
      [404, '/api/v1/runs/nothing/summary'],
      [404, '/api/v1/runs/nothing/verdict'],
      [404, '/api/v1/runs/nothing/projection?nodes=8'],
      [422, '/api/v1/runs/nothing/projection'],
      [404, '/api/v1/compare?base=nothing'],
      [422, '/api/v1/compare'],
      [400, '/api/v1/runs?limit=0'],
      [400, '/api/v1/runs?cursor=x'],
      [422, '/api/v1/runs?state=x'],
      [422, '/api/v1/runs?label=x'],
    ]))
      assert.equal((await api.call('GET', target, { headers })).status, status, target);
    for (const body of ['', '{', 'nonsense']) assert.equal((await api.post(body)).status, 400, body);
    for (const body of ['[]', { nonsense: 1 }, { iters: 'x' }, { fault: {} }]) {
      assert.equal((await api.post(body)).status, 422);
      const spec = typeof body === 'string' ? body : JSON.stringify(body);
      assert.equal((await api.call('POST', '/api/v1/runs/validate', { body: spec })).status, 422);
    }
    assert.equal((await api.call('POST', '/api/v1/runs/validate', { body: '{' })).status, 400);
    assert.equal((await api.post({}, { Accept: 'image/png' })).status, 406);
    assert.equal((await api.post({}, { 'Idempotency-Key': 'x'.repeat(201) })).status, 400);
    const { id } = (await api.post({ ...long, nodes: { count: 1 } })).json;
    const at = `/api/v1/runs/${id}`;
    for (const [status, target, headers] of /** @type {any[][]} */ ([
      [400, '/events?after=x'],
      [400, '/events?follow=2'],
      [422, '/events?format=csv'],
      [400, '/events', { 'Last-Event-ID': 'x' }],
      [406, '/events', { Accept: 'image/png' }],
      [422, '/results?format=xml'],
      [400, '/results?limit=0'],
      [400, '/results?series=x'],
      [422, '/summary?by=x'],
      [400, '/summary?points=1'],
      [406, '/results', { Accept: 'image/png' }],
      [400, '/logs?rank=x'],
      [400, '/artifacts?limit=0'],
    ]))
      assert.equal((await api.call('GET', at + target, { headers })).status, status, target);
    assert.equal((await api.call('DELETE', at)).status, 409);
    assert.equal((await api.call('POST', `${at}/cancel`)).status, 202);
  });

  test('launchers and their jobs are as described, also as columns', limit, async (t) => {
    const launchers = tempDir(t);
    const engine = {
      description: 'files',
      parameters: { queue: { type: 'string', pattern: '[a-z]*', default: 'main' } },
      start: { argv: ['/bin/echo', '{queue}', '7'], job: '([0-9]+)' },
      stop: { argv: ['/bin/rm', '-f', '{config_dir}/state'] },
      status: { argv: ['/bin/cat', '{config_dir}/state'], gone: 'state', every_s: 0.1 },
      states: { PENDING: 'pending' },
      limits: { nodes: 4, jobs: 1, hours: 0.5 },
    };
    fs.writeFileSync(path.join(launchers, 'files.json'), JSON.stringify(engine));
    fs.writeFileSync(path.join(launchers, 'state'), 'PENDING Resources\n');
    const server = await startServer(t, { args: ['--launchers', launchers] });
    const api = new Contract(server, await server.get('/openapi.json'));
    const text = async (list) =>
      (await api.call('GET', `/api/v1/${list}?format=text`)).text
        .split('\n')
        .map((line) => line.split(/ {2,}/));
    await api.call('GET', '/api/v1/launchers');
    assert.deepEqual(await text('launchers'), [
      ['NAME', 'NODES', 'JOBS', 'HOURS', 'WHO', 'PARAMETERS', 'DESCRIPTION'],
      ['files', '4', '1', '0.5', '-', 'queue', 'files'],
      [''],
    ]);
    // Nodes that are here are not those that the engine will give.
    await startAgent(t, server, 'here', { ranks: 2 });
    const preview = async (spec) =>
      (await api.call('POST', '/api/v1/runs/validate', { body: JSON.stringify({ ...quick, ...spec }) })).json
        .placement;
    assert.equal((await preview({})).outcome, 'ready');
    assert.equal((await preview({ launch: { name: 'files' } })).outcome, 'unknown');
    const { id: run } = (await api.post({ ...quick, nodes: { count: 2 }, launch: { name: 'files' } })).json;
    const job = await waitFor(
      async () =>
        (await api.call('GET', '/api/v1/jobs')).json.jobs.find((one) => one.reason === 'PENDING Resources'),
      () => 'no job',
    );
    assert.deepEqual(await text('jobs'), [
      ['ID', 'STATE', 'CREATED', 'LAUNCHER', 'JOB', 'NODES', 'GROUP', 'RUN', 'UNTIL', 'REASON'],
      [job.id, 'pending', job.created, 'files', '7', '2', job.group, run, '-', 'PENDING Resources'],
      [''],
    ]);
    const at = `/api/v1/jobs/${job.id}`;
    assert.deepEqual((await api.call('GET', at)).json, job);
    assert.equal((await api.call('DELETE', at)).status, 202);
    await waitFor(
      async () => (await api.call('GET', at)).json.state === 'ended',
      () => 'it goes on',
    );
    assert.equal((await api.call('DELETE', at)).status, 409);
    for (const method of ['GET', 'DELETE'])
      assert.equal((await api.call(method, '/api/v1/jobs/none')).status, 404);
  });

  test('an Accept that nothing fits is refused alike everywhere, with what there is', limit, async (t) => {
    const api = await begin(t, 1);
    const { id } = (await api.post(quick)).json;
    const params = { id, name: 'node-1', agent: 'a-0' };
    const probes = ['/healthz', '/readyz']; // their status is the answer
    for (const [path, operations] of Object.entries(api.document.paths)) {
      for (const [method, { responses }] of Object.entries(operations)) {
        const types = Object.keys(
          Object.entries(responses).find(([code]) => code.startsWith('2'))[1].content ?? {},
        );
        if (types.length === 0) continue;
        const target = path.replace(/\{(\w+)\}/g, (_, name) => params[name]);
        const body = method === 'post' ? '{}' : undefined;
        const answer = await api.call(method.toUpperCase(), target, {
          headers: { Accept: 'image/png' },
          body,
        });
        assert.equal(answer.status, probes.includes(path) ? 200 : 406, `${method} ${path}`);
        if (answer.status === 406) {
          const [, offered] = answer.json.detail.match(/ as (.*)$/);
          assert.deepEqual(offered.split(', ').sort(), types.sort(), `${method} ${path}`);
        }
      }
    }
    assert.equal((await api.server.get('/api/v1/runs')).runs.length, 1, 'nothing was started');
  });

  const good = [
    {},
    { pattern: 'pairs', rounds: 4 },
    { name: 'späte Übung', labels: { ort: 'Köln' } },
    { sizes: [8, '4.0', '1.5K', '64 KB', '0.5k', '1T'] },
    { sizes: { min: 8, max: '1M', step: '4K' } },
    { split: 'none' },
    { split: { by: 'none' } },
    { split: { by: 'and', value: 0 } },
    { split: { by: 'mod', value: 2 } },
    {
      collectives: ['alltoallv'],
      traffic: {
        matrix: [
          [1, 2],
          [3, 4],
        ],
      },
      sizes: [8],
    },
    { devices: { 'node-1': [0] } },
    { devices: [0, 1], backend: 'nccl' },
    { backend: 'sim', nccl: {}, host: {} },
    { topology: 'dump', files: { NCCL_TOPO_FILE: '<system/>' } },
    { nodes: { min: 1, max: 2, group: 'g', labels: { a: '' } } },
    { nodes: { names: ['node-1'] } },
    { matrix: { NCCL_ALGO: ['Ring', null], nccl_lib: ['/a.so', null] } },
    { env: { NCCL_ALGO: 'Ring' } },
    { nccl: { graph: 0, stream: 'null' }, blocking: 1 },
    { timing: 'isolated', per_iter: false, blocking: 0 },
    { program: { name: 'x', args: { a: 1 } }, repeats: 2, labels: {} },
  ];
  const bad = [
    { pattern: 'scaling', rounds: 4 },
    { pattern: 'bisect' },
    { devices: {} },
    { devices: [] },
    { traffic: {} },
    { collectives: ['alltoallv'], traffic: {} },
    { traffic: { spread: 1 } },
    { collectives: ['alltoallv'], traffic: { matrix: [[2 ** 47]] } },
    { sizes: ['4.4'] },
    { sizes: ['4.4K'] },
    { sizes: ['0'] },
    { sizes: ['0.0K'] },
    { sizes: [] },
    { sizes: ['8E'] },
    { sizes: { min: 8, max: 64, factor: 2, step: 8 } },
    { sizes: { min: '4.4' } },
    { control: true },
    { collectives: [] },
    { split: { by: 'mod', value: 0 } },
    { name: 'a\u001b' },
    { name: 'a\u009b' },
    { name: '\ufffe' },
    { labels: { '': 'x' } },
    { labels: { a: '\u202e' } },
    { labels: { 'a\n': 'x' } },
    { nodes: { names: ['a\u202e'] } },
    { nodes: { group: '\n' } },
    { nodes: { labels: { '': 'x' } } },
    { nodes: { count: 1, min: 1 } },
    { nodes: { count: 1, max: 1 } },
    { nccl_lib: 'x.so' },
    { nccl_lib: '/a\n' },
    { nccl_lib: '/a.so', matrix: { nccl_lib: ['/b.so'] } },
    { matrix: { nccl_lib: ['b.so'] } },
    { matrix: { lower: ['x'] } },
    { matrix: { 'A=B': ['x'] } },
    { env: { '1A': 'x' } },
    { env: { a: 'x' } },
    { nccl: { graph: 1, stream: 'null' } },
    { nccl: { graph: 1 }, blocking: 1 },
    { nccl: { graph: 1 }, per_iter: true },
    { nccl: { graph: 1 }, timing: 'isolated' },
    { timing: 'isolated', per_iter: true },
    { timing: 'isolated', blocking: 1 },
    { backend: 'host', devices: [0] },
    { backend: 'sim', nccl_lib: '/a.so' },
    { backend: 'host', matrix: { nccl_lib: ['/a.so', null] } },
    { backend: 'sim', nccl: { graph: 0 } },
    { backend: 'nccl', host: { transport: 'tcp' } },
    { program: { name: 'x' }, sizes: [8] },
    { program: { name: 'x' }, backend: 'host' },
    { program: {} },
  ];

  test('the description refuses what the server refuses, and no more', limit, async (t) => {
    const api = await begin(t, 1);
    const { RunSpec } = api.document.components.schemas;
    for (const [specs, status] of /** @type {any[][]} */ ([
      [good, 200],
      [bad, 422],
    ])) {
      for (const spec of specs) {
        const what = JSON.stringify(spec);
        const answer = await api.call('POST', '/api/v1/runs/validate', { body: what });
        assert.equal(answer.status, status, `${what}: ${answer.text}`);
        const faults = api.schemas.faults(RunSpec, spec);
        assert.equal(faults.length === 0, status === 200, `${what}: ${faults}`);
      }
    }
    // The same of each field alone, with values of every type.
    const odd = [
      null,
      true,
      -1,
      0,
      1,
      1.5,
      '',
      'x',
      [],
      [null],
      ['x'],
      [8],
      [8, 8],
      {},
      { x: 1 },
      { x: 'x' },
      { x: ['x'] },
    ];
    for (const field of Object.keys(RunSpec.properties).filter((name) => name !== 'fault')) {
      for (const value of odd) {
        const spec = { [field]: value };
        if (field === 'backend' && value === 'x') continue; // a node may have it
        const answer = await api.call('POST', '/api/v1/runs/validate', { body: JSON.stringify(spec) });
        const faults = api.schemas.faults(RunSpec, spec);
        assert.equal(
          faults.length === 0,
          answer.status === 200,
          `${JSON.stringify(spec)}: ${answer.status} ${faults}`,
        );
      }
    }
  });

  test("the agents' side is as described", limit, async (t) => {
    const api = await begin(t, 0);
    const headers = { 'Ringbench-Agent-Key': '0123456789abcdef0123456789abcdef' };
    const register = (body, as = headers) =>
      api.call('POST', '/api/v1/agents', {
        body: typeof body === 'string' ? body : JSON.stringify(body),
        headers: as,
      });
    const host = { available: true, collectives: ['all_reduce'], dtypes: ['float32'], redops: ['sum'] };
    const me = {
      name: 'me',
      boot_id: '6e0a7b3e-1c1d-4f6e-9a51-2f1b6f9d8a11',
      ranks: 1,
      inventory: { backends: { host } },
    };
    assert.equal((await register('{')).status, 400);
    assert.equal((await register({})).status, 422);
    assert.equal((await register(me)).status, 201);
    const again = await register(me);
    assert.equal(again.status, 200);
    assert.equal((await register(me, { 'Ringbench-Agent-Key': 'f'.repeat(32) })).status, 409);
    const at = `/api/v1/agents/${again.json.agent}`;
    const send = (body) => api.call('POST', `${at}/events`, { body, headers });
    assert.equal((await send('{"seq":2,"type":"gone"}\n')).status, 409);
    assert.equal((await send('{"seq":1,"type":"gone"}\n')).json.acked, 1);
    assert.equal((await send('nonsense')).status, 400);
    assert.equal((await api.call('GET', `${at}/commands?after=x`, { headers })).status, 400);
    assert.equal((await api.call('GET', `${at}/commands?after=0`, { headers })).status, 204);
    const { id } = (await api.post({ ...quick, backend: 'host' })).json;
    const { commands } = (await api.call('GET', `${at}/commands?after=0`, { headers })).json;
    assert.deepEqual(
      commands.map(({ seq, type, run }) => [seq, type, run]),
      [[1, 'start', id]],
    );
    await api.call('POST', `/api/v1/runs/${id}/cancel`);
    const more = (await api.call('GET', `${at}/commands?after=1`, { headers })).json.commands;
    assert.deepEqual(
      more.map(({ seq, type, run }) => [seq, type, run]),
      [[2, 'stop', id]],
    );
    const announce = (body) => api.call('POST', `${at}/leave`, { body, headers });
    for (const body of ['{}', `{"reason":"${'x'.repeat(201)}"}`])
      assert.equal((await announce(body)).status, 422);
    assert.equal((await announce('[')).status, 400);
    assert.equal((await announce('{"reason":"it is late"}')).status, 204);
    assert.equal((await api.call('DELETE', at, { headers })).status, 204);
    for (const target of ['/commands', '/events', '']) {
      const method = { '/commands': 'GET', '/events': 'POST', '': 'DELETE' }[target];
      assert.equal(
        (await api.call(method, at + target, { headers, body: method === 'POST' ? '\n' : undefined })).status,
        404,
      );
    }
  });
});
