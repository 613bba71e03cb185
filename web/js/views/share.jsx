/* SPDX-License-Identifier: Apache-2.0 */
/* share.jsx - menus that download or copy a run and its charts */
import { useEffect, useRef, useState } from 'preact/hooks';
import { copyText, download } from '../download.mjs';
import { titleOf } from '../shown.mjs';
import { Button } from '../ui.jsx';

const FILES = [
  ['report', 'Report', 'self-contained page that opens offline', 'html'],
  ['csv', 'CSV', 'for a spreadsheet or pandas'],
  ['json', 'JSON', 'all rows in one document'],
  ['ndjson', 'NDJSON', 'one row per line'],
  ['text', 'Text', 'columns as in nccl-tests', 'txt'],
];

/* Downloads of the complete run. */
export const RunShare = ({ app, id }) => (
  <Menu
    title="Download"
    items={FILES.map(([kind, name, hint, ending = kind]) => ({
      name,
      hint,
      async act(say) {
        say('Loading…');
        download(await app.api.file(id, kind), `ringbench-${id}.${ending}`);
        return '';
      },
    }))}
  />
);

/* Exports of the charts. `shown` is {runs, panels, spread}. */
export function ViewShare({ app, shown }) {
  const { runs, panels } = shown;
  const save = (content, type, ending) => {
    const name = titleOf(runs)
      .replace(/[^A-Za-z0-9._-]+/g, '-')
      .slice(0, 80);
    download(new Blob([content], { type }), `ringbench-${name}.${ending}`);
    return '';
  };
  /* The address of a report file is useless to others. */
  const address = location.protocol === 'file:' ? null : location.href;
  const picture = ({ panelsToSvg, tonesOf }) =>
    panelsToSvg({ ...shown, tone: tonesOf(document.documentElement) });
  const items = [
    ['Link', 'to this view', () => copied(location.href, 'the address restores this view')],
    [
      'Markdown',
      'for an issue tracker',
      ({ toMarkdown }) => copied(toMarkdown(runs, panels, address), 'the visible figures'),
    ],
    [
      'CSV',
      'the visible figures',
      ({ rowsShown, toCsv }) => save(toCsv(rowsShown(runs, panels)), 'text/csv', 'csv'),
    ],
    ['SVG', 'the charts as vector graphics', (files) => save(picture(files).text, 'image/svg+xml', 'svg')],
    [
      'PNG',
      'the charts as an image',
      async (files) => save(await files.svgToPng(picture(files)), 'image/png', 'png'),
    ],
  ];
  return (
    <Menu
      title="Share"
      /* Browsers allow copying only shortly after a click, so the module is loaded when the menu
       * opens. */
      onOpen={() => app.later().catch(() => {})}
      items={items.map(([name, hint, act]) => ({ name, hint, act: async () => act(await app.later()) }))}
    />
  );
}

async function copied(text, what) {
  await copyText(text);
  return `Copied: ${what}.`;
}

/* Items are {name, hint, act}. `act(say)` resolves to the final note. */
function Menu({ title, items, onOpen = () => {} }) {
  const ref = useRef(null);
  const [note, say] = useState('');
  useEffect(() => {
    const close = (event) => {
      const menu = ref.current;
      if (event.key === 'Escape' && menu.open) {
        menu.open = false;
        menu.querySelector('summary').focus();
      } else if (event.type === 'click' && event.isTrusted && !menu.contains(event.target)) {
        menu.open = false;
      }
    };
    document.addEventListener('click', close);
    document.addEventListener('keydown', close);
    return () => {
      document.removeEventListener('click', close);
      document.removeEventListener('keydown', close);
    };
  }, []);
  const run = ({ act }) => act(say).then(say, (error) => say(error.message));
  return (
    <details class="menu" ref={ref} onToggle={onOpen}>
      <summary class="button">{title}</summary>
      <div class="menu-box">
        <ul>
          {items.map((item) => (
            <li key={item.name}>
              <Button aria-label={`${item.name}, ${item.hint}`} onClick={() => run(item)}>
                <strong>{item.name}</strong>
                <span class="muted">{item.hint}</span>
              </Button>
            </li>
          ))}
        </ul>
        <p class="muted" role="status">
          {note}
        </p>
      </div>
    </details>
  );
}
