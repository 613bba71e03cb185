/* stream_slots.mjs - how many windows of a browser may stream at once. A browser opens six
 * connections to a server, for all of its windows: with a stream in each of six, none of them
 * could ask for anything else. The windows share a slot for each stream in local storage. */
const SLOTS = 4;
const RENEW_MS = 4000;
/* A window that crashed renews nothing. */
const STALE_MS = 12000;

const nameOf = (slot) => `ringbench-stream-${slot}`;

/* {take()}: the function that releases the slot, or null where all are taken. */
export function streamSlots(storage) {
  return {
    take() {
      try {
        for (let slot = 0; slot < SLOTS; slot += 1) {
          if (Date.now() - Number(storage.getItem(nameOf(slot)) ?? 0) > STALE_MS) {
            return hold(storage, nameOf(slot));
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

function hold(storage, name) {
  const renew = () => storage.setItem(name, String(Date.now()));
  const timer = setInterval(renew, RENEW_MS);
  const release = () => {
    clearInterval(timer);
    removeEventListener('pagehide', release);
    storage.removeItem(name);
  };
  renew();
  addEventListener('pagehide', release);
  return release;
}
