// SPDX-License-Identifier: Apache-2.0
// watches.mjs - watches of simulated nodes, and a clock for them that a test moves
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { startFleet } from './cluster.mjs';
import { tempDir, waitFor } from './fixture.mjs';

export const hour = 3600000;
export const day = 24 * hour;

// A quick run.
export const sim = {
  backend: 'sim',
  sizes: ['64M'],
  iters: 5,
  warmup: 1,
  in_place: false,
  env: { SIM_SLEEP_FRACTION: '0' },
};

// A server whose watches have a clock that the test moves.
export class Calendar {
  constructor(t) {
    this.file = path.join(tempDir(t), 'ahead_ms');
    this.ahead = 0;
    this.env = { RINGBENCH_WATCH_CLOCK: this.file };
    this.move(0);
  }

  move(ms) {
    this.ahead += ms;
    fs.writeFileSync(`${this.file}.new`, String(this.ahead));
    fs.renameSync(`${this.file}.new`, this.file);
  }
}

export const watchOf = (server, id) => server.get(`/api/v1/watches/${id}`);

export async function addWatch(server, request) {
  const answer = await server.request('POST', '/api/v1/watches', { body: JSON.stringify(request) });
  assert.equal(answer.status, 201, answer.text);
  assert.equal(answer.headers.location, `/api/v1/watches/${answer.json.id}`);
  return answer.json.id;
}

export const until = (server, id, check, what) => {
  let seen;
  return waitFor(
    async () => {
      seen = await watchOf(server, id);
      return check(seen) && seen;
    },
    () => `${what}: ${JSON.stringify(seen)}`,
    60000,
  );
};

export const sweepsAre = (server, id, n) =>
  until(server, id, (watch) => watch.counts.sweeps === n && !watch.sweep, `not ${n} sweeps`);

// Four nodes, and what makes some of them slow from the next case on.
export async function startChanging(t, server) {
  const file = path.join(tempDir(t), 'slow');
  const slow = (places) => fs.writeFileSync(file, places);
  slow('');
  await startFleet(t, server, 4, ['--ranks', '2', '--slow', `@${file}`]);
  return slow;
}
