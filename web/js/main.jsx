/* SPDX-License-Identifier: Apache-2.0 */
/* main.jsx - the frame around the views: header, routing and the banner for an unreachable
 * server */
import { render } from 'preact';
import { useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';
import { Api } from './api.mjs';
import { Later } from './parts.jsx';
import { streamSlots } from './stream_slots.mjs';
import { ThemeSwitch } from './theme.jsx';
import { Dialog, isTyping, useAccess } from './ui.jsx';
import { formatClock, zoneOf } from './units.mjs';
import { formatAddress, parseAddress } from './url_state.mjs';
import Missing from './views/missing.jsx';
import Run from './views/run.jsx';
import Runs from './views/runs.jsx';

/* A view whose module is loaded on first use. */
const later = (name) => (props) => <Later app={props.app} name={name} props={props} />;

const VIEWS = {
  runs: Runs,
  run: Run,
  compare: later('Compare'),
  trends: later('Trends'),
  nodes: later('Nodes'),
  node: later('Node'),
  watches: later('Watches'),
  new: later('NewRun'),
  missing: Missing,
};
const LINKS = [
  ['/', 'Runs', ['runs']],
  ['/compare', 'Compare', ['compare']],
  ['/trends', 'Trends', ['trends']],
  ['/nodes', 'Nodes', ['nodes', 'node']],
  ['/watches', 'Watches', ['watches']],
];

/* The bundler puts a hash in the icon's name, and index.html contains the result. */
const ICON = document.querySelector('link[rel=icon]').href;

const routes = new EventTarget();
const moved = () => routes.dispatchEvent(new Event('moved'));

/* The open token dialog, {refused, resolve}, or null. */
let asked = null;

const api = new Api({
  askToken: (refused) =>
    new Promise((resolve) => {
      asked = { refused, resolve };
      moved();
    }),
  slots: streamSlots(localStorage),
});

/* Passed to every view: the API, navigation, lazy modules and the window title. */
const app = {
  api,
  /* Go to an address. `replace` adds no entry to the history. */
  go(route, { replace = false } = {}) {
    const address = typeof route === 'string' ? route : formatAddress(route);
    if (address !== location.pathname + location.search) {
      history[replace ? 'replaceState' : 'pushState'](null, '', address);
    }
    moved();
  },
  /* Resolves to the module with rarely used views and components. */
  later: () => import('./views/later.jsx'),
  title(text) {
    document.title = text ? `${text} · ringbench` : 'ringbench';
  },
};

/* Navigate by links within the page without reloading it. */
function onClick(event) {
  const link = event.target.closest?.('a[href^="/"]');
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  const address = link?.getAttribute('href');
  if (link && plain && !link.hasAttribute('download') && !link.target && !address.startsWith('/api/')) {
    event.preventDefault();
    app.go(address);
  }
}

function Page() {
  const [, redraw] = useReducer((count) => count + 1, 0);
  const main = useRef(null);
  const isFirst = useRef(true);
  const [hasKeys, setKeys] = useState(false);
  /* A layout effect, because effects run after the next frame and an answer may arrive earlier. */
  useLayoutEffect(() => {
    routes.addEventListener('moved', redraw);
    window.addEventListener('popstate', redraw);
    document.addEventListener('click', onClick);
    document.addEventListener('keydown', (event) => {
      if (event.key === '?' && !isTyping(event)) {
        setKeys(true);
      }
    });
  }, []);
  const { view, id, query } = parseAddress(location.pathname, location.search);
  useLayoutEffect(() => {
    if (!isFirst.current) {
      main.current.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    isFirst.current = false;
  }, [view, id]);
  const View = VIEWS[view];
  return (
    <>
      <Header view={view} />
      <Gone />
      <main id="main" tabIndex={-1} class={`${view}-view`} ref={main}>
        <View key={`${view} ${id}`} app={app} id={id} query={query} />
      </main>
      {asked && <TokenDialog key={asked} {...asked} />}
      {hasKeys && <Later app={app} name="Keys" props={{ onClose: () => setKeys(false) }} />}
    </>
  );
}

function Header({ view }) {
  const { operator, reason } = useAccess(app);
  return (
    <header class="top">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <a class="brand" href="/">
        <img src={ICON} alt="" width={24} height={24} />
        ringbench
      </a>
      <nav aria-label="Main">
        {LINKS.map(([href, text, views]) => (
          <a key={href} href={href} aria-current={views.includes(view) ? 'page' : undefined}>
            {text}
          </a>
        ))}
      </nav>
      <span class="spring" />
      <ThemeSwitch />
      {/* Without the right to start runs, the title gives the reason. */}
      <a
        class={operator ? 'button primary' : 'button quiet'}
        href="/new"
        title={operator ? undefined : reason}
      >
        {operator ? 'New run' : 'Check a request'}
      </a>
    </header>
  );
}

function Gone() {
  const [since, setSince] = useState(api.goneSince);
  useLayoutEffect(() => api.addEventListener('reach', () => setSince(api.goneSince)), []);
  return (
    <div class="gone" role="alert" hidden={since === null}>
      <strong>The server does not answer</strong>
      {since && ` since ${formatClock(since)} ${zoneOf(since)}. `}
      The page may be outdated. It reconnects automatically.
    </div>
  );
}

/* Request a bearer token. `refused`: the server did not accept the previous one. */
function TokenDialog({ refused, resolve }) {
  const [token, setToken] = useState('');
  const isGiven = useRef(false);
  /* Escape closes the dialog although no token was entered, so open it again. */
  const onClose = () => {
    const given = isGiven.current;
    asked = given ? null : { refused, resolve };
    moved();
    if (given) {
      resolve(token.trim());
    }
  };
  return (
    <Dialog
      title="This server requires a token"
      onSubmit={() => {
        isGiven.current = true;
      }}
      onClose={onClose}
    >
      {refused && <p class="field-error">The token was not accepted.</p>}
      <p>Tokens are in the server’s token file. This tab keeps the token until it is closed.</p>
      <label for="token">Token</label>
      <input
        id="token"
        type="password"
        autocomplete="off"
        required
        value={token}
        onInput={({ currentTarget }) => setToken(currentTarget.value)}
      />
      <div class="actions">
        <button type="submit" class="primary">
          Continue
        </button>
      </div>
    </Dialog>
  );
}

render(<Page />, document.body);
