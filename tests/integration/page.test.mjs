// SPDX-License-Identifier: Apache-2.0
// page.test.mjs - the web UI as it is built and served: small, few files, kept by browsers
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { gunzipSync } from 'node:zlib';

import { Server } from './lib/cluster.mjs';
import { buildDir, patience } from './lib/fixture.mjs';

const limit = { timeout: 60000 * patience };
const dir = path.join(buildDir, 'share/ringbench/web');
const ALL_MAX = 125000; // bytes, compressed
const FIRST_VIEW_MAX = 85000;

const zipped = (file) => fs.readFileSync(path.join(dir, `${file}.gz`));
const named = (html) => [...html.matchAll(/(?:href|src)="\/([^"]+)"/g)].map(([, file]) => file);

test('the page is small: what it first loads, and all there is', () => {
  const index = fs.readFileSync(path.join(dir, 'index.html'), 'utf8');
  const files = named(index);
  assert.equal(files.length, 5, 'icon, style, theme, page, and what its parts share');
  const first = ['index.html', ...files].reduce((sum, file) => sum + zipped(file).length, 0);
  const all = fs
    .readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.gz'))
    .reduce((sum, file) => sum + fs.statSync(path.join(dir, file)).size, 0);
  assert.ok(first > 20000 && first <= FIRST_VIEW_MAX, `${first} bytes at first`);
  assert.ok(all >= first && all <= ALL_MAX, `${all} bytes in all`);
  for (const file of ['index.html', ...files]) {
    assert.deepEqual(gunzipSync(zipped(file)), fs.readFileSync(path.join(dir, file)), file);
  }
});

test('a browser asks again for the page only, not for what it is made of', limit, async (t) => {
  const server = await Server.start(t);
  const index = await server.request('GET', '/');
  assert.equal(index.headers['cache-control'], 'no-cache');
  const again = await server.request('GET', '/', { headers: { 'If-None-Match': index.headers.etag } });
  assert.equal(again.status, 304);
  for (const file of named(index.text)) {
    assert.match(file, /^assets\/\w+-[0-9A-Za-z]{8}\.(js|css|svg)$/);
    const answer = await server.request('GET', `/${file}`, { headers: { 'Accept-Encoding': 'gzip' } });
    assert.equal(answer.headers['cache-control'], 'public, max-age=31536000, immutable');
    assert.equal(Number(answer.headers['content-length']), zipped(file).length, file);
  }
  // Another page has other names; of what it was made before nothing is left to mix with.
  assert.equal((await server.request('GET', '/assets/main-00000000.js')).status, 404);
});

test('--web-dir names another page, whose files without a hash are asked for again', limit, async (t) => {
  const other = fs.mkdtempSync(path.join(os.tmpdir(), 'ringbench-page-'));
  t.after(() => fs.rmSync(other, { recursive: true }));
  const files = { 'index.html': '<p>another page</p>', 'plain.js': 'alert(1);' };
  Object.entries(files).forEach(([name, text]) => fs.writeFileSync(path.join(other, name), text));
  const server = await Server.start(t, { args: ['--web-dir', other] });
  for (const [name, text] of Object.entries(files)) {
    const answer = await server.request('GET', `/${name}`);
    assert.equal(answer.headers['cache-control'], 'no-cache');
    assert.equal(answer.text, text);
  }
});
