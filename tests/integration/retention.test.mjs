// SPDX-License-Identifier: Apache-2.0
// retention.test.mjs - which runs stay, a copy of them, and a look at the configuration
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { quick, startAgent, startServer } from './lib/cluster.mjs';
import { binDir, patience, tempDir, waitFor } from './lib/fixture.mjs';

const limit = { timeout: 60000 * patience };
const program = path.join(binDir, 'ringbench-server');
const once = (...args) => spawnSync(program, args, { encoding: 'utf8' });
const idsOf = async (server) => (await server.get('/api/v1/runs')).runs.map((run) => run.id);

// The runs were asked for two days before.
const ageRuns = `import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for run in sys.argv[2:]:
    db.execute("UPDATE runs SET created_ms = created_ms - 2 * 86400000 WHERE id = ?", [run])
db.commit()
`;

test(
  'the newest runs stay, and what is a baseline; a copy of all was made while a server ran',
  limit,
  async (t) => {
    const server = await startServer(t),
      dir = tempDir(t);
    await startAgent(t, server, 'node-1');
    const ids = [];
    for (let i = 0; i < 5; i++) {
      ids.unshift((await server.run({ ...quick, backend: 'sim', nodes: { count: 1 } })).id);
      await server.runEnds(ids[0]);
    }
    const accepted = await server.request('POST', '/api/v1/baselines', {
      body: JSON.stringify({ run: ids[4], by: 'a test', why: 'it is the first' }),
    });
    assert.equal(accepted.status, 201, accepted.text);

    const data = server.options.dataDir,
      copy = path.join(dir, 'copy.db');
    const backup = once('--data-dir', data, '--backup', copy);
    assert.deepEqual([backup.status, backup.stderr], [0, '']);
    assert.equal(fs.statSync(copy).mode & 0o777, 0o600);
    assert.deepEqual(fs.readdirSync(dir), ['copy.db']);
    assert.match(once('--data-dir', data, '--backup', copy).stderr, /copy\.db exists already/);
    assert.match(once('--data-dir', dir, '--backup', `${copy}2`).stderr, /ringbench\.db: No such file/);

    server.signal('SIGTERM');
    await server.ended();
    const tidy = await server.startAgain({ args: ['--keep-runs', '2'] });
    await waitFor(async () => (await idsOf(tidy)).length === 3, 'old runs stay');
    assert.deepEqual(await idsOf(tidy), [ids[0], ids[1], ids[4]]);
    assert.equal((await tidy.request('GET', `/api/v1/runs/${ids[2]}`)).status, 404);

    const dataDir = tempDir(t);
    fs.renameSync(copy, path.join(dataDir, 'ringbench.db'));
    const restored = await startServer(t, { dataDir, args: ['--keep-days', '1'] });
    assert.deepEqual(await idsOf(restored), ids);
    assert.deepEqual(await restored.rows(ids[0]), await tidy.rows(ids[0]));

    restored.signal('SIGTERM');
    await restored.ended();
    const aged = spawnSync(
      'python3',
      ['-c', ageRuns, path.join(dataDir, 'ringbench.db'), ids[2], ids[3], ids[4]],
      { encoding: 'utf8' },
    );
    if (aged.error) return t.diagnostic(`nothing makes runs old: ${aged.error.message}`);
    assert.equal(aged.status, 0, aged.stderr);
    const young = await restored.startAgain();
    await waitFor(async () => (await idsOf(young)).length === 3, 'old runs stay');
    assert.deepEqual(await idsOf(young), [ids[0], ids[1], ids[4]]);
  },
);

test('a configuration is looked at without a start', limit, (t) => {
  const dir = tempDir(t),
    config = path.join(dir, 'server.conf'),
    tokens = path.join(dir, 'tokens');
  const check = () => once('--config', config, '--check-config');
  fs.writeFileSync(tokens, 'operator 0123456789abcdef\n', { mode: 0o600 });
  fs.writeFileSync(config, `listen = 0.0.0.0:8080\ntoken-file = ${tokens}\ndata-dir = ${dir}/data\n`);
  assert.equal(check().status, 0, check().stderr);
  assert.ok(!fs.existsSync(`${dir}/data`));
  fs.writeFileSync(config, `web-dir = ${dir}/none\n`);
  assert.equal(check().status, 1);
  assert.match(check().stderr, /web directory .*\/none: No such file/);
  fs.writeFileSync(config, `listen = 0.0.0.0:8080\ntoken-file = ${tokens}\n`);
  fs.writeFileSync(tokens, 'king 0123456789abcdef\n', { mode: 0o600 });
  assert.equal(check().status, 1);
  assert.match(check().stderr, /line 1: ROLE must be/);
  fs.writeFileSync(config, 'keep-runs = many\n');
  assert.match(check().stderr, /keep-runs/);
  assert.match(once('--data-dir', tokens, '--check-config').stderr, /--data-dir \S+tokens: .*directory/);
  assert.match(
    once('--data-dir', `${tokens}/a`, '--check-config').stderr,
    /cannot access .*\/a: Not a directory/,
  );
});

test('a data directory that its user may not write to is found before the start', {
  ...limit,
  skip: process.getuid() !== 0 && 'only root can be somebody else',
}, (t) => {
  const dir = tempDir(t);
  fs.chmodSync(dir, 0o755);
  const check = (uid) =>
    spawnSync(program, ['--data-dir', `${dir}/new/data`, '--check-config'], { uid, encoding: 'utf8' });
  assert.equal(check(0).status, 0, check(0).stderr);
  assert.match(check(65534).stderr, /--data-dir \S+: cannot write to \S+: Permission denied/);
});
