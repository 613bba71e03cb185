/* SPDX-License-Identifier: Apache-2.0 */
/* log_reader.test.mjs - logs are read on, by rank, without gap or mix-up */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LogReader } from '../../../web/js/log_reader.mjs';

/* A server with `total` lines of ranks 0 and 1 in turn, in pages as asked for. */
function apiOf(total, asked = []) {
  return {
    async logs(_id, params) {
      asked.push(params.toString());
      const after = Number(params.get('after'));
      const rank = params.get('rank');
      const limit = Number(params.get('limit'));
      const all = Array.from({ length: total }, (_, i) => ({
        seq: i + 1,
        rank: i % 2,
        text: `Line ${i + 1}`,
      })).filter((l) => l.seq > after && (rank === null || l.rank === Number(rank)));
      const lines = all.slice(0, limit);
      return { lines, next: all.length > limit ? lines.at(-1).seq : null };
    },
  };
}

test('pages follow one another until there is no more', async () => {
  const log = new LogReader(apiOf(2500), 'r');
  const seen = [];
  do {
    await log.read();
    seen.push(log.lines.length);
  } while (log.hasMore);
  assert.deepEqual(seen, [1000, 2000, 2500]);
  assert.equal(await log.read(), false);
  assert.equal(log.lines.length, 2500);
});

test('the oldest lines are let go, and counted', async () => {
  const log = new LogReader(apiOf(6200), 'r');
  do {
    await log.read();
  } while (log.hasMore);
  assert.equal(log.lines.length, 5000);
  assert.equal(log.dropped, 1200);
  assert.equal(log.lines[0].seq, 1201);
});

test('one rank of one case is asked for', async () => {
  const asked = [];
  const log = new LogReader(apiOf(10, asked), 'r', { rank: 1, case: 2 });
  await log.read();
  assert.deepEqual(
    log.lines.map((line) => line.rank),
    [1, 1, 1, 1, 1],
  );
  assert.equal(asked[0], 'limit=1000&after=0&rank=1&case=2');
});

test('finding heeds no case of letters', async () => {
  const log = new LogReader(apiOf(12), 'r');
  await log.read();
  assert.deepEqual(
    log.find('LINE 1').map((line) => line.seq),
    [1, 10, 11, 12],
  );
});
