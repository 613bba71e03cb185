/* SPDX-License-Identifier: Apache-2.0 */
/* Windows that take a slot in the same instant. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { streamSlots } from '../../../web/js/stream_slots.mjs';

Object.assign(globalThis, { addEventListener() {}, removeEventListener() {} });

/* Local storage as windows have it: `sync()` is when their writes reach each other. */
function windows(count) {
  const written = [];
  const stores = Array.from({ length: count }, () => new Map());
  const views = stores.map((own, window) => ({
    getItem: (key) => own.get(key) ?? null,
    setItem(key, value) {
      own.set(key, value);
      written.push({ window, act: (store) => store.set(key, value) });
    },
    removeItem(key) {
      own.delete(key);
      written.push({ window, act: (store) => store.delete(key) });
    },
  }));
  const sync = () => written.splice(0).forEach(({ act }) => stores.forEach(act));
  return { slots: views.map(streamSlots), sync, taken: () => [...stores[0].keys()] };
}

const stopClock = (t) => t.mock.timers.enable({ apis: ['setInterval', 'Date'], now: 1e12 });

test('four windows stream, the fifth one polls until one releases its slot', (t) => {
  stopClock(t);
  const { slots, sync } = windows(5);
  const releases = slots.map(({ take }) => {
    const release = take(assert.fail);
    sync();
    return release;
  });
  assert.equal(releases[4], null);
  releases[2]();
  sync();
  assert.ok(slots[4].take(assert.fail));
});

test('of two windows that take one slot in the same instant, one is told that it lost it', (t) => {
  stopClock(t);
  const owners = [0.25, 0.5];
  const { slots, sync, taken } = windows(2);
  const lost = [];
  slots.forEach(({ take }, i) => {
    /* The first number is for the slot, the second one names the owner. */
    const numbers = [0, owners[i]];
    t.mock.method(Math, 'random', () => numbers.shift());
    take(() => lost.push(i));
  });
  sync();
  assert.equal(taken().length, 1);
  t.mock.timers.tick(2000);
  sync();
  assert.deepEqual(lost, [0]);
  assert.equal(taken().length, 1);
});
