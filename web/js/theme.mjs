/* theme.mjs - dark or light: the system's preference until the person says otherwise */
import { h, setText } from './dom.mjs';

const KEY = 'ringbench-theme';
const dark = matchMedia('(prefers-color-scheme: dark)');

export const theme = () => document.documentElement.dataset.theme;

let chosen = null;
try {
  chosen = localStorage.getItem(KEY);
} catch {
  /* storage is switched off: a choice lasts as long as the page */
}

/* Tell `listener` of every change; returns the function that ends it. */
export function onTheme(listener) {
  window.addEventListener('ringbench-theme', listener);
  return () => window.removeEventListener('ringbench-theme', listener);
}

dark.addEventListener('change', () => {
  if (chosen === null) {
    show(dark.matches ? 'dark' : 'light');
  }
});

function show(name) {
  document.documentElement.dataset.theme = name;
  window.dispatchEvent(new Event('ringbench-theme'));
}

function choose(name) {
  chosen = name;
  try {
    localStorage.setItem(KEY, name);
  } catch {
    /* storage is switched off */
  }
  show(name);
}

export function themeSwitch() {
  const label = h('span.theme-name');
  const button = h(
    'button.quiet',
    { on: { click: () => choose(theme() === 'dark' ? 'light' : 'dark') } },
    h('span.theme-glyph', { 'aria-hidden': 'true' }),
    label,
  );
  const name = () => {
    const other = theme() === 'dark' ? 'Light' : 'Dark';
    setText(label, other);
    button.setAttribute('aria-label', `${other} theme`);
  };
  onTheme(name);
  name();
  return button;
}
