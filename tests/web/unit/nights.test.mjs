/* SPDX-License-Identifier: Apache-2.0 */
/* nights.test.mjs - the board of nights: which run stands for a day, and which name comes first */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAYS, nightsOf } from '../../../web/js/nights.mjs';

const NOW = new Date(2026, 0, 20, 12).getTime();
const HOUR = 3600 * 1000;
const run = (name, hoursAgo, answer) => ({
  id: `${name}-${hoursAgo}`,
  name,
  created: new Date(NOW - hoursAgo * HOUR).toISOString(),
  verdicts: [{ kind: 'gate', answer, sentence: answer }],
});
const idsOf = ({ nights }) => nights.map((one) => one?.id ?? '').filter(Boolean);

test('a day is the newest run that failed on it, else the newest', () => {
  const runs = [
    run('nightly', 1, 'pass'),
    run('nightly', 2, 'fail'),
    run('nightly', 3, 'fail'),
    run('nightly', 26, 'pass'),
    run('nightly', 27, 'pass'),
  ];
  const { days, rows } = nightsOf(/** @type {any} */ (runs), NOW);
  assert.equal(days.length, DAYS);
  assert.equal(days.at(-1), '2026-01-20');
  assert.deepEqual(rows.map(idsOf), [['nightly-26', 'nightly-2']]);
});

test('a run that failed without a gate is its day', () => {
  const failed = { ...run('nightly', 2, ''), state: 'failed', verdicts: [] };
  const runs = [run('nightly', 1, 'pass'), failed, run('nightly', 26, 'pass')];
  const { rows } = nightsOf(/** @type {any} */ (runs), NOW);
  assert.deepEqual(rows.map(idsOf), [['nightly-26', 'nightly-2']]);
});

test('what failed last comes first; a name with one night or none is no row', () => {
  const runs = [
    run('a', 1, 'pass'),
    run('z', 2, 'fail'),
    run('once', 3, 'fail'),
    run('', 4, 'fail'),
    run('a', 25, 'fail'),
    run('z', 26, 'pass'),
    run('', 27, 'fail'),
  ];
  const { rows } = nightsOf(/** @type {any} */ (runs), NOW);
  assert.deepEqual(
    rows.map(({ name }) => name),
    ['z', 'a'],
  );
});
