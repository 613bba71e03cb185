// SPDX-License-Identifier: Apache-2.0
// launching.mjs - a server with launchers: `local`, which is shipped, and `engine`, which says what
// its files say
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { long, startServer } from './cluster.mjs';
import { atEnd, binDir, patience, processesWithEnv, tempDir, waitFor } from './fixture.mjs';

export const shipped = fileURLToPath(new URL('../../../deploy/launchers.d', import.meta.url));
// An engine that says what stands in files: `answer` to START, where @ is a number that no other
// job has, `status` to STATUS; and notes what it was asked.
const engineScript = `#!/bin/bash
dir="$(dirname "$0")"
echo "$*" >>"$dir/asked"
case "$1" in
start) sed "s/@/$$/" "$dir/answer" ;;
status) [[ ! -e "$dir/hangs" ]] || exec sleep 1000; cat "$dir/status-$2" 2>/dev/null || cat "$dir/status"; [[ ! -e "$dir/down" ]] || { echo "no controller" >&2; exit 1; } ;;
stop) [[ ! -e "$dir/stuck" ]] || { rm "$dir/stuck"; echo "not now" >&2; exit 1; }
    echo "CANCELLED by us" >"$dir/status" ;;
find) [[ ! -e "$dir/slow" ]] || cat "$dir/slow"; [[ ! -e "$dir/down" ]] || { echo "no controller" >&2; exit 1; }; cat "$dir/found" 2>/dev/null || true ;;
esac
`;

export const engine = {
  description: 'says what it is told',
  parameters: {
    queue: { type: 'string', pattern: '[a-z]+', default: 'main' },
  },
  start: { argv: ['{config_dir}/engine', 'start', '{name}', '{nodes}', '{queue}'], job: 'job ([0-9]+)' },
  status: { argv: ['{config_dir}/engine', 'status', '{job}'], every_s: 0.1, gone: 'no such job' },
  stop: { argv: ['{config_dir}/engine', 'stop', '{job}'] },
  find: { argv: ['{config_dir}/engine', 'find', '{name}'] },
  states: { PENDING: 'pending', RUNNING: 'running', TIMEOUT: 'ended', CANCELLED: 'ended' },
  limits: { nodes: 4, jobs: 1 },
  command_s: patience,
};

export function makeLaunchers(t, other = {}) {
  const dir = tempDir(t);
  const local = JSON.parse(fs.readFileSync(path.join(shipped, 'local.json'), 'utf8'));
  local.status.every_s = 0.1;
  fs.writeFileSync(path.join(dir, 'local.json'), JSON.stringify(local));
  fs.copyFileSync(path.join(shipped, 'local-agents'), path.join(dir, 'local-agents'));
  fs.writeFileSync(path.join(dir, 'engine'), engineScript, { mode: 0o755 });
  fs.writeFileSync(path.join(dir, 'engine.json'), JSON.stringify({ ...engine, ...other }));
  const say = (name, text) => {
    fs.writeFileSync(path.join(dir, `${name}.new`), text);
    fs.renameSync(path.join(dir, `${name}.new`), path.join(dir, name));
  };
  const asked = () =>
    fs.existsSync(path.join(dir, 'asked'))
      ? fs.readFileSync(path.join(dir, 'asked'), 'utf8').trim().split('\n')
      : [];
  return { dir, say, asked };
}

// within: a command that starts the server
export async function start(t, args = [], other = {}, within = []) {
  const launchers = makeLaunchers(t, other),
    jobs = tempDir(t);
  const mark = path.basename(jobs);
  const server = await startServer(t, {
    args: ['--launchers', launchers.dir, ...args],
    env: { PATH: `${binDir}:${process.env.PATH}`, LOCAL_AGENTS_DIR: jobs, LAUNCH_MARK: mark },
    within,
  });
  const left = () =>
    processesWithEnv('LAUNCH_MARK', mark).filter((pid) => !commandOf(pid).includes('ringbench-server'));
  atEnd(t, () =>
    left().forEach((pid) => {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        /* gone */
      }
    }),
  );
  return { server, launchers, left };
}

export function commandOf(pid) {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

export const jobsOf = async (server) => (await server.get('/api/v1/jobs')).jobs;

export const jobIs = (server, state, i = 0) =>
  waitFor(
    async () => {
      const job = (await jobsOf(server))[i];
      return job?.state === state && job;
    },
    async () => `no job is ${state}: ${JSON.stringify(await jobsOf(server))}`,
    20000,
  );

export const stateIs = (server, id, state, reason = /./) =>
  server.event(
    id,
    (event) => event.type === 'state' && event.state === state && reason.test(event.reason ?? ''),
  );

// A run that goes on until its job ends.
export const launched = {
  ...long,
  nodes: { count: 1, wait_s: 60 },
  backend: 'host',
  launch: { name: 'engine' },
};
