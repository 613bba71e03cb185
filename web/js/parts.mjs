/* parts.mjs - small pieces that several views show */
import { copyText, h, setHidden, setText } from './dom.mjs';
import { formatBandwidth, formatSize } from './units.mjs';
import { ANSWERS } from './verdicts.mjs';

/* Those of runs first. */
const STATES = {
  queued: '○ calm',
  launching: '◔ calm',
  waiting_for_nodes: '◔ calm',
  rendezvous: '◑ busy',
  running: '▶ busy',
  completed: '✓ good',
  failed: '✕ bad',
  cancelled: '⊘ warn',
  skipped: '↷ warn',
  idle: '○ good',
  busy: '▶ busy',
  starting: '◔ calm',
  pending: '◔ calm',
  stopping: '◔ warn',
  ended: '⊘ calm',
  lost: '✕ bad',
  left: '⊘ calm',
};

export const RUN_STATES = Object.keys(STATES).slice(0, Object.keys(STATES).indexOf('cancelled') + 1);

export const stateWord = (state) => String(state).replaceAll('_', ' ');

/* Sign and tone of a state. */
export const stateLook = (state) => (STATES[state] ?? '· calm').split(' ');

/* A word with a sign, so that its colour is never all there is. */
function signPill(looks, word) {
  const [sign, tone] = (looks[word] ?? '· calm').split(' ');
  return h(
    'span',
    { class: `pill ${tone}` },
    h('span.sign', { 'aria-hidden': 'true' }, sign),
    stateWord(word),
  );
}

export const statePill = (state) => signPill(STATES, state);

export const answerPill = (answer) => signPill(ANSWERS, answer);

/* A verdict's checks. */
export const checkList = (checks) =>
  h(
    'ul.checks',
    checks.map((one) =>
      h(
        'li',
        answerPill(one.answer),
        ` ${one.check}`,
        one.sentence && [': ', one.sentence],
        one.command ? [' ', h('code', one.command)] : null,
      ),
    ),
  );

/* A run's or node's labels; with the path of a list they lead to all that have them. */
export function labelChips(labels, path = null) {
  return Object.entries(labels ?? {}).map(([key, value]) => {
    const text = value === '' ? key : `${key}=${value}`;
    const search = path && new URLSearchParams({ label: `${key}=${value}` });
    return path ? h('a.chip', { href: `${path}?${search}`, title: text }, text) : h('span.chip', text);
  });
}

/* The names of a table's columns; numbers stand to the right. */
export const head = (columns, isNumber = () => false) =>
  h(
    'thead',
    h(
      'tr',
      columns.map((text, i) => h('th', { scope: 'col', class: isNumber(i) ? 'number' : null }, text)),
    ),
  );

/* A card that opens. */
export const fold = (title, note, ...children) =>
  h('details.card.fold', h('summary', h('h2', title), note), ...children);

/* A button that copies what `text()` gives. */
export function copyButton(label, text) {
  const button = h('button.quiet.copy', { 'aria-label': `Copy ${label}` }, 'Copy');
  button.addEventListener('click', async () => {
    await copyText(text());
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 1500);
  });
  return button;
}

/* Text to copy, with its button. */
export function copyBlock(text, label) {
  const code = h('code', text);
  const block = h(
    'div.copy-block',
    h('pre', { tabindex: '0', role: 'region', 'aria-label': label }, code),
    copyButton(label, () => code.textContent),
  );
  return {
    block,
    set: (value) => {
      code.textContent = value;
    },
  };
}

/* One of a few: buttons that behave as radio buttons. */
export function switcher(label, options, onChange) {
  const buttons = options.map(([value, text, title]) =>
    h('button', { title, on: { click: () => onChange(value) } }, text),
  );
  const group = h('div.switcher', { role: 'group', 'aria-label': label }, buttons);
  return {
    group,
    set(value) {
      buttons.forEach((button, i) => button.setAttribute('aria-pressed', String(options[i][0] === value)));
    },
  };
}

const TAB_KEYS = {
  ArrowLeft: (at, count) => (at + count - 1) % count,
  ArrowRight: (at, count) => (at + 1) % count,
  Home: () => 0,
  End: (_at, count) => count - 1,
};

/* Panels of which one is shown, [{name, title, panel}]; `choose(name)` asks for another. */
export function tabs(label, items, choose) {
  const made = items.map(({ name, title, panel }) => {
    const note = h('span.muted.note');
    const tab = h(
      'button.tab',
      {
        role: 'tab',
        id: `tab-${name}`,
        'aria-controls': `panel-${name}`,
        on: { click: () => choose(name) },
      },
      title,
      note,
    );
    const box = h(
      'div.stack.panel',
      { role: 'tabpanel', id: `panel-${name}`, 'aria-labelledby': `tab-${name}` },
      panel,
    );
    return { name, tab, note, box };
  });
  const onKey = (event) => {
    const to = TAB_KEYS[event.key]?.(
      made.findIndex(({ tab }) => tab === document.activeElement),
      made.length,
    );
    if (to !== undefined) {
      event.preventDefault();
      made[to].tab.focus();
      choose(made[to].name);
    }
  };
  const list = h(
    'div.tabs',
    { role: 'tablist', 'aria-label': label, on: { keydown: onKey } },
    made.map(({ tab }) => tab),
  );
  return {
    element: h(
      'section.stack',
      list,
      made.map(({ box }) => box),
    ),
    set(chosen, notes) {
      for (const { name, tab, note, box } of made) {
        tab.setAttribute('aria-selected', String(name === chosen));
        tab.tabIndex = name === chosen ? 0 : -1;
        setHidden(box, name !== chosen);
        setText(note, notes[name] ?? '');
      }
    },
  };
}

/* A time of day, with the date when it is another day, or always; the full time in the
 * tooltip. */
export function timeOf(text, hasDay = false) {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) {
    return h('span', '–');
  }
  const today = !hasDay && new Date().toDateString() === time.toDateString();
  const clock = time.toLocaleTimeString([], { hour12: false });
  /* Swedes write dates as ISO 8601 does. */
  const day = today ? '' : `${time.toLocaleDateString('sv')} `;
  return h('time', { datetime: text, title: text }, `${day}${clock}`);
}

/* A problem to be read at once. */
export function alertBox(tone, title, ...content) {
  return h(
    'div',
    { class: `alert ${tone}`, role: tone === 'bad' ? 'alert' : 'status' },
    h('strong', title),
    content,
  );
}

/* A question to be answered first; resolves to the value of the button that ended it. */
export function ask(title, content, ...buttons) {
  return new Promise((resolve) => {
    const dialog = h(
      'dialog',
      { 'aria-labelledby': 'asked' },
      h('form', { method: 'dialog' }, h('h2', { id: 'asked' }, title), content, h('div.actions', buttons)),
    );
    dialog.addEventListener('close', () => {
      resolve(dialog.returnValue);
      dialog.remove();
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

const HEADLINE_TITLE = 'Median bus bandwidth at the largest size of the first series';

/* "46.5 GB/s at 256M": the figure that stands for a run (docs/method.md). */
export function headline(found) {
  if (!found) {
    return '–';
  }
  const text = found.text ?? `${formatBandwidth(found.busbw_gbs)} GB/s at ${formatSize(found.size)}`;
  const [number] = text.split(' ');
  const title = found.metric ? `${found.metric}: the median` : HEADLINE_TITLE;
  return h('span', { title }, h('strong', number), text.slice(number.length));
}
