// SPDX-License-Identifier: Apache-2.0
// demo.plain.test.mjs - scripts/demo, with programs that are already built
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Program, binDir, patience, processesWithEnv, waitFor } from './lib/fixture.mjs';

const script = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../scripts/demo');
const limit = { timeout: 180000 * patience };

let serial = 0;

function startDemo(t, ...args) {
  const mark = `${process.pid}-demo-${serial++}`;
  const demo = new Program(t, script, args, {
    env: {
      ...process.env,
      RINGBENCH_BIN_DIR: binDir,
      RINGBENCH_PORT: '0',
      TEST_MARK: mark,
      RINGBENCH_PASS_ENV: 'TEST_MARK',
    },
  });
  const nothingLeft = () =>
    waitFor(
      () => processesWithEnv('TEST_MARK', mark).length === 0,
      () => `left: ${processesWithEnv('TEST_MARK', mark)}`,
    );
  return Object.assign(demo, { nothingLeft });
}

// One after the other: the demo keeps its files in build/demo.
test('the demo shows a run across four agents and cleans up', limit, async (t) => {
  const demo = startDemo(t, '--once');
  assert.deepEqual(await demo.ended(120000), { code: 0, signal: null }, demo.describe());
  assert.match(demo.lines[0], /^\$ curl -sSN -H 'Accept: text\/plain' -d '\{"name":"demo"/);
  assert.ok(
    demo.lines.some((line) => /^# 4 .*\b4 ranks /.test(line)),
    demo.describe(),
  );
  assert.ok(
    demo.lines.some((line) => /^ +16777216 +4194304 +float /.test(line)),
    demo.describe(),
  );
  assert.match(demo.lines.at(-1), /^completed: 44 rows/);
  // All four are in one network namespace: its ports tell nothing of what they sent each other.
  assert.doesNotMatch(demo.lines.join('\n'), /^traffic:/m, demo.describe());
  await demo.nothingLeft();
});

test('it stays until Ctrl-C, and the four can play hosts of their own', limit, async (t) => {
  const demo = startDemo(t, '--hosts');
  const [, url] = await demo.line(/^In a browser: (http:\S+)$/, 120000);
  assert.ok(
    demo.lines.some((line) => line.startsWith('completed')),
    demo.describe(),
  );
  const { nodes } = await (await fetch(new URL('api/v1/nodes', url))).json();
  assert.deepEqual(
    nodes.map((node) => node.state),
    ['idle', 'idle', 'idle', 'idle'],
  );
  assert.equal(new Set(nodes.map((node) => node.inventory.hostid)).size, 4);
  demo.signal('SIGINT');
  assert.deepEqual(await demo.ended(30000), { code: 0, signal: null }, demo.describe());
  await demo.nothingLeft();
});

test(
  'a simulated fleet: a watch names the node that is slow for a while, and hooks run',
  limit,
  async (t) => {
    const demo = startDemo(t, '--fleet', '12');
    await demo.line(/^In a browser: (http:\S+)$/, 120000);
    const [slow] = /sim-\d+(?= loses half)/.exec(demo.lines.join('\n')) ?? [];
    assert.ok(slow, demo.describe());
    const said = ['slow_node', 'hook drain', 'hook resume'].map((start) =>
      demo.lines.find((line) => line.startsWith(`  ${start}`)),
    );
    assert.match(said[0], new RegExp(`: ${slow} is slow with 11 of 11 `), demo.describe());
    assert.ok(said[1].includes(`drain ${slow}`) && said[2].includes(`resume ${slow}`), demo.describe());
    demo.signal('SIGINT');
    assert.deepEqual(await demo.ended(30000), { code: 0, signal: null }, demo.describe());
    await demo.nothingLeft();
  },
);

test('it is stopped in the middle of a run', limit, async (t) => {
  const demo = startDemo(t);
  await demo.line(/^# \d+ .* ranks /, 60000);
  demo.signal('SIGTERM');
  await demo.ended(30000);
  assert.notEqual(demo.status.code, 0);
  await demo.nothingLeft();
});
