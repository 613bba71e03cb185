/* SPDX-License-Identifier: Apache-2.0 */
/* tray.jsx - shows the runs selected for a comparison. The selection is kept for the browser
 * tab. */
import { useState } from 'preact/hooks';
import { shorten } from './units.mjs';
import { formatAddress } from './url_state.mjs';
import { Button } from './ui.jsx';

const KEY = 'ringbench-chosen';
const OVERLAY_MAX = 6;

function load() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY)) ?? [];
  } catch {
    return [];
  }
}

/* {selected, toggle(run), set}. The first selected run is the base of a comparison. */
export function useTray() {
  const [selected, setSelected] = useState(load);
  const set = (next) => {
    setSelected(next);
    try {
      sessionStorage.setItem(KEY, JSON.stringify(next));
    } catch {
      /* Storage is disabled: the selection lasts until the page is left. */
    }
  };
  const toggle = ({ id, name }) =>
    set(
      selected.some((one) => one.id === id)
        ? selected.filter((one) => one.id !== id)
        : [...selected, { id, name: name || id }],
    );
  return { selected, toggle, set };
}

export function Tray({ tray: { selected, toggle, set } }) {
  const [base, ...heads] = selected.map(({ id }) => id);
  if (selected.length === 0) {
    return null;
  }
  return (
    <section class="tray" aria-label="Selected runs">
      <ol class="chips">
        {selected.map((run, i) => (
          <li key={run.id} class="chip">
            <span class="muted">{i === 0 ? 'base ' : 'head '}</span>
            <span title={run.name}>{shorten(run.name, 40)}</span>
            <Button
              class="quiet"
              aria-label={`Deselect ${shorten(run.name, 80)}`}
              onClick={() => toggle(run)}
            >
              ✕
            </Button>
          </li>
        ))}
      </ol>
      <span class="actions">
        {selected.length === 2 && (
          <Button class="quiet" onClick={() => set([...selected].reverse())}>
            Swap
          </Button>
        )}
        {heads.length > 0 && selected.length <= OVERLAY_MAX && (
          <a class="button" href={formatAddress({ view: 'run', id: base, query: { with: heads } })}>
            Overlay {selected.length} runs
          </a>
        )}
        {heads.length > 0 && (
          <a
            class="button primary"
            href={`/compare?${new URLSearchParams([['base', base], ...heads.map((id) => ['head', id])])}`}
          >
            Compare
          </a>
        )}
        <Button class="quiet" onClick={() => set([])}>
          Clear selection
        </Button>
      </span>
    </section>
  );
}
