/* SPDX-License-Identifier: Apache-2.0 */
/* stream_slots.mjs - how many windows of a browser may stream at once. A browser opens six
 * connections to a server, for all of its windows: with a stream in each of six, none of them
 * could ask for anything else. The windows share a slot for each stream in local storage. */
const SLOTS = 4;
const RENEW_MS = 2000;
/* A window that crashed renews nothing. */
const STALE_MS = 12000;

const nameOf = (slot) => `ringbench-stream-${slot % SLOTS}`;

/* {take(onLost)}: the function that releases the slot, or null where all are taken. Two windows
 * that take one slot in the same instant don't see each other: the one that wrote last has it,
 * and the other is told so by `onLost`. */
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
        /* storage is switched off */
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
