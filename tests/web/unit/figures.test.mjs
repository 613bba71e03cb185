// SPDX-License-Identifier: Apache-2.0
// figures.test.mjs - what a program's ranks print, as a run's state
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bookOf } from '../../../web/js/book.mjs';
import { metricPanels } from '../../../web/js/figures.mjs';
import { parseAddress } from '../../../web/js/url_state.mjs';
import { replay } from '../lib/sample.mjs';

const figure = (id, value, set = {}) => ({
  id,
  type: 'result',
  case: 0,
  attempt: 1,
  metric: 'speed',
  value,
  unit: 'samples/s',
  higher_is_better: true,
  rank: 0,
  ...set,
});

test('figures add up by metric, over all ranks and of rank 0', () => {
  const run = replay([
    figure(1, 4),
    figure(2, -2, { rank: 1 }),
    figure(3, 7, { case: 1 }),
    figure(4, 0.5, { metric: 'loss', unit: '', higher_is_better: false }),
  ]);
  assert.deepEqual([...run.metrics.keys()], ['speed', 'loss']);
  const { all, rank0, higherIsBetter } = run.metrics.get('speed');
  assert.deepEqual(all, { count: 3, sum: 9, last: 7, min: -2, max: 7 });
  assert.deepEqual(rank0, { count: 2, sum: 11, last: 7, min: 4, max: 7 });
  assert.equal(higherIsBetter, true);
  assert.equal(run.metrics.get('loss').higherIsBetter, false);
});

test('figures are no rows of a measurement', () => {
  const run = replay([figure(1, 4)]);
  assert.equal(run.metrics.get('speed').all.count, 1);
  assert.equal(bookOf(run).rows, 0);
});

const view = parseAddress('/runs/a', '').query;
const panelsOf = (events) =>
  metricPanels([{ id: 'a', name: '', mark: '', metrics: replay(events).metrics }], view, 'light');

test('figures of a case are drawn in their order, ranks and repeats as a band', () => {
  const [panel] = panelsOf([
    figure(1, 4),
    figure(2, 6, { rank: 1 }),
    figure(3, 8),
    figure(4, 8, { rank: 1 }),
  ]);
  assert.equal(panel.place, 'figure');
  assert.deepEqual(
    panel.lines[0].points.map((p) => [p.x, p.y, p.lo, p.hi]),
    [
      [1, 5, 4, 6],
      [2, 8, 8, 8],
    ],
  );
});

test('one figure in each case is drawn over the repeats, a line per environment', () => {
  const events = [0, 1, 2, 3].flatMap((number) => [
    {
      id: 2 * number + 1,
      type: 'case',
      case: number,
      attempt: 1,
      state: 'running',
      repeat: number >> 1,
      env: { P2P: String(number % 2) },
    },
    figure(2 * number + 2, 10 + number, { case: number }),
  ]);
  const [panel] = panelsOf(events);
  assert.equal(panel.place, 'repeat');
  assert.deepEqual(
    panel.lines.map((line) => line.label),
    ['P2P=0', 'P2P=1'],
  );
  assert.deepEqual(
    panel.lines[1].points.map((p) => [p.x, p.y]),
    [
      [1, 11],
      [2, 13],
    ],
  );
});

test('a label that is a number is the place, a size by powers of two; others name lines', () => {
  const [panel] = panelsOf([
    figure(1, 1, { labels: { size: 8, dtype: 'half' } }),
    figure(2, 2, { labels: { size: 1024, dtype: 'half' } }),
    figure(3, 3, { labels: { size: 8, dtype: 'float' } }),
  ]);
  assert.equal(panel.isSize, true);
  assert.deepEqual(
    panel.lines.map((line) => line.label),
    ['dtype half', 'dtype float'],
  );
  assert.deepEqual(
    panel.lines[0].points.map((p) => p.x),
    [8, 1024],
  );
});

test('a single figure has nothing to be compared with, and no chart', () => {
  assert.deepEqual(panelsOf([figure(1, 4)]), []);
});
