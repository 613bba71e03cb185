/* SPDX-License-Identifier: Apache-2.0 */
/* trends.test.mjs - the view of what runs came to over time, against a real server */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after } from 'node:test';
import { startAgents, startServer } from '../../integration/lib/cluster.mjs';
import { axe } from '../lib/browser.mjs';
import { closeBrowser, LIMIT, openPage, pageTest as test, sees, until } from '../lib/page.mjs';

after(closeBrowser);

const SPEC = {
  backend: 'sim',
  sizes: [8, '8M', '16M'],
  iters: 2,
  warmup: 1,
  nodes: { count: 2 },
  env: { SIM_SLEEP_FRACTION: '0', SIM_NOISE: '0.002' },
};

/* Agents whose links become slower after `before` runs, for `since` more. */
async function history(t, server, before, since) {
  const runs = [];
  for (const [rate, count] of [
    ['50', before],
    ['45', since],
  ]) {
    /* With other noise in each run a level that is none is seen now and then. */
    const env = {
      SIM_RING_GBS: rate,
      SIM_SEED: '7',
      RINGBENCH_PASS_ENV: 'TEST_MARK,SIM_RING_GBS,SIM_SEED',
    };
    const agents = await startAgents(t, server, 2, { env });
    for (let i = 0; i < count; i++) {
      const { id } = await server.run({ ...SPEC, name: `night ${runs.length + 1}` });
      await server.runEnds(id);
      await server.get(`/api/v1/runs/${id}/baseline`);
      runs.push(id);
    }
    for (const agent of agents) {
      agent.signal('SIGTERM');
      await agent.ended();
    }
  }
  return runs;
}

const seesNoRun = (page) => sees(page, 'No runs to show yet');
const panel = (page, name) => page.getByRole('region', { name }).first();

test('an empty server says what leads to a trend', LIMIT, async (t) => {
  const server = await startServer(t);
  const { page } = await openPage(t);
  await page.goto(server.url);
  await page.getByRole('link', { name: 'Trends' }).click();
  await seesNoRun(page);
  await sees(page, 'start a run');
  assert.deepEqual(
    (await axe(page)).map(({ id }) => id),
    [],
  );
});

test('a change is said, drawn, and leads to the last run before it', LIMIT, async (t) => {
  const server = await startServer(t);
  const runs = await history(t, server, 8, 7);
  const {
    changes: [{ verdict }],
  } = await server.get('/api/v1/trends');
  const { page } = await openPage(t, { expected: /404|422/ });
  await page.goto(`${server.url}/trends`);
  await sees(page, verdict.sentence);
  await sees(page, /\b15 runs/);
  const bandwidth = panel(page, /^Bus bandwidth/);
  assert.match(await bandwidth.locator('.mark text').last().textContent(), /▼ −\d+ %|▼ −\d\.\d %/);
  await page.getByRole('heading', { name: 'simulated · 2 nodes × 1 rank' }).waitFor();

  /* The table is the same in words. */
  await bandwidth.getByText('Table').click();
  const rows = await bandwidth.locator('tbody tr').allInnerTexts();
  assert.equal(rows.length, 15);
  assert.match(rows[0], /^night 15\t/);
  assert.match(rows[6], /^night 9\t.*−/);
  assert.deepEqual(
    (await axe(page)).map(({ id }) => id),
    [],
  );

  /* Those before against those since are cases enough for an answer. */
  await bandwidth.getByRole('link', { name: 'Compare before / after' }).click();
  await sees(page, /slower from 4M up/);
  assert.equal(await page.locator('.sides li').count(), 15);
  await page.goBack();

  /* Keys read out, and Enter compares: the newest run lies behind the change. */
  const chart = bandwidth.locator('.chart-box');
  await chart.focus();
  await page.keyboard.press('ArrowLeft');
  await bandwidth.locator('.readout').getByText('night 15').waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/compare?base=${runs[7]}&head=${runs[14]}`);
  await sees(page, /slower from 4M up/);
  await page.goBack();

  /* A click likewise; before the change it is the baseline. */
  await bandwidth.locator('.line').waitFor();
  const { x, y, height } = await chart.boundingBox();
  await page.mouse.click(x + 60, y + height / 2);
  await page.waitForURL(`**/compare?base=baseline&head=${runs[0]}`);
});

test('what is shown follows the address, and is saved as CSV', LIMIT, async (t) => {
  const server = await startServer(t);
  await history(t, server, 2, 1);
  await startAgents(t, server, 2);
  const { id } = await server.run({ ...SPEC, iters: 3, collectives: ['all_reduce'] });
  await server.runEnds(id);
  await server.get(`/api/v1/runs/${id}/baseline`);
  const { page } = await openPage(t, { expected: /422/, width: 400 });
  await page.goto(`${server.url}/trends`);
  await sees(page, /\b3 .*\b6 runs/);
  assert.equal(
    await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth),
    false,
  );
  /* Two lines, told by what differs. */
  await page.getByRole('heading', { name: 'iters=2' }).waitFor();
  await page.getByRole('heading', { name: 'iters=3' }).waitFor();
  for (const summary of await page.locator('.trend-card summary').all()) {
    await summary.click();
  }
  assert.deepEqual(
    (await axe(page)).map((violation) => violation.id),
    [],
  );
  await page.getByLabel('Placement').selectOption('in place');
  await page.waitForURL('**/trends?in_place=1');
  const wanted = await server.get('/api/v1/trends?in_place=1&band=bandwidth&format=csv');
  /* What is shown is saved: until the answer has come, that is what was before. */
  await until(async () => {
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV of bandwidth' }).click(),
    ]);
    return (await readFile(await file.path(), 'utf8')) === wanted;
  }, 'the values in place as CSV');
  await page.getByLabel('Collective').selectOption('broadcast');
  await seesNoRun(page);
  await page.reload();
  await sees(page, /measured broadcast of float32/);
  assert.equal(await page.getByLabel('Collective').inputValue(), 'broadcast');
  await page.goto(`${server.url}/trends?collective=nothing`);
  await sees(page, /collective.* nothing/);
  await page.goto(`${server.url}/trends?like=hardware&nodes=node-1%2Cnode-2`);
  await until(
    async () => (await page.locator('.trend-card .line').count()) === 4,
    'the bands that were measured',
  );
});
