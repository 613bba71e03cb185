/* poll.mjs - repeat a request while the page is looked at */

/* Call `once` now and `ms` after each end, only while the page is visible. Returns
 * {again, stop}. Errors are the caller's: one that `once` throws is a fault of the page. It
 * is reported, and `once` called again. */
export function poll(once, ms) {
  let timer = null;
  let busy = false;
  let asked = false;
  let stopped = false;

  async function turn() {
    clearTimeout(timer);
    if (stopped || document.hidden) {
      return;
    }
    if (busy) {
      asked = true;
      return;
    }
    busy = true;
    asked = false;
    try {
      await once();
    } catch (error) {
      reportError(error);
    }
    busy = false;
    if (!stopped) {
      timer = setTimeout(turn, asked ? 0 : ms);
    }
  }

  document.addEventListener('visibilitychange', turn);
  turn();
  return {
    again: turn,
    stop() {
      stopped = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', turn);
    },
  };
}
