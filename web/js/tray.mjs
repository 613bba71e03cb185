/* tray.mjs - the runs that were chosen to be compared: they stay chosen in this tab, wherever
 * it goes meanwhile */
import { h, setHidden } from './dom.mjs';
import { shorten } from './units.mjs';
import { formatAddress } from './url_state.mjs';

const KEY = 'ringbench-chosen';
const OVERLAY_MAX = 6;

function load() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY)) ?? [];
  } catch {
    return [];
  }
}

/* {element, has(id), toggle(run)}; the first that was chosen is what others are held
 * against. `onChange` is called when a run was taken out here. */
export function buildTray(onChange) {
  let chosen = load();
  const list = h('ol.chips');
  const compare = h('a.button.primary', { href: '/' }, 'Compare');
  const overlay = h('a.button', { href: '/' });
  const swap = h('button.quiet', { on: { click: () => set([...chosen].reverse()) } }, 'Swap');
  const clear = h('button.quiet', { on: { click: () => set([]) } }, 'Choose none');
  const element = h(
    'section.tray',
    { 'aria-label': 'Chosen runs', hidden: true },
    list,
    h('span.actions', swap, overlay, compare, clear),
  );

  function set(next) {
    chosen = next;
    try {
      sessionStorage.setItem(KEY, JSON.stringify(chosen));
    } catch {
      /* Then they stay chosen on this page only. */
    }
    draw();
    onChange();
  }

  function item({ id, name }, i) {
    const without = () => set(chosen.filter((one) => one.id !== id));
    return h(
      'li.chip',
      h('span.muted', i === 0 ? 'base ' : 'head '),
      h('span', { title: name }, shorten(name, 40)),
      h('button.quiet', { 'aria-label': `Leave out ${shorten(name, 80)}`, on: { click: without } }, '✕'),
    );
  }

  function draw() {
    const [base, ...heads] = chosen.map(({ id }) => id);
    list.replaceChildren(...chosen.map(item));
    setHidden(element, chosen.length === 0);
    setHidden(swap, chosen.length !== 2);
    setHidden(compare, chosen.length < 2);
    setHidden(overlay, chosen.length < 2 || chosen.length > OVERLAY_MAX);
    compare.href = `/compare?${new URLSearchParams([['base', base], ...heads.map((id) => ['head', id])])}`;
    overlay.href = formatAddress({ view: 'run', id: base, query: { with: heads } });
    overlay.textContent = `Lay ${chosen.length} runs over one another`;
  }

  draw();
  return {
    element,
    has: (id) => chosen.some((one) => one.id === id),
    toggle({ id, name }) {
      set(
        chosen.some((one) => one.id === id)
          ? chosen.filter((one) => one.id !== id)
          : [...chosen, { id, name: name || id }],
      );
    },
  };
}
