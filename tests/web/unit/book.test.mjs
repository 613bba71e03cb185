/* SPDX-License-Identifier: Apache-2.0 */
/* book.test.mjs - rows made into lines and table rows, one by one */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bookOf } from '../../../web/js/book.mjs';
import { applySummary, mergeSummary } from '../../../web/js/summary.mjs';
import { replay, sampleRow, sampleRun, stateWith } from '../lib/sample.mjs';
import { summaryOf } from '../lib/summary_of.mjs';

const row = (options) => ({ case: 0, attempt: 1, ...sampleRow({ row: 0, series: 0, ...options }) });

test('a series has its points by size, whatever the order in which they came', () => {
  const rows = [64, 8, 16].map((size, i) => row({ row: i, size }));
  const all = [...rows, row({ row: 3, size: 8, inPlace: true })];
  const series = [...bookOf(stateWith(all)).lines.values()];
  assert.equal(series.length, 2);
  assert.deepEqual(
    series[0].points.map((p) => p.size),
    [8, 16, 64],
  );
  assert.equal(series[0].label, 'all_reduce · float32 · sum');
  assert.equal(series[1].inPlace, true);
  assert.equal(series[0].lineKey, series[1].lineKey);
});

test('the table pairs both placements of a size, in the order of measuring', () => {
  const rows = [8, 16].flatMap((size, i) => [
    row({ row: 2 * i, size }),
    row({ row: 2 * i + 1, size, inPlace: true }),
  ]);
  const table = bookOf(stateWith(rows.reverse())).table;
  assert.deepEqual(
    table.map((entry) => [entry.size, entry.count, entry.out.repeats, entry.in.repeats]),
    [8, 16].map((size) => [size, size / 4, 1, 1]),
  );
});

test('repeats of a row share a table row', () => {
  const rows = [0, 1].map((number) => ({ ...row({ row: 0, size: 16 }), case: number }));
  const table = bookOf(stateWith(rows)).table;
  assert.deepEqual(
    table.map((entry) => entry.out.repeats),
    [2],
  );
});

test('wrong elements are counted, with the sizes that have them', () => {
  const rows = [{ ...row({ size: 8 }), wrong: 100 }, row({ row: 1, size: 16 })];
  const { total, points } = bookOf(stateWith(rows)).wrong;
  assert.deepEqual([total, points], [100, [{ series: 0, size: 8 }]]);
});

const shownOf = (state) => bookOf(state).table.map(({ size, out, in: inside }) => [size, out, inside]);

test('summaries that come in pieces make what one makes', () => {
  const { events } = sampleRun({ sizes: [8, 16, 32], repeats: 3 });
  let known = null;
  for (let end = 1; end <= events.length; end += 5) {
    const whole = summaryOf(events.slice(0, end));
    const before = new Set(
      known?.series.flatMap(({ points }) => points.map((point) => JSON.stringify(point))),
    );
    const isNew = (point) => !before.has(JSON.stringify(point));
    const series = whole.series
      .map((one) => ({ ...one, points: one.points.filter(isNew) }))
      .filter(({ points }) => points.length > 0);
    known = mergeSummary(known, known ? { ...whole, series } : { ...whole, whole: true });
    assert.deepEqual(known.series, whole.series);
  }
  const state = replay(events);
  applySummary(state, mergeSummary(known, { ...summaryOf(events), whole: true }));
  assert.deepEqual(shownOf(state), shownOf(replay(events)));
  assert.equal(bookOf(state).rows, 18);
});

test('cases that differ by environment are lines of their own; repeats are not', () => {
  const { events } = sampleRun({ sizes: [8, 16], repeats: 4 });
  const set = events.map((event) =>
    event.type === 'case' ? { ...event, env: { P2P: event.case % 2 ? '1' : null } } : event,
  );
  const book = bookOf(replay(set));
  assert.deepEqual(
    [...new Set([...book.lines.values()].map((line) => line.label))],
    ['all_reduce · float32 · sum · P2P unset', 'all_reduce · float32 · sum · P2P=1'],
  );
  assert.equal(book.table[0].out.repeats, 2);
});

test('a case by itself has its rows only', () => {
  const state = replay(sampleRun({ sizes: [8, 16], repeats: 2 }).events);
  assert.equal(bookOf(state, 1).rows, 4);
  assert.equal(bookOf(state, 1).table[0].out.repeats, 1);
});

test('groups of a split are lines and table rows of their own', () => {
  const rows = [0, 1].map((group) => ({ ...row({ row: group, size: 8 }), group }));
  const book = bookOf(stateWith(rows));
  assert.deepEqual(
    [...book.lines.values()].map((line) => line.label.split(' · ').at(-1)),
    ['group 0', 'group 1'],
  );
  assert.equal(book.table.length, 2);
});

test('rows of a group name its ranks', () => {
  const state = stateWith(
    [row({ size: 8 }), row({ row: 1, size: 16 })].map((one, group) => ({ ...one, group })),
  );
  state.groups = [
    [0, 2],
    [1, 3],
  ];
  const book = bookOf(state);
  assert.deepEqual(
    [...book.lines.values()].map((line) => line.label.split(' · ').pop()),
    ['group 0 (ranks 0, 2)', 'group 1 (ranks 1, 3)'],
  );
  assert.deepEqual(
    book.table.map((entry) => entry.members),
    state.groups,
  );
});
