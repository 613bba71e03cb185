/* SPDX-License-Identifier: Apache-2.0 */
/* vectors.test.mjs - the page computes what the server computes: tests/vectors is run by
 * the C units, too */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { bookOf, headlineOfCases } from '../../../web/js/book.mjs';
import { busFactor, median } from '../../../web/js/stats.mjs';
import { formatBandwidth, formatSize, parseSize } from '../../../web/js/units.mjs';
import { sampleRow, stateWith } from '../lib/sample.mjs';
import { pointOf } from '../lib/summary_of.mjs';

const vectors = (name) =>
  JSON.parse(readFileSync(new URL(`../../vectors/${name}.json`, import.meta.url), 'utf8'));

test('bus factors come from the facts that the server gives', () => {
  const { served, factors } = vectors('collectives');
  assert.equal(factors.length, served.collectives.length);
  for (const { collective, at } of factors) {
    const facts = served.collectives.find(({ name }) => name === collective);
    for (const [n, factor] of at) {
      assert.ok(Math.abs(busFactor(facts, n) - factor) < 1e-12, `${collective} of ${n}`);
    }
  }
});

/* Of a run, or shown side by side, or all that one of the others says. */
const tellsNoLinesApart = ['series', 'in_place', 'simulated', 'emulated', 'imported', 'ranks_per_gpu'];

test('what sets rows apart for the server sets lines of a plot apart', () => {
  const row = { case: 0, attempt: 1, ...sampleRow({ row: 0, series: 0, size: 8 }) };
  for (const key of vectors('row_keys').keys) {
    const other = { ...row, row: 1, [key]: 'another' };
    const keys = [...bookOf(stateWith([row, other])).lines.values()].map((line) => line.lineKey);
    const wanted = tellsNoLinesApart.includes(key) ? 1 : 2;
    assert.equal(new Set(keys).size, wanted, key);
  }
});

test('sizes are read and written alike', () => {
  const { read, refused, written } = vectors('sizes');
  read.forEach(([text, bytes]) => assert.equal(parseSize(text), bytes, text));
  refused.forEach((text) => assert.equal(parseSize(text), null, text));
  for (const [bytes, text] of written) {
    assert.equal(formatSize(bytes), text);
    assert.equal(parseSize(text), bytes);
  }
});

test('medians are the middle', () => {
  for (const [values, middle] of vectors('aggregates').medians) {
    assert.ok(Math.abs(median(values) - middle) < 1e-12);
  }
});

test('the headline is of the largest size of the first series', () => {
  for (const { rows, why, size, busbw_gbs: gbs, text } of vectors('aggregates').headlines) {
    const found = headlineOfCases(
      stateWith(
        rows.map(([series, bytes, busbw], row) => ({
          ...sampleRow({ row, series, size: bytes, inPlace: series === 1 }),
          busbw_gbs: busbw,
        })),
      ),
    ).get(0);
    assert.deepEqual([found.size, found.busbw_gbs], [size, gbs], why);
    const said = `${formatBandwidth(found.busbw_gbs)} GB/s at ${formatSize(found.size)}`;
    assert.equal(said, text, why);
  }
});

/* So that tests of pages see what a server would show. */
test('points are the same, whether the stand-in or the server made them', () => {
  const near = (got, wanted, why) => {
    if (typeof wanted === 'number') {
      assert.ok(Math.abs(got - wanted) < 1e-9, `${why}: ${got} is not ${wanted}`);
    } else if (wanted && typeof wanted === 'object') {
      Object.keys(wanted).forEach((key) => near(got[key], wanted[key], `${why}: ${key}`));
    } else {
      assert.equal(got, wanted, why);
    }
  };
  for (const { rows, point, why } of vectors('aggregates').points) {
    const own = pointOf(rows.map((row) => ({ size: 8, ...row })));
    near(own, { ...point, size: own.size, row: own.row, event: own.event, count: own.count }, why);
  }
});
