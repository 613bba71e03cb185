/* book.test.mjs - rows made into lines and table rows, one by one */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Book, bookOf } from '../../../web/js/book.mjs';
import { applyEvents, newRunState } from '../../../web/js/events.mjs';
import { replay, sampleRow, sampleRun, stateWith } from '../lib/sample.mjs';

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
  const table = bookOf(stateWith(rows.reverse())).table();
  assert.deepEqual(
    table.map((entry) => entry.size),
    [8, 16],
  );
  assert.equal(table[0].out.rows[0].row, 0);
  assert.equal(table[0].in.rows[0].row, 1);
});

test('repeats of a row share a table row; sizes that round to the same one do not', () => {
  const rows = [
    row({ row: 0, size: 16 }),
    row({ row: 1, size: 16 }),
    { ...row({ row: 0, size: 16 }), case: 1 },
  ];
  const table = bookOf(stateWith(rows)).table();
  assert.equal(table.length, 2);
  assert.deepEqual(
    table.map((entry) => entry.out.repeats),
    [2, 1],
  );
});

test('wrong elements are counted in full and named up to a limit', () => {
  const errors = Array.from({ length: 12 }, (_, index) => ({ rank: 1, index, expected: '6', got: '5' }));
  const rows = [{ ...row({ size: 8 }), wrong: 100, errors }, row({ row: 1, size: 16 })];
  const found = bookOf(stateWith(rows)).wrong;
  assert.deepEqual([found.total, found.rows, found.named.length], [100, 1, 8]);
  assert.equal(found.named[0].row.size, 8);
});

test('rows that come one by one make what they make together', () => {
  const { events } = sampleRun({ sizes: [8, 16, 32], repeats: 3 });
  const state = newRunState();
  const grown = new Book();
  for (const event of events) {
    applyEvents(state, [event]);
    grown.take(state);
  }
  const whole = bookOf(replay(events));
  const figures = (book) => book.table().map(({ out, in: inside }) => [out, inside]);
  assert.deepEqual(figures(grown), figures(whole));
  assert.deepEqual(
    [...grown.lines.values()].map((line) => line.points),
    [...whole.lines.values()].map((line) => line.points),
  );
  assert.equal(grown.rows, 18);
});

test('a case that begins afresh takes its rows back', () => {
  const { events } = sampleRun({ sizes: [8] });
  const end = events.findLastIndex((event) => event.type === 'result') + 1;
  const state = replay(events.slice(0, end));
  assert.equal(bookOf(state).rows, 2);
  const { id } = events[end - 1];
  applyEvents(state, [
    { id: id + 1, type: 'case', case: 0, attempt: 2, state: 'rendezvous', repeat: 0 },
    { id: id + 2, type: 'result', case: 0, attempt: 2, ...sampleRow({ row: 0, size: 64 }) },
  ]);
  assert.deepEqual(
    bookOf(state)
      .table()
      .map((entry) => entry.size),
    [64],
  );
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
  assert.equal(book.table()[0].out.repeats, 2);
});

test('a case by itself has its rows only', () => {
  const state = replay(sampleRun({ sizes: [8, 16], repeats: 2 }).events);
  assert.equal(bookOf(state, 1).rows, 4);
  assert.equal(bookOf(state, 1).table()[0].out.rows[0].case, 1);
});

test('groups of a split are lines and table rows of their own', () => {
  const rows = [0, 1].map((group) => ({ ...row({ row: group, size: 8 }), group }));
  const book = bookOf(stateWith(rows));
  assert.deepEqual(
    [...book.lines.values()].map((line) => line.label.split(' · ').at(-1)),
    ['group 0', 'group 1'],
  );
  assert.equal(book.table().length, 2);
});

test('one more row in a run of many reads none of those before it', () => {
  const { events } = sampleRun({ sizes: Array.from({ length: 2000 }, (_, i) => 8 * (i + 1)) });
  const state = newRunState();
  let reads = 0;
  applyEvents(state, events.slice(0, -20));
  bookOf(state);
  for (const row of state.rowList) {
    for (const name of ['size', 'time_us', 'busbw_gbs']) {
      const value = row[name];
      Object.defineProperty(row, name, {
        get: () => {
          reads += 1;
          return value;
        },
      });
    }
  }
  const before = state.rowList.length;
  applyEvents(state, events.slice(-20));
  const book = bookOf(state);
  assert.ok(state.rowList.length > before);
  assert.equal(book.rows, state.rowList.length);
  assert.equal(reads, 0);
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
    book.table().map((entry) => entry.members),
    state.groups,
  );
});
