/* SPDX-License-Identifier: Apache-2.0 */
/* timing.mjs - delays, limits and repeats calls */

export function debounce(call, ms) {
  let timer = null;
  const later = (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...args), ms);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

/* Limit `call` to thirty times a second. The last request is never lost. */
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

/* Call `once` now and `ms` after each completion, only while the page is visible. Returns a
 * function that stops the polling. An exception in `once` is reported as a page error, and polling
 * continues. */
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
