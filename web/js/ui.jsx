/* SPDX-License-Identifier: Apache-2.0 */
/* ui.jsx - basic components and hooks. preact inserts strings as text, never as markup. */
import { options } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { poll } from './timing.mjs';

/* Invisible characters (control characters, direction marks) are shown as escapes, as in the
 * server's texts. Otherwise a name could imitate another one or reverse a line. */
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

/* {operator, demo, reason}: the rights of the token. Assumed to be full until the server
 * answers. */
export const useAccess = (app) => useAnswer(() => app.api.access(), []).answer ?? { operator: true };

/* Returns {answer, error} of the promise ask(), or {} if ask() returns null. Calls ask() again when
 * `inputs` change, and ignores late answers to earlier inputs. An answer is kept until the next
 * answer, an error until the next request. */
export function useAnswer(ask, inputs) {
  const [found, setFound] = useState(/** @type {any} */ ({}));
  useEffect(() => {
    let isCurrent = true;
    setFound((found) => (found.error ? { answer: found.answer } : found));
    ask()?.then(
      (answer) => isCurrent && setFound({ answer }),
      (error) => isCurrent && setFound(({ answer }) => ({ answer, error })),
    );
    return () => {
      isCurrent = false;
    };
  }, inputs);
  return found;
}

/* Call `once(isCurrent)` now and `ms` after each completion while the page is visible. Restarts
 * when `inputs` change; isCurrent() is then false for the earlier call. */
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

export const errorInWords = (error) => (error.status ? error.message : 'Waiting for the server.');

export const LOADING = 'Loading…';

/* Like usePoll(). Returns [note, load]: the note is "Loading…" at first, then '' or the last
 * error. */
export function usePolled(once, ms, inputs) {
  const [note, setNote] = useState(LOADING);
  const load = async (isCurrent = () => true) => {
    try {
      await once(isCurrent);
      setNote('');
    } catch (error) {
      setNote(errorInWords(error));
    }
  };
  usePoll(load, ms, inputs);
  return [note, load];
}

/* True if a key press is text input or a browser shortcut. */
export const isTyping = ({ target, ctrlKey, metaKey, altKey }) =>
  ctrlKey ||
  metaKey ||
  altKey ||
  (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) && target.type !== 'checkbox');

export const flipped = (keys, key) =>
  keys.includes(key) ? keys.filter((one) => one !== key) : [...keys, key];

/* Buttons of which exactly one is on. `options` are [value, text, title]. */
export const Switcher = ({ label, options, value, onChange }) => (
  <div class="switcher" role="group" aria-label={label}>
    {options.map(([one, text, title]) => (
      <Button key={one} title={title} aria-pressed={String(one === value)} onClick={() => onChange(one)}>
        {text}
      </Button>
    ))}
  </div>
);

/* A select with the options [value, text]. `onChange` gets the selected value. */
export const Select = ({ options, onChange, ...attributes }) => (
  <select {...attributes} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
    {options.map(([value, text]) => (
      <option key={value} value={value}>
        {text}
      </option>
    ))}
  </select>
);

export const Button = (attributes) => <button type="button" {...attributes} />;

/* A message box. The tone "bad" interrupts screen readers. */
export const Alert = ({ tone, title, children }) => (
  <div class={`alert ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
    <strong>{title}</strong>
    {children}
  </div>
);

/* A modal dialog. `onSubmit` gets the value of the button that was used. It returns false, or a
 * promise of false, to keep the dialog open. `onClose` is called after closing. */
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

/* A confirmation dialog. `act` is called on confirmation. */
export const Question = ({ title, yes, no = 'Cancel', act, onClose, children }) => (
  <Dialog title={title} onSubmit={act} onClose={onClose}>
    {children}
    <div class="actions">
      <Button class="quiet" onClick={({ currentTarget }) => currentTarget.closest('dialog').close()}>
        {no}
      </Button>
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

/* Tabs, [{name, title, note, panel}]. `panel()` renders the content. `onPaper` shows all of them.
 * `choose(name)` requests another tab. */
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
          <Button
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
          </Button>
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
