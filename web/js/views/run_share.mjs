/* run_share.mjs - a run to take along: what charts show of it, and all of it as files */
import { copyText, download, h, setText } from '../dom.mjs';
import { titleOf } from '../shown.mjs';

const FILES = [
  ['report', 'Report', 'a page of its own that opens offline'],
  ['csv', 'CSV', 'for a spreadsheet or pandas'],
  ['json', 'JSON', 'all rows in one document'],
  ['ndjson', 'NDJSON', 'a row in each line'],
  ['text', 'Text', 'in the columns of nccl-tests'],
];
const ENDINGS = {
  report: 'html',
  text: 'txt',
};

/* All of a run, as the server writes it. */
export const runShare = (app, id) =>
  menu(
    'Download',
    FILES.map(([kind, name, hint]) => [
      name,
      hint,
      async (note) => {
        setText(note, 'Fetching…');
        const blob = await app.api.file(id, kind);
        download(blob, `ringbench-${id}.${ENDINGS[kind] ?? kind}`);
        return '';
      },
    ]),
  );

/* What charts show of all of their runs: `shown()` gives {runs, panels, spread, tone}; `later`
 * is the app's. */
export function viewShare(shown, later) {
  const save = (content, type, ending) => {
    const name = titleOf(shown().runs)
      .replace(/[^A-Za-z0-9._-]+/g, '-')
      .slice(0, 80);
    download(new Blob([content], { type }), `ringbench-${name}.${ending}`);
    return '';
  };
  /* Where a report lies is nobody's business. */
  const address = () => (location.protocol === 'file:' ? null : location.href);
  const whole = (write) => write(shown().runs, shown().panels, address());
  const share = menu('Share', [
    ['Link', 'to this view', () => copied(location.href, 'the address restores this view')],
    [
      'Markdown',
      'for an issue tracker',
      async () => copied(whole((await later()).toMarkdown), 'the figures that are shown'),
    ],
    [
      'CSV',
      'the figures that are shown',
      async () => {
        const { rowsShown, toCsv } = await later();
        return save(toCsv(whole(rowsShown)), 'text/csv', 'csv');
      },
    ],
    ['JSON', 'the same', async () => save(whole((await later()).toJson), 'application/json', 'json')],
    [
      'SVG',
      'the charts as a drawing',
      async () => save((await later()).panelsToSvg(shown()).text, 'image/svg+xml', 'svg'),
    ],
    [
      'PNG',
      'the charts as a picture',
      async () => {
        const { panelsToSvg, svgToPng } = await later();
        return save(await svgToPng(panelsToSvg(shown())), 'image/png', 'png');
      },
    ],
  ]);
  /* A browser lets a page copy soon after a click only: what writes is there before it. */
  share.element.addEventListener('toggle', () => later().catch(() => {}));
  return share;
}

async function copied(text, what) {
  await copyText(text);
  return `Copied: ${what}.`;
}

/* Items are [name, hint, act], where act(note) gives what is to be said at the end. */
function menu(title, items) {
  const note = h('p.muted', { role: 'status' });
  const run = async (act) => {
    try {
      setText(note, await act(note));
    } catch (error) {
      setText(note, error.message);
    }
  };
  const element = h(
    'details.menu',
    h('summary.button', title),
    h(
      'div.menu-box',
      h(
        'ul',
        items.map(([name, hint, act]) =>
          h(
            'li',
            h(
              'button',
              { 'aria-label': `${name}, ${hint}`, on: { click: () => run(act) } },
              h('strong', name),
              h('span.muted', hint),
            ),
          ),
        ),
      ),
      note,
    ),
  );
  const close = (event) => {
    if (event.key === 'Escape' && element.open) {
      element.open = false;
      element.querySelector('summary').focus();
    } else if (event.type === 'click' && event.isTrusted && !element.contains(event.target)) {
      element.open = false;
    }
  };
  document.addEventListener('click', close);
  document.addEventListener('keydown', close);
  return {
    element,
    destroy() {
      document.removeEventListener('click', close);
      document.removeEventListener('keydown', close);
    },
  };
}
