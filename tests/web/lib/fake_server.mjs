/* SPDX-License-Identifier: Apache-2.0 */
/* fake_server.mjs - the API of docs/reference/api.md over event logs in memory, for tests of what a
 * page does with it: it can be slow, be gone, refuse, and cut its streams */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { headlineOfCases } from '../../../web/js/book.mjs';
import { newRunState, applyEvents } from '../../../web/js/events.mjs';
import { seriesOf } from '../../../web/js/summary.mjs';
import { resultsOf, summaryOf } from './summary_of.mjs';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const BUILD = resolve(ROOT, process.env.RINGBENCH_BUILD_DIR || 'build/dev');
/* As the build completed it: cmake --build --preset dev --target openapi. */
export const SCHEMA = join(BUILD, 'server/api/openapi.json');
/* Compared with what the C server answers by its own units. */
const COLLECTIVES = new URL('../../vectors/collectives.json', import.meta.url);
/* As the build bundled it: cmake --build --preset dev --target web. */
const WEB = join(BUILD, 'share/ringbench/web');
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css',
  '.mjs': 'text/javascript',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
};
export const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; " +
  "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'";
const ENDED = ['completed', 'failed', 'cancelled'];

/* Of all of them memory may not be locked. */
function preflightOf(nodes) {
  const checks = [
    {
      check: 'memlock',
      severity: 'error',
      answer: 'finding',
      sentence: '64 KiB of memory may be locked',
      command: 'LimitMEMLOCK=infinity in the unit',
      nodes,
    },
    { check: 'shm', severity: 'error', answer: 'ok', sentence: 'no problem found' },
  ].filter((one) => one.answer !== 'finding' || nodes.length > 0);
  return {
    kind: 'preflight',
    answer: nodes.length > 0 ? 'finding' : 'ok',
    sentence: `${nodes.length} findings`,
    nodes,
    evidence: { backend: 'nccl', ok: 1, not_evaluated: 0, checks },
  };
}

export class FakeServer {
  constructor() {
    this.runs = new Map();
    this.nodes = [];
    this.logs = [];
    this.posts = [];
    this.requests = [];
    this.token = null;
    /** @type {Partial<Schema.Access>} */
    this.access = { operator: true, demo: false, reason: null };
    this.streams = new Set();
    this.port = 0;
    this.programs = [];
    this.launchers = [];
    this.jobs = [];
    /** @type {Schema.Watch[]} */
    this.watches = [];
    this.onPost = null;
    this.followUp = null;
    this.beforeSchema = null;
    /** @type {(spec: any) => { status: number, body: object }} */
    this.onValidate = (spec) => ({ status: 200, body: { spec, cases: 1 } });
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  async start() {
    this.server = createServer((request, response) => {
      this.handle(request, response).catch((error) => {
        response.writeHead(500);
        response.end(String(error.stack));
      });
    });
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = /** @type {import('node:net').AddressInfo} */ (this.server.address()).port;
  }

  /* As kill -9 would: every connection is cut. */
  async stop() {
    this.server.closeAllConnections();
    await new Promise((resolve) => {
      this.server.close(resolve);
    });
    this.streams.clear();
  }

  /* `shown`: how many of the run's events have happened; the rest comes by emit. */
  add(run, shown = run.events.length) {
    const entry = { ...run, events: run.events.slice(0, shown) };
    entry.rest = run.events.slice(shown);
    this.runs.set(run.id, entry);
    return entry;
  }

  /* The next `count` events of a run happen now. */
  emit(id, count = 1) {
    const run = this.runs.get(id);
    const fresh = run.rest.splice(0, count);
    run.events.push(...fresh);
    for (const stream of this.streams) {
      if (stream.id === id) {
        this.send(stream, fresh);
      }
    }
  }

  send(stream, events) {
    for (const event of events.filter(({ type }) => stream.hasResults || type !== 'result')) {
      stream.response.write(`id: ${event.id}\nevent: ${event.type}\n` + `data: ${JSON.stringify(event)}\n\n`);
    }
    if (stream.hasSummary) {
      const summary = { whole: true, ...this.summarise(this.runs.get(stream.id)) };
      stream.response.write(`event: summary\ndata: ${JSON.stringify(summary)}\n\n`);
    }
    if (ENDED.includes(this.describe(this.runs.get(stream.id)).state)) {
      stream.response.end('event: end\ndata: {}\n\n');
      this.streams.delete(stream);
    }
  }

  /* The run document, from its events as the page itself reads them. */
  describe(run, full = false) {
    const state = stateOf(run);
    const rows = rowsOf(run.events);
    const out = rows.filter((row) => !row.in_place && row.series === 0 && !row.skipped);
    const document = {
      id: run.id,
      name: run.name,
      labels: run.labels,
      state: state.state,
      reason: state.reason,
      created: run.created,
      started: state.started,
      ended: state.ended,
      backend: state.backend,
      world_size: state.worldSize,
      collectives: run.spec.collectives,
      nodes: state.nodes,
      ...(state.groups ? { groups: state.groups } : {}),
      rows_done: rows.length,
      rows_total: state.rowsTotal,
      verdicts: state.verdicts,
      summary: {
        headline: headlineOf(run.events),
        wrong: rows.reduce((sum, row) => sum + (row.wrong ?? 0), 0),
        skipped: rows.filter((row) => row.skipped).length,
        cases: { completed: 0, failed: 0, cancelled: 0, skipped: 0 },
        curve: out.map((row) => [row.size, row.busbw_gbs]),
      },
    };
    if (full) {
      return { ...document, ...run.extra, spec: run.spec, cases: casesOf(state, run.events) };
    }
    return { ...document, verdicts: state.verdicts, ...run.extra };
  }

  async handle(request, response) {
    const url = new URL(request.url, this.url);
    this.requests.push({
      method: request.method,
      path: url.pathname,
      search: url.search,
      headers: request.headers,
    });
    if (url.pathname === '/api/v1/collectives') {
      json(response, 200, JSON.parse(await readFile(COLLECTIVES, 'utf8')).served);
      return;
    }
    if (url.pathname === '/openapi.json') {
      await this.beforeSchema;
      json(response, 200, JSON.parse(await readFile(SCHEMA, 'utf8')));
      return;
    }
    if (!url.pathname.startsWith('/api/')) {
      await serveFile(url.pathname, response);
      return;
    }
    if (this.token && request.headers.authorization !== `Bearer ${this.token}`) {
      problem(response, 401, 'a token is needed');
      return;
    }
    const body = request.method === 'POST' ? await readBody(request) : '';
    this.route(request, response, url, body);
  }

  route(request, response, url, body) {
    const [, , , kind, id, verb] = url.pathname.split('/').map(decodeURIComponent);
    if (kind === 'access') {
      json(response, 200, this.access);
    } else if (kind === 'programs') {
      json(response, 200, { programs: this.programs });
    } else if (kind === 'launchers') {
      json(response, 200, { launchers: this.launchers });
    } else if (kind === 'jobs' && request.method === 'DELETE') {
      const job = this.jobs.find((one) => one.id === id);
      job.state = 'stopping';
      json(response, 202, job);
    } else if (kind === 'jobs' && this.jobs === null) {
      problem(response, 503, 'the jobs are lost');
    } else if (kind === 'jobs') {
      json(response, 200, { jobs: this.jobs });
    } else if (kind === 'watches' && verb) {
      const watch = this.watches.find((one) => one.id === id);
      watch.state = verb === 'pause' ? 'paused' : 'waiting';
      json(response, 200, watch);
    } else if (kind === 'watches' && id) {
      json(
        response,
        200,
        this.watches.find((one) => one.id === id),
      );
    } else if (kind === 'watches') {
      const listed = (/** @type {any} */ { nodes, stale, actions, sweep, ...rest }) => rest;
      json(response, 200, { watches: this.watches.map(listed) });
    } else if (kind === 'runs' && id === 'validate') {
      const answer = this.onValidate(JSON.parse(body));
      json(response, answer.status, answer.body);
    } else if (kind === 'preflight' || verb === 'preflight') {
      json(response, 200, preflightOf(id ? [id] : this.nodes.map(({ name }) => name)));
    } else if (kind === 'nodes') {
      this.answerNodes(response, id, url.searchParams);
    } else if (kind !== 'runs') {
      problem(response, 404, 'no such path');
    } else if (!id && request.method === 'POST') {
      this.create(request, response, JSON.parse(body));
    } else if (!id) {
      this.list(response, url.searchParams);
    } else if (!this.runs.has(id)) {
      problem(response, 404, `no run ${id}`);
    } else {
      this.answerRun(request, response, this.runs.get(id), verb, url.searchParams);
    }
  }

  answerNodes(response, name, params) {
    const node = this.nodes.find((n) => n.name === name);
    if (name && !node) {
      problem(response, 404, 'no such node');
    } else {
      const brief = ({ inventory, ...rest }) => rest;
      const nodes = params.get('inventory') === '0' ? this.nodes.map(brief) : this.nodes;
      json(response, 200, name ? node : { nodes });
    }
  }

  list(response, params) {
    const states = params.getAll('state');
    const labels = params.getAll('label');
    const q = params.get('q') ?? '';
    const key = {
      figure: (run) => run.summary.headline?.busbw_gbs,
      duration: (run) => Date.parse(run.ended) - Date.parse(run.started),
    }[params.get('sort')];
    const sign = params.get('order') === 'asc' ? 1 : -1;
    const isIn = (key, run, way) =>
      !params.has(key) || way * (Date.parse(run.created) - Date.parse(params.get(key))) >= 0;
    const all = [...this.runs.values()]
      .reverse()
      .map((run) => this.describe(run))
      .filter((run) => states.length === 0 || states.includes(run.state))
      .filter(
        (run) =>
          !params.has('verdict') || run.verdicts.some((one) => params.getAll('verdict').includes(one.answer)),
      )
      .filter((run) => !params.has('node') || run.nodes.some((node) => node.name === params.get('node')))
      .filter((run) => !params.has('judged') || run.verdicts.length > 0)
      .filter(
        (run) =>
          !params.has('suspect') || run.verdicts.some(({ nodes }) => nodes?.includes(params.get('suspect'))),
      )
      .filter((run) =>
        labels.every((label) => Object.entries(run.labels ?? {}).some((pair) => pair.join('=') === label)),
      )
      .filter((run) => isIn('since', run, 1) && isIn('until', run, -1))
      .filter((run) => `${run.name} ${run.id}`.includes(q));
    if (key) {
      all.splice(0, all.length, ...all.filter((run) => Number.isFinite(key(run))));
      all.sort((a, b) => sign * (key(a) - key(b)));
    } else if (sign > 0) {
      all.reverse();
    }
    const from = Number(params.get('cursor') ?? 0);
    const limit = Number(params.get('limit'));
    json(response, 200, {
      runs: all.slice(from, from + limit),
      next: from + limit < all.length ? String(from + limit) : null,
      total: params.get('total') === '1' ? { runs: all.length, is_more: false } : null,
    });
  }

  create(request, response, spec) {
    this.posts.push({ spec, key: request.headers['idempotency-key'] });
    const answer = this.onPost(spec);
    json(response, answer.status, answer.body);
  }

  answerRun(request, response, run, verb, params) {
    if (request.method === 'DELETE') {
      this.runs.delete(run.id);
      response.writeHead(204).end();
    } else if (verb === 'cancel') {
      run.cancelled = true;
      json(response, 202, this.describe(run));
    } else if (verb === 'follow_up' && this.followUp) {
      json(response, 201, this.followUp);
    } else if (verb === 'follow_up') {
      problem(response, 409, 'nothing follows');
    } else if (verb === 'events') {
      this.stream(request, response, run, params);
    } else if (verb === 'logs') {
      this.answerLogs(response, params);
    } else if (verb === 'baseline') {
      json(response, 200, { baseline: null, runs: run.against ?? [] });
    } else if (verb === 'summary') {
      json(response, 200, this.summarise(run, params.get('by') ?? undefined));
    } else if (verb === 'nodes') {
      json(response, 200, { differences: [] });
    } else if (verb === 'projection') {
      json(response, 200, { nodes: [], sizes: [], verdict: { sentence: 'too little was measured' } });
    } else if (verb === 'results' && params.has('series')) {
      const { rows } = this.pageOf(run, params);
      json(response, 200, { run: run.id, rows, next: null });
    } else if (verb === 'results') {
      response.writeHead(200, { 'Content-Type': 'text/csv' });
      response.end('size,busbw_gbs\n8,0.01\n');
    } else {
      json(response, 200, this.describe(run, true));
    }
  }

  pageOf(run, params) {
    const wanted = ['series', 'size', 'case'].filter((name) => params.has(name));
    const rows = rowsOf(run.events).filter((row) =>
      wanted.every((name) => row[name] === Number(params.get(name))),
    );
    return { rows: rows.slice(0, Number(params.get('limit'))) };
  }

  summarise(run, by = 'combination') {
    return summaryOf(run.events, by, this.describe(run, true));
  }

  stream(request, response, run, params) {
    const after = Number(request.headers['last-event-id'] ?? params.get('after') ?? 0);
    const hasResults = params.get('results') !== '0';
    if (params.get('follow') === '0') {
      response.writeHead(200, { 'Content-Type': 'application/x-ndjson' });
      response.end(
        run.events
          .filter((event) => event.id > after && (hasResults || event.type !== 'result'))
          .map((event) => `${JSON.stringify(event)}\n`)
          .join(''),
      );
      return;
    }
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    const stream = { id: run.id, response, hasResults, hasSummary: params.get('summary') === '1' };
    this.streams.add(stream);
    response.on('close', () => this.streams.delete(stream));
    response.write(': hello\n\n');
    this.send(
      stream,
      run.events.filter((event) => event.id > after),
    );
  }

  answerLogs(response, params) {
    const after = Number(params.get('after') ?? 0);
    const rank = params.get('rank');
    const lines = this.logs
      .filter((line) => line.seq > after && (rank === null || line.rank === Number(rank)))
      .slice(0, Number(params.get('limit')));
    json(response, 200, { lines, next: null });
  }
}

/* Rows measured, of the present attempts only. */
const rowsOf = (events) => resultsOf(events).filter(({ metric }) => metric === undefined);

const headlinesOf = (events, by) =>
  headlineOfCases({ summary: { cases: seriesOf(summaryOf(events, by)) }, cases: new Map() });

function headlineOf(events) {
  const rows = rowsOf(events).map((row) => ({ ...row, case: 0, attempt: 1 }));
  const found = headlinesOf(rows, 'case').get(0);
  return found ? { collective: rows[0].collective, ...found, rows: 1 } : null;
}

/* A run's events as the page reads them: those that have come since the last time. */
function stateOf(run) {
  run.read ??= { state: newRunState(), count: 0 };
  applyEvents(run.read.state, run.events.slice(run.read.count));
  run.read.count = run.events.length;
  return run.read.state;
}

function casesOf(state, events) {
  const headlines = headlinesOf(events, 'case');
  return [...state.cases.values()].map(({ ranks, env, conditions, ...found }) => ({
    ...found,
    headline: headlines.get(found.case) ?? null,
    conditions: [...conditions.values()],
    ranks: [...ranks.values()].map(({ rank, state: now, reason }) => ({
      ranks: [rank, rank],
      state: now,
      reason,
    })),
  }));
}

function json(response, status, body) {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(body));
}

export function problemDocument(status, detail, errors) {
  return { type: 'about:blank', title: 'Problem', status, detail, errors };
}

function problem(response, status, detail) {
  response.writeHead(status, { 'Content-Type': 'application/problem+json' });
  response.end(JSON.stringify(problemDocument(status, detail)));
}

async function readBody(request) {
  const chunks = [];
  for await (const chunk of request) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

async function serveFile(path, response) {
  const page = extname(path) === '' || path.startsWith('/runs/') || path.startsWith('/nodes/');
  const file = page ? join(WEB, 'index.html') : join(WEB, normalize(path));
  try {
    const content = await readFile(file);
    response.writeHead(200, {
      'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream',
      'Content-Security-Policy': CSP,
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'no-store',
    });
    response.end(content);
  } catch {
    problem(response, 404, 'no such file');
  }
}
