/* timing.mjs - calls that are delayed, limited in rate, or repeated */

export function debounce(call, ms) {
  let timer = null;
  const later = (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...args), ms);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

/* Call soon, and at most thirty times a second, however often asked. */
export function paced(call) {
  /** @type {ReturnType<typeof setTimeout> | 0} */
  let timer = 0;
  const ask = () => {
    timer ||= setTimeout(() => {
      timer = 0;
      call();
    }, 33);
  };
  ask.cancel = () => clearTimeout(timer);
  return ask;
}

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
