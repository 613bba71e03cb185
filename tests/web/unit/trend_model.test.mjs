/* SPDX-License-Identifier: Apache-2.0 */
/* trend_model.test.mjs - lines, columns and steps of versions as trends draw them */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  buildTrends,
  changeAddress,
  compareAddress,
  trendPanel,
  valueRange,
} from '../../../web/js/trend_model.mjs';

const like = (env = {}) => ({
  backend: 'nccl',
  world_size: 16,
  nodes: { a: 8, b: 8 },
  settings: { iters: 'auto' },
  env,
  series: { redop: 'sum' },
  band: 'bandwidth',
  sizes: { count: 3 },
});
const point = (run, value, more = {}) => ({
  run,
  value,
  low: null,
  high: null,
  created: `2026-01-0${run.slice(1)}T00:00:00.000Z`,
  change: null,
  series: 1,
  like: like(),
  versions: { nccl: '2.26' },
  ...more,
});
const answer = (points, changes = []) => ({ figure: {}, points, changes, next: null });

test('what is alike is a line with the runs of all bands, oldest first', () => {
  const lines = buildTrends([
    answer([point('r4', 4, { series: 5, like: like({ X: '1' }) }), point('r3', 3), point('r1', 1)]),
    answer([point('r2', 2, { series: 2, like: { ...like(), band: 'latency' } })]),
  ]);
  assert.deepEqual(
    lines.map(({ columns }) => columns.map(({ run }) => run)),
    [['r1', 'r2', 'r3'], ['r4']],
  );
  assert.deepEqual(
    lines[0].panels.map(({ points }) => points.map(({ x }) => x)),
    [[0, 2], [1]],
  );
});

test('lines are called by what tells them apart', () => {
  const lines = buildTrends([
    answer([
      point('r1', 1, { like: like({ NCCL_ALGO: 'Ring', X: '1' }) }),
      point('r1', 2, { series: 2, like: { ...like({ NCCL_ALGO: 'Tree', X: '1' }), nodes: { c: 8, d: 8 } } }),
    ]),
  ]);
  assert.deepEqual(
    lines.map(({ label }) => label),
    ['nccl · 2 nodes × 8 ranks · a, b · NCCL_ALGO=Ring', 'nccl · 2 nodes × 8 ranks · c, d · NCCL_ALGO=Tree'],
  );
});

test('a version that changed stands where the first run has it', () => {
  const [
    {
      panels: [panel],
    },
  ] = buildTrends([
    answer([
      point('r3', 3, { versions: { nccl: '2.27' } }),
      point('r2', 2, { versions: { nccl: '2.27' } }),
      point('r1', 1),
    ]),
  ]);
  assert.deepEqual(panel.versions, [{ x: 1, text: 'nccl 2.27' }]);
});

test('a point is compared with the last before its change, or with the baseline', () => {
  const points = [1, 2, 3, 4].map((i) => point(`r${i}`, i));
  const changes = [
    { series: 1, run: 'r3', created: points[2].created, verdict: { evidence: { last_before: 'r2' } } },
    { series: 2, run: 'r1', created: points[0].created, verdict: { evidence: { last_before: 'r0' } } },
    { series: 1, run: null, created: null, verdict: { evidence: {} } },
  ];
  const [
    {
      panels: [panel],
    },
  ] = buildTrends([answer(points.reverse(), changes)]);
  const to = panel.points.map((one) => compareAddress(one, panel.changes));
  assert.deepEqual(to, [
    '/compare?base=baseline&head=r1',
    '/compare?base=baseline&head=r2',
    '/compare?base=r2&head=r3',
    '/compare?base=r2&head=r4',
  ]);
});

test('a change is compared by the nearest runs with cases enough, up to another change', () => {
  const points = [1, 2, 3, 4, 5, 6].map((i) =>
    point(`r${i}`, i, { cases: 4, change: i === 3 || i === 5 ? 0.1 : null }),
  );
  const address = (run) =>
    changeAddress({ run, series: 1, verdict: { evidence: { last_before: 'r0' } } }, points);
  assert.equal(address('r3'), '/compare?base=r2&base=r1&head=r3&head=r4');
  assert.equal(address('r5'), '/compare?base=r4&base=r3&head=r5&head=r6');
  assert.equal(address('r1'), '/compare?base=r0&head=r1', 'what was before is not here');
});

test('of several combinations in a run its own are compared', () => {
  const [one, two] = ['Ring', 'Tree'].map((algo, i) =>
    point('r1', 1, { series: i, like: like({ NCCL_ALGO: algo, UNSET: null }) }),
  );
  const [
    {
      panels: [{ points, changes }],
    },
  ] = buildTrends([answer([one, two])]);
  assert.equal(
    compareAddress(points[0], changes),
    '/compare?base=baseline&head=r1&head_env=NCCL_ALGO%3DRing&head_env=UNSET',
  );
});

test('the axis holds intervals, and a tenth of the value at least', () => {
  const points = [point('r1', 100), point('r2', 100, { low: 80, high: 130 })];
  assert.deepEqual(valueRange(points), [74, 136]);
  assert.deepEqual(valueRange([point('r1', 100)]), [95, 105]);
});

test('a mark stands where the server found a change, and only there', () => {
  const change = (run, answer) => ({ series: 1, run, created: '', verdict: { answer, evidence: {} } });
  const points = [point('r3', 80, { change: -0.2 }), point('r2', 100, { change: 0.002 }), point('r1', 100)];
  const [line] = buildTrends([answer(points, [change('r3', 'worse'), change('r2', 'same')])]);
  assert.equal(line.worst, 0.2);
  const { marks, dates } = trendPanel(line.panels[0], 'Bus bandwidth', line.dates);
  assert.deepEqual(
    marks.map(({ x, text }) => [x, text]),
    [[1.5, '▼ −20 %']],
  );
  assert.equal(dates.length, 3);
});

test('the line with the worst change comes first, however few runs it has', () => {
  const other = { series: 2, like: like({ X: '1' }) };
  const worse = { series: 2, run: 'r2', created: '', verdict: { answer: 'worse', evidence: {} } };
  const lines = buildTrends([
    answer(
      [
        point('r5', 1),
        point('r4', 1),
        point('r3', 1),
        point('r2', 1, { ...other, change: -0.1 }),
        point('r1', 1, other),
      ],
      [worse],
    ),
  ]);
  assert.deepEqual(
    lines.map(({ columns }) => columns.length),
    [2, 3],
  );
});
