/* SPDX-License-Identifier: Apache-2.0 */
/* watches.test.mjs - a strip of nights from the sweeps of a watch, and the last level of each node */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { levelInWords, levelsOf, NIGHTS, nightsOf, readWatches } from '../../../web/js/watches.mjs';
import { sampleLevel, sampleWatch } from '../lib/sample.mjs';

const wordsOf = (nights) => nightsOf(sampleWatch(nights)).map(({ word }) => word);

test('nights have a word for each answer, the oldest first', () => {
  const nights = [
    { answer: 'pass' },
    { answer: 'slow_node' },
    { answer: 'slow_link' },
    { answer: 'slow_rack' },
    { answer: 'none' },
    { answer: 'fail' },
    { answer: 'not_evaluated' },
    { answer: 'not_evaluated', measured: 0, runs: [] },
  ];
  assert.deepEqual(wordsOf(nights), [
    'missed',
    'not evaluated',
    'fail',
    'slow',
    'slow',
    'slow',
    'slow',
    'pass',
  ]);
});

test('due times that were skipped are nights before the one that made up for them', () => {
  assert.deepEqual(wordsOf([{ answer: 'pass', skipped: 2 }, { answer: 'fail' }]), [
    'fail',
    'missed',
    'missed',
    'pass',
  ]);
  const many = wordsOf([{ answer: 'pass', skipped: 1e6 }, { answer: 'fail' }]);
  assert.equal(many.length, NIGHTS);
  assert.deepEqual([many[0], many.at(-1)], ['missed', 'pass']);
});

test('a night leads to the run that named somebody, else to its only run, else to a list', () => {
  const named = [{ answer: 'slow_node', nodes: ['node-7'], sentence: '', run: 'pairs' }];
  const nights = nightsOf(
    sampleWatch([
      { answer: 'slow_node', runs: ['all', 'pairs', 'others'], named },
      { answer: 'pass' },
      { answer: 'pass', runs: ['all', 'others'] },
      { answer: 'not_evaluated', measured: 0, runs: [] },
    ]),
  );
  const [missed, several, one, slow] = nights.map(({ address }) => address);
  assert.deepEqual([missed, one, slow], [null, '/runs/run-1', '/runs/pairs']);
  const list = new URL(several, 'http://x').searchParams;
  assert.equal(list.get('label'), 'watch=1ngc13d9jrqf');
  assert.equal(list.get('since'), new Date('2026-01-28T12:00:00Z').toLocaleDateString('sv'));
  assert.equal(list.get('until'), list.get('since'));
});

test('the level of a node is the one measured last, of whatever watch', () => {
  const levels = levelsOf([
    sampleWatch([], { nodes: [sampleLevel('a', 45, 9), sampleLevel('b', 44, 1), sampleLevel('c', null, 1)] }),
    sampleWatch([], {
      spec: { backend: 'sim' },
      nodes: [sampleLevel('a', 40, 2), sampleLevel('b', 41, 3), sampleLevel('b', null, 0)],
    }),
  ]);
  assert.deepEqual(
    [...levels].map(([name, { level, unreal }]) => [name, level, unreal]),
    [
      ['a', 40, 'simulated'],
      ['b', 44, null],
    ],
  );
});

test('a watch is read again only when a run of it has ended', async () => {
  let runs = 1;
  const asked = [];
  const api = {
    watches: async () => ({
      watches: [sampleWatch([], { counts: { runs } }), sampleWatch([], { id: 'idle' })],
    }),
    watch: async (id) => {
      asked.push(id);
      return sampleWatch([], { id, counts: id === 'idle' ? {} : { runs } });
    },
  };
  const known = new Map();
  assert.deepEqual(
    (await readWatches(api, known)).map(({ id }) => id),
    ['1ngc13d9jrqf', 'idle'],
  );
  await readWatches(api, known);
  runs = 2;
  await readWatches(api, known);
  assert.deepEqual(asked, ['1ngc13d9jrqf', 'idle', '1ngc13d9jrqf']);
});

test('a watch that was deleted between the list and its own answer is left out', async () => {
  const gone = Object.assign(new Error('no such watch'), { status: 404 });
  const api = {
    watches: async () => ({ watches: [sampleWatch([], { id: 'here' }), sampleWatch([], { id: 'gone' })] }),
    watch: async (id) => (id === 'gone' ? Promise.reject(gone) : sampleWatch([], { id })),
  };
  assert.deepEqual(
    (await readWatches(api, new Map())).map(({ id }) => id),
    ['here'],
  );
  gone.status = 500;
  await assert.rejects(readWatches(api, new Map()), /no such watch/);
});

test('the time of a level is that of the run that had one', () => {
  const pairs = { measured: '2030-01-01T00:00:00.000Z', run: 'pairs' };
  const levels = levelsOf([
    sampleWatch([], { nodes: [sampleLevel('a', 45, 9, pairs)] }),
    sampleWatch([], { nodes: [sampleLevel('a', 40, 2)] }),
  ]);
  assert.equal(levels.get('a').level, 40);
});

test('a level is slower below its range, or above that of a time', () => {
  const isSlower = (figure, level, low = 43.9, high = 46.2) =>
    levelInWords({ figure, level, low, high }).isSlower;
  assert.deepEqual(
    [38.1, 45, 47].map((level) => isSlower('busbw_gbs', level)),
    [true, false, false],
  );
  assert.deepEqual(
    [38.1, 45, 47].map((level) => isSlower('time_us', level)),
    [false, false, true],
  );
  assert.equal(isSlower('busbw_gbs', 38.1, null, null), false);
  assert.match(levelInWords(sampleLevel('a', 38.1, 0)).usual, /\b43\.9 .*\b46\.2$/);
});
