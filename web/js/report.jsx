/* SPDX-License-Identifier: Apache-2.0 */
/* report.jsx - the page of one run as a self-contained file. The file contains the data and needs
 * no server. */
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import * as pictures from './plot_file.jsx';
import { Fold } from './parts.jsx';
import { ReportData } from './report_data.mjs';
import * as files from './shown_files.mjs';
import { ThemeSwitch } from './theme.jsx';
import { Alert } from './ui.jsx';
import { shorten } from './units.mjs';
import { formatAddress, parseAddress } from './url_state.mjs';
import { NodeSheet } from './views/node.jsx';
import { PairMap } from './views/pair_map.jsx';
import { RowDetail } from './views/row_detail.jsx';
import Run from './views/run.jsx';

const data = new ReportData(JSON.parse(document.getElementById('ringbench-data').textContent));

/* The view's state is in the fragment, because a file's address has no query. */
const readQuery = () => parseAddress('/runs/x', location.hash.slice(1)).query;

const app = {
  api: data,
  isReport: true,
  later: async () => ({ ...files, ...pictures, PairMap, RowDetail }),
  origin: data.origin,
  go({ query }) {
    const [, search = ''] = formatAddress({ view: 'run', id: 'x', query }).split('?');
    history.replaceState(null, '', `#${search}`);
    window.dispatchEvent(new Event('hashchange'));
  },
  title(text, unreal) {
    document.title = `${unreal ? `[${unreal}] ` : ''}${text} · ringbench`;
  },
};

function Report() {
  const [query, setQuery] = useState(readQuery());
  useEffect(() => {
    window.addEventListener('hashchange', () => setQuery(readQuery()));
    /* Collapsed parts cannot be opened on paper. */
    window.addEventListener('beforeprint', () =>
      document.querySelectorAll('details.fold').forEach((fold) => {
        fold.open = true;
      }),
    );
  }, []);
  return (
    <>
      <header class="top">
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <span class="brand">ringbench</span>
        <span class="muted">report</span>
        <span class="spring" />
        <ThemeSwitch />
      </header>
      <main id="main" tabIndex={-1}>
        {data.notes.map(([title, text]) => (
          <Alert key={title} tone="warn" title={title}>
            {text}
          </Alert>
        ))}
        <Run app={app} id={data.id} query={query} />
        {/* The nodes as they were when the report was created. */}
        <div class="stack">
          {data.nodes.map((node) => (
            <Fold key={node.name} title={`Node ${shorten(node.name, 60)}`}>
              <NodeSheet node={node} path={null} />
            </Fold>
          ))}
        </div>
        <footer class="muted">
          <p>
            Made by {data.generator} at {data.generated}. This file is self-contained and needs no server or
            network. The element with the id <code>ringbench-data</code> has the run’s data as JSON.
          </p>
          {data.address && (
            <p>
              Address of the run at that time: <code>{data.address}</code>.
            </p>
          )}
        </footer>
      </main>
    </>
  );
}

render(<Report />, document.body);
