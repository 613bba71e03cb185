/* SPDX-License-Identifier: Apache-2.0 */
/* watches.test.mjs - the view of watches, and levels in the list of nodes */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { axe } from '../lib/browser.mjs';
import { closeBrowser, LIMIT, pageTest as test, sees, setUp, until } from '../lib/page.mjs';
import { sampleLevel, sampleNode, sampleWatch } from '../lib/sample.mjs';

after(closeBrowser);

const NAMED = [{ answer: 'slow_node', nodes: ['node-7'], sentence: 'node-7 is slow', run: 'pairs' }];
const SLOW = { answer: 'slow_node', runs: ['all', 'pairs'], named: NAMED };
const nights = (count) => Array.from({ length: count }, () => ({ answer: 'pass' }));

function fill(server) {
  server.watches = [
    sampleWatch([SLOW, ...nights(29)], {
      spec: { backend: 'sim' },
      stale: ['node-9'],
      nodes: [sampleLevel('node-7', 38.1, 6)],
    }),
    sampleWatch([{ answer: 'pass', skipped: 1 }], { id: 'weekly', name: 'weekly pairs', mode: 'act' }),
    sampleWatch([], { id: 'new', name: 'new', state: 'measuring', run: 'now' }),
  ];
  server.nodes = ['node-7', 'node-8'].map((name) => sampleNode(name));
}

const watch = (page, name) => page.getByRole('listitem').filter({ has: page.getByRole('heading', { name }) });
const hrefOf = (within, name) => within.getByRole('link', { name }).first().getAttribute('href');

test('a watch shows its nights, whom it named, its coverage and what is stale', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  fill(server);
  await open('/watches');
  await sees(page, '3 watches');
  const nightly = watch(page, 'nightly');
  const strip = nightly.getByRole('list', { name: /^nightly: / });
  assert.equal(await strip.getByRole('listitem').count(), 30);
  const last = strip.getByRole('listitem').last();
  assert.match(await last.getByRole('link').getAttribute('aria-label'), /^2026-01-30 .* slow: night 0/);
  assert.equal(await last.getByRole('link').getAttribute('href'), '/runs/pairs');
  assert.equal(await hrefOf(strip, /: night 1:/), '/runs/run-1');
  assert.equal(await hrefOf(nightly, 'node-7'), '/nodes/node-7');
  assert.equal(await hrefOf(nightly, 'map of pairs'), '/runs/pairs');
  assert.equal(await hrefOf(nightly, 'node-9'), '/nodes/node-9');
  await nightly.getByText('simulated').waitFor();
  await nightly.getByText('58 of 64 nodes measured in the last 24 h').waitFor();
  const weekly = watch(page, 'weekly pairs').getByRole('list');
  assert.deepEqual(await weekly.getByRole('listitem').allInnerTexts(), ['↷', '✓']);
  assert.equal(await hrefOf(watch(page, 'new'), 'now'), '/runs/now');
});

test('an operator pauses and resumes a watch; a viewer reads why not', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  fill(server);
  await open('/watches');
  await page.getByRole('button', { name: 'pause nightly' }).click();
  await page.getByRole('button', { name: 'resume nightly' }).click();
  await page.getByRole('button', { name: 'pause nightly' }).waitFor();
  const asked = server.requests.filter(({ method }) => method === 'POST').map(({ path }) => path);
  assert.deepEqual(asked, ['/api/v1/watches/1ngc13d9jrqf/pause', '/api/v1/watches/1ngc13d9jrqf/resume']);
  server.access = { operator: false, demo: false, reason: 'a viewer token' };
  await page.reload();
  const button = page.getByRole('button', { name: 'pause nightly' });
  await until(() => button.isDisabled(), 'no button for a viewer');
  assert.equal(await button.getAttribute('title'), 'a viewer token');
});

test('without a watch the page says so, and nodes have no level', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  fill(server);
  server.watches = [];
  await open('/watches');
  await sees(page, 'No watches yet.');
  await open('/nodes');
  await sees(page, '2 nodes: 2 idle');
  assert.equal(await page.getByRole('columnheader', { name: 'Level of last run' }).count(), 0);
});

test('the list of nodes has the last level, its usual range and its age', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  fill(server);
  await open('/nodes');
  const cell = page.getByRole('row', { name: /^node-7/ }).getByRole('cell', { name: '38.1 GB/s' });
  assert.match(await cell.textContent(), /slower.*\b43\.9 .*\b46\.2.*\b6 h ago, simulated/);
  assert.equal(await hrefOf(cell, /38\.1/), '/runs/run-0');
  for (const width of [1440, 2400]) {
    await page.setViewportSize({ width, height: 900 });
    const [inner, outer] = await page
      .getByRole('region', { name: 'Nodes' })
      .evaluate((box) => [box.scrollWidth, box.clientWidth]);
    assert.ok(inner <= outer + 1, `${inner} in ${outer} at ${width}`);
  }
});

for (const scheme of /** @type {('light' | 'dark')[]} */ (['light', 'dark'])) {
  test(`watches on a phone: no violation, nothing wide, nothing jumps, ${scheme}`, LIMIT, async (t) => {
    const { server, page, open } = await setUp(t, { scheme, width: 400 });
    fill(server);
    await page.addInitScript(() => {
      Object.assign(window, { shifted: 0 });
      new PerformanceObserver((list) => {
        for (const entry of /** @type {any[]} */ (list.getEntries())) {
          /** @type {any} */ (window).shifted += entry.hadRecentInput ? 0 : entry.value;
        }
      }).observe({ type: 'layout-shift', buffered: true });
    });
    for (const [path, text] of [
      ['/watches', '58 of 64'],
      ['/nodes', '38.1 GB/s'],
    ]) {
      await open(path);
      await sees(page, text);
      await page.waitForLoadState('networkidle');
      const [inner, shifted] = await page.evaluate(() => [
        document.documentElement.scrollWidth,
        /** @type {any} */ (window).shifted,
      ]);
      assert.ok(inner <= 400, `${path} is ${inner} wide`);
      assert.ok(shifted <= 0.05, `${path} shifts by ${shifted}`);
      assert.deepEqual(
        (await axe(page)).map(({ id, nodes }) => [id, nodes[0].html]),
        [],
      );
    }
  });
}
