/* SPDX-License-Identifier: Apache-2.0 */
/* report.test.mjs - a run's report as a file on disk, with no server and no network */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { pathToFileURL } from 'node:url';
import { faulty, startCluster } from '../../integration/lib/cluster.mjs';
import { axe } from '../lib/browser.mjs';
import {
  closeBrowser,
  numbersExplained,
  openPage,
  pageTest as test,
  patience,
  skip,
  until,
} from '../lib/page.mjs';

after(closeBrowser);

const LIMIT = {
  timeout: 240000 * patience,
  skip,
};

const EVIL = '<script>document.title="bad"</script><img src=x onerror=alert(1)>';
const SPECS = {
  matrix: {
    name: EVIL,
    labels: { long: 'W'.repeat(200) },
    collectives: ['all_reduce', 'broadcast'],
    sizes: { min: 8, max: '1M', factor: 16 },
    iters: 3,
    repeats: 2,
    matrix: { NCCL_ALGO: ['Ring', null] },
  },
  wrong: { sizes: [8, '4K'], iters: 3, fault: { kind: 'wrong', rank: 1, row: 2, index: 5 } },
  simulated: { backend: 'sim', env: { SIM_SLEEP_FRACTION: '0' }, sizes: [8, '64K', '1T'] },
};
const MANY = {
  backend: 'sim',
  env: { SIM_SLEEP_FRACTION: '0' },
  sizes: { min: 1, max: 3400, step: 1 },
  dtypes: ['int8'],
  iters: 1,
  warmup: 1,
  check: 0,
  in_place: false,
  repeats: 3,
};

async function waitForEnd(server, spec) {
  const { id } = await server.run(spec);
  await server.runEnds(id);
  return id;
}

/* The reports as files, from a server that is gone when they are opened. */
async function saveReports(t, /** @type {Record<string, object>} */ specs = SPECS) {
  const { server, agents } = await startCluster(t, 2, faulty);
  const folder = mkdtempSync(path.join(tmpdir(), 'ringbench-report-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const files = {};
  for (const [name, spec] of Object.entries(specs)) {
    const id = await waitForEnd(server, spec);
    const html = await server.get(`/api/v1/runs/${id}/report.html`);
    files[name] = path.join(folder, `${name}.html`);
    writeFileSync(files[name], html);
  }
  agents.forEach((agent) => agent.signal('SIGTERM'));
  await server.killHard();
  return files;
}

/* Go on once the page has drawn the run. */
async function show(page, file) {
  await page.goto(pathToFileURL(file).href);
  await page.locator('table.figures tbody tr').first().waitFor();
}

test('a saved report shows everything without a server', LIMIT, async (t) => {
  const files = await saveReports(t);
  const { page } = await openPage(t);
  const requests = [];
  page.on('request', (request) => requests.push(request.url()));
  await page.context().setOffline(true);
  t.after(() =>
    page
      .context()
      .setOffline(false)
      .catch(() => {}),
  );
  for (const [name, file] of Object.entries(files)) {
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme });
      await show(page, file);
      for (const fold of await page.locator('details.fold > summary').all()) {
        await fold.click();
      }
      for (const tab of await page.getByRole('tab').all()) {
        await tab.click();
        assert.deepEqual(
          (await axe(page)).map((found) => found.id),
          [],
          name,
        );
      }
    }
  }
  assert.deepEqual(
    requests.filter((url) => !/^(file|data):/.test(url)),
    [],
  );

  await show(page, files.matrix);
  assert.equal(await page.locator('h1').innerText(), EVIL);
  assert.notEqual(await page.title(), 'bad');
  await until(async () => (await page.locator('.plot-area').count()) === 4, 'four charts');
  assert.equal(await page.locator('.legend-item').count(), 4);
  const data = JSON.parse(await page.locator('#ringbench-data').textContent());
  const rows = data.events.filter((event) => event.type === 'result');
  assert.equal(rows.length, data.run.rows_total);
  /* Nothing leads to where there is nothing. */
  assert.equal(await page.locator('a[href^="/"]').count(), 0);
});

test('a report answers as the page does, and its address holds the view', LIMIT, async (t) => {
  const { matrix } = await saveReports(t);
  const { page } = await openPage(t);
  await show(page, matrix);
  await page.getByRole('button', { name: 'algbw', exact: true }).click();
  await page.getByRole('tab', { name: /^Cases/ }).click();
  await page.getByRole('button', { name: /^NCCL_ALGO=Ring, repeat 2/ }).click();
  await page.getByRole('tab', { name: 'Table' }).click();
  assert.match(page.url(), /#(?=.*metric=algbw)(?=.*case=\d)/);
  const address = page.url();
  const legend = await page.locator('.legend').first().innerText();
  assert.doesNotMatch(legend, /unset/);
  await page.goto('about:blank');
  await page.goto(address);
  await page.locator('table.figures tbody tr').first().waitFor();
  assert.equal(await page.locator('.legend').first().innerText(), legend);

  await page.locator('button.opener').first().click();
  await page.getByText('fastest to slowest rank').first().waitFor();
  await numbersExplained(page).click();
  await page.getByRole('rowheader', { name: 'all_gather', exact: true }).waitFor();
  const download = page.waitForEvent('download');
  await page.locator('summary', { hasText: 'Share' }).first().click();
  await page.getByRole('button', { name: /^PNG,/ }).click();
  assert.match((await download).suggestedFilename(), /\.png$/);
});

test('a report of very many rows says what it leaves out', LIMIT, async (t) => {
  const { many } = await saveReports(t, { many: MANY });
  const { page } = await openPage(t);
  await show(page, many);
  await page.getByText('Shortened').waitFor();
  await page.getByText(/medians of 3 repeats/).waitFor();
  await page.locator('button.opener').first().click();
  await page.getByText('The single rows are not in this report').waitFor();
  await page.getByRole('tab', { name: /^Cases/ }).click();
  await page.getByRole('button', { name: /^repeat 2/ }).click();
  await page.getByRole('tab', { name: 'Table' }).click();
  await page.getByText(/medians of 3 repeats/).waitFor({ state: 'detached' });
});

test('without scripts a report is text', LIMIT, async (t) => {
  const { matrix } = await saveReports(t);
  const { page } = await openPage(t);
  const client = await page.context().newCDPSession(page);
  await client.send('Emulation.setScriptExecutionDisabled', { value: true });
  await page.goto(pathToFileURL(matrix).href);
  const text = await page.locator('pre').innerText();
  assert.match(text, /broadcast float32, root 0/);
  assert.match(text, /\ncompleted: \d+ rows/);
});

test('what must be seen is seen, in either theme and on a phone', LIMIT, async (t) => {
  const files = await saveReports(t);
  const { page } = await openPage(t);
  const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  for (const width of [400, 1600]) {
    await page.setViewportSize({ width, height: 900 });
    for (const file of Object.values(files)) {
      await show(page, file);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.equal(overflow, 0, `${file} fits into ${width} pixels`);
    }
  }
  await show(page, files.wrong);
  assert.ok(
    await page
      .getByText(/^wrong data: 1 /)
      .first()
      .isVisible(),
  );
  assert.equal(await page.locator('tr.wrong').count(), 1);
  await show(page, files.simulated);
  assert.match(await page.title(), /^\[simulated\] /);
  assert.ok(await page.getByText('simulated: no bytes moved').isVisible());
  const watermark = await page
    .locator('.panels .unreal')
    .first()
    .first()
    .evaluate((card) => getComputedStyle(card, '::after').content);
  assert.equal(watermark, '"simulated"');
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await background();
  await page.emulateMedia({ colorScheme: 'dark' });
  await show(page, files.simulated);
  assert.notEqual(await background(), light);
  /* Paper is white whatever the screen is. */
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  assert.equal(await background(), light);
  assert.ok((await page.pdf({ preferCSSPageSize: true })).length > 10000);
});
