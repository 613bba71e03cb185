/* SPDX-License-Identifier: Apache-2.0 */
/* firefox.test.mjs - every view in Firefox, by a real server: drawn, without a complaint,
 * and gone through by keyboard */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after } from 'node:test';
import { pathToFileURL } from 'node:url';
import { startCluster } from '../../integration/lib/cluster.mjs';
import { tempDir } from '../../integration/lib/fixture.mjs';
import { whyNoBrowser } from '../lib/browser.mjs';
import { closeBrowser, LIMIT, openPage, pageTest as test } from '../lib/page.mjs';

after(closeBrowser);

const SPEC = {
  backend: 'sim',
  sizes: [8, '1M', '16M'],
  iters: 2,
  warmup: 1,
  repeats: 2,
  env: { SIM_SLEEP_FRACTION: '0' },
};

async function completed(server) {
  const { id } = await server.run(SPEC);
  const run = await server.runEnds(id);
  assert.equal(run.state, 'completed', run.reason);
  return { id, node: run.nodes[0].name };
}

/* Each view's address, and what is there when it is drawn. */
async function viewsOf(t, server) {
  const [base, head] = [await completed(server), await completed(server)];
  const report = path.join(tempDir(t), 'report.html');
  writeFileSync(report, await server.get(`/api/v1/runs/${head.id}/report.html`));
  const to = (target) => server.url + target;
  return {
    runs: [to('/'), 'tbody tr'],
    run: [to(`/runs/${head.id}`), '.plot-area', 'table.figures tbody tr'],
    compare: [to(`/compare?base=${base.id}&head=${head.id}`), 'tbody tr'],
    trends: [to('/trends'), '#main svg'],
    nodes: [to('/nodes'), 'tbody tr'],
    node: [to(`/nodes/${head.node}`), 'dl'],
    watches: [to('/watches'), '.empty'],
    new: [to('/new'), 'form'],
    report: [pathToFileURL(report).href, '.plot-area', 'table.figures tbody tr'],
  };
}

/* A line was drawn, not just laid out. */
const painted = (page) =>
  page
    .locator('.chart-box .line')
    .first()
    .evaluate((line) => line.getTotalLength() > 0);

/* What has the focus after each of `count` presses of Tab. */
async function tabThrough(page, count) {
  const stops = new Set();
  for (let i = 0; i < count; i++) {
    await page.keyboard.press('Tab');
    stops.add(
      await page.evaluate(() => {
        const at = document.activeElement;
        const { outlineStyle, boxShadow } = getComputedStyle(at);
        const seen = outlineStyle !== 'none' || boxShadow !== 'none';
        return `${seen ? '' : 'unseen '}${at.outerHTML.slice(0, 200)}`;
      }),
    );
  }
  return [...stops];
}

test('every view is drawn in Firefox, and the keyboard goes through it', {
  ...LIMIT,
  skip: whyNoBrowser('firefox') ?? false,
}, async (t) => {
  const { server } = await startCluster(t, 2);
  const views = await viewsOf(t, server);
  const { page, errors } = await openPage(t, { kind: 'firefox' });
  for (const [view, [address, ...drawn]] of Object.entries(views)) {
    await page.goto(address);
    for (const selector of drawn) {
      await page.locator(selector).filter({ visible: true }).first().waitFor();
    }
    if (drawn.includes('.plot-area')) {
      assert.ok(await painted(page), `${view}: the chart is empty`);
    }
    const stops = await tabThrough(page, 8);
    assert.ok(stops.length >= 5, `${view}: ${stops}`);
    assert.deepEqual(
      stops.filter((stop) => /^unseen |^<body/.test(stop)),
      [],
      view,
    );
    assert.deepEqual(errors, [], view);
  }
});
