/* SPDX-License-Identifier: Apache-2.0 */
/* stream_slots.mjs - limits the number of event streams per browser. A browser opens six
 * connections to a server for all its windows. Six streams would block every other request. The
 * windows share slots in local storage. */
const SLOTS = 4;
const RENEW_MS = 2000;
/* A slot expires after this time, since a crashed window does not renew it. */
const STALE_MS = 12000;

const nameOf = (slot) => `ringbench-stream-${slot % SLOTS}`;

/* {take(onLost)}. `take` returns a function that releases the slot, or null if all slots are taken.
 * If two windows take a slot at the same time, the last writer owns it. `onLost` is called in the
 * other window. */
export function streamSlots(storage) {
  return {
    take(onLost) {
      try {
        const first = Math.floor(Math.random() * SLOTS);
        for (let slot = first; slot < first + SLOTS; slot += 1) {
          if (Date.now() - (Number.parseInt(storage.getItem(nameOf(slot)), 10) || 0) > STALE_MS) {
            return hold(storage, nameOf(slot), onLost);
          }
        }
        return null;
      } catch {
        /* Storage is disabled: do not limit streams. */
        return () => {};
      }
    },
  };
}

function hold(storage, name, onLost) {
  const owner = Math.random().toString(36);
  const isMine = () => storage.getItem(name)?.endsWith(` ${owner}`);
  const renew = () => storage.setItem(name, `${Date.now()} ${owner}`);
  const timer = setInterval(() => {
    if (isMine()) {
      renew();
    } else {
      release();
      onLost();
    }
  }, RENEW_MS);
  const release = () => {
    clearInterval(timer);
    removeEventListener('pagehide', release);
    if (isMine()) {
      storage.removeItem(name);
    }
  };
  renew();
  addEventListener('pagehide', release);
  return release;
}
