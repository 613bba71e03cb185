// SPDX-License-Identifier: Apache-2.0
// late.plain.test.mjs - a rank that really comes late is named, over TCP between hosts whose clocks
// differ, and one that does not is not
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';

import { faulty, startAgent, startServer } from './lib/cluster.mjs';
import { patience } from './lib/fixture.mjs';
import { verdictOf } from './lib/verdicts.mjs';

const limit = { timeout: 120000 * patience };
const isolated = { timing: 'isolated', iters: 10, sizes: { min: 64, max: '256K', factor: 4 } };

// A clock that is 1000 s ahead.
const within = ['unshare', '--time', '--monotonic', '1000', '--fork', '--kill-child', '--'];
const skip =
  spawnSync(within[0], [...within.slice(1), 'true']).status === 0
    ? false
    : 'no time namespace: root and Linux 5.6 or newer';

async function startHosts(t, places) {
  const server = await startServer(t, faulty.server);
  for (const [i, { within, env }] of places.entries())
    await startAgent(t, server, `node-${i + 1}`, { within, env: { ...faulty.agent.env, ...env } });
  return server;
}

async function lateness(server, fault) {
  const run = await server.runToEnd({ ...isolated, ...(fault && { fault }) });
  assert.equal(run.state, 'completed', run.reason);
  return { ...verdictOf(run, 'lateness'), rows: await server.rows(run.id) };
}

const here = [{}, {}, {}];
const apart = here.map((_, i) => ({ within: i === 1 ? within : [], env: { RINGBENCH_HOSTID: `host-${i}` } }));

for (const [what, places, options] of /** @type {any[][]} */ ([
  ['that share memory', here, limit],
  ['whose clocks are 1000 s apart', apart, { ...limit, skip }],
])) {
  test(`of ranks ${what} one that is late is named`, options, async (t) => {
    const server = await startHosts(t, places);
    const late = await lateness(server, { kind: 'slow', rank: 1, us: 20000 });
    assert.equal(late.answer, 'late_rank', late.sentence);
    assert.match(late.sentence, /^rank 1 on node-2 .*\d+ of \d+ rows: .*\d{5} us /);
    assert.match(late.sentence, places === apart ? /clocks agree within/ : /by one clock/);
    for (const {
      late_us: [first, second],
      late_error_us: error,
      skew_us: skew,
    } of late.rows) {
      assert.ok(skew >= 0 && skew < 1e8, `${skew}: clocks differ by 1e9 us`);
      assert.ok(second > 10000 - error && Math.abs(first) < 10000, `${first} ${second} ${error}`);
    }
    const healthy = await lateness(server);
    assert.notEqual(healthy.answer, 'late_rank', healthy.sentence);
  });
}
