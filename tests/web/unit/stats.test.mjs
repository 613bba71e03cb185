/* stats.test.mjs - rows made into figures, and sorted */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as stats from '../../../web/js/stats.mjs';
import { bookOf } from '../../../web/js/book.mjs';
import { formatInterval } from '../../../web/js/delta_row.mjs';
import { sampleRow, stateWith } from '../lib/sample.mjs';

const row = (options) => ({ case: 0, attempt: 1, ...sampleRow({ row: 0, series: 0, ...options }) });

test('nothing has no median', () => assert.equal(stats.median([]), null));

test('repeats become medians, with the spread of ranks apart from that of repeats', () => {
  const rows = [10, 30, 20].map((time) => ({
    ...row({ size: 8 }),
    time_us: time,
    time_min_us: time - 1,
    time_max_us: time + 2,
    algbw_gbs: 100 / time,
    busbw_gbs: 150 / time,
    wrong: time === 30 ? 4 : 0,
  }));
  const summary = stats.summarise(rows);
  assert.equal(summary.time_us, 20);
  assert.equal(summary.busbw_gbs, 7.5);
  assert.deepEqual(summary.rank_spread.time_us, [9, 32]);
  assert.deepEqual(summary.rank_spread.busbw_gbs, [150 / 32, 150 / 9]);
  assert.deepEqual(summary.repeat_spread.time_us, [10, 30]);
  assert.deepEqual(summary.repeat_spread.busbw_gbs, [5, 15]);
  assert.equal(summary.wrong, 4);
  assert.equal(summary.repeats, 3);
});

test('a skipped row has a reason and no figure; one of several does not hide the others', () => {
  const skipped = { row: 0, size: 8, skipped: 'too small' };
  const alone = stats.summarise([skipped]);
  assert.equal(alone.skipped, 'too small');
  assert.equal(alone.time_us, null);
  assert.equal(alone.rank_spread, null);
  const among = stats.summarise([skipped, row({ size: 8 })]);
  assert.equal(among.skipped, undefined);
  assert.equal(among.repeats, 1);
});

test('unchecked data is null, not right', () => {
  assert.equal(stats.summarise([{ ...row({ size: 8 }), wrong: null }]).wrong, null);
});

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
  const sizes = (order) => stats.sortPivot(bookOf(stateWith(rows)).table(), order).map((e) => e.size);
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
