/* dom.mjs - elements made from plain values. Text goes in as text, never as markup. */

const SVG = 'http://www.w3.org/2000/svg';

/* h('p.x.y', {on: {click: f}, hidden: true}, 'text', child, [more], null): classes stand by
 * the name, and what there is nothing of is left out. A button without a value submits no
 * form. */
export function h(tag, ...rest) {
  const [name, ...classes] = tag.split('.');
  const hasProps = rest[0] && Object.getPrototypeOf(rest[0]) === Object.prototype;
  const props = hasProps ? rest.shift() : {};
  const element = document.createElement(name);
  element.classList.add(...classes);
  if (name === 'button' && !('value' in props)) {
    element.type = 'button';
  }
  return build(element, props, rest);
}

/* A scrolling box, focusable so that the keyboard can scroll it. */
export const region = (label, name, ...children) =>
  h('div', { class: name, tabindex: '0', role: 'region', 'aria-label': label }, ...children);

/* Control characters, marks of direction and other letters that are not seen: written out,
 * as the server's texts have them, so that no name looks like another or turns its line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it searches for
const UNSEEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

export const seen = (text) =>
  String(text).replace(UNSEEN, (unseen) => `\\u${unseen.charCodeAt(0).toString(16).padStart(4, '0')}`);

export function svg(tag, props = {}, ...children) {
  return build(document.createElementNS(SVG, tag), props, children);
}

function build(element, props, children) {
  for (const [key, value] of Object.entries(props ?? {})) {
    setProp(element, key, value);
  }
  element.append(...flatten(children));
  return element;
}

function setProp(element, key, value) {
  if (value === undefined || value === null || value === false) {
    return;
  }
  if (key === 'on') {
    for (const [type, listener] of Object.entries(value)) {
      element.addEventListener(type, listener);
    }
  } else if (key === 'vars') {
    /* Through the CSSOM, which the content security policy allows. */
    for (const [name, text] of Object.entries(value)) {
      element.style.setProperty(name, text);
    }
  } else if (key === 'value' || key === 'checked') {
    element[key] = value;
  } else if (key === 'title' || key === 'aria-label') {
    element.setAttribute(key, seen(value));
  } else {
    element.setAttribute(key, value === true ? '' : value);
  }
}

function flatten(children) {
  return children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (typeof child === 'string' ? seen(child) : child));
}

export function setText(element, text) {
  const value = seen(text);
  if (element.textContent !== value) {
    element.textContent = value;
  }
}

export function setHidden(element, hidden) {
  if (element.hidden !== hidden) {
    element.hidden = hidden;
  }
}

const FOCUSABLE = 'a[href], button, input, select, textarea, summary, [tabindex]';
/** @returns {HTMLElement[]} */
const focusable = (element) => [element, ...element.querySelectorAll(FOCUSABLE)];

/* Make `parent` hold one child per item, in order. A child is kept while its key and its
 * signature stay the same. The focus stays with the item that has it, at the same control
 * in it, also if its child is made anew or moved. */
export function syncChildren(parent, items, { key, signature, render }) {
  const known = parent.syncedChildren ?? new Map();
  const next = new Map();
  const active = /** @type {HTMLElement} */ (document.activeElement);
  let focus = active;
  const elements = items.map((item) => {
    const id = String(key(item));
    const sign = signature(item);
    const old = known.get(id);
    const element = old && old.sign === sign ? old.element : render(item);
    if (old && old.element !== element && old.element.contains(active)) {
      focus = focusable(element)[focusable(old.element).indexOf(active)] ?? active;
    }
    next.set(id, { sign, element });
    return element;
  });
  parent.syncedChildren = next;
  place(parent, elements);
  if (document.activeElement !== focus && parent.contains(focus)) {
    focus.focus({ preventScroll: true });
  }
}

function place(parent, elements) {
  let at = parent.firstChild;
  for (const element of elements) {
    if (element === at) {
      at = at.nextSibling;
    } else {
      parent.insertBefore(element, at);
    }
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

export function debounce(call, ms) {
  let timer = null;
  const later = (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...args), ms);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

/* Call soon, and at most thirty times a second, however often asked. */
export function paced(call) {
  /** @type {ReturnType<typeof setTimeout> | 0} */
  let timer = 0;
  const ask = () => {
    timer ||= setTimeout(() => {
      timer = 0;
      call();
    }, 33);
  };
  ask.cancel = () => clearTimeout(timer);
  return ask;
}

/* Hand the person a file. */
export function download(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = h('a', { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  /* A busy browser begins the download late. */
  setTimeout(() => URL.revokeObjectURL(url), 120000);
}

/* The clipboard API is missing on plain http from another host: the old way works. */
export async function copyText(text) {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const area = h('textarea.visually-hidden', { 'aria-hidden': 'true' });
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}
