// SPDX-License-Identifier: Apache-2.0
// vendor.plain.test.mjs - the page's libraries without npm: from the registry that the user names, if
// they have the hashes of the lock file
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { atEnd, patience, tempDir } from './lib/fixture.mjs';

const limit = { timeout: 30000 * patience };
const script = fileURLToPath(new URL('../../web/fetch_vendor.cmake', import.meta.url));

// A registry with the archives of a library, one inside a scope, and a tool that nobody needs to build.
async function registry(t) {
  const dir = tempDir(t);
  const packages = { '': {} },
    archives = {};
  for (const name of ['lib', '@scope/other', 'tool']) {
    const base = path.basename(name);
    fs.mkdirSync(path.join(dir, 'package'), { recursive: true });
    fs.writeFileSync(path.join(dir, 'package/package.json'), JSON.stringify({ name }));
    const archive = execFileSync('tar', ['-cz', '-C', dir, 'package']);
    archives[`/${name}/-/${base}-1.2.3.tgz`] = archive;
    const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`;
    packages[`node_modules/${name}`] = { version: '1.2.3', integrity, ...(name === 'tool' && { dev: true }) };
  }
  const asked = [];
  const server = http.createServer((request, response) => {
    asked.push(request.url);
    const archive = archives[request.url];
    response.writeHead(archive ? 200 : 404).end(archive);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  atEnd(t, () => server.close());
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  fs.writeFileSync(path.join(dir, 'package-lock.json'), JSON.stringify({ packages }));
  const fetched = path.join(tempDir(t), 'fetched');
  const fetch = () =>
    new Promise((resolve) => {
      const args = [
        `-DREGISTRY=http://127.0.0.1:${port}`,
        `-DDIR=${fetched}`,
        `-DSOURCE=${dir}`,
        '-P',
        script,
      ];
      const cmake = spawn('cmake', ['-DNPM=', ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
      let errors = '';
      cmake.stderr.on('data', (text) => (errors += text));
      cmake.on('close', (code) => resolve({ code, errors }));
    });
  return { archives, asked, fetch, fetched };
}

test('what the lock file names is fetched, but for tools', limit, async (t) => {
  const { asked, fetch, fetched } = await registry(t);
  const { code, errors } = await fetch();
  assert.equal(code, 0, errors);
  assert.deepEqual(asked.sort(), ['/@scope/other/-/other-1.2.3.tgz', '/lib/-/lib-1.2.3.tgz']);
  for (const name of ['lib', '@scope/other']) {
    const file = path.join(fetched, 'node_modules', name, 'package.json');
    assert.equal(JSON.parse(fs.readFileSync(file, 'utf8')).name, name);
  }
});

test('an archive with another hash is refused', limit, async (t) => {
  const { archives, fetch, fetched } = await registry(t);
  archives['/lib/-/lib-1.2.3.tgz'] = archives['/tool/-/tool-1.2.3.tgz'];
  const { code, errors } = await fetch();
  assert.notEqual(code, 0);
  assert.match(errors, /hash/i);
  assert.ok(!fs.existsSync(path.join(fetched, 'node_modules/lib')));
});
