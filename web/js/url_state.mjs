/* SPDX-License-Identifier: Apache-2.0 */
/* url_state.mjs - converts a view's state to its address, and back. Addresses do not contain
 * default values. No DOM. */
import { formatSize, parseSize } from './units.mjs';

/* A codec: `read` turns the texts of a parameter into a value, and `write` does the reverse. */
const said = (value, usual) =>
  value === undefined || value === null || value === usual ? [] : [String(value)];
const text = (usual = '') => ({
  read: ([value = usual]) => value,
  write: (value) => said(value, usual),
});
const oneOf = (...values) => ({
  read: ([value]) => (values.includes(value) ? value : values[0]),
  write: (value) => said(value, values[0]),
});
const number = {
  read: ([value]) => (/^\d+$/.test(value ?? '') ? Number(value) : null),
  write: (value) => said(value, null),
};
const flag = (usual) => ({
  read: ([value]) => (value === (usual ? '0' : '1') ? !usual : usual),
  write: (value = usual) => (value === usual ? [] : [usual ? '0' : '1']),
});
const list = (max = Infinity, name = '') => ({
  name,
  read: (values) => [...new Set(values)].slice(0, max),
  write: (values = []) => values,
});
/* Two sizes, "64K-16M", or null. */
const range = {
  read: ([value = '']) => {
    const [low, high] = value.split('-').map((size) => parseSize(size) ?? 0);
    return low > 0 && high > low ? [low, high] : null;
  },
  write: (sizes) => (sizes ? [sizes.map(formatSize).join('-')] : []),
};

const FILTERS = { q: text(), states: list(Infinity, 'state'), labels: list(Infinity, 'label') };
const NODE_SORTS = ['state', 'name', 'group', 'ranks', 'gpus', 'nccl', 'driver', 'version', 'cpu', 'seen'];

/* The address state of each view. */
const QUERIES = {
  runs: {
    ...FILTERS,
    node: text(),
    verdict: text(),
    since: text(),
    until: text(),
    sort: oneOf('created', 'duration', 'figure'),
    order: oneOf('desc', 'asc'),
    cursor: text(),
  },
  nodes: {
    ...FILTERS,
    by: text(),
    differ: flag(false),
    turned: list(),
    sort: oneOf(...NODE_SORTS),
    order: oneOf('asc', 'desc'),
  },
  run: {
    metric: oneOf('busbw', 'algbw'),
    y: oneOf('linear', 'log'),
    zoom: range,
    limits: list(),
    place: oneOf('out', 'in', 'both'),
    hide: list(),
    band: flag(true),
    sort: text(),
    case: number,
    rank: number,
    log: text(),
    with: list(5),
    nodes: number,
    of: text(),
    tab: oneOf('', 'table', 'ranks', 'cases', 'logs', 'spec'),
    racks: list(2),
  },
  /* Named as the server's parameters of GET /compare. */
  compare: { base: list(), base_env: list(), head: list(), head_env: list(), last: number, like: text() },
  trends: {
    collective: text('all_reduce'),
    dtype: text('float32'),
    in_place: text('0'),
    backend: text(),
    nodes: text(),
    run: text(),
    like: text(),
    since: text(),
    until: text(),
    per_line: number,
  },
  new: { from: text(), without: text() },
};

/** @type {[RegExp, string][]} */
const VIEWS = [
  [/^\/$/, 'runs'],
  [/^\/new\/?$/, 'new'],
  [/^\/nodes\/?$/, 'nodes'],
  [/^\/compare\/?$/, 'compare'],
  [/^\/trends\/?$/, 'trends'],
  [/^\/watches\/?$/, 'watches'],
  [/^\/nodes\/([^/]+)\/?$/, 'node'],
  [/^\/runs\/([^/]+)\/?$/, 'run'],
];

const readQuery = (codecs, params) =>
  Object.fromEntries(
    Object.entries(codecs).map(([key, codec]) => [key, codec.read(params.getAll(codec.name || key))]),
  );

/* The view's query as URL parameters, after those of `more`. */
function writeQuery(view, query, more = {}) {
  const params = new URLSearchParams(more);
  for (const [key, codec] of Object.entries(QUERIES[view] ?? {})) {
    codec.write(query[key]).forEach((one) => params.append(codec.name || key, one));
  }
  return params;
}

/* Returns {view, id, query} of an address. `view` is 'missing' for an unknown address. */
export function parseAddress(pathname, search) {
  const [pattern, view] = VIEWS.find(([one]) => one.test(pathname)) ?? [/(?:)/, 'missing'];
  const [, id] = pattern.exec(pathname) ?? [];
  return {
    view,
    id: id === undefined ? null : decode(id),
    query: readQuery(QUERIES[view] ?? {}, new URLSearchParams(search)),
  };
}

export function formatAddress({ view, id = null, query = {} }) {
  const name = encodeURIComponent(id ?? '');
  const paths = { runs: '/', node: `/nodes/${name}`, run: `/runs/${name}` };
  const search = writeQuery(view, query).toString();
  return (paths[view] ?? `/${view}`) + (search && `?${search}`);
}

/* Value of `since` for the last 24 hours. */
export const LAST_DAY = '24h';
const DAY_MS = 24 * 3600 * 1000;

/* Returns the local midnight of a day (2026-01-31), `later` days on, as RFC 3339 text. Empty
 * without a day. */
function dayStart(day, later) {
  const [year, month, date] = String(day ?? '')
    .split('-')
    .map(Number);
  const time = new Date(year, month - 1, date + later);
  return Number.isNaN(time.getTime()) ? '' : time.toISOString();
}

/* Returns days as the RFC 3339 times that the server expects. */
const timesOf = ({ since, until }) => ({
  since: since === LAST_DAY ? new Date(Date.now() - DAY_MS).toISOString() : dayStart(since, 0),
  until: dayStart(until, 1),
});

/* Returns the query string of GET /runs for the run list. */
export function runListQuery(query, limit, hasTotal = false) {
  const params = writeQuery('runs', { ...query, ...timesOf(query) });
  params.set('limit', limit);
  if (hasTotal) {
    params.set('total', '1');
  }
  return params.toString();
}

/* Returns the query string of GET /compare. */
export const compareQuery = (query, more = {}) => writeQuery('compare', query, more).toString();

/* Default number of points per line, and the limit for all lines. */
export const POINTS_SHOWN = 50;
const POINTS_MAX = 5000;

/* Returns the query string of GET /trends for one band. */
export const trendsQuery = (query, more) =>
  writeQuery(
    'trends',
    { ...query, ...timesOf(query), per_line: query.per_line ?? POINTS_SHOWN },
    { limit: String(POINTS_MAX), ...more },
  ).toString();

/* A path with a stray percent sign is used as it is. */
function decode(segment) {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
