/* SPDX-License-Identifier: Apache-2.0 */
/* fleet.test.mjs - what the pages say of a simulated fleet, served by the real server */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { faulty, startFleet, startServer } from '../../integration/lib/cluster.mjs';
import { sim } from '../../integration/lib/watches.mjs';
import { axe } from '../lib/browser.mjs';
import { closeBrowser, figureRows, LIMIT, openPage, pageTest as test, sees, until } from '../lib/page.mjs';

after(closeBrowser);

const NOISY = { SIM_NOISE: '0.8' };

/* A server with a few simulated nodes, and a page: `ended(spec)` is the run once it is over. */
async function setUp(t, { options = undefined, server = undefined } = {}) {
  const running = await startServer(t, server);
  await startFleet(t, running, 4, ['--ranks', '2']);
  const { page } = await openPage(t, options);
  const ended = async ({ env = {}, ...spec }) => {
    const { iters, ...usual } = sim;
    return running.runEnds((await running.run({ ...usual, ...spec, env: { ...sim.env, ...env } })).id);
  };
  return { server: running, page, ended, open: (path) => page.goto(running.url + path) };
}

test('a run whose figures are not certain is called noisy, another is not', LIMIT, async (t) => {
  const { page, open, ended } = await setUp(t);
  const noisy = await ended({ name: 'loud', sizes: ['1M', '64M'], env: NOISY });
  const quiet = await ended({ name: 'still', sizes: ['1M', '64M'], env: { SIM_NOISE: '0.01' } });
  await open('/');
  const pill = (name) => page.locator('tr', { hasText: name }).locator('.pill').innerText();
  await sees(page, 'still');
  assert.match(await pill('loud'), /noisy/);
  assert.match(await pill('still'), /completed/);
  await open(`/runs/${noisy.id}`);
  await sees(page, noisy.summary.noise.sentence);
  assert.equal(await page.locator('.run-bar .pill', { hasText: 'noisy' }).count(), 1);
  await open(`/runs/${quiet.id}`);
  await page.locator('.plot-area').first().waitFor();
  assert.match(await page.locator('.headline').innerText(), /GB\/s at 64M \([\d.]+ to [\d.]+\)$/);
  assert.equal(await page.locator('.run-bar .pill', { hasText: 'noisy' }).count(), 0);
});

test('a simulated run takes the algorithm of its matrix, and says which', LIMIT, async (t) => {
  const { page, open, ended } = await setUp(t);
  const run = await ended({ matrix: { NCCL_ALGO: ['Ring', 'Tree'] }, repeats: 3 });
  await open(`/runs/${run.id}`);
  await page.locator('.plot-area').first().waitFor();
  const rows = await figureRows(page);
  assert.match(rows[0], /NCCL_ALGO=Ring\s+RING/);
  assert.match(rows[1], /NCCL_ALGO=Tree\s+TREE/);
  await sees(page, 'all_reduce · float32 · sum; simulated');
});

test('a fault that is not simulated fails the run', LIMIT, async (t) => {
  const { page, open, ended } = await setUp(t, { server: faulty.server });
  const run = await ended({ fault: { kind: 'wrong', rank: 1, op: 2 } });
  assert.equal(run.state, 'failed');
  await open(`/runs/${run.id}`);
  await sees(page, /^rank 0 on sim-1: unsupported: /);
});

test('lists of real runs are not clipped, and show when each was created, and where', LIMIT, async (t) => {
  const { page, open, ended } = await setUp(t, { options: { width: 1440 } });
  const { created } = await ended({
    name: 'a name so long that it has to be cut: '.repeat(5),
    sizes: ['1M', '64M'],
  });
  await ended({ name: 'two', matrix: { NCCL_ALGO: ['Ring', 'Tree'] }, sizes: { min: '8', max: '1G' } });
  await open('/');
  const spark = page.locator('.spark').last();
  for (const width of [1440, 2560]) {
    await page.setViewportSize({ width, height: 900 });
    await spark.waitFor();
    const { clipped, inside } = await page.evaluate(() => {
      const box = document.querySelector('.scroll:has(.runs)');
      return {
        clipped: box.scrollWidth - box.clientWidth,
        inside: [...box.querySelectorAll('.spark')].every(
          (one) => one.getBoundingClientRect().right < box.getBoundingClientRect().right,
        ),
      };
    });
    assert.ok(clipped <= 1 && inside, `${clipped} px at ${width}`);
  }
  const [zone, clock] = await page.evaluate(
    (text) => [Intl.DateTimeFormat().resolvedOptions().timeZone, new Date(text).toLocaleTimeString('sv')],
    created,
  );
  await page.getByRole('columnheader', { name: `Created, ${zone}` }).waitFor();
  await page.getByRole('link', { name: 'two' }).click();
  await page.locator('.plot-area').first().waitFor();
  assert.match(await page.locator('.run-facts time').innerText(), /^\d\d:\d\d:\d\d [A-Z+]/);
  assert.match(clock, /^\d\d:\d\d:\d\d$/);
  const table = page.getByRole('region', { name: 'Results' });
  assert.ok(await table.evaluate((box) => box.scrollWidth <= box.clientWidth + 1));
});

test('paper has figures and names, but nothing to press', LIMIT, async (t) => {
  const { page, open, ended } = await setUp(t);
  const { id } = await ended({
    name: 'printed',
    matrix: { NCCL_ALGO: ['Ring', 'Tree'] },
    sizes: ['1M', '64M'],
  });
  await page.emulateMedia({ media: 'print' });
  const sides = `base=${id}&base_env=NCCL_ALGO%3DRing&head=${id}&head_env=NCCL_ALGO%3DTree`;
  for (const path of [
    '/',
    `/runs/${id}`,
    `/compare?${sides}`,
    '/trends',
    '/nodes',
    '/nodes/sim-1',
    '/watches',
  ]) {
    await open(path);
    await page.waitForLoadState('networkidle');
    const shown = await page.evaluate(() =>
      [...document.querySelectorAll('button, .button, input, select, textarea, nav')]
        .filter((one) => !one.matches('table button, .legend-item, .case-cell') && one.checkVisibility())
        .map((one) => one.outerHTML),
    );
    assert.deepEqual(shown, [], path);
  }
  await open(`/runs/${id}`);
  await sees(page, 'printed');
  await sees(page, 'NCCL_ALGO=Tree');
});

test('the page of a run that is gone leads to those that are there', LIMIT, async (t) => {
  const { page, open } = await setUp(t, { options: { expected: /404/ } });
  await open('/runs/nothing');
  await sees(page, 'Run nothing not found.');
  await page.getByRole('link', { name: 'search for it' }).click();
  await page.waitForURL('**/?q=nothing');
});

test('a chart takes a typed range of values, and goes full screen', LIMIT, async (t) => {
  const { page, open, ended } = await setUp(t);
  const { id } = await ended({ sizes: { min: '8', max: '1G' } });
  await open(`/runs/${id}`);
  const figure = page.locator('figure', { hasText: 'busbw, GB/s' });
  const labels = () => figure.locator('svg text[text-anchor="end"]').allTextContents();
  await figure.locator('.plot-area').waitFor();
  assert.equal((await labels())[0], '0');
  const range = page.getByLabel(/^Range of values: .*busbw/);
  await range.fill('20 to 40');
  await page.waitForURL('**/*limits=busbw+20+40*');
  await until(async () => (await labels())[0] === '20', 'the axis begins at 20');
  assert.equal((await labels()).at(-1), '40');
  /* No line is drawn beyond the axis. */
  const [outer, inner, overflow] = await figure.evaluate((box) => {
    const drawn = box.querySelector('svg svg');
    const area = box.querySelector('.plot-area');
    return [area.getAttribute('height'), drawn.getAttribute('height'), getComputedStyle(drawn).overflow];
  });
  assert.equal(inner, outer);
  assert.equal(overflow, 'hidden');
  await range.fill('40 to 20');
  assert.ok(await range.evaluate((field) => field.value === '40 to 20'));
  await range.fill('');
  await until(async () => (await labels())[0] === '0', 'the axis begins at 0 again');

  const plot = figure.locator('.chart-box');
  const before = (await plot.boundingBox()).height;
  await page.getByRole('button', { name: /^Full screen: .*busbw/ }).click();
  await until(async () => (await plot.boundingBox()).height > 1.3 * before, 'a higher plot');
  assert.equal(await page.locator('figure').count(), 1);
  await page.evaluate(() => document.exitFullscreen());
  await until(async () => (await plot.boundingBox()).height === before, 'the former height');
  assert.equal(await page.locator('figure').count(), 2);
});

test('? lists the keys, but not while somebody types', LIMIT, async (t) => {
  const { page, open } = await setUp(t);
  await open('/nodes');
  await sees(page, '4 nodes: 4 idle');
  await page.keyboard.press('?');
  const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await dialog.getByText('select the run').waitFor();
  assert.deepEqual(await axe(page), []);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.getByLabel('Filter nodes').press('?');
  assert.equal(await page.getByLabel('Filter nodes').inputValue(), '?');
  assert.equal(await dialog.count(), 0);
});
