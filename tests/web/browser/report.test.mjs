/* report.test.mjs - a run's report as a file on disk, with no server and no network */
import assert from 'node:assert/strict';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {after} from 'node:test';
import {pathToFileURL} from 'node:url';
import {faulty, startCluster} from '../../integration/lib/cluster.mjs';
import {axe} from '../lib/browser.mjs';
import {closeBrowser, openPage, pageTest as test, patience, skip} from '../lib/page.mjs';

after(closeBrowser);

const LIMIT = {
  timeout: 240000 * patience,
  skip
};

const EVIL = '<script>document.title="bad"</script><img src=x onerror=alert(1)>';
const SPECS = {
  matrix: {
    name: EVIL,
    labels: {long: 'W'.repeat(200)},
    collectives: ['all_reduce', 'broadcast'],
    sizes: {min: 8, max: '1M', factor: 16},
    iters: 3,
    repeats: 2,
    matrix: {NCCL_ALGO: ['Ring', null]}
  },
  wrong: {sizes: [8, '4K'], iters: 3, fault: {kind: 'wrong', rank: 1, row: 2, index: 5}},
  simulated: {backend: 'sim', env: {SIM_SLEEP_FRACTION: '0'}, sizes: [8, '64K', '1T']}
};

async function waitForEnd(server, spec) {
  const {id} = await server.run(spec);
  await server.runEnds(id);
  return id;
}

/* The reports as files, from a server that is gone when they are opened. */
async function saveReports(t) {
  const {server, agents} = await startCluster(t, 2, faulty);
  const folder = mkdtempSync(path.join(tmpdir(), 'ringbench-report-'));
  t.after(() => rmSync(folder, {recursive: true}));
  const files = {};
  for (const [name, spec] of Object.entries(SPECS)) {
    const id = await waitForEnd(server, spec);
    const html = await server.get(`/api/v1/runs/${id}/report.html`);
    files[name] = path.join(folder, `${name}.html`);
    writeFileSync(files[name], html);
  }
  agents.forEach(agent => agent.signal('SIGTERM'));
  await server.killHard();
  return files;
}

test('a saved report shows everything without a server', LIMIT, async t => {
  const files = await saveReports(t);
  const {page} = await openPage(t);
  const requests = [];
  page.on('request', request => requests.push(request.url()));
  await page.context().setOffline(true);
  t.after(() => page.context().setOffline(false).catch(() => {}));
  for (const [name, file] of Object.entries(files)) {
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({colorScheme});
      await page.goto(pathToFileURL(file).href);
      assert.deepEqual((await axe(page)).map(found => found.id), [], name);
    }
  }
  assert.deepEqual(requests.filter(url => !/^(file|data):/.test(url)), []);

  await page.goto(pathToFileURL(files.matrix).href);
  assert.equal(await page.locator('h1').innerText(), EVIL);
  assert.notEqual(await page.title(), 'bad');
  assert.equal(await page.locator('figure > svg').count(), 4);
  assert.equal(await page.locator('.legend').first().locator('li').count(), 4);
  const data = JSON.parse(await page.locator('#ringbench-data').textContent());
  assert.equal(data.rows.length, data.run.rows_total);
  await page.getByText('data as a table').first().click();
  assert.ok(await page.getByRole('region', {name: 'all_reduce'}).isVisible());
});

test('what must be seen is seen, in either theme and on a phone', LIMIT, async t => {
  const files = await saveReports(t);
  const {page} = await openPage(t);
  const background = () =>
    page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  for (const width of [400, 1600]) {
    await page.setViewportSize({width, height: 900});
    for (const file of Object.values(files)) {
      await page.goto(pathToFileURL(file).href);
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - window.innerWidth);
      assert.equal(overflow, 0, `${file} fits into ${width} pixels`);
    }
  }
  await page.goto(pathToFileURL(files.wrong).href);
  assert.ok(await page.getByText(/rank 1 on node-2, element 5: expected/).isVisible());
  assert.equal(await page.locator('.alarm').count(), 2);
  await page.goto(pathToFileURL(files.simulated).href);
  assert.ok(await page.getByText('These are no measurements').isVisible());
  assert.equal(await page.locator('svg text.mark').count(), 2);
  await page.emulateMedia({colorScheme: 'light'});
  const light = await background();
  await page.emulateMedia({colorScheme: 'dark'});
  assert.notEqual(await background(), light);
  /* Paper is white whatever the screen is. */
  await page.emulateMedia({media: 'print', colorScheme: 'dark'});
  assert.equal(await background(), light);
  assert.ok((await page.pdf({preferCSSPageSize: true})).length > 10000);
});
