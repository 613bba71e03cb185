// memory_ceiling.plain.test.mjs - ranks that share a host's memory say what it allows them, where their
// buffers are beyond the caches, and nothing where they are not
import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';

import { startAgent, startServer } from './lib/cluster.mjs';
import { patience } from './lib/fixture.mjs';

const limit = { timeout: 120000 * patience };
const largest = 64 << 20;

// Of all CPUs, as agent/worker/base/caches.c has it of those that ranks may use.
function cacheBytes() {
  const cpus = '/sys/devices/system/cpu';
  const found = new Map();
  for (const cpu of fs.readdirSync(cpus).filter((name) => /^cpu\d+$/.test(name))) {
    for (let i = 0; fs.existsSync(`${cpus}/${cpu}/cache/index${i}`); i++) {
      const [level, size, shared] = ['level', 'size', 'shared_cpu_list'].map((name) =>
        fs.readFileSync(`${cpus}/${cpu}/cache/index${i}/${name}`, 'utf8').trim(),
      );
      if (Number(level) > 1) found.set(`${level} ${shared}`, parseInt(size, 10) << 10);
    }
  }
  return [...found.values()].reduce((sum, one) => sum + one, 0);
}

const caches = cacheBytes();
const skip = caches > 0 && 4 * caches <= 2 * 2 * largest ? false : `caches of ${caches} bytes`;

test('memory that ranks share has a ceiling beyond the caches', { ...limit, skip }, async (t) => {
  const server = await startServer(t);
  await startAgent(t, server, 'node-1', { ranks: 2 });
  const run = async (more) => {
    const { id } = await server.run({
      collectives: ['all_reduce', 'alltoallv'],
      ranks_per_node: 2,
      warmup: 1,
      iters: 2,
      backend: 'host',
      ...more,
    });
    const ended = await server.runEnds(id);
    assert.equal(ended.state, 'completed', ended.reason);
    return { run: ended, events: (await server.events(id)).filter(({ type }) => type === 'triad') };
  };

  const { run: large, events } = await run({ sizes: { min: largest, max: largest }, repeats: 2 });
  assert.equal(events.length, 2, 'one of each case');
  assert.ok(events.every(({ gbs, cache_bytes: own }) => gbs > 0 && own > 0 && own <= caches));
  const { answer, evidence } = large.ceiling;
  const best = Math.max(...events.map(({ gbs }) => gbs));
  assert.equal(answer, 'expected');
  assert.equal(evidence.triad_gbs, best, 'of the case that found most');
  assert.ok(evidence.limit.includes(` 2 ranks, ${best.toFixed(1)} GB/s`), evidence.limit);
  assert.ok(Math.abs(evidence.busbw_gbs.all_reduce - best / 4) < 1e-6 * best);
  assert.equal(evidence.busbw_gbs.alltoallv, undefined);
  assert.ok(evidence.from_bytes.all_reduce <= largest);
  assert.match(
    (await server.request('GET', `/api/v1/runs/${large.id}/events?format=text`)).text,
    /^# ceiling: 2 ranks .*[\d.]+ GB\/s/m,
  );

  const { run: small, events: none } = await run({ sizes: { min: 65536, max: 65536 } });
  assert.deepEqual([small.ceiling.answer, none], ['not_enough_data', []]);
  assert.match(small.ceiling.sentence, /beyond the caches$/);
});
