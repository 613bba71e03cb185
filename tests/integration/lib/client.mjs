// SPDX-License-Identifier: Apache-2.0
// client.mjs - the command line client, run by a shell of the test's choice
import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { Program, binDir, patience } from './fixture.mjs';

export const limit = { timeout: 120000 * patience };
export const script = path.join(binDir, 'ringbench');

// The installed ones of the shells that the client supports.
export const shells = [['dash'], ['busybox', 'sh'], ['bash', '--posix']].filter(
  ([name]) => spawnSync('which', [name]).status === 0,
);

// Start the client. shell: its interpreter; default: the one in its first line.
export function start(t, server, args, /** @type {any} */ { shell = [], env = {}, ...options } = {}) {
  const [file, ...rest] = [...shell, script, ...args];
  return new Program(t, file, rest, {
    env: { ...process.env, RINGBENCH_SERVER: server.url, ...env },
    ...options,
  });
}

// Run the client to its end: {code, out, err}.
export async function call(t, server, args, /** @type {any} */ { input, ...options } = {}) {
  const stdio = [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'];
  const program = start(t, server, args, { stdio, ...options });
  if (input !== undefined) program.child.stdin.end(input);
  const { code } = await program.ended(60000);
  return { code, out: program.lines.join('\n'), err: program.errors.join('\n') };
}
