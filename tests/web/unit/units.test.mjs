/* SPDX-License-Identifier: Apache-2.0 */
/* units.test.mjs - sizes and figures as people write and read them */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as units from '../../../web/js/units.mjs';
import { whereInWords } from '../../../web/js/where.mjs';

test('sizes may stand between blanks, and be numbers', () => {
  assert.equal(units.parseSize(' 2T '), 2 * 1024 ** 4);
  assert.equal(units.parseSize(4096), 4096);
});

test('figures keep three significant digits and no exponent', () => {
  const cases = [
    [0, '0'],
    [9.126, '9.13'],
    [0.000666, '0.000666'],
    [123.4, '123'],
    [99.96, '100.0'],
    [1e-12, '0.00000000'],
    [1234567, '1234567'],
    [NaN, '–'],
    [Infinity, '–'],
  ];
  for (const [value, text] of cases) {
    assert.equal(units.significant(value), text);
  }
});

test('times take the unit that fits', () => {
  assert.equal(units.formatTime(18.04), '18.0 µs');
  assert.equal(units.formatTime(1804), '1.80 ms');
  assert.equal(units.formatTime(1.804e6), '1.80 s');
  assert.equal(units.formatTime(null), '–');
});

test('durations grow coarser as they grow', () => {
  const cases = [
    [0.04, '40 ms'],
    [0.9999, '1.0 s'],
    [9.94, '9.9 s'],
    [59.4, '59 s'],
    [200, '3 min 20 s'],
    [7500, '2 h 5 min'],
    [-1, '0 ms'],
    [null, '–'],
  ];
  for (const [seconds, text] of cases) {
    assert.equal(units.formatDuration(seconds), text);
  }
});

test('seconds between times are null where one is missing', () => {
  assert.equal(units.secondsBetween('2026-01-01T00:00:00.000Z', '2026-01-01T00:00:01.500Z'), 1.5);
  assert.equal(units.secondsBetween(null, '2026-01-01T00:00:00Z'), null);
});

test('a long name is cut in the middle to the limit', () => {
  assert.equal(units.shorten('short', 10), 'short');
  const cut = units.shorten(`${'a'.repeat(5000)}END`, 100);
  assert.equal(cut.length, 100);
  assert.match(cut, /^a+…a+END$/);
});

test('numbers in order are said in short', () => {
  for (const [numbers, text] of [
    [[3], '3'],
    [[0, 1], '0, 1'],
    [[4, 5, 6, 7], '4–7'],
    [[0, 2], '0, 2'],
    [[0, 2, 4, 6, 8], '0, 2 … 8'],
    [[0, 1, 5], '0, 1, 5'],
    [[0, 1, 3, 4, 6, 7, 9, 10, 12, 13], '0, 1, 3, 4, 6, 7, 9, 10 and 2 more'],
  ]) {
    assert.equal(units.listInWords(numbers), text);
  }
});

test('where a run ran says what it was not measured on', () => {
  const run = { backend: 'nccl', world_size: 4, nodes: [{ ranks: 2 }, { ranks: 2 }] };
  assert.equal(whereInWords(run), 'nccl · 2 nodes × 2 ranks');
  assert.equal(whereInWords({ ...run, emulated: true }), 'nccl, emulated · 2 nodes × 2 ranks');
  assert.equal(whereInWords({ ...run, backend: 'sim' }), 'simulated · 2 nodes × 2 ranks');
});

test('a change is a percentage, or a ratio where that says more', () => {
  assert.equal(units.formatChange(-0.183), '−18 %');
  assert.equal(units.formatChange(4), '+400 %');
  assert.equal(units.formatChange(188.9), '190x');
  assert.equal(units.formatChange(null), '–');
});
