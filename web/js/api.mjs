/* SPDX-License-Identifier: Apache-2.0 */
/* api.mjs - sends all requests to the server. No other module sends requests. */
import { ENDED } from './events.mjs';

const RETRY_FIRST_MS = 300;
const RETRY_MAX_MS = 5000;
/* The server sends a comment every 15 s. A stream counts as lost after this much silence. */
const SILENCE_MS = 24000;
/* Time limit of an ordinary request, so that a dead link does not block a polling page for
 * minutes. */
const REQUEST_MS = 20000;
/* Interval of polling in a window without a stream. */
const POLL_MS = 1000;
/* Time limit of a download. A file of a million rows takes minutes. */
const FILE_MS = 600000;

export class ApiError extends Error {
  constructor(status, problem) {
    super(problem?.detail || problem?.title || `the server answered with HTTP status ${status}`);
    this.name = 'ApiError';
    this.status = status;
    this.problem = problem;
  }
}

/* `options.askToken(again)` resolves to a token. The other options replace the defaults in tests:
 * fetch, storage, slots, silenceMs, requestMs, pollMs. */
export class Api extends EventTarget {
  constructor(options = {}) {
    super();
    this.fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
    this.storage = options.storage ?? globalThis.sessionStorage;
    this.askToken = options.askToken ?? null;
    this.silenceMs = options.silenceMs ?? SILENCE_MS;
    this.requestMs = options.requestMs ?? REQUEST_MS;
    /** @type {Date | null} */
    this.goneSince = null;
    this.skewMs = 0;
    this.asking = null;
    this.slots = options.slots ?? null;
    this.pollMs = options.pollMs ?? POLL_MS;
  }

  token() {
    try {
      return this.storage?.getItem('ringbench-token') ?? null;
    } catch {
      return null;
    }
  }

  setToken(token) {
    this.role = null;
    if (token) {
      this.storage.setItem('ringbench-token', token);
    } else {
      this.storage.removeItem('ringbench-token');
    }
  }

  /* The server's time in ms, from the Date header of its last answer (resolution: 1 s). */
  now() {
    return Date.now() + this.skewMs;
  }

  /** @returns {Promise<Schema.RunList>} */
  list(query) {
    return this.json(`/api/v1/runs?${query}`);
  }

  /** @returns {Promise<Schema.Run>} */
  run(id, signal) {
    return this.json(runPath(id), { signal });
  }

  /** Request the run and its results summed per series, for runs with too many events to read.
   * @returns {Promise<Schema.RunSummary>} */
  summary(id, by, signal) {
    return this.json(`${runPath(id)}/summary?by=${by}`, { signal });
  }

  /** Request the runs that an ended run is compared with.
   * @returns {Promise<Schema.Base>} */
  baseline(id) {
    return this.json(`${runPath(id)}/baseline`);
  }

  /** Request the projection of a scaling run to this number of nodes.
   * @returns {Promise<Schema.Projection>} */
  projection(id, nodes) {
    return this.json(`${runPath(id)}/projection?nodes=${nodes}`);
  }

  /** @returns {Promise<Schema.Results>} */
  rows(id, query) {
    return this.json(`${runPath(id)}/results?format=json&ranks=1&${query}`);
  }

  /** Request the events stored so far, without result rows.
   * @returns {Promise<Schema.Event[]>} */
  async stored(id, after) {
    const response = await this.request(
      `${runPath(id)}/events?follow=0&format=ndjson&results=0&after=${after}`,
      {},
    );
    const lines = (await response.text()).split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
  }

  /** Request facts about each collective: bus factor and shape.
   * @returns {Promise<Schema.Collectives>} */
  collectives() {
    return this.json('/api/v1/collectives');
  }

  /** @returns {Promise<Schema.ProgramList>} */
  programs() {
    return this.json('/api/v1/programs');
  }

  /* Request the OpenAPI document. The new-run form is built from its schemas. */
  schema() {
    return this.json('/openapi.json');
  }

  /** Request the cost, placement and errors of a spec. Starts nothing.
   * @returns {Promise<Schema.Validation>} */
  validate(spec, signal) {
    return this.send('POST', '/api/v1/runs/validate', spec, { signal });
  }

  /** Request all nodes without their inventories, which make up most of the answer.
   * @returns {Promise<Schema.NodeList>} */
  nodes() {
    return this.json('/api/v1/nodes?inventory=0');
  }

  /** @returns {Promise<Schema.WatchList>} */
  watches() {
    return this.json('/api/v1/watches');
  }

  /** @returns {Promise<Schema.Watch>} */
  watch(id) {
    return this.json(`/api/v1/watches/${id}`);
  }

  /** Start the simulated demo nodes of a server without nodes.
   * @returns {Promise<Schema.Demo>} */
  startDemo() {
    return this.json('/api/v1/demo', { method: 'POST' });
  }

  /** Request the rights of this token, {operator, demo, reason}: whether it may start, stop and
   * delete runs. Requested once per token.
   * @returns {Promise<Schema.Access>} */
  access() {
    this.role ??= this.json('/api/v1/access').catch((error) => {
      this.role = null;
      throw error;
    });
    return this.role;
  }

  /** @returns {Promise<Schema.Node>} */
  node(name) {
    return this.json(`/api/v1/nodes/${encodeURIComponent(name)}`);
  }

  /** Request preflight findings for a node, or for all live nodes (null).
   * @returns {Promise<Schema.PreflightVerdict>} */
  preflight(name) {
    return this.json(
      name === null ? '/api/v1/preflight' : `/api/v1/nodes/${encodeURIComponent(name)}/preflight`,
    );
  }

  /** @returns {Promise<Schema.Run>} */
  create(spec, key) {
    return this.send('POST', '/api/v1/runs', spec, { headers: { 'Idempotency-Key': key } });
  }

  /** Start the follow-up run that searches for this run's slow node.
   * @returns {Promise<Schema.Run>} */
  followUp(id, key) {
    return this.json(`${runPath(id)}/follow_up`, { method: 'POST', headers: { 'Idempotency-Key': key } });
  }

  /** @returns {Promise<Schema.Run>} */
  cancel(id) {
    return this.json(`${runPath(id)}/cancel`, { method: 'POST' });
  }

  /** Change labels and notes by a JSON merge patch (RFC 7396).
   * @returns {Promise<Schema.Run>} */
  edit(id, patch) {
    const headers = { 'Content-Type': 'application/merge-patch+json' };
    return this.send('PATCH', runPath(id), patch, { headers });
  }

  remove(id) {
    return this.json(runPath(id), { method: 'DELETE' });
  }

  /** @returns {Promise<Schema.Logs>} */
  logs(id, query) {
    return this.json(`${runPath(id)}/logs?${query}`);
  }

  /** Compare head with base. The server may take minutes for many results.
   * @returns {Promise<Schema.Comparison>} */
  compare(query) {
    return this.json(`/api/v1/compare?${query}`, { limitMs: FILE_MS });
  }

  /** @returns {Promise<Schema.Trend>} */
  trends(query) {
    return this.json(`/api/v1/trends?${query}`);
  }

  /** @returns {Promise<Schema.BaselineList>} */
  baselines(query) {
    return this.json(`/api/v1/baselines?${new URLSearchParams(query)}`);
  }

  /** @returns {Promise<Schema.Baseline>} */
  acceptBaseline(baseline) {
    return this.send('POST', '/api/v1/baselines', baseline);
  }

  /* Download a file of the run: `kind` is "report" or a format of the results. */
  file(id, kind) {
    const what = kind === 'report' ? 'report.html' : `results?format=${kind}&ranks=1`;
    return this.blob(`${runPath(id)}/${what}`);
  }

  async blob(path) {
    return (await this.request(path, { limitMs: FILE_MS })).blob();
  }

  async json(path, init = {}) {
    const response = await this.request(path, init);
    const type = response.headers.get('Content-Type') ?? '';
    return type.includes('json') ? response.json() : null;
  }

  /** @param {RequestInit} [init] */
  send(method, path, body, init = {}) {
    const headers = { 'Content-Type': 'application/json', ...init.headers };
    return this.json(path, { ...init, method, headers, body: JSON.stringify(body) });
  }

  /* Send one request. On 401, request a token from the user and repeat. */
  async request(path, init) {
    for (;;) {
      const token = this.token();
      const response = await this.attempt(path, init);
      if (response.status === 401 && this.askToken) {
        /* Another request may have received a token in the meantime. */
        if (this.token() === token) {
          await this.renewToken();
        }
        continue;
      }
      if (!response.ok) {
        throw new ApiError(response.status, await problemOf(response));
      }
      return response;
    }
  }

  async attempt(path, init) {
    const headers = { ...init.headers };
    const token = this.token();
    if (token) {
      headers.Authorization = `Bearer ${token}`;
    }
    const limits = [init.signal, init.follow ? null : AbortSignal.timeout(init.limitMs ?? this.requestMs)];
    const signal = AbortSignal.any(limits.filter(Boolean));
    try {
      const response = await this.fetch(path, { ...init, headers, signal });
      this.heard(response);
      return response;
    } catch (error) {
      if (error.name !== 'AbortError') {
        this.lost();
      }
      throw error;
    }
  }

  /* If the server refuses several requests at the same time, they share one token dialog. */
  async renewToken() {
    this.asking ??= this.askToken(this.token() !== null).finally(() => {
      this.asking = null;
    });
    this.setToken(await this.asking);
  }

  heard(response) {
    const date = Date.parse(response.headers.get('Date') ?? '');
    if (Number.isFinite(date)) {
      const skew = date - Date.now();
      this.skewMs = Math.abs(skew) > 2000 ? skew : 0;
    }
    this.setGone(null);
  }

  lost() {
    this.setGone(this.goneSince ?? new Date());
  }

  setGone(since) {
    if (since !== this.goneSince) {
      this.goneSince = since;
      this.dispatchEvent(new Event('reach'));
    }
  }

  /* Follow a run's events after id `after` until the run ends or `signal` aborts. `onEvents` gets
   * arrays of events in order, each event once. `onSummary` gets the changed parts of the summary.
   * Reconnects with the id of the last event. Resolves to 'ended', 'stopped', or the ApiError that
   * ended the stream. Polls while other windows hold all stream slots (stream_slots.mjs). */
  async follow(id, { after, onEvents, onSummary, signal }) {
    const position = { after };
    const heed = { onEvents, onSummary };
    let wait = RETRY_FIRST_MS;
    while (!signal.aborted) {
      const before = position.after;
      const slot = new AbortController();
      const release = this.slots ? this.slots.take(() => slot.abort()) : () => {};
      let outcome = release
        ? await this.followOnce(id, position, heed, AbortSignal.any([signal, slot.signal])).finally(release)
        : await this.pollOnce(id, position, heed);
      if (slot.signal.aborted && outcome === 'stopped') {
        outcome = 'more';
      }
      if (outcome !== 'lost' && outcome !== 'more') {
        return outcome;
      }
      wait = position.after > before ? RETRY_FIRST_MS : Math.min(wait * 2, RETRY_MAX_MS);
      await pause(outcome === 'more' ? this.pollMs : wait * (0.75 + Math.random() / 2), signal);
    }
    return 'stopped';
  }

  /* Do one round of polling. Resolves to 'more' or to a result of followOnce(). */
  async pollOnce(id, position, { onEvents, onSummary }) {
    try {
      const events = await this.stored(id, position.after);
      const summary = await this.summary(id, 'combination');
      if (events.length > 0) {
        position.after = events[events.length - 1].id;
        onEvents(events);
      }
      onSummary({ ...summary, whole: true });
      return events.some((event) => event.type === 'state' && ENDED.has(event.state)) ? 'ended' : 'more';
    } catch (error) {
      return endsFollowing(error) ? error : 'lost';
    }
  }

  /* Read one connection. Resolves to 'ended', 'stopped', 'lost' (the caller reconnects), or an
   * ApiError. */
  async followOnce(id, position, heed, signal) {
    const silence = new AbortController();
    const stop = () => silence.abort();
    signal.addEventListener('abort', stop);
    const timer = setTimeout(stop, this.silenceMs);
    try {
      const response = await this.request(`${runPath(id)}/events?results=0&summary=1`, {
        headers: { Accept: 'text/event-stream', 'Last-Event-ID': String(position.after) },
        cache: 'no-store',
        follow: true,
        signal: silence.signal,
      });
      clearTimeout(timer);
      const ended = await this.read(response.body, position, heed, silence);
      if (!ended && !signal.aborted) {
        this.lost();
      }
      return ended ? 'ended' : 'lost';
    } catch (error) {
      if (signal.aborted) {
        return 'stopped';
      }
      if (endsFollowing(error)) {
        return error;
      }
      this.lost();
      return 'lost';
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    }
  }

  /* Read a stream to its end. Resolves to true if the run ended. */
  async read(body, position, { onEvents, onSummary }, silence) {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    const lines = new EventLines();
    for (;;) {
      const timer = setTimeout(() => silence.abort(), this.silenceMs);
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      if (done) {
        return false;
      }
      const fresh = lines.push(decoder.decode(value, { stream: true }));
      const events = fresh.filter((event) => event.id > position.after);
      if (events.length > 0) {
        position.after = events[events.length - 1].id;
        onEvents(events);
      }
      lines.takeSummaries().forEach(onSummary);
      if (lines.ended) {
        reader.cancel().catch(() => {});
        return true;
      }
    }
  }
}

/* Parses the event stream, which arrives in pieces. Each event is one `data` line with JSON, and
 * `event: end` is the last one. Summaries are collected apart from events. */
class EventLines {
  constructor() {
    this.rest = '';
    this.type = '';
    this.summaries = [];
    this.ended = false;
  }

  takeSummaries() {
    const taken = this.summaries;
    this.summaries = [];
    return taken;
  }

  push(text) {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop() ?? '';
    const events = [];
    for (const line of lines) {
      this.type = line.startsWith('event: ') ? line.slice(7) : this.type;
      this.ended ||= this.type === 'end';
      if (line.startsWith('data: ') && !this.ended) {
        (this.type === 'summary' ? this.summaries : events).push(JSON.parse(line.slice(6)));
      }
    }
    return events;
  }
}

const endsFollowing = (error) => error instanceof ApiError && error.status < 500 && error.status !== 429;

const runPath = (id) => `/api/v1/runs/${encodeURIComponent(id)}`;

async function problemOf(response) {
  try {
    const text = await response.text();
    return text.startsWith('{') ? JSON.parse(text) : { detail: text.slice(0, 500) };
  } catch {
    return null;
  }
}

/** @returns {Promise<void>} */
function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(finish, ms);
    function finish() {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    }
    signal.addEventListener('abort', finish);
  });
}
