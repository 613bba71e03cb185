/* SPDX-License-Identifier: Apache-2.0 */
/* place.mjs - how far a list was scrolled, kept with its entry in the history */
import { debounce } from './timing.mjs';

/* {restore, stop}: `restore` once the list is drawn; only then the place is noted. */
export function keepPlace() {
  let wanted = history.state?.scroll ?? 0;
  const note = () => {
    if (wanted === null) {
      history.replaceState({ ...history.state, scroll: scrollY }, '');
    }
  };
  const later = debounce(note, 150);
  addEventListener('scroll', later);
  /* Whoever leaves by a link does it before the address changes. */
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
