// SPDX-License-Identifier: Apache-2.0
// scale_fleet.cjs - one server and its agents for run_scale and run_fleet, and what
// they cost
'use strict';
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const readline = require('node:readline');

const CONCURRENT_STARTS = 32; // agents that are probing their backends at the same time

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function until(check, deadlineMs, what) {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const found = await check();
    if (found) {
      return found;
    }
    if (performance.now() > end) {
      throw new Error(`waited ${deadlineMs / 1000} s for ${what()}`);
    }
    await sleep(20);
  }
}

// CPU seconds since the start and resident memory of a process.
function usage(pid) {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
  const kb = (key) => Number(new RegExp(`${key}:\\s*(\\d+)`).exec(status)[1]);
  return {
    cpuS: (Number(stat[11]) + Number(stat[12])) / 100,
    rssMb: (kb('VmRSS') * 1024) / 1e6,
    peakMb: (kb('VmHWM') * 1024) / 1e6,
  };
}

class Fleet {
  // The agents' programs.d is in configDir, env is added to their environment.
  constructor(bin, scratch, { configDir = scratch, env = {} } = {}) {
    this.bin = bin;
    this.scratch = scratch;
    this.configDir = configDir;
    this.env = env;
    this.agents = new Map();
    this.port = 0;
  }

  spawn(name, args, stdio, env = {}) {
    return spawn(path.join(this.bin, name), args, { stdio, env: { ...process.env, ...env } });
  }

  async startServer() {
    this.log = fs.openSync(path.join(this.scratch, 'server.log'), 'a');
    this.server = this.spawn(
      'ringbench-server',
      ['--listen', `127.0.0.1:${this.port}`, '--data-dir', path.join(this.scratch, 'data')],
      ['ignore', 'pipe', this.log],
    );
    const line = await new Promise((resolve, reject) => {
      const lines = readline.createInterface({ input: this.server.stdout });
      lines.once('line', resolve);
      lines.once('close', () => reject(new Error('the server did not start')));
    });
    this.url = line.replace('listening on ', '');
    this.port = Number(new URL(this.url).port);
  }

  startAgent(name, ranks) {
    const log = fs.openSync(path.join(this.scratch, 'agents.log'), 'a');
    const agent = this.spawn(
      'ringbench-agent',
      [
        '--server',
        this.url,
        '--name',
        name,
        '--ranks',
        String(ranks),
        '--config-dir',
        this.configDir,
        '--spool-dir',
        path.join(this.scratch, 'spool', name),
      ],
      ['ignore', log, log],
      this.env,
    );
    fs.closeSync(log);
    this.agents.set(name, agent);
  }

  // Agents that ringbench-sim simulates, once all are registered.
  async play(args) {
    const log = fs.openSync(path.join(this.scratch, 'agents.log'), 'a');
    const played = this.spawn('ringbench-sim', ['--server', this.url, ...args], ['ignore', 'pipe', log]);
    fs.closeSync(log);
    this.agents.set('played', played);
    await new Promise((resolve, reject) => {
      const lines = readline.createInterface({ input: played.stdout });
      lines.once('line', resolve);
      lines.once('close', () => reject(new Error('the fleet did not start')));
    });
  }

  // Start agents up to n and wait until the server has them all.
  async grow(n, ranks) {
    const begin = performance.now();
    fs.mkdirSync(path.join(this.scratch, 'spool'), { recursive: true });
    while (this.agents.size < n) {
      this.startAgent(`node-${this.agents.size + 1}`, ranks);
      if (this.agents.size % CONCURRENT_STARTS === 0) {
        await this.registered(this.agents.size - CONCURRENT_STARTS / 2);
      }
    }
    await this.registered(n);
    return performance.now() - begin;
  }

  async nodes(state) {
    const text = await this.text('/metrics');
    return Number(new RegExp(`ringbench_nodes\\{state="${state}"\\} (\\d+)`).exec(text)[1]);
  }

  registered(n, deadlineMs = 180000) {
    let seen;
    return until(
      async () => {
        seen = (await this.nodes('idle')) + (await this.nodes('busy'));
        return seen >= n;
      },
      deadlineMs,
      () => `${n} agents, there are ${seen}`,
    );
  }

  idle(n, deadlineMs = 60000) {
    let seen;
    return until(
      async () => {
        seen = await this.nodes('idle');
        return seen >= n;
      },
      deadlineMs,
      () => `${n} idle nodes, there are ${seen}`,
    );
  }

  request(target, { method = 'GET', body = undefined, headers = {} } = {}) {
    return new Promise((resolve, reject) => {
      const call = http.request(new URL(target, this.url), { method, headers, agent: false }, resolve);
      call.on('error', reject);
      call.end(body);
    });
  }

  async text(target, options) {
    const response = await this.request(target, options);
    const chunks = [];
    for await (const chunk of response) {
      chunks.push(chunk);
    }
    const text = Buffer.concat(chunks).toString();
    if (response.statusCode >= 300) {
      throw new Error(`${target}: ${response.statusCode} ${text}`);
    }
    return text;
  }

  async json(target, options) {
    return JSON.parse(await this.text(target, options));
  }

  post(spec) {
    return this.json('/api/v1/runs', { method: 'POST', body: JSON.stringify(spec) });
  }

  async events(id) {
    const text = await this.text(`/api/v1/runs/${id}/events?format=ndjson&follow=0`);
    return {
      bytes: text.length,
      list: text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    };
  }

  usage() {
    return usage(this.server.pid);
  }

  openFiles() {
    return fs.readdirSync(`/proc/${this.server.pid}/fd`).length;
  }

  kill(names) {
    for (const name of names) {
      this.agents.get(name).kill('SIGKILL');
      this.agents.delete(name);
    }
  }

  async killServer() {
    const ended = new Promise((resolve) => this.server.once('exit', resolve));
    this.server.kill('SIGKILL');
    await ended;
    fs.closeSync(this.log);
  }

  async stop() {
    const all = [...this.agents.values(), this.server].filter(Boolean);
    const ended = all.map((program) =>
      program.exitCode !== null || program.signalCode !== null
        ? null
        : new Promise((resolve) => program.once('exit', resolve)),
    );
    all.forEach((program) => program.kill('SIGKILL'));
    await Promise.all(ended);
  }
}

module.exports = { Fleet, sleep, until };
