/* SPDX-License-Identifier: Apache-2.0 */
/* stats.test.mjs - rows made into figures, and sorted */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as stats from '../../../web/js/stats.mjs';
import { bookOf } from '../../../web/js/book.mjs';
import { formatInterval } from '../../../web/js/stats.mjs';
import { sampleRow, stateWith } from '../lib/sample.mjs';

const row = (options) => ({ case: 0, attempt: 1, ...sampleRow({ row: 0, series: 0, ...options }) });

test('nothing has no median', () => assert.equal(stats.median([]), null));

test('sorting puts what has no figure last, both ways, and keeps ties in order', () => {
  const rows = [
    row({ row: 0, size: 8 }),
    row({ row: 2, size: 1 << 20 }),
    {
      row: 4,
      size: 64,
      collective: 'all_reduce',
      dtype: 'float32',
      redop: 'sum',
      root: -1,
      in_place: false,
      skipped: 'why',
    },
  ];
  const sizes = (order) => stats.sortPivot(bookOf(stateWith(rows)).table, order).map((e) => e.size);
  assert.deepEqual(sizes('out_busbw'), [8, 1 << 20, 64]);
  assert.deepEqual(sizes('-out_busbw'), [1 << 20, 8, 64]);
  assert.deepEqual(sizes('-size'), [1 << 20, 64, 8]);
  assert.deepEqual(sizes('no such column'), [8, 1 << 20, 64]);
});

test('an interval beyond a factor of ten is unknown', () => {
  assert.equal(stats.doubtInWords(null), '');
  assert.equal(stats.doubtInWords({ lo: 9, hi: 11, half: 0.1 }), '±10 %');
  assert.equal(stats.doubtInWords({ lo: 1, hi: 10, half: 2.5 }), '±250 %');
  assert.equal(stats.doubtInWords({ lo: 1, hi: 10.1, half: 2.5 }), 'unknown');
  assert.equal(stats.doubtInWords({ lo: 0, hi: 1, half: 0.5 }), 'unknown');
  assert.equal(formatInterval([-0.5, 1.5]), '−50 to +150 %');
  assert.equal(formatInterval([-0.5, 7]), 'unknown');
  assert.equal(formatInterval([-1.2, 0.1]), 'unknown');
});

test('a change whose interval is unknown is not told', () => {
  assert.ok(stats.isToldChange({ change: 0.1, interval: [0.05, 0.2] }));
  assert.ok(stats.isToldChange({ change: 0.1, interval: null }));
  assert.ok(!stats.isToldChange({ change: 189, interval: [0.5, 3000] }));
  assert.ok(!stats.isToldChange({ change: null, interval: null }));
});
