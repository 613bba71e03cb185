/* main.mjs - the frame around the views: header, address, whether the server answers */
import { Api } from './api.mjs';
import { h, setHidden, setText } from './dom.mjs';
import { streamSlots } from './stream_slots.mjs';
import { themeSwitch } from './theme.mjs';
import { askToken } from './token_dialog.mjs';
import { formatAddress, parseAddress } from './url_state.mjs';
import missing from './views/missing.jsx';
import run from './views/run.mjs';
import runs from './views/runs.jsx';

/* A view that comes when it is first asked for. */
const later = (name) => (root, app, route) => {
  let view = null;
  let isGone = false;
  app.later().then(
    (views) => {
      view = isGone ? null : views[name](root, app, route);
    },
    () => root.append(h('p', 'This view could not be loaded. Reload the page.')),
  );
  return {
    update: (query) => view?.update?.(query),
    destroy() {
      isGone = true;
      view?.destroy?.();
    },
  };
};

const VIEWS = {
  runs,
  run,
  compare: later('compare'),
  trends: later('trends'),
  nodes: later('nodes'),
  node: later('node'),
  new: later('newRun'),
  missing,
};

/* index.html knows where the files are that no module imports. */
const ICON = document.querySelector('link[rel=icon]').href;

const api = new Api({ askToken, slots: streamSlots(localStorage) });
const outlet = h('main', { id: 'main', tabindex: '-1' });
const links = [
  ['/', 'Runs', 'runs'],
  ['/compare', 'Compare', 'compare'],
  ['/trends', 'Trends', 'trends'],
  ['/nodes', 'Nodes', 'nodes'],
].map(([href, text, view]) => ({ view, link: h('a', { href }, text) }));
let shown = null;

/* What a view gets: the API, the way to other addresses, and the title. */
const app = {
  api,
  /* Go to an address; `replace` leaves no entry behind in the history. */
  go(route, { replace = false } = {}) {
    const address = typeof route === 'string' ? route : formatAddress(route);
    if (address !== location.pathname + location.search) {
      history[replace ? 'replaceState' : 'pushState'](null, '', address);
    }
    show();
  },
  /* The views that few visits need, and parts of others: a promise of their module. */
  later: () => import('./views/later.mjs'),
  title(text) {
    document.title = text ? `${text} · ringbench` : 'ringbench';
  },
};

/* Draw the view of the present address; the same view again is told its new query. */
function show() {
  const route = parseAddress(location.pathname, location.search);
  if (shown && shown.view === route.view && shown.id === route.id) {
    shown.query = route.query;
    shown.handle?.update?.(route.query);
    return;
  }
  const first = shown === null;
  shown?.handle?.destroy?.();
  outlet.replaceChildren();
  outlet.className = `${route.view}-view`;
  app.title('');
  const mine = { ...route, handle: null };
  shown = mine;
  markLink(route.view);
  mine.handle = VIEWS[route.view](outlet, app, mine);
  if (!first) {
    outlet.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
}

function markLink(view) {
  for (const { view: own, link } of links) {
    const here = own === view || (own === 'nodes' && view === 'node');
    link[here ? 'setAttribute' : 'removeAttribute']('aria-current', 'page');
  }
}

/* Links within the page change the address without loading it anew. */
function onClick(event) {
  const link = event.target.closest?.('a[href^="/"]');
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (
    !link ||
    !plain ||
    link.hasAttribute('download') ||
    link.target ||
    link.getAttribute('href').startsWith('/api/')
  ) {
    return;
  }
  event.preventDefault();
  app.go(link.getAttribute('href'));
}

function reachNotice() {
  const text = h('span');
  const notice = h(
    'div.gone',
    { role: 'alert', hidden: true },
    h('strong', 'The server does not answer'),
    text,
  );
  api.addEventListener('reach', () => {
    setHidden(notice, api.goneSince === null);
    if (api.goneSince) {
      setText(
        text,
        ` since ${api.goneSince.toLocaleTimeString([], { hour12: false })}. ` +
          'What is shown may be old; the page reconnects by itself.',
      );
    }
  });
  return notice;
}

function header() {
  return h(
    'header.top',
    h('a.skip', { href: '#main' }, 'Skip to the content'),
    h('a.brand', { href: '/' }, h('img', { src: ICON, alt: '', width: '24', height: '24' }), 'ringbench'),
    h(
      'nav',
      { 'aria-label': 'Main' },
      links.map(({ link }) => link),
    ),
    h('span.spring'),
    themeSwitch(),
    newRunLink(),
  );
}

/* Who may not start runs reads why. */
function newRunLink() {
  const link = h('a.button.primary', { href: '/new' }, 'New run');
  api.access().then(
    ({ operator, reason }) => {
      if (!operator) {
        link.title = reason;
        link.className = 'button quiet';
        link.textContent = 'Check a request';
      }
    },
    () => {},
  );
  return link;
}

document.body.append(header(), reachNotice(), outlet);
document.addEventListener('click', onClick);
window.addEventListener('popstate', show);
show();
