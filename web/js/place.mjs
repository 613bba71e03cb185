/* SPDX-License-Identifier: Apache-2.0 */
/* place.mjs - keeps a list's scroll position in the browser's history */
import { debounce } from './timing.mjs';

/* {restore, stop}. Call `restore` once the list is drawn. Positions are saved only after that. */
export function keepPlace() {
  let wanted = history.state?.scroll ?? 0;
  const note = () => {
    if (wanted === null) {
      history.replaceState({ ...history.state, scroll: scrollY }, '');
    }
  };
  const later = debounce(note, 150);
  addEventListener('scroll', later);
  /* Save before a clicked link changes the address. */
  document.addEventListener('click', note, true);
  return {
    restore() {
      if (wanted !== null) {
        scrollTo(0, wanted);
        wanted = null;
      }
    },
    stop() {
      later.cancel();
      removeEventListener('scroll', later);
      document.removeEventListener('click', note, true);
    },
  };
}
