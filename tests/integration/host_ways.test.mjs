// SPDX-License-Identifier: Apache-2.0
// host_ways.test.mjs - what carried the host backend's bytes is in the results, by pair of nodes
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isFinal, quick, reached, startCluster, startHosts } from './lib/cluster.mjs';
import { patience } from './lib/fixture.mjs';
import { verdictOf } from './lib/verdicts.mjs';

const limit = { timeout: 120000 * patience };
const inside = {
  kind: 'shm',
  via: 'shm',
  between: 'inside 2 nodes',
  pairs: [
    [0, 0],
    [1, 1],
  ],
  n_pairs: 0,
  inside: 2,
};
const between = { between: 'node-1 and node-2', pairs: [[0, 1]], n_pairs: 1, inside: 0 };
const tcp = {
  ...between,
  kind: 'loopback',
  via: 'tcp',
  name: 'lo',
  sockets: 1,
};

// Ways without the text that says the same.
const facts = (ways) => ways?.map(({ text: _, ...rest }) => rest);

async function carried(server, spec) {
  const run = await server.runToEnd({ ...quick, ...spec });
  if (run.state === 'failed' && /Debian: libucx/.test(run.reason)) return { reason: run.reason };
  assert.equal(run.state, 'completed', run.reason);
  const { transports } = (await server.getRun(run.id)).cases[0];
  const end = (await server.events(run.id)).findLast(({ type }) => type === 'case');
  assert.deepEqual(end.transports, transports);
  for (const { kind, answer } of [verdictOf(run, 'preflight'), ...(transports?.verdicts ?? [])]) {
    const { runs } = await server.get(`/api/v1/runs?verdict=${kind}:${answer}`);
    assert.ok(runs.some(({ id }) => id === run.id));
  }
  const texts = transports?.ways.map(({ text }) => text);
  return {
    id: run.id,
    ...transports,
    texts,
    ways: facts(transports?.ways),
    sentences: transports?.verdicts.map(({ answer, sentence }) => [answer, sentence]),
  };
}

// One verdict: nothing speaks against what carried the bytes, which it names.
function assertOk({ sentences }, text) {
  assert.equal(sentences.length, 1);
  const [[answer, sentence]] = sentences;
  assert.equal(answer, 'ok', sentence);
  assert.ok(sentence.endsWith(text), sentence);
}

test('sockets and shared memory are in the results, as text too, and after a restart', limit, async (t) => {
  const { server } = await startHosts(t);
  const one = await carried(server, { host: { transport: 'tcp' } });
  assert.deepEqual([one.by, one.nodes, one.ways], ['host', ['node-1', 'node-2'], [tcp, inside]]);
  assertOk(one, one.texts[0]);
  assert.match(one.texts[0], /\blo\b.*\b1\b/);
  const several = await carried(server, { host: { transport: 'tcp', sockets: 3 } });
  const threeSockets = { ...tcp, sockets: 3 };
  assert.deepEqual(several.ways, [threeSockets, inside]);
  const split = await carried(server, { split: { by: 'mod', value: 2 } });
  assert.deepEqual(split.ways, [tcp]);
  const shm = await carried(server, { split: 'node' });
  assert.deepEqual(shm.ways, [inside]);
  assertOk(shm, shm.texts[0]);
  const text = await server.get(`/api/v1/runs/${several.id}/events?format=text`);
  assert.ok(
    text.includes(
      `# host: node-1 and node-2: ${several.texts[0]}\n# host: inside 2 nodes: ${several.texts[1]}\n`,
    ),
    text,
  );
  await server.killHard();
  const again = await server.startAgain();
  assert.deepEqual(facts((await again.getRun(several.id)).cases[0].transports.ways), [threeSockets, inside]);
});

test("UCX's transports and devices are", limit, async (t) => {
  const { server } = await startHosts(t);
  const ucx = { host: { transport: 'ucx' } };
  const overTcp = await carried(server, { ...ucx, env: { UCX_TLS: 'tcp', UCX_NET_DEVICES: 'lo' } });
  if (overTcp.reason) {
    t.skip(overTcp.reason);
    return;
  }
  assert.deepEqual(overTcp.ways, [{ ...between, kind: 'loopback', via: 'ucx/tcp', name: 'lo' }, inside]);
  assertOk(overTcp, overTcp.texts[0]);
  const overMemory = await carried(server, {
    ...ucx,
    env: { UCX_TLS: 'sysv,self', UCX_MM_ERROR_HANDLING: 'y' },
  });
  assert.deepEqual(
    overMemory.ways.map(({ via, kind, pairs }) => [via, kind, pairs]),
    [
      [
        'shm',
        'shm',
        [
          [0, 0],
          [1, 1],
        ],
      ],
      ['ucx/sysv', 'shm', [[0, 1]]],
    ],
  );
});

test('kill -9 of the server: what ranks told before is in the end of the case', limit, async (t) => {
  const { server } = await startHosts(t);
  const { id } = await server.run({ ...quick, sizes: [8], iters: 1000000 });
  for (const rank of [0, 1, 2, 3]) await server.event(id, (each) => reached(each, 'running', rank));
  await server.killHard();
  const again = await server.startAgain();
  assert.ok(!isFinal((await again.getRun(id)).state));
  await again.request('POST', `/api/v1/runs/${id}/cancel`);
  await again.runEnds(id);
  assert.deepEqual(facts((await again.getRun(id)).cases[0].transports?.ways), [tcp, inside]);
});

test('a rank without peers has no ways', limit, async (t) => {
  const { server } = await startCluster(t, 1);
  assert.equal((await carried(server, {})).ways, undefined);
});
