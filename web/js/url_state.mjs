/* url_state.mjs - what a view shows, read from its address and written to it. No DOM.
 * Defaults are left out of an address, so the plain one stays plain. */
import { formatSize, parseSize } from './units.mjs';

const RUN_DEFAULTS = {
  metric: 'busbw',
  y: 'linear',
  zoom: null,
  place: 'both',
  hide: [],
  band: true,
  sort: '',
  case: null,
  rank: null,
  log: '',
  with: [],
  at: null,
  nodes: null,
  of: '',
  tab: '',
  racks: [],
};
const OVERLAY_MAX = 5;
/* As the server's own parameters are called. */
const COMPARE_DEFAULTS = { base: [], base_env: [], head: [], head_env: [], last: null, like: '' };
const TRENDS_DEFAULTS = {
  collective: 'all_reduce',
  dtype: 'float32',
  in_place: '0',
  backend: '',
  nodes: '',
  run: '',
  like: '',
  limit: null,
};
const RUN_SORTS = ['created', 'duration', 'figure'];
const NODE_SORTS = ['state', 'name', 'group', 'ranks', 'gpus', 'nccl', 'driver', 'version', 'cpu', 'seen'];

/** @type {[RegExp, string][]} */
const VIEWS = [
  [/^\/$/, 'runs'],
  [/^\/new\/?$/, 'new'],
  [/^\/nodes\/?$/, 'nodes'],
  [/^\/compare\/?$/, 'compare'],
  [/^\/trends\/?$/, 'trends'],
  [/^\/nodes\/([^/]+)\/?$/, 'node'],
  [/^\/runs\/([^/]+)\/?$/, 'run'],
];

const QUERIES = {
  runs: { read: readRuns, write: writeRuns },
  nodes: { read: readNodes, write: writeNodes },
  run: { read: readRun, write: (query, params) => writeAll(RUN_DEFAULTS, query, params) },
  compare: byDefaults(COMPARE_DEFAULTS),
  trends: byDefaults(TRENDS_DEFAULTS),
  new: {
    read: (params) => ({ from: params.get('from') ?? '' }),
    write: (query, params) => put(params, 'from', query.from, ''),
  },
};

/* {view, id, query} of an address; the view is 'missing' where none fits. */
export function parseAddress(pathname, search) {
  const params = new URLSearchParams(search);
  for (const [pattern, view] of VIEWS) {
    const match = pattern.exec(pathname);
    if (match) {
      const id = match[1] === undefined ? null : decode(match[1]);
      return { view, id, query: QUERIES[view]?.read(params) ?? {} };
    }
  }
  return { view: 'missing', id: null, query: {} };
}

export function formatAddress({ view, id = null, query = {} }) {
  const paths = {
    runs: '/',
    new: '/new',
    compare: '/compare',
    trends: '/trends',
    nodes: '/nodes',
    node: `/nodes/${encodeURIComponent(id ?? '')}`,
    run: `/runs/${encodeURIComponent(id ?? '')}`,
  };
  const params = new URLSearchParams();
  QUERIES[view]?.write(query, params);
  const search = params.toString();
  return (paths[view] ?? '/') + (search ? `?${search}` : '');
}

/* The last 24 hours, as the start of a list. */
export const LAST_DAY = '24h';
const DAY_MS = 24 * 3600 * 1000;

/* The query string of GET /runs for what the run list shows. */
export function runListQuery({ since, until, ...query }, limit, hasTotal = false) {
  const params = new URLSearchParams();
  writeRuns(query, params);
  const from = since === LAST_DAY ? new Date(Date.now() - DAY_MS).toISOString() : dayStart(since, 0);
  put(params, 'since', from, '');
  put(params, 'until', dayStart(until, 1), '');
  params.set('limit', limit);
  put(params, 'total', hasTotal ? 1 : '', '');
  return params.toString();
}

/* The query string of GET /compare, which is that of the view. */
export function compareQuery(query, more = {}) {
  const params = new URLSearchParams(more);
  writeAll(COMPARE_DEFAULTS, query, params);
  return params.toString();
}

/* The query string of GET /trends for one band of what the view shows. */
export function trendsQuery(query, more) {
  const params = new URLSearchParams(more);
  writeAll(TRENDS_DEFAULTS, query, params);
  return params.toString();
}

/* What is said by its defaults alone: lists, texts, and numbers where the default is null. */
function byDefaults(defaults) {
  return {
    read: (params) =>
      Object.fromEntries(
        Object.entries(defaults).map(([key, fallback]) => [key, readAs(fallback, key, params)]),
      ),
    write: (query, params) => writeAll(defaults, query, params),
  };
}

function readAs(fallback, key, params) {
  if (Array.isArray(fallback)) {
    return params.getAll(key);
  }
  return fallback === null ? readInteger(params.get(key)) : (params.get(key) ?? fallback);
}

/* When a day (2026-01-31) begins here, or the one so many days later; '' of none. */
function dayStart(day, later) {
  const [year, month, date] = String(day ?? '')
    .split('-')
    .map(Number);
  const time = new Date(year, month - 1, date + later);
  return Number.isNaN(time.getTime()) ? '' : time.toISOString();
}

function readRuns(params) {
  return {
    q: params.get('q') ?? '',
    states: params.getAll('state'),
    labels: params.getAll('label'),
    node: params.get('node') ?? '',
    verdict: params.get('verdict') ?? '',
    since: params.get('since') ?? '',
    until: params.get('until') ?? '',
    ...readOrder(params, RUN_SORTS, ['desc', 'asc']),
    cursor: params.get('cursor') ?? '',
  };
}

function writeRuns(query, params) {
  put(params, 'q', query.q, '');
  (query.states ?? []).forEach((state) => params.append('state', state));
  (query.labels ?? []).forEach((label) => params.append('label', label));
  put(params, 'node', query.node, '');
  put(params, 'verdict', query.verdict, '');
  put(params, 'since', query.since, '');
  put(params, 'until', query.until, '');
  put(params, 'sort', query.sort, RUN_SORTS[0]);
  put(params, 'order', query.order, 'desc');
  put(params, 'cursor', query.cursor, '');
}

/* By what a list is sorted, and which way; the first of each is the usual one. */
function readOrder(params, sorts, orders) {
  const oneOf = (key, words) => (words.includes(params.get(key)) ? params.get(key) : words[0]);
  return { sort: oneOf('sort', sorts), order: oneOf('order', orders) };
}

function readNodes(params) {
  return {
    q: params.get('q') ?? '',
    states: params.getAll('state'),
    labels: params.getAll('label'),
    by: params.get('by') ?? '',
    differ: params.get('differ') === '1',
    turned: params.getAll('turned'),
    ...readOrder(params, NODE_SORTS, ['asc', 'desc']),
  };
}

function writeNodes(query, params) {
  put(params, 'q', query.q, '');
  (query.states ?? []).forEach((state) => params.append('state', state));
  (query.labels ?? []).forEach((label) => params.append('label', label));
  put(params, 'by', query.by, '');
  put(params, 'differ', query.differ ? '1' : '', '');
  (query.turned ?? []).forEach((name) => params.append('turned', name));
  put(params, 'sort', query.sort, NODE_SORTS[0]);
  put(params, 'order', query.order, 'asc');
}

function readRun(params) {
  const oneOf = (key, values) => (values.includes(params.get(key)) ? params.get(key) : RUN_DEFAULTS[key]);
  return {
    metric: oneOf('metric', ['busbw', 'algbw']),
    y: oneOf('y', ['linear', 'log']),
    zoom: readRange(params.get('zoom')),
    place: oneOf('place', ['both', 'out', 'in']),
    hide: params.getAll('hide'),
    band: params.get('band') !== '0',
    sort: params.get('sort') ?? '',
    case: readInteger(params.get('case')),
    rank: readInteger(params.get('rank')),
    log: params.get('log') ?? '',
    with: [...new Set(params.getAll('with'))].slice(0, OVERLAY_MAX),
    at: readInteger(params.get('at')),
    nodes: readInteger(params.get('nodes')),
    of: params.get('of') ?? '',
    racks: params.getAll('racks').slice(0, 2),
    tab: oneOf('tab', ['table', 'ranks', 'cases', 'logs', 'spec']),
  };
}

function writeAll(defaults, query, params) {
  for (const [key, fallback] of Object.entries(defaults)) {
    const value = query[key] ?? fallback;
    if (key === 'zoom') {
      put(params, key, value?.map(formatSize).join('-'), fallback);
    } else if (Array.isArray(value)) {
      value.forEach((item) => params.append(key, item));
    } else if (typeof value === 'boolean') {
      put(params, key, value ? '1' : '0', fallback ? '1' : '0');
    } else {
      put(params, key, value, fallback);
    }
  }
}

function put(params, key, value, fallback) {
  if (value !== undefined && value !== null && value !== fallback) {
    params.set(key, String(value));
  }
}

function readInteger(text) {
  return text !== null && /^\d+$/.test(text) ? Number(text) : null;
}

/* Two sizes, "64K-16M", or null. */
function readRange(text) {
  const [low, high] = (text ?? '').split('-').map(parseSize);
  return low > 0 && high > low ? [low, high] : null;
}

/* A path may hold a stray percent sign: it is then a name as it stands. */
function decode(segment) {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
