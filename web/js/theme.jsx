/* SPDX-License-Identifier: Apache-2.0 */
/* theme.jsx - dark or light: the system's preference until the user chooses */
import { useEffect, useState } from 'preact/hooks';
import { Button } from './ui.jsx';

const KEY = 'ringbench-theme';
const EVENT = 'ringbench-theme';
const dark = matchMedia('(prefers-color-scheme: dark)');
const theme = () => document.documentElement.dataset.theme;

let isChosen = false;
try {
  isChosen = localStorage.getItem(KEY) !== null;
} catch {
  /* Storage is disabled: the choice lasts until the page is closed. */
}

dark.addEventListener('change', () => isChosen || show(dark.matches ? 'dark' : 'light'));

function show(name) {
  document.documentElement.dataset.theme = name;
  window.dispatchEvent(new Event(EVENT));
}

function choose(name) {
  isChosen = true;
  try {
    localStorage.setItem(KEY, name);
  } catch {
    /* Storage is disabled. */
  }
  show(name);
}

/* The name of the current theme. */
export function useTheme() {
  const [name, setName] = useState(theme());
  useEffect(() => {
    const onChange = () => setName(theme());
    window.addEventListener(EVENT, onChange);
    return () => window.removeEventListener(EVENT, onChange);
  }, []);
  return name;
}

export function ThemeSwitch() {
  const other = useTheme() === 'dark' ? 'Light' : 'Dark';
  return (
    <Button class="quiet" aria-label={`${other} theme`} onClick={() => choose(other.toLowerCase())}>
      <span class="theme-glyph" aria-hidden="true" />
      <span class="theme-name">{other}</span>
    </Button>
  );
}
