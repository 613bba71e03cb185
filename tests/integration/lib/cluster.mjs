// SPDX-License-Identifier: Apache-2.0
// cluster.mjs - a real server and real agents, and what tests ask of them over HTTP
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { promisify } from 'node:util';

import {
  atEnd,
  buildDir,
  Program,
  binDir,
  patience,
  processesWithEnv,
  tempDir,
  waitFor,
} from './fixture.mjs';

const finalStates = new Set(['completed', 'failed', 'cancelled']);

export const isFinal = (state) => finalStates.has(state);

// A small and quick run, to be added to.
export const quick = { sizes: [8, '4K'], iters: 3, warmup: 1 };

// Thousands of rows that take minutes: something to interrupt.
export const long = { sizes: { min: 4096, max: 4096 * 2000, step: 4096 }, iters: 200 };

let serial = 0;

// One request; the answer's body as text, and as JSON where it is.
export function request(url, method, target, { body = undefined, headers = {} } = {}) {
  return new Promise((resolve, reject) => {
    const options = { method, headers, agent: false };
    const call = http.request(new URL(target, url), options, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const type = response.headers['content-type'] ?? '';
        const json = /[/+]json$/.test(type.split(';')[0]) ? JSON.parse(text) : undefined;
        resolve({ status: response.statusCode, headers: response.headers, type, text, json });
      });
    });
    call.setTimeout(30000 * patience, () => call.destroy(new Error(`${method} ${target}: silence`)));
    call.on('error', reject);
    call.end(body);
  });
}

// An answer that goes on: its lines as they come.
export class Lines {
  constructor(t) {
    this.lines = [];
    this.isOver = false;
    this.error = null;
    t.after(() => this.stop());
  }

  open(url, method, target, { body = undefined, headers = {} } = {}) {
    return new Promise((resolve, reject) => {
      this.call = http.request(new URL(target, url), { method, headers, agent: false }, (response) => {
        this.status = response.statusCode;
        this.headers = response.headers;
        this.read(response);
        resolve(this);
      });
      this.call.on('error', (error) => {
        this.error = error;
        this.isOver = true;
        reject(error);
      });
      this.call.end(body);
    });
  }

  read(response) {
    let rest = '';
    response.setEncoding('utf8');
    response.on('data', (text) => {
      const parts = (rest + text).split('\n');
      rest = parts.pop();
      this.lines.push(...parts);
    });
    response.on('error', (error) => {
      this.error = error;
      this.isOver = true;
    });
    response.on('end', () => {
      if (rest) this.lines.push(rest);
      this.isOver = true;
    });
  }

  stop() {
    this.call?.destroy();
  }

  describe() {
    return `${this.error ?? ''}\n${this.lines.slice(-30).join('\n')}`;
  }

  line(pattern, deadlineMs = 20000) {
    return waitFor(
      () => {
        const match = this.lines.map((line) => line.match(pattern)).find(Boolean);
        if (!match && this.isOver) throw new Error(`ended without ${pattern}: ${this.describe()}`);
        return match;
      },
      () => `no line ${pattern}: ${this.describe()}`,
      deadlineMs,
    );
  }

  async ended(deadlineMs = 30000) {
    await waitFor(
      () => this.isOver,
      () => `goes on: ${this.describe()}`,
      deadlineMs,
    );
    return this.lines;
  }
}

// Server-Sent Events taken apart: [{id, event, data}]; comments and retry are left out.
export function parseSse(lines) {
  const events = [];
  let current = {};
  for (const line of lines) {
    if (line === '') {
      if (current.event) events.push(current);
      current = {};
    } else if (!line.startsWith(':')) {
      const [, key, value] = line.match(/^(\w+): ?(.*)$/);
      current[key] = key === 'data' ? JSON.parse(value) : value;
    }
  }
  return events;
}

// The ranks of a case in a run's document, one by one.
export const ranksOf = (one) =>
  one.ranks.flatMap(({ ranks: [first, last], state, reason }) =>
    Array.from({ length: last - first + 1 }, (_, i) => ({ rank: first + i, state, reason })),
  );

// Whether an event says of ranks, or of one of them, that they have come so far.
export const reached = (event, state, rank = undefined) =>
  event.type === 'ranks' && event.state === state && (rank === undefined || event.ranks.includes(rank));

const replayed = new WeakMap(); // test -> folders that are compared with their logs

// When the test's servers have ended: each run is what its log of events says, as it is stored
// and as another server would take it up.
function replayAtEnd(t, dataDir) {
  const file = path.join(binDir, 'replay_runs');
  const folders = replayed.get(t) ?? new Set();
  if (folders.has(dataDir) || !fs.existsSync(file)) return;
  replayed.set(t, folders.add(dataDir));
  atEnd(t, async () => {
    if (fs.existsSync(path.join(dataDir, 'ringbench.db'))) await promisify(execFile)(file, [dataDir]);
  });
}

export class Server extends Program {
  options;
  test;
  url;
  port;

  // options: args, env, dataDir, port (0: any), within (a command that starts it)
  static async start(t, { args = [], env = {}, dataDir = tempDir(t), port = 0, within = [] } = {}) {
    const mark = `${process.pid}-server-${serial++}`;
    replayAtEnd(t, dataDir);
    const [file, ...before] = [...within, path.join(binDir, 'ringbench-server')];
    const server = new Server(
      t,
      file,
      [...before, '--listen', `127.0.0.1:${port}`, '--data-dir', dataDir, '--poll-s', '2', ...args],
      { env: { ...process.env, TEST_MARK: mark, ...env } },
    );
    server.options = { args, env, dataDir, within };
    server.test = t;
    const [, url] = await server.line(/^listening on (https?:\/\/\S+)$/);
    server.url = url;
    server.port = Number(new URL(url).port);
    return server;
  }

  // Another process on the same port and data, after this one has ended.
  startAgain(options = {}) {
    return Server.start(this.test, { ...this.options, port: this.port, ...options });
  }

  async killHard() {
    this.signal('SIGKILL');
    await this.ended();
  }

  request(method, target, options) {
    return request(this.url, method, target, options);
  }

  async get(target) {
    const answer = await this.request('GET', target);
    assert.equal(answer.status, 200, `${target}: ${answer.text}`);
    return answer.json ?? answer.text;
  }

  post(spec, headers = {}) {
    const body = typeof spec === 'string' ? spec : JSON.stringify(spec);
    return this.request('POST', '/api/v1/runs', { body, headers });
  }

  // Post a run that is accepted.
  async run(spec) {
    const answer = await this.post(spec);
    assert.equal(answer.status, 201, answer.text);
    return answer.json;
  }

  getRun(id) {
    return this.get(`/api/v1/runs/${id}`);
  }

  // Post a run and follow it as text.
  followText(spec) {
    return new Lines(this.test).open(this.url, 'POST', '/api/v1/runs', {
      body: JSON.stringify(spec),
      headers: { Accept: 'text/plain' },
    });
  }

  // The run's events as they come.
  follow(id, { after = 0, format = 'ndjson', headers = {} } = {}) {
    return new Lines(this.test).open(
      this.url,
      'GET',
      `/api/v1/runs/${id}/events?format=${format}${after ? `&after=${after}` : ''}`,
      { headers },
    );
  }

  // What is stored of them now.
  async events(id) {
    const answer = await this.request('GET', `/api/v1/runs/${id}/events?format=ndjson&follow=0`);
    assert.equal(answer.status, 200, answer.text);
    return answer.text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  }

  async rows(id, query = '') {
    return (await this.get(`/api/v1/runs/${id}/results?format=json&ranks=1${query}`)).rows;
  }

  // Wait for an event of the run; check gets each.
  async event(id, check, deadlineMs = 30000) {
    const stream = await this.follow(id);
    const find = () =>
      stream.lines
        .filter(Boolean)
        .map((line) => JSON.parse(line))
        .find(check);
    try {
      return await waitFor(
        () => {
          const found = find();
          if (!found && stream.isOver) throw new Error(`no such event of ${id}: ${stream.describe()}`);
          return found;
        },
        () => `no such event of ${id} yet: ${stream.describe()}`,
        deadlineMs,
      );
    } finally {
      stream.stop();
    }
  }

  // Post a run that is accepted and wait for its end; the run as it then is.
  async runToEnd(spec, deadlineMs) {
    return this.runEnds((await this.run(spec)).id, deadlineMs);
  }

  // Wait for its end; the run as it then is.
  async runEnds(id, deadlineMs = 60000) {
    await this.event(id, (event) => event.type === 'state' && isFinal(event.state), deadlineMs);
    return this.getRun(id);
  }

  async node(name) {
    const answer = await this.request('GET', `/api/v1/nodes/${name}`);
    return answer.status === 200 ? answer.json : null;
  }

  nodeIs(name, state, deadlineMs = 20000) {
    let seen;
    return waitFor(
      async () => {
        seen = await this.node(name);
        return seen?.state === state && seen;
      },
      () => `${name} is not ${state}: ${JSON.stringify(seen)}`,
      deadlineMs,
    );
  }

  // The processes of the agents of this server's test, agents included.
  static workersOf(agents) {
    return agents.flatMap((agent) => agent.workers());
  }
}

export const startServer = (t, options) => Server.start(t, options);

// Creates a folder with the host and sim workers and returns its path. The NCCL worker is missing
// because its probe loads the libraries of NCCL and CUDA each time an agent starts.
function workersWithoutNccl() {
  const dir = path.join(buildDir, 'tests/workers');
  fs.mkdirSync(dir, { recursive: true });
  for (const name of ['ringbench-worker-host', 'ringbench-worker-sim']) {
    try {
      fs.symlinkSync(path.relative(dir, path.join(binDir, name)), path.join(dir, name));
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
  }
  return dir;
}

// Starts an agent and, if ready is set, waits until the server reports it as idle. within is a
// command that starts it. The agent has the NCCL worker only if env names a library for it.
export async function startAgent(
  t,
  server,
  name,
  { args = [], env = {}, ranks = 1, ready = true, within = [] } = {},
) {
  const mark = `${process.pid}-agent-${serial++}`;
  const [file, ...before] = [...within, path.join(binDir, 'ringbench-agent')];
  const agent = new Program(
    t,
    file,
    [
      ...before,
      '--server',
      server.url,
      '--name',
      name,
      '--ranks',
      String(ranks),
      '--spool-dir',
      tempDir(t),
      ...('RINGBENCH_NCCL_LIB' in env ? [] : ['--worker-dir', workersWithoutNccl()]),
      ...args,
    ],
    { env: { ...process.env, TEST_MARK: mark, RINGBENCH_PASS_ENV: 'TEST_MARK', ...env } },
  );
  if (ready) await server.nodeIs(name, 'idle');
  const workers = () => processesWithEnv('TEST_MARK', mark).filter((pid) => pid !== agent.pid);
  return Object.assign(agent, { nodeName: name, workers });
}

// n agents, node-1 to node-n.
export function startAgents(t, server, n, options = {}) {
  return Promise.all(Array.from({ length: n }, (_, i) => startAgent(t, server, `node-${i + 1}`, options)));
}

export async function startCluster(t, n, { server = {}, agent = {} } = {}) {
  const started = await startServer(t, server);
  return { server: started, agents: await startAgents(t, started, n, agent) };
}

// Two nodes of two ranks that are another host each to their ranks.
export async function startHosts(t, options) {
  const server = await startServer(t, options?.server);
  const agents = [];
  for (const i of [1, 2]) {
    const env = { ...options?.agent?.env, RINGBENCH_HOSTID: `host-${i}` };
    agents.push(await startAgent(t, server, `node-${i}`, { ranks: 2, env }));
  }
  return { server, agents };
}

// Libraries that stand in for those of CUDA, NCCL and NVML.
export const emulation = path.join(buildDir, 'tests/emulation');

// Why tests of the NCCL worker are skipped; false where it is built.
export const lacksNccl =
  !(
    fs.existsSync(path.join(binDir, 'ringbench-worker-nccl')) &&
    fs.existsSync(path.join(emulation, 'libnccl.so.2'))
  ) && 'built without the NCCL worker';

// The environment of a node with emulated GPUs: tests/nccl_emulation/settings.h has the settings.
export const emulatedGpus = (settings, env = {}) => ({
  RINGBENCH_CUDART_LIB: path.join(emulation, 'libcudart.so.13'),
  RINGBENCH_NCCL_LIB: path.join(emulation, 'libnccl.so.2'),
  RINGBENCH_EMULATION: settings,
  ...env,
});

// The environment of an agent that shows another machine, about whose GPUs this machine's libraries are
// not to be asked.
export const noNccl = { RINGBENCH_NCCL_LIB: '/nonexistent/libnccl.so' };

// Runs may misbehave.
export const faulty = {
  server: { args: ['--allow-faults'] },
  agent: { env: { RINGBENCH_ALLOW_FAULTS: '1' } },
};

export function noWorkersLeft(agents, deadlineMs = 10000) {
  return waitFor(
    () => Server.workersOf(agents).length === 0,
    () => `workers are left: ${Server.workersOf(agents)}`,
    deadlineMs,
  );
}

// Every row of a run once, in order, and none missing.
export function assertWholeRows(run, rows) {
  assert.deepEqual(
    rows.map((row) => [row.case, row.row]),
    rows.map((_, i) => [
      Math.floor(i / (run.rows_total / run.cases.length)),
      i % (run.rows_total / run.cases.length),
    ]),
  );
  assert.equal(rows.length, run.rows_total);
  assert.equal(run.rows_done, run.rows_total);
}

// Event ids count from 1 without gap or repetition.
export function assertNumbered(events) {
  assert.deepEqual(
    events.map((event) => event.id),
    events.map((_, i) => i + 1),
  );
}

export function assertProblem(answer, status, detail) {
  assert.equal(answer.status, status, answer.text);
  assert.match(answer.type, /^application\/problem\+json/);
  assert.equal(answer.json.status, status);
  assert.equal(typeof answer.json.title, 'string');
  if (detail) assert.match(answer.json.detail, detail);
  return answer.json;
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}

// Equal but for what rounding does.
export function assertNear(value, wanted, what) {
  assert.ok(Math.abs(value - wanted) <= 1e-6 * Math.abs(wanted) + 1e-12, `${what}: ${value}, not ${wanted}`);
}

// Nodes that ringbench-sim simulates, all registered.
export async function startFleet(t, server, nodes, args = []) {
  const options = ['--server', server.url, '--nodes', String(nodes), ...args];
  const fleet = new Program(t, path.join(binDir, 'ringbench-sim'), options);
  await fleet.line(new RegExp(`^${nodes} simulated nodes of \\d+ ranks each registered`));
  return fleet;
}

// A program in one of the hosts of netns.mjs, and a server in their hub: its address.
export const startIn = (t, { exec }, file, args, options = {}) =>
  new Program(t, exec[0], [...exec.slice(1), file, ...args], options);

export async function startServerIn(t, { hub }, args = []) {
  const options = ['--listen', `${hub.address}:0`, '--insecure', '--data-dir', tempDir(t), '--poll-s', '2'];
  const server = startIn(t, hub, path.join(binDir, 'ringbench-server'), [...options, ...args]);
  const [, url] = await server.line(/^listening on (https?:\/\/\S+)$/);
  return url;
}
