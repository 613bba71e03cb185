/* SPDX-License-Identifier: Apache-2.0 */
/* theme_boot.js - sets the theme before the first paint, so that a dark page does not flash white.
 * A classic script, because modules run later. */
{
  let theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  try {
    theme = localStorage.getItem('ringbench-theme') ?? theme;
  } catch {
    /* Storage is disabled: use the system's preference. */
  }
  document.documentElement.dataset.theme = theme;
}
