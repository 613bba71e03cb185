/* run_share.mjs - a run to take along: as a page of its own, as figures, as a link */
import {copyText, download, h, setText} from '../dom.mjs';

const FILES = [
  ['report', 'Report', 'a page of its own that opens offline'],
  ['csv', 'CSV', 'for a spreadsheet or pandas'],
  ['json', 'JSON', 'all rows in one document'],
  ['ndjson', 'NDJSON', 'a row in each line'],
  ['text', 'Text', 'in the columns of nccl-tests']
];
const ENDINGS = {
  report: 'html',
  text: 'txt'
};

export function runShare(app, id) {
  const note = h('p.muted', {role: 'status'});
  const save = async kind => {
    setText(note, 'Fetching…');
    try {
      const blob = await app.api.file(id, kind);
      download(blob, `ringbench-${id}.${ENDINGS[kind] ?? kind}`);
      setText(note, '');
    } catch (error) {
      setText(note, error.message);
    }
  };
  const copy = async () => {
    await copyText(location.href);
    setText(note, 'Copied: the address restores this view.');
  };
  const item = (name, hint, click) => h('li',
    h('button', {'aria-label': name, on: {click}}, h('strong', name),
      h('span.muted', hint)));
  const menu = h('details.menu', h('summary.button', 'Share'),
    h('div.menu-box',
      h('ul', item('Link', 'to this view', copy),
        FILES.map(([kind, name, hint]) => item(name, hint, () => save(kind)))),
      note));
  const close = event => {
    if (event.key === 'Escape' && menu.open) {
      menu.open = false;
      menu.querySelector('summary').focus();
    } else if (event.type === 'click' && !menu.contains(event.target)) {
      menu.open = false;
    }
  };
  document.addEventListener('click', close);
  document.addEventListener('keydown', close);
  return {
    element: menu,
    destroy() {
      document.removeEventListener('click', close);
      document.removeEventListener('keydown', close);
    }
  };
}
