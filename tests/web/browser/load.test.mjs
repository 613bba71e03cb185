/* SPDX-License-Identifier: Apache-2.0 */
/* load.test.mjs - what a browser asks the real server for: first, and when it comes back */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { quick, startCluster } from '../../integration/lib/cluster.mjs';
import { closeBrowser, LIMIT, openPage, pageTest as test } from '../lib/page.mjs';

after(closeBrowser);

/* What went to the server while the page was opened, by what asked for it. */
async function requestsOf(page, url, ready) {
  const network = await page.context().newCDPSession(page);
  const asked = new Map();
  const kept = new Set();
  network.on('Network.requestWillBeSent', ({ requestId, request, initiator }) =>
    asked.set(requestId, { url: new URL(request.url).pathname, by: initiator }),
  );
  network.on('Network.requestServedFromCache', ({ requestId }) => kept.add(requestId));
  network.on(
    'Network.responseReceived',
    ({ requestId, response }) => response.fromDiskCache && kept.add(requestId),
  );
  await network.send('Network.enable');
  await page.goto(url);
  await page.locator(ready).first().waitFor();
  await network.detach();
  return [...asked].filter(([id]) => !kept.has(id)).map(([, request]) => request);
}

for (const [name, path, ready] of /** @type {any[][]} */ ([
  ['list', () => '/', 'table.runs tbody tr'],
  ['run', (id) => `/runs/${id}`, '.plot-area'],
])) {
  test(`the ${name} opens with few requests, and again with one beside the data's`, LIMIT, async (t) => {
    const { server } = await startCluster(t, 1);
    const { id } = await server.run(quick);
    await server.runEnds(id);
    const { page } = await openPage(t);
    const url = server.url + path(id);
    const cold = await requestsOf(page, url, ready);
    assert.ok(cold.length <= 12, JSON.stringify(cold.map((one) => one.url)));
    /* Two levels: index.html names all files, and no file leads to a further one. */
    for (const { url: file, by } of cold.filter((one) => one.url.startsWith('/assets/'))) {
      assert.ok(by.type === 'parser' || /\/icon-/.test(file), `${file} by ${by.type}`);
    }
    t.diagnostic(`${cold.length} requests`);
    const warm = await requestsOf(page, url, ready);
    assert.equal(warm[0].url, path(id));
    assert.deepEqual(
      warm.slice(1).filter((one) => !one.url.startsWith('/api')),
      [],
    );
  });
}
