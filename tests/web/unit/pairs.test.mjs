/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.test.mjs - what each pair of nodes came to, read with little work */
import assert from 'node:assert/strict';
import test from 'node:test';

import { pairsOf, slowPlaces } from '../../../web/js/pairs.mjs';

const NODES = 64;
const RACK = 16;

/* All pairs, each slower the later its second node comes. */
function stateOfAllPairs() {
  const cases = new Map();
  for (let i = 0; i < NODES; i += 1) {
    for (let j = i + 1; j < NODES; j += 1) {
      const at = cases.size + 1;
      cases.set(at, {
        case: at,
        state: 'completed',
        nodes: [`node-${i}`, `node-${j}`],
        headline: { size: 1024, busbw_gbs: 100 - j },
      });
    }
  }
  return { cases, summary: null };
}

test('racks of pairs: the slowest pair stands for each, and each node is asked about once', () => {
  let asked = 0;
  const rackOf = (name) => {
    asked += 1;
    return `rack ${Math.floor(Number(name.slice(5)) / RACK)}`;
  };
  const { names, cells } = pairsOf(stateOfAllPairs(), { rackOf });
  assert.equal(asked, NODES);
  assert.deepEqual(names, ['rack 0', 'rack 1', 'rack 2', 'rack 3']);
  assert.equal(cells.size, 16);
  assert.equal(cells.get('0,1').figure, 100 - 31);
  assert.equal(cells.get('0,1'), cells.get('1,0'));
  assert.equal(cells.get('0,1').of, RACK * RACK);
});

test('of some nodes only their pairs are there', () => {
  const { names } = pairsOf(stateOfAllPairs(), { only: (name) => ['node-3', 'node-9'].includes(name) });
  assert.deepEqual(names, ['node-3', 'node-9']);
});

test('what the verdict names is listed with its counts, and nothing else', () => {
  const counts = { measured: 9, confirming: 2, slow: 8, confirmed: 2, figure: 24, reference: 47 };
  const suspects = [
    { kind: 'node', state: 'guilty', name: 'a', ...counts },
    { kind: 'link', state: 'guilty', name: 'the link between b and c', ...counts },
    { kind: 'node', state: 'open', name: 'd', ...counts },
  ];
  const figures = { figure: 24, reference: 47 };
  assert.deepEqual(slowPlaces({ evidence: { suspects } }), [
    { name: 'a', slow: 6, of: 7, ...figures },
    { name: 'the link between b and c', slow: 8, of: 9, ...figures },
  ]);
  assert.deepEqual(slowPlaces(null), []);
});
