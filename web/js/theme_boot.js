/* SPDX-License-Identifier: Apache-2.0 */
/* theme_boot.js - a classic script, run before the first paint, so that a dark page does
 * not flash in the light one's colours */
{
  let theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  try {
    theme = localStorage.getItem('ringbench-theme') ?? theme;
  } catch {
    /* storage is switched off: the system's preference holds */
  }
  document.documentElement.dataset.theme = theme;
}
