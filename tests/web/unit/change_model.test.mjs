/* SPDX-License-Identifier: Apache-2.0 */
/* change_model.test.mjs - a comparison's changes by size as a panel: signs, crossing, settings */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changePanel } from '../../../web/js/change_model.mjs';
import { combinationsOf, pairsOf } from '../../../web/js/matrix.mjs';

const size = (bytes, change, more = {}) => ({
  series: 'all_reduce float32 sum',
  figure: 'busbw_gbs',
  in_place: false,
  size: bytes,
  change,
  interval: [change - 0.01, change + 0.01],
  ...more,
});
const answer = (sizes) => ({
  sizes,
  verdict: {
    evidence: {
      margin: 0.02,
      bands: [
        { series: 'all_reduce float32 sum', figure: 'busbw_gbs', higher_is_better: true },
        { series: 'all_reduce float32 sum', figure: 'time_us', higher_is_better: false },
      ],
    },
  },
});
const MIB = 1 << 20;

test('settings that cross have a mark between the last sure size and the next', () => {
  const panel = changePanel(
    answer([size(4 * MIB, 0.65), size(64 * MIB, 0.025), size(128 * MIB, 0.007), size(256 * MIB, -0.038)]),
    [],
    'light',
  );
  assert.deepEqual(
    panel.marks.map(({ text }) => text),
    ['crosses between 64M and 256M'],
  );
  assert.ok(panel.y[0] < -3.8 && panel.y[1] > 66);
});

test('no mark stands where nothing crosses, nor where nobody can be sure', () => {
  const sure = [size(4 * MIB, 0.1), size(8 * MIB, 0.05)];
  assert.deepEqual(changePanel(answer(sure), [], 'light').marks, []);
  const unsure = [...sure, size(16 * MIB, -0.005)];
  assert.deepEqual(changePanel(answer(unsure), [], 'light').marks, []);
});

test('better is up, of a time too, and in place is hidden until asked for', () => {
  const panel = (flipped) =>
    changePanel(
      answer([
        size(8, -0.3, { figure: 'time_us', interval: [-0.4, -0.2] }),
        size(16, -0.3, { figure: 'time_us', interval: [-0.4, -0.2] }),
        size(8, 0.1, { in_place: true }),
        size(16, 0.1, { in_place: true }),
      ]),
      flipped,
      'light',
    );
  const [out, inside] = panel([]).lines;
  assert.deepEqual(out.points[0].bar, [20, 40]);
  assert.equal(out.points[0].y, 30);
  assert.deepEqual([out.hidden, inside.hidden], [false, true]);
  assert.equal(panel([inside.key]).lines[1].hidden, false);
  assert.equal(changePanel(answer([size(8, 0.1)]), [], 'light'), null);
});

test('a matrix offers the pairs that differ in one variable', () => {
  const spec = { matrix: { NCCL_ALGO: ['Ring', 'Tree'], NCCL_PROTO: ['LL', null] } };
  assert.equal(combinationsOf(spec).length, 4);
  assert.deepEqual(
    pairsOf(spec).map(({ label }) => label),
    ['NCCL_PROTO=LL and NCCL_PROTO unset', 'NCCL_ALGO=Ring and Tree'],
  );
  assert.deepEqual(pairsOf({}), []);
});
