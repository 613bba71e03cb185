/* SPDX-License-Identifier: Apache-2.0 */
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

/* Call `once` now and `ms` after each end, only while the page is visible. Returns a function that
 * ends it. An error that `once` throws is a fault of the page: it is reported, and `once` called
 * again. */
export function poll(once, ms) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let isBusy = false;
  let isStopped = false;

  async function turn() {
    clearTimeout(timer);
    if (isStopped || document.hidden || isBusy) {
      return;
    }
    isBusy = true;
    try {
      await once();
    } catch (error) {
      reportError(error);
    }
    isBusy = false;
    if (!isStopped) {
      timer = setTimeout(turn, ms);
    }
  }

  document.addEventListener('visibilitychange', turn);
  turn();
  return () => {
    isStopped = true;
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', turn);
  };
}
