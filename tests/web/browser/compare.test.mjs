/* SPDX-License-Identifier: Apache-2.0 */
/* compare.test.mjs - the view that compares, against a real server whose runs are simulated */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after } from 'node:test';
import { startCluster } from '../../integration/lib/cluster.mjs';
import { axe } from '../lib/browser.mjs';
import { closeBrowser, LIMIT, openPage, pageTest as test, sees, until } from '../lib/page.mjs';

after(closeBrowser);

const sim = (more = {}, env = {}) => ({
  backend: 'sim',
  sizes: { max: '16M', factor: 4 },
  iters: 5,
  warmup: 1,
  repeats: 5,
  env: { SIM_SLEEP_FRACTION: '0', SIM_SEED: '7', SIM_CASE_NOISE: '0.002', ...env },
  ...more,
});
const LINKS = sim({ name: 'links', matrix: { SIM_RING_GBS: ['50', '40'] } });
const betweenLinks = (id) =>
  `base=${id}&base_env=SIM_RING_GBS%3D50` + `&head=${id}&head_env=SIM_RING_GBS%3D40`;

async function setUp(t, options) {
  const { server } = await startCluster(t, 2);
  const { page } = await openPage(t, options);
  return {
    server,
    page,
    open: (to) => page.goto(server.url + to),
    compare: (query) => server.get(`/api/v1/compare?${query}`),
    async completed(spec) {
      const { id } = await server.run(spec);
      const { state, reason } = await server.runEnds(id);
      assert.equal(state, 'completed', reason);
      return id;
    },
  };
}

const bandRows = (page) => page.getByRole('region', { name: 'Bands' }).locator('tbody tr');
const says = (page) => page.locator('.verdict p').innerText();
const isTooWide = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);

test('a slower link is said by the server’s sentence, drawn, and goes into files', LIMIT, async (t) => {
  const { page, open, compare, completed } = await setUp(t);
  const query = betweenLinks(await completed(LINKS));
  const { verdict } = await compare(query);
  await open(`/compare?${query}`);
  await page.locator('.verdict').waitFor();
  assert.equal(await says(page), verdict.sentence);
  assert.match(await page.locator('.verdict .pill').innerText(), /worse/);
  assert.equal(await page.locator('.alert').count(), 0, 'nothing is warned of');
  assert.equal(await page.locator('.sides .pill').allInnerTexts().then(String), 'simulated,simulated');
  const rows = await bandRows(page).allInnerTexts();
  assert.equal(rows.length, 3);
  const bandwidth = verdict.evidence.bands[2];
  assert.match(rows[2], new RegExp(`−${Math.round(-bandwidth.change * 100)} %`));
  assert.match(rows[2], /worse/);
  assert.match(rows[0], /time: less is better/);
  assert.match(rows[2], /busbw: more is better/);
  /* Worse lies to the left, whether less or more is worse. */
  for (const mark of await page.locator('.delta.worse .mark').all()) {
    assert.ok(parseFloat(await mark.getAttribute('cx')) < 45);
  }
  await sees(page, 'env.SIM_RING_GBS');
  assert.deepEqual(
    (await axe(page)).map(({ id }) => id),
    [],
  );

  const saved = async (name) => {
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name }).click(),
    ]);
    return readFile(await file.path(), 'utf8');
  };
  assert.equal(await saved('CSV'), await compare(`${query}&format=csv`));
});

test('a run leads to the comparison of its settings, and to its trend', LIMIT, async (t) => {
  const { page, open, completed } = await setUp(t, { expected: /404/ });
  const id = await completed(LINKS);
  await open(`/runs/${id}`);
  const links = page.getByRole('navigation', { name: 'Compare this run' });
  await links.getByRole('link', { name: 'with the baseline' }).waitFor();
  const trend = await links.getByRole('link', { name: 'Trend of comparable runs' }).getAttribute('href');
  assert.equal(trend, `/trends?run=${id}`);
  await links.getByRole('link', { name: 'SIM_RING_GBS=50 and 40' }).click();
  await page.waitForURL(`**/compare?${betweenLinks(id)}`);
  await page.locator('.verdict.worse').waitFor();
  /* The change of each size, above the bands; every size is slower, so that nothing crosses. */
  const plot = page.getByRole('group', { name: /^Chart of Change by size/ });
  await plot.focus();
  await page.keyboard.press('ArrowLeft');
  assert.match(await plot.locator('.readout').innerText(), /^8M bytes[\s\S]*-\d+(\.\d+)? %/);
  assert.equal(await plot.locator('.mark').count(), 0);
});

test('sides are chosen in the form, and the address has them', LIMIT, async (t) => {
  const { page, open, completed } = await setUp(t, { width: 400 });
  const id = await completed(LINKS);
  await open('/');
  await page.getByRole('link', { name: 'Compare', exact: true }).click();
  await sees(page, 'Select two sides to compare');
  assert.deepEqual(
    (await axe(page)).map((violation) => violation.id),
    [],
  );
  await page.getByLabel('Base', { exact: true }).fill(id);
  await page.getByLabel('Head', { exact: true }).fill(id);
  await page.getByLabel('Base: which cases').selectOption({ label: 'SIM_RING_GBS=40' });
  await page.getByLabel('Head: which cases').selectOption({ label: 'SIM_RING_GBS=50' });
  await page.getByRole('button', { name: 'Compare' }).click();
  await until(async () => /faster/.test(await says(page).catch(() => '')), 'the sentence');
  assert.equal(await isTooWide(page), false);
  await page.getByRole('button', { name: 'Swap' }).click();
  await until(async () => /slower/.test(await says(page)), 'the other way round');
  assert.equal(new URL(page.url()).search, `?${betweenLinks(id)}`);
  await page.reload();
  await until(async () => /slower/.test(await says(page).catch(() => '')), 'the same again');
  await page.getByLabel('Head: which cases').waitFor();
  await page.goBack();
  await until(async () => /faster/.test(await says(page)), 'the first');
});

test('what is the same is said to be, and what is not enough with how much would be', LIMIT, async (t) => {
  const { page, open, compare, completed } = await setUp(t);
  const again = sim({ matrix: { HOST_SIDE: ['a', 'b'] } }, { SIM_CASE_NOISE: '0.001', SIM_NOISE: '0.002' });
  const same = `base=${await completed(again)}&base_env=HOST_SIDE=a&head_env=HOST_SIDE=b`;
  await open(`/compare?${same}`);
  await page.locator('.verdict.same').waitFor();
  assert.match(await says(page), /no difference of 2 % or more/);

  const noisy = sim({ matrix: { HOST_SIDE: ['a', 'b'] } }, { SIM_CASE_NOISE: '0.05' });
  const query = `base=${await completed(noisy)}&base_env=HOST_SIDE=a&head_env=HOST_SIDE=b`;
  const { verdict } = await compare(query);
  await open(`/compare?${query}`);
  await page.locator('.verdict.not_enough_data').waitFor();
  const [row] = await bandRows(page).allInnerTexts();
  assert.match(row, /not enough data/);
  assert.match(row, new RegExp(`${verdict.evidence.bands[0].repeats_needed} repeats would`));
});

test('warnings stand before the sentence, and too few cases are no answer', LIMIT, async (t) => {
  const { page, open, completed } = await setUp(t);
  const two = await completed(sim({ sizes: [8], repeats: 2 }));
  const one = await completed(sim({ sizes: [8], repeats: 2, nodes: { count: 1 } }));
  await open(`/compare?base=${two}&head=${one}`);
  await page.locator('.verdict').waitFor();
  assert.match(await says(page), /base and head differ in .*: not enough data$/);
  const parts = page.locator('.alert.warn, .verdict');
  assert.match(await parts.first().innerText(), /\bnodes\b/);
  await sees(page, 'hardly comparable');
  assert.deepEqual(
    (await axe(page)).map(({ id }) => id),
    [],
  );
});

test('a run is accepted as a baseline, and later ones are compared with it', LIMIT, async (t) => {
  const { server, page, open, completed } = await setUp(t, { expected: /40[49]|422/ });
  const [first, second] = [await completed(sim()), await completed(sim())];
  await open(`/compare?base=baseline&head=${first}`);
  await sees(page, /no baseline is like .*: accept a run as baseline on the page/);
  await open(`/compare?base=baseline&head=${second}`);
  await page.getByRole('link', { name: 'the last 5 comparable runs' }).click();
  await page.locator('.verdict').waitFor();
  await page.getByRole('button', { name: 'Swap' }).waitFor();
  await page.getByRole('button', { name: 'Accept as baseline' }).click();
  await page.getByLabel('Accepted by').fill('ann');
  await page.getByLabel('Reason').fill('as delivered');
  assert.deepEqual(
    (await axe(page)).map(({ id }) => id),
    [],
  );
  await page.getByRole('button', { name: 'Accept', exact: true }).click();
  await sees(page, `Run ${second} is now a baseline`);
  const { baselines } = await server.get('/api/v1/baselines');
  assert.deepEqual(
    baselines.map(({ run, by, why }) => [run, by, why]),
    [[second, 'ann', 'as delivered']],
  );
  const third = await completed(sim());
  await open(`/compare?base=baseline&head=${third}`);
  await page.locator('.verdict').waitFor();
  await page.locator('.sides').getByText(second).waitFor();
  await sees(page, /accepted by ann .*: as delivered/);
  /* Who may not is not asked to. */
  await page.getByRole('button', { name: 'Accept as baseline' }).waitFor();
  await page.route('**/api/v1/access', (route) =>
    route.fulfill({ json: { operator: false, reason: 'a viewer' } }),
  );
  await page.reload();
  await sees(page, /accepted by ann/);
  assert.equal(await page.getByRole('button', { name: 'Accept as baseline' }).count(), 0);
  await open(`/compare?base=baseline&head=nobody`);
  await sees(page, /The comparison failed.*nobody/);
});
