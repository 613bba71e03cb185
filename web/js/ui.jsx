/* SPDX-License-Identifier: Apache-2.0 */
/* ui.jsx - what views draw with: preact, which writes text as text, never as markup */
import { options } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { poll } from './timing.mjs';

/* Control characters, marks of direction and other letters that are not seen: written out, as the
 * server's texts have them, so that no name looks like another or turns its line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it searches for
const UNSEEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

const seen = (text) =>
  String(text).replace(UNSEEN, (unseen) => `\\u${unseen.charCodeAt(0).toString(16).padStart(4, '0')}`);

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

/* {operator, demo, reason}: whether this token may start, stop and delete runs, which is assumed until
 * the server says otherwise. */
export function useAccess(app) {
  const [access, setAccess] = useState(/** @type {any} */ ({ operator: true }));
  useEffect(() => {
    app.api.access().then(setAccess, () => {});
  }, []);
  return access;
}

/* Call `once(isCurrent)` now and `ms` after each end while the page is visible, anew when
 * `inputs` change: isCurrent() is false once they have. */
export function usePoll(once, ms, inputs) {
  const latest = useRef(once);
  latest.current = once;
  useEffect(() => {
    let isCurrent = true;
    const stop = poll(() => latest.current(() => isCurrent), ms);
    return () => {
      isCurrent = false;
      stop();
    };
  }, inputs);
}

/* Whether a key that was pressed is text, or belongs to a shortcut of the browser. */
export const isTyping = ({ target, ctrlKey, metaKey, altKey }) =>
  ctrlKey ||
  metaKey ||
  altKey ||
  (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) && target.type !== 'checkbox');

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

/* A dialog above the page. `onSubmit` gets the value of the button that was used, and returns false,
 * or a promise of it, to keep the dialog open. `onClose` is called once it is closed. */
export function Dialog({ title, onSubmit, onClose, children }) {
  const ref = useRef(null);
  useEffect(() => ref.current.showModal(), []);
  const submit = async (event) => {
    event.preventDefault();
    if ((await onSubmit(event.submitter?.value)) !== false) {
      ref.current?.close();
    }
  };
  return (
    <dialog ref={ref} aria-labelledby="dialog-title" onClose={onClose}>
      <form onSubmit={submit}>
        <h2 id="dialog-title">{title}</h2>
        {children}
      </form>
    </dialog>
  );
}

/* A question to be answered first: `act` is called where the answer is yes. */
export const Question = ({ title, yes, no = 'Cancel', act, onClose, children }) => (
  <Dialog title={title} onSubmit={act} onClose={onClose}>
    {children}
    <div class="actions">
      <button
        type="button"
        class="quiet"
        onClick={({ currentTarget }) => currentTarget.closest('dialog').close()}
      >
        {no}
      </button>
      {yes}
    </div>
  </Dialog>
);

const TAB_KEYS = {
  ArrowLeft: (at, count) => (at + count - 1) % count,
  ArrowRight: (at, count) => (at + 1) % count,
  Home: () => 0,
  End: (_at, count) => count - 1,
};

/* Panels of which one is shown, [{name, title, note, panel}], where `panel()` gives what is in it;
 * `onPaper`: all are. `choose(name)` asks for another. */
export function Tabs({ label, items, chosen, choose, onPaper }) {
  const list = useRef(null);
  const onKey = (event) => {
    const at = items.findIndex(({ name }) => name === chosen);
    const to = TAB_KEYS[event.key]?.(at, items.length);
    if (to !== undefined) {
      event.preventDefault();
      list.current.children[to].focus();
      choose(items[to].name);
    }
  };
  return (
    <section class="stack">
      <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={onKey}>
        {items.map(({ name, title, note }) => (
          <button
            type="button"
            class="tab"
            role="tab"
            key={name}
            id={`tab-${name}`}
            aria-controls={`panel-${name}`}
            aria-selected={String(name === chosen)}
            tabIndex={name === chosen ? 0 : -1}
            onClick={() => choose(name)}
          >
            {title}
            {note && <span class="muted note">{note}</span>}
          </button>
        ))}
      </div>
      {items.map(({ name, panel }) => (
        <div
          class="stack panel"
          key={name}
          role="tabpanel"
          id={`panel-${name}`}
          aria-labelledby={`tab-${name}`}
          hidden={name !== chosen}
        >
          {(name === chosen || onPaper) && panel()}
        </div>
      ))}
    </section>
  );
}
