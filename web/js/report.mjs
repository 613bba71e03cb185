/* report.mjs - the page of one run as a file of its own: its data stands in the file, and
 * there is no server to ask */
import * as pictures from './plot_file.jsx';
import { h } from './dom.mjs';
import { alertBox, fold } from './parts.mjs';
import { ReportData } from './report_data.mjs';
import * as files from './shown_files.mjs';
import { themeSwitch } from './theme.mjs';
import { asPart } from './ui.jsx';
import { shorten } from './units.mjs';
import { formatAddress, parseAddress } from './url_state.mjs';
import { NodeSheet } from './views/node.jsx';
import { pairMap } from './views/pair_map.mjs';
import { RowDetail } from './views/row_detail.jsx';
import view from './views/run.mjs';

const data = new ReportData(JSON.parse(document.getElementById('ringbench-data').textContent));
const outlet = h('main', { id: 'main', tabindex: '-1' });

/* What is shown stands behind the #: a file's address takes nothing else. */
const readQuery = () => parseAddress('/runs/x', location.hash.slice(1)).query;
let shown = null;

const app = {
  api: data,
  isReport: true,
  later: async () => ({ ...files, ...pictures, pairMap, RowDetail }),
  origin: data.origin,
  go({ query }) {
    const [, search = ''] = formatAddress({ view: 'run', id: 'x', query }).split('?');
    history.replaceState(null, '', `#${search}`);
    shown.update(readQuery());
  },
  title(text, unreal) {
    document.title = `${unreal ? `[${unreal}] ` : ''}${text} · ringbench`;
  },
};

function header() {
  return h(
    'header.top',
    h('a.skip', { href: '#main' }, 'Skip to the content'),
    h('span.brand', 'ringbench'),
    h('span.muted', 'report'),
    h('span.spring'),
    themeSwitch(),
  );
}

/* The nodes as the server knew them when the report was made. */
function nodes() {
  return h(
    'div.stack',
    data.nodes.map((node) => {
      const sheet = asPart(NodeSheet);
      sheet.update({ node });
      return fold(`Node ${shorten(node.name, 60)}`, null, sheet.element);
    }),
  );
}

function footer() {
  return h(
    'footer.muted',
    h(
      'p',
      `Made by ${data.generator} at ${data.generated}. This file needs nothing but ` +
        'itself: no server, no network. The data of the run stands in it as JSON, in the ' +
        'element with the id ',
      h('code', 'ringbench-data'),
      '.',
    ),
    data.address ? h('p', 'When it was made, the run was at ', h('code', data.address), '.') : null,
  );
}

document.body.append(header(), outlet);
shown = view(outlet, app, { id: data.id, query: readQuery() });
outlet.prepend(...data.notes.map(([title, text]) => alertBox('warn', title, text)));
outlet.append(nodes(), footer());
/* On paper nothing opens. */
window.addEventListener('beforeprint', () =>
  document.querySelectorAll('details.fold').forEach((fold) => {
    fold.open = true;
  }),
);
window.addEventListener('hashchange', () => shown.update(readQuery()));
