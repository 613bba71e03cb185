// SPDX-License-Identifier: Apache-2.0
// reload.test.mjs - SIGHUP: the server reads its tokens and its certificate again
import assert from 'node:assert/strict';
import fs from 'node:fs';
import https from 'node:https';
import path from 'node:path';
import { test } from 'node:test';

import { Program, binDir, makeCertificate, patience, tempDir, waitFor } from './lib/fixture.mjs';

const limit = { timeout: 60000 * patience };
const old = 'old-0123456789abcdef',
  fresh = 'new-0123456789abcdef';

async function startServer(t, dir, args) {
  const server = new Program(t, path.join(binDir, 'ringbench-server'), [
    '--listen',
    '127.0.0.1:0',
    '--data-dir',
    path.join(dir, 'data'),
    ...args,
  ]);
  const [, url] = await server.line(/^listening on (\S+)$/, 30000);
  // The answer to SIGHUP is a line that stands there once more.
  const hangUp = async (line) => {
    const count = () => server.errors.filter((text) => line.test(text)).length;
    const before = count();
    server.signal('SIGHUP');
    await waitFor(
      () => count() > before || server.status,
      () => server.describe(),
    );
    assert.equal(server.status, null, server.describe());
  };
  return Object.assign(server, { url, hangUp });
}

// One request on a connection of its own, or on the agent's.
const ask = (server, token, /** @type {https.Agent | false} */ agent = false) =>
  new Promise((resolve, reject) => {
    https
      .get(
        new URL('/api/v1/runs', server.url),
        {
          agent,
          rejectUnauthorized: false,
          headers: { Authorization: `Bearer ${token}` },
        },
        (response) => {
          const name = /** @type {import('node:tls').TLSSocket} */ (response.socket).getPeerCertificate()
            .subject?.CN;
          response.resume().on('end', () => resolve({ status: response.statusCode, name }));
        },
      )
      .on('error', reject);
  });

test('tokens and the certificate change while connections go on', limit, async (t) => {
  const dir = tempDir(t),
    tokens = path.join(dir, 'tokens');
  fs.writeFileSync(tokens, `viewer ${old}\n`, { mode: 0o600 });
  makeCertificate(dir, 'first');
  const server = await startServer(t, dir, [
    '--token-file',
    tokens,
    '--tls-cert',
    path.join(dir, 'cert.pem'),
    '--tls-key',
    path.join(dir, 'key.pem'),
  ]);
  const kept = new https.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => kept.destroy());
  assert.deepEqual(await ask(server, old), { status: 200, name: 'first' });
  assert.deepEqual(await ask(server, old, kept), { status: 200, name: 'first' });

  fs.writeFileSync(tokens, `viewer ${fresh}\n`);
  makeCertificate(dir, 'second');
  await server.hangUp(/info.*SIGHUP: .*tokens.*certificate/);
  assert.deepEqual(await ask(server, fresh), { status: 200, name: 'second' });
  assert.deepEqual(await ask(server, fresh, kept), { status: 200, name: 'first' });
  assert.equal((await ask(server, old)).status, 401);

  // One bad file: both stay as they are.
  fs.writeFileSync(tokens, `viewer ${old}\n`);
  fs.copyFileSync(path.join(dir, 'key.pem'), path.join(dir, 'kept'));
  makeCertificate(dir, 'third');
  fs.copyFileSync(path.join(dir, 'kept'), path.join(dir, 'key.pem'));
  await server.hangUp(/error.*SIGHUP: .*(key|certificate)/i);
  assert.deepEqual(await ask(server, fresh), { status: 200, name: 'second' });
  fs.writeFileSync(tokens, 'janitor 0123456789abcdef\n');
  await server.hangUp(/error.*SIGHUP: .*tokens: line 1: .*ROLE/);
  assert.deepEqual(await ask(server, fresh), { status: 200, name: 'second' });
});

test('without tokens and TLS there is nothing to read again', limit, async (t) => {
  const server = await startServer(t, tempDir(t), []);
  await server.hangUp(/SIGHUP: .*--token-file .*--tls-cert/);
  assert.equal((await fetch(new URL('/healthz', server.url))).status, 200);
});
