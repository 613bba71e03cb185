/* SPDX-License-Identifier: Apache-2.0 */
/* ranking.test.mjs - the fastest setting by size, and the slow nodes of pairs */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rankingOf } from '../../../web/js/ranking.mjs';

const point = ([size, gbs, off = 0.01]) => ({
  size,
  busbw_gbs: gbs,
  interval: { busbw_gbs: [gbs * (1 - off), gbs * (1 + off)] },
});
const line = (env, inPlace, ...points) => ({
  collective: 'all_reduce',
  label: `all_reduce · float32 · ALGO=${env.ALGO}`,
  env,
  inPlace,
  points: points.map(point),
});
const bookWith = (...lines) => ({ lines: new Map(lines.entries()) });

test('neighbouring sizes with the same fastest setting are one range', () => {
  const book = bookWith(
    line({ ALGO: 'Ring' }, false, [8, 1], [16, 2], [32, 4], [64, 11]),
    line({ ALGO: 'Tree' }, false, [8, 1.5], [16, 2.2], [32, 4.02], [64, 10]),
    line({ ALGO: 'Tree' }, true, [8, 100]),
  );
  assert.deepEqual(
    rankingOf(book).map(({ from, to, best, ahead }) => [
      from,
      to,
      best,
      ahead.map((part) => Math.round(part * 1000)),
    ]),
    [
      [8, 16, 'ALGO=Tree', [100, 500]],
      [32, 32, null, [0, 0]],
      [64, 64, 'ALGO=Ring', [100, 100]],
    ],
  );
});

test('settings that are equally fast share the first place', () => {
  const book = bookWith(
    line({ ALGO: 'Ring' }, false, [8, 1]),
    line({ ALGO: 'Tree' }, false, [8, 2]),
    line({ ALGO: 'NVLS' }, false, [8, 2.01]),
  );
  const [{ best, ahead }] = rankingOf(book);
  assert.equal(best, 'ALGO=NVLS or ALGO=Tree');
  assert.ok(ahead[0] > 1 && ahead[1] < 1.02);
});

test('a run without a matrix has no ranking', () => {
  const only = { ...line({ ALGO: 'Ring' }, false, [8, 1]), env: null };
  assert.deepEqual(rankingOf(bookWith(only)), []);
});
