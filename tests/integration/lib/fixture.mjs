// SPDX-License-Identifier: Apache-2.0
// fixture.mjs - what every integration test needs: temporary folders, free ports, child
// processes whose output is read by line, and waiting for events with a deadline
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');

export const buildDir = path.resolve(root, process.env.RINGBENCH_BUILD_DIR || 'build/dev');
export const binDir = path.join(buildDir, 'bin');

// Every deadline is multiplied by this: sanitizers and loaded machines are slow. Deadlines are
// for what never comes; they say nothing of how soon it should.
export const patience = Number(process.env.RINGBENCH_TEST_PATIENCE || 5);

// The factor by which this build shortens times that end by themselves: leases, stalls,
// periods (common/base/time_scale.h).
const settings = path.join(buildDir, 'CMakeCache.txt');
export const timeScale = Number(
  (fs.existsSync(settings) &&
    /^RINGBENCH_TIME_SCALE:.*=(.*)$/m.exec(fs.readFileSync(settings, 'utf8'))?.[1]) ||
    1,
);

const endings = new WeakMap(); // test -> what is to be done at its end

// Do something when the test ends, the latest first: a program is killed before the folder
// that it writes to is removed (t.after goes the other way round).
export function atEnd(t, action) {
  if (!endings.has(t)) {
    endings.set(t, []);
    t.after(async () => {
      const errors = [];
      for (const ending of endings.get(t).reverse()) {
        try {
          await ending();
        } catch (error) {
          errors.push(error);
        }
      }
      if (errors.length > 0) throw errors[0];
    });
  }
  endings.get(t).push(action);
}

// A new folder that is removed when the test ends.
export function tempDir(t, prefix = 'ringbench-test-') {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), prefix));
  atEnd(t, () => fs.rmSync(dir, { recursive: true, force: true }));
  return dir;
}

// A key and a certificate for 127.0.0.1 that it signed itself: {key, cert}, their paths.
export function makeCertificate(dir, name = 'localhost') {
  const [key, cert] = ['key.pem', 'cert.pem'].map((file) => path.join(dir, file));
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync('openssl', ['req', ...kind, ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  fs.chmodSync(key, 0o600);
  return { key, cert };
}

// A port that nobody listens on at this moment.
export function freePort(host = '127.0.0.1') {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once('error', reject);
    server.listen(0, host, () => {
      const { port } = /** @type {net.AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });
}

// Wait until check() returns something true, asked again at each of the emitter's events
// and every few milliseconds; fails with `what` after the deadline.
export async function waitFor(check, what, deadlineMs = 10000) {
  const end = Date.now() + deadlineMs * patience;
  for (;;) {
    const value = await check();
    if (value) return value;
    if (Date.now() > end) {
      throw new Error(
        `waited ${deadlineMs * patience} ms in vain: ${typeof what === 'function' ? await what() : what}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

// True while the process exists and is no zombie.
export function isAlive(pid) {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z';
  } catch {
    return false;
  }
}

// The pids of all processes, zombies aside, whose environment has NAME=VALUE.
export function processesWithEnv(name, value) {
  const wanted = `${name}=${value}`;
  return fs
    .readdirSync('/proc')
    .filter((pid) => {
      if (!/^\d+$/.test(pid) || !isAlive(pid)) return false;
      try {
        return fs.readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(wanted);
      } catch {
        return false;
      }
    })
    .map(Number);
}

function childrenOf(pid) {
  try {
    return fs
      .readdirSync(`/proc/${pid}/task`)
      .flatMap((task) =>
        fs.readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
      );
  } catch {
    return [];
  }
}

// Kill a process and all its descendants.
export function killTree(pid, signal = 'SIGKILL') {
  for (const child of childrenOf(pid)) killTree(child, signal);
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}

// A running program. `lines` holds all lines of stdout, `errors` those of stderr.
export class Program {
  constructor(t, file, args, options = {}) {
    this.name = path.basename(file);
    this.lines = [];
    this.errors = [];
    /** @type {{ code: number, signal: string, error?: Error }} once it has ended */
    this.status = null;
    /** @type {import('node:child_process').ChildProcess} */
    this.child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    this.pid = this.child.pid;
    this.collect(this.child.stdout, this.lines);
    this.collect(this.child.stderr, this.errors);
    this.child.on('error', (error) => {
      this.errors.push(String(error));
      this.status = { code: null, signal: null, error };
    });
    this.child.on('close', (code, signal) => {
      this.status ??= { code, signal };
    });
    atEnd(t, () => this.kill());
  }

  collect(stream, lines) {
    let rest = '';
    stream.setEncoding('utf8');
    stream.on('data', (text) => {
      const parts = (rest + text).split('\n');
      rest = parts.pop();
      lines.push(...parts);
    });
    stream.on('end', () => {
      if (rest) lines.push(rest);
    });
  }

  describe() {
    return (
      `${this.name} (${JSON.stringify(this.status)}) said:\n${this.lines.join('\n')}\n` +
      this.errors.join('\n')
    );
  }

  // Wait for a line of stdout that matches; returns the match.
  line(pattern, deadlineMs) {
    return this.find(this.lines, pattern, deadlineMs);
  }

  // The same for stderr.
  errorLine(pattern, deadlineMs) {
    return this.find(this.errors, pattern, deadlineMs);
  }

  async find(lines, pattern, deadlineMs) {
    const search = () => lines.map((line) => line.match(pattern)).find(Boolean);
    return waitFor(
      () => {
        const match = search();
        if (!match && this.status) throw new Error(`no line ${pattern}: ${this.describe()}`);
        return match;
      },
      () => `no line ${pattern}: ${this.describe()}`,
      deadlineMs,
    );
  }

  signal(name) {
    this.child.kill(name);
  }

  // Wait for its end; returns {code, signal}.
  ended(deadlineMs = 10000) {
    return waitFor(
      () => this.status,
      () => `still running: ${this.describe()}`,
      deadlineMs,
    );
  }

  async kill() {
    if (this.status) return;
    killTree(this.pid);
    try {
      await this.ended();
    } finally {
      // What outlived its parent holds them too: a failed test, but not one that hangs.
      this.child.stdout.destroy();
      this.child.stderr.destroy();
    }
  }
}
