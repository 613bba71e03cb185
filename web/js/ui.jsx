/* ui.jsx - what views draw with: preact, which writes text as text, never as markup */
import { options, render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { seen } from './dom.mjs';
import { poll } from './poll.mjs';
import { onTheme, theme } from './theme.mjs';

/* Invisible characters are written out, wherever a view puts a text. */
const before = options.vnode;
options.vnode = (vnode) => {
  if (vnode.type === null) {
    vnode.props = seen(vnode.props);
  } else if (typeof vnode.type === 'string') {
    for (const name of ['title', 'aria-label']) {
      if (typeof vnode.props[name] === 'string') {
        vnode.props[name] = seen(vnode.props[name]);
      }
    }
  }
  before?.(vnode);
};

/* A component as a view of main.mjs: {update, destroy}. Its props are the app, the route's id
 * and its query. */
export const asView = (Component) => (root, app, route) => {
  const draw = (query) => render(<Component app={app} id={route.id} query={query} />, root);
  draw(route.query);
  return { update: draw, destroy: () => render(null, root) };
};

/* A component for a view that is none: {element, update(props), destroy}. */
export function asPart(Component) {
  const element = document.createElement('div');
  element.className = 'part';
  return {
    element,
    update: (props) => render(<Component {...props} />, element),
    destroy: () => render(null, element),
  };
}

/* The name of the theme, as it changes. */
export function useTheme() {
  const [name, setName] = useState(theme());
  useEffect(() => onTheme(() => setName(theme())), []);
  return name;
}

/* Call `once(isCurrent)` now and `ms` after each end while the page is visible, anew when
 * `inputs` change: isCurrent() is false once they have. */
export function usePoll(once, ms, inputs) {
  const latest = useRef(once);
  latest.current = once;
  useEffect(() => {
    let isCurrent = true;
    const { stop } = poll(() => latest.current(() => isCurrent), ms);
    return () => {
      isCurrent = false;
      stop();
    };
  }, inputs);
}

export const flipped = (keys, key) =>
  keys.includes(key) ? keys.filter((one) => one !== key) : [...keys, key];

/* One of a few: buttons that behave as radio buttons. `options` are [value, text, title]. */
export const Switcher = ({ label, options, value, onChange }) => (
  <div class="switcher" role="group" aria-label={label}>
    {options.map(([one, text, title]) => (
      <button
        type="button"
        key={one}
        title={title}
        aria-pressed={String(one === value)}
        onClick={() => onChange(one)}
      >
        {text}
      </button>
    ))}
  </div>
);

/* A problem to be read at once. */
export const Alert = ({ tone, title, children }) => (
  <div class={`alert ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
    <strong>{title}</strong>
    {children}
  </div>
);
