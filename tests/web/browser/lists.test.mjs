/* SPDX-License-Identifier: Apache-2.0 */
/* lists.test.mjs - the lists of runs and nodes, and what is chosen from them */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { axe } from '../lib/browser.mjs';
import {
  closeBrowser,
  LIMIT,
  measuring,
  overlayLink,
  pageTest as test,
  requestJson,
  sees,
  setUp,
  startButton,
  until,
} from '../lib/page.mjs';
import { sampleLevel, sampleNode, sampleRun, sampleWatch } from '../lib/sample.mjs';

after(closeBrowser);

function addRuns(server, count, make = (_i) => ({})) {
  for (let i = 0; i < count; i += 1) {
    server.add(sampleRun({ id: `run-${i}`, name: `name ${i}`, sizes: [8], ...make(i) }));
  }
}

const rowCount = (page) => page.locator('table.runs tbody tr').count();
const names = (page) => page.locator('tbody th > a').allInnerTexts();

test('an address with two states shows both', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  addRuns(server, 3, (i) => ({ state: ['completed', 'failed', 'cancelled'][i] }));
  await open('/?state=failed&state=cancelled');
  await sees(page, 'name 2');
  assert.deepEqual(await names(page), ['name 2', 'name 1']);
  await sees(page, '2 runs');
  const pressed = page.locator('.toggles button[aria-pressed=true]');
  assert.deepEqual(await pressed.allInnerTexts(), ['failed', 'cancelled']);
  await page.getByRole('button', { name: 'failed', exact: true }).click();
  await until(async () => (await rowCount(page)) === 1, 'the cancelled one');
  assert.match(page.url(), /\?state=cancelled$/);
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await sees(page, '3 runs');
});

test('the board of nights has a day for each run with a gate, and leads to what failed', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  addRuns(server, 3, () => ({ name: 'nightly' }));
  ['pass', 'pass', 'fail'].forEach((answer, i) =>
    Object.assign(server.runs.get(`run-${i}`), {
      created: new Date(Date.now() - (2 - i) * 24 * 3600 * 1000).toISOString(),
      extra: { verdicts: [{ kind: 'gate', answer, sentence: `${answer}: ${i}`, nodes: [] }] },
    }),
  );
  await open('/');
  const nights = page.getByRole('region', { name: 'Nights of the last 14 days' }).locator('tbody a.pill');
  await nights.nth(2).waitFor();
  assert.deepEqual(await nights.allInnerTexts(), ['✓', '✓', '✕']);
  assert.deepEqual(
    (await axe(page)).map(({ id }) => id),
    [],
  );
  await page.goto(`${server.url}/?state=completed`);
  await sees(page, '3 runs');
  assert.equal(await nights.count(), 0);
  await page.goBack();
  await nights.last().click();
  await page.waitForURL(/\/runs\/run-2$/);
});

test('runs are found by what their verdicts answer', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  addRuns(server, 3, (i) => ({ name: `name ${i}` }));
  server.runs.get('run-1').extra = {
    verdicts: [{ kind: 'culprit', answer: 'slow_node', sentence: 'node-1 is slow', nodes: ['node-1'] }],
  };
  await open('/');
  await sees(page, 'name 2');
  const choice = page.getByLabel('Filter by verdict');
  await choice.selectOption('slow_node');
  await until(async () => String(await names(page)) === 'name 1', 'the one with a slow node');
  assert.match(page.url(), /\?verdict=slow_node$/);
  await choice.selectOption('fail');
  await sees(page, 'No runs match the filters.');
  await page.reload();
  assert.equal(await choice.inputValue(), 'fail');
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await sees(page, '3 runs');
  assert.equal(await choice.inputValue(), '');
});

test('headings sort, and days and labels filter', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  addRuns(server, 3, (i) => ({ sizes: [[65536], [8], [1024]][i], labels: { nr: String(i) } }));
  await open('/');
  await sees(page, 'name 2');
  await page.getByRole('button', { name: 'Result' }).click();
  await until(async () => (await names(page))[0] === 'name 0', 'the greatest first');
  assert.deepEqual(await names(page), ['name 0', 'name 2', 'name 1']);
  assert.match(page.url(), /\?sort=figure$/);
  await sees(page, '3 runs with a headline figure');
  await page.getByRole('button', { name: 'Result' }).click();
  await until(async () => (await names(page))[0] === 'name 1', 'the least first');
  const heading = page.getByRole('columnheader', { name: 'Result' });
  assert.equal(await heading.getAttribute('aria-sort'), 'ascending');
  await page.getByRole('link', { name: 'nr=2' }).click();
  await until(async () => (await rowCount(page)) === 1, 'the one with the label');
  const label = page.getByLabel('Filter by label');
  assert.equal(await label.inputValue(), 'nr=2');
  await label.focus();
  await page.goBack();
  await until(async () => (await rowCount(page)) === 3, 'all of them again');
  assert.equal(await label.inputValue(), '');
  await page.getByLabel('Created until').fill('2025-12-31');
  await until(async () => (await rowCount(page)) === 0, 'none of them');
  assert.match(page.url(), /until=2025-12-31/);
});

test('who comes back finds the place, and what was selected', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  addRuns(server, 50);
  await open('/');
  await page.getByRole('checkbox', { name: 'Select name 40' }).check();
  await page.getByRole('checkbox', { name: 'Select name 12' }).check();
  const compare = page.getByRole('link', { name: 'Compare', exact: true }).last();
  await compare.waitFor();
  const box = await compare.boundingBox();
  assert.ok(box.y > 0 && box.y < 900, `the tray is at ${box.y}`);
  const link = page.getByRole('link', { name: 'name 5', exact: true });
  await link.evaluate((element) => element.scrollIntoView({ block: 'center' }));
  const place = await page.evaluate(() => scrollY);
  assert.ok(place > 500);
  await link.click();
  await page.getByRole('region', { name: 'Results' }).waitFor();
  await page.goBack();
  await link.waitFor();
  await until(
    async () => Math.abs((await page.evaluate(() => scrollY)) - place) < 200,
    'the place in the list',
  );
  assert.equal(await page.getByRole('checkbox', { name: 'Select name 40' }).isChecked(), true);
  assert.match(await compare.getAttribute('href'), /\/compare\?base=run-40&head=run-12$/);
  await page.getByRole('button', { name: 'Swap' }).click();
  assert.match(await compare.getAttribute('href'), /\/compare\?base=run-12&head=run-40$/);
  await overlayLink(page).click();
  await sees(page, 'Overlaid runs');
});

test('what needs attention stands above the list: failed gates, suspects, lost nodes', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.nodes = [sampleNode('gpu-1', 'lost'), sampleNode('gpu-2'), sampleNode('gpu-3')];
  addRuns(server, 2);
  const verdicts = {
    'run-0': [{ kind: 'gate', answer: 'fail', sentence: '1 of 1 checks failed', nodes: [] }],
    'run-1': [{ kind: 'culprit', answer: 'slow_node', sentence: 'gpu-2 is slow', nodes: ['gpu-2'] }],
  };
  for (const [id, list] of Object.entries(verdicts)) {
    Object.assign(server.runs.get(id), { created: new Date().toISOString(), extra: { verdicts: list } });
  }
  await open('/');
  const attention = page.getByRole('region', { name: 'Needs attention' });
  await attention.getByRole('link', { name: 'fail name 0' }).waitFor();
  await attention.getByRole('link', { name: 'slow node gpu-2' }).waitFor();
  await attention.getByRole('link', { name: 'lost gpu-1' }).waitFor();
  assert.equal(await attention.getByRole('listitem').count(), 3);
  await page.getByRole('button', { name: 'last 24 h' }).click();
  await page.waitForURL('**/?since=24h');
});

test(
  'a night that failed without a gate needs attention, and a run that hangs is in sight',
  LIMIT,
  async (t) => {
    const { server, page, open } = await setUp(t);
    addRuns(server, 5, (i) => ({
      name: i > 2 ? `other ${i}` : 'nightly',
      state: i === 2 ? 'failed' : 'completed',
    }));
    [2, 1, 0, 0, 0].forEach((days, i) => {
      server.runs.get(`run-${i}`).created = new Date(
        Date.now() - days * 24 * 3600 * 1000 - 1000,
      ).toISOString();
    });
    server.runs.get('run-0').extra = { verdicts: [{ kind: 'gate', answer: 'pass', sentence: 'well' }] };
    for (const id of ['run-3', 'run-4']) {
      server.runs.get(id).extra = { state: 'running', ended: null };
    }
    await open('/');
    const attention = page.getByRole('region', { name: 'Needs attention' });
    await attention.getByRole('link', { name: 'failed nightly' }).waitFor();
    await attention.getByRole('link', { name: '2 current runs' }).waitFor();
    await attention.getByRole('link', { name: 'other 3' }).waitFor();
    const nights = page.getByRole('region', { name: 'Nights of the last 14 days' }).locator('tbody a.pill');
    assert.deepEqual(await nights.allInnerTexts(), ['✓', '✕']);
    assert.deepEqual(
      (await axe(page)).map(({ id }) => id),
      [],
    );
    await attention.getByRole('link', { name: '2 current runs' }).click();
    await until(async () => (await rowCount(page)) === 2, 'the current runs');
  },
);

test('verdicts stay, and say how old they are, while requests for them fail', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t, { expected: /Failed to load|net::ERR/ });
  server.nodes = [sampleNode('gpu-70')];
  addSearches(server);
  await page.clock.install();
  for (const [path, suspect] of [
    ['/', page.getByRole('region', { name: 'Needs attention' }).getByRole('link', { name: 'gpu-70' })],
    ['/nodes', page.locator('a.suspect')],
  ]) {
    await open(path);
    await suspect.waitFor();
    await page.route('**/api/v1/runs?*judged=1*', (route) => route.abort());
    const failed = page.waitForEvent('requestfailed');
    await page.clock.runFor(31000);
    await failed;
    await sees(page, /^Verdicts as of .*Waiting for the server/);
    assert.equal(await suspect.count(), 1, path);
    await sees(page, /1 suspect/);
    await page.reload();
    await sees(page, 'Verdicts are missing: Waiting for the server.');
    await page.unroute('**/api/v1/runs?*judged=1*');
  }
});

test('lists use the width, nothing is clipped, and nothing jumps while a page loads', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  fleet(server, 64);
  addSearches(server);
  addRuns(server, 30, (i) => ({ name: `nightly all_reduce rack ${i}`, labels: { rack: '3' } }));
  const nodes = server.nodes.map(({ name }, i) => sampleLevel(name, i === 3 ? 38.1 : 45, i));
  server.watches = [sampleWatch([{ answer: 'pass' }], { nodes })];
  await page.addInitScript(() => {
    Object.assign(window, { shifted: 0 });
    new PerformanceObserver((list) => {
      for (const entry of /** @type {any[]} */ (list.getEntries())) {
        /** @type {any} */ (window).shifted += entry.hadRecentInput ? 0 : entry.value;
      }
    }).observe({ type: 'layout-shift', buffered: true });
  });
  for (const width of [400, 1440, 2560]) {
    await page.setViewportSize({ width, height: 900 });
    for (const [path, ready] of [
      ['/', 'table.runs tbody tr'],
      ['/nodes', 'table.nodes tbody tr'],
      ['/watches', '.night-strip'],
      ['/runs/run-3', '.plot-area'],
      ['/nodes/gpu-3', 'dl'],
      ['/new', 'form'],
    ]) {
      await open(path);
      await page.locator(ready).first().waitFor();
      await page.waitForLoadState('networkidle');
      const found = await page.evaluate(() => ({
        shifted: /** @type {any} */ (window).shifted,
        clipped: [...document.querySelectorAll('.scroll:has(.runs, .nodes)')].some(
          (box) => box.scrollWidth > box.clientWidth + 1,
        ),
      }));
      /* Web Vitals call less than 0.1 good. */
      assert.ok(found.shifted <= 0.05, `${path} at ${width}: ${found.shifted}`);
      assert.ok(width === 400 || !found.clipped, `${path} is clipped at ${width}`);
    }
  }
});

test('a selection by key keeps the focus, also while a row changes', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  addRuns(server, 3);
  await open('/');
  await sees(page, 'name 2');
  const focused = () => page.evaluate(() => document.activeElement.textContent);
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  assert.equal(await focused(), 'name 1');
  await page.keyboard.press('x');
  assert.equal(await page.getByRole('checkbox', { name: 'Select name 1' }).isChecked(), true);
  assert.equal(await focused(), 'name 1');
  server.runs.get('run-1').labels = { new: 'label' };
  await sees(page, 'new=label');
  assert.equal(await focused(), 'name 1');
  await page.keyboard.press('j');
  assert.equal(await focused(), 'name 0');
});

test('the figure is in sight where the window is not wide', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t, { width: 1280 });
  addRuns(server, 1, () => ({ name: 'n'.repeat(200), labels: { key: 'x'.repeat(150) } }));
  await open('/');
  const { x, width } = await page.locator('table.runs td', { hasText: 'GB/s at' }).boundingBox();
  assert.ok(x + width < 800, `it ends at ${x + width}`);
});

test('a row has two lines, whatever the names; the rest is in what the pointer shows', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t, { width: 1600 });
  const labels = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`key-${i}`, 'x'.repeat(150)]));
  addRuns(server, 1, () => ({ name: 'n'.repeat(200), labels, state: 'failed', reason: 'why '.repeat(100) }));
  await open('/');
  const row = page.locator('table.runs tbody tr');
  await row.waitFor();
  assert.ok((await row.boundingBox()).height < 75);
  assert.equal(await row.locator('th a').first().getAttribute('title'), 'n'.repeat(200));
  assert.match(await row.locator('th .second').getAttribute('title'), /^(why ){100}[\s\S]*key-29=x{150}$/);
});

test('names cannot turn the text beside them round', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  addRuns(server, 1, () => ({ name: 'a\u202eb', labels: { k: '\u2067v' } }));
  await open('/');
  await sees(page, 'a\\u202eb');
  await sees(page, 'k=\\u2067v');
});

function fleet(server, count) {
  server.nodes = Array.from({ length: count }, (_, i) =>
    sampleNode(`gpu-${i}`, i === 321 ? 'lost' : 'idle', {
      labels: { rack: String(Math.floor(i / 16)) },
      versions: { ringbench: '0.1.0', nccl: i === 77 ? '2.26.2' : '2.27.3', cuda_driver: '13.0' },
    }),
  );
}

/* The last search that looked at it names gpu-70; an earlier one did gpu-5. */
function addSearches(server) {
  const search = (id, looked, named) => {
    const run = sampleRun({ id, sizes: [8] });
    run.events.find(({ type }) => type === 'placed').nodes = looked.map((name) => ({ name, ranks: 2 }));
    const verdicts = [{ kind: 'culprit', answer: 'slow_node', sentence: `${named} is slow`, nodes: named }];
    server.add({ ...run, extra: { verdicts } });
  };
  search('search-1', ['gpu-5', 'gpu-6'], ['gpu-5']);
  search('search-2', ['gpu-5', 'gpu-70'], ['gpu-70']);
}

const rows = (page) => page.locator('tbody tr:not(.group)');
const groups = (page) => page.locator('tr.group button');

test('500 nodes: racks with what needs somebody are open and first', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  fleet(server, 500);
  addSearches(server);
  await open('/nodes');
  await sees(page, '500 nodes: 499 idle, 1 lost, 1 suspect');
  await until(async () => (await names(page))[0] === 'gpu-70', 'the suspect of the first rack');
  assert.deepEqual((await groups(page).allInnerTexts()).slice(0, 4), [
    'rack 4',
    'rack 20',
    'rack 0',
    'rack 1',
  ]);
  assert.equal(await rows(page).count(), 32);
  assert.equal((await names(page))[16], 'gpu-321');
  await sees(page, '16 nodes: 15 idle, 1 lost');
  const suspect = page.getByRole('link', { name: 'slow node' });
  assert.equal(await suspect.getAttribute('href'), '/runs/search-2');
  assert.equal(await suspect.getAttribute('title'), 'gpu-70 is slow');
  assert.ok((await page.evaluate(() => document.documentElement.scrollHeight)) < 5000);
  await page.getByRole('button', { name: 'rack 20' }).click();
  await page.getByRole('button', { name: 'rack 1', exact: true }).click();
  await until(async () => (await rows(page).count()) === 32, 'another rack');
  assert.match(page.url(), /\?turned=20&turned=1$/);
  await page.reload();
  await until(async () => (await names(page))[16] === 'gpu-16', 'the rack that was opened');
  await page.getByLabel('Group by').selectOption('nccl');
  await until(async () => (await groups(page).count()) === 2, 'a group for each version');
  await page.getByRole('button', { name: 'suspect' }).click();
  await until(async () => (await rows(page).count()) === 1, 'the suspect alone');
});

test(
  'what differs: columns of which all have the same are one line, the odd ones are marked',
  LIMIT,
  async (t) => {
    const { server, page, open } = await setUp(t);
    fleet(server, 500);
    await open('/nodes');
    await page.getByRole('button', { name: 'Show differences' }).click();
    await sees(
      page,
      /^Equal on all 500: Group slurm-8123; Ranks 2; GPUs 8 x NVIDIA H100 .*; Agent 0.1.0; CPU AMD/,
    );
    assert.match(page.url(), /\?differ=1$/);
    assert.deepEqual(
      (await page.getByRole('columnheader').allInnerTexts()).map((text) => text.trim()),
      ['Node', 'State', 'Current run', 'NCCL'],
    );
    const odd = page.locator('td.odd');
    assert.deepEqual(await odd.allInnerTexts(), ['≠ 2.26.2']);
    assert.equal(await odd.locator('div').getAttribute('title'), '2.26.2; most have 2.27.3');
    assert.equal((await names(page))[0], 'gpu-77');
  },
);

test('500 nodes without groups: sorted, filtered, some rows at a time', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  fleet(server, 500);
  await open('/nodes?by=none');
  await sees(page, '500 nodes: 499 idle, 1 lost');
  assert.deepEqual((await names(page)).slice(0, 3), ['gpu-321', 'gpu-0', 'gpu-1']);
  assert.ok((await page.evaluate(() => document.documentElement.scrollHeight)) < 6000);
  await page.getByRole('button', { name: 'NCCL' }).click();
  await until(async () => (await names(page))[0] === 'gpu-77', 'the odd version');
  await sees(page, '2.26.2');
  await sees(page, '8 x NVIDIA H100 80GB HBM3');
  await page.getByLabel('Filter nodes').fill('rack=4');
  await sees(page, '16 match the filter, of 500 nodes: 499 idle, 1 lost');
  await until(async () => (await rows(page).count()) === 16, 'the rack');
  assert.match(page.url(), /\?q=rack%3D4&by=none&sort=nccl$/);
  await page.goto(`${server.url}/nodes?label=rack%3D4`);
  await until(async () => (await rows(page).count()) === 16, 'the rack by its label');
  await open('/nodes?by=none');
  await page.getByRole('button', { name: 'Show all 500' }).click();
  await until(async () => (await rows(page).count()) === 500, 'all of them');
  await open('/');
  await page.getByRole('link', { name: 'gpu-321', exact: false }).waitFor();
  assert.deepEqual(await page.locator('.node-chip').allInnerTexts(), ['✕\nlost\ngpu-321']);
});

test('a node says which versions it has', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  fleet(server, 78);
  await open('/nodes/gpu-77');
  for (const [name, version] of [
    ['NCCL', '2.26.2'],
    ['CUDA driver', '13.0'],
    ['Agent', '0.1.0'],
  ]) {
    await page.locator('dt', { hasText: name }).locator('+ dd', { hasText: version }).waitFor();
  }
  const label = page.locator('dd').getByRole('link', { name: 'rack=4' });
  assert.equal(await label.getAttribute('href'), '/nodes?label=rack%3D4');
});

test('a node says which runs name it, and why', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  fleet(server, 78);
  addSearches(server);
  await open('/nodes/gpu-70');
  const link = page
    .locator('section', { hasText: 'Flagged in' })
    .getByRole('link', { name: 'gpu-70 is slow' });
  assert.equal(await link.getAttribute('href'), '/runs/search-2');
  assert.equal(
    await page.getByRole('link', { name: /^Trends of/ }).getAttribute('href'),
    '/trends?nodes=gpu-70',
  );
  const suspicion = page.locator('.title').getByRole('link', { name: 'slow node' });
  assert.equal(await suspicion.getAttribute('href'), '/runs/search-2');
  await open('/nodes/gpu-6');
  await sees(page, 'search-1');
  assert.equal(await suspicion.count(), 0);
  assert.equal(await page.getByText('Flagged in').isVisible(), false);
});

test("a node's last result stands beside those of the runs like it before", LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.nodes = [sampleNode('node-1')];
  const ran = (id, busbw_gbs, size = 1 << 30) => {
    const headline = { collective: 'all_reduce', size, busbw_gbs };
    server.add({ ...sampleRun({ id, sizes: [8] }), extra: { summary: { headline } } });
  };
  ran('other-size', 99, 8);
  ran('first', 46.1);
  ran('second', 47);
  ran('last', 24);
  await open('/nodes/node-1');
  const last = page.locator('dt', { hasText: 'Last result' }).locator('+ dd');
  assert.match(await last.innerText(), /^24\.0 GB\/s at 1G\s+earlier: 46\.1 to 47\.0 in 2 comparable runs$/);
  assert.equal(await last.getByRole('link').getAttribute('href'), '/runs/last');
});

test('nodes are shown while the verdicts are not known', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.nodes = [sampleNode('node-1')];
  await page.route('**/api/v1/runs?*judged=1*', () => {});
  await open('/nodes');
  await page.getByRole('link', { name: 'node-1' }).waitFor();
});

test('nodes of a run are chosen by a filter, or pasted', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  fleet(server, 500);
  await open('/new');
  await page.getByLabel('Nodes', { exact: true }).selectOption('names');
  await sees(page, '0 selected');
  assert.equal(await page.getByRole('checkbox', { name: /^gpu-/ }).count(), 0);
  const request = async () => JSON.parse(await requestJson(page).inputValue()).nodes.names;
  await page.getByLabel('Filter the nodes').fill('rack=4');
  await page.getByRole('button', { name: 'Select all' }).click();
  assert.deepEqual(
    await request(),
    Array.from({ length: 16 }, (_, i) => `gpu-${64 + i}`),
  );
  await page.getByLabel('Names of nodes').fill('gpu-3, gpu-4\ngpu-65');
  assert.deepEqual(await request(), ['gpu-3', 'gpu-4', 'gpu-65']);
  await sees(page, '3 selected');
  await page.getByRole('checkbox', { name: 'gpu-65' }).uncheck();
  assert.deepEqual(await request(), ['gpu-3', 'gpu-4']);
  const rack = page.getByRole('checkbox', { name: 'rack 0 (16)' });
  assert.equal(await rack.evaluate((box) => box.indeterminate), true);
  await rack.check();
  assert.equal((await request()).length, 16);
  await page.getByRole('checkbox', { name: 'rack 31 (4)' }).check();
  assert.deepEqual((await request()).slice(-4), ['gpu-496', 'gpu-497', 'gpu-498', 'gpu-499']);
  await rack.uncheck();
  await sees(page, '4 selected');
});

test('who may not start runs reads why, and can have a request checked', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.access = { operator: false, reason: 'no operator' };
  await open('/new');
  await sees(page, 'no operator');
  await sees(page, '1 case.');
  assert.equal(await startButton(page).isDisabled(), true);
  const link = page.getByRole('link', { name: 'Check a request' });
  assert.equal(await link.getAttribute('title'), 'no operator');
  assert.equal(await page.getByRole('link', { name: 'New run' }).count(), 0);
  addRuns(server, 1, () => ({ labels: { ticket: 'NET-12' } }));
  await open('/runs/run-0');
  const remove = page.getByRole('button', { name: 'Delete' });
  await until(() => remove.isDisabled(), 'a button that refuses');
  assert.equal(await remove.getAttribute('title'), 'no operator');
  assert.equal(
    await page.getByRole('link', { name: 'ticket=NET-12' }).getAttribute('href'),
    '/?label=ticket%3DNET-12',
  );
});

test('fields say what they take, and what a blank means', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  fleet(server, 1);
  await open('/new');
  await sees(page, 'If none is selected: all_reduce.');
  await page.getByLabel('GPUs').fill('{"gpu-0": [0, 1]}');
  await page.getByLabel('NCCL library').fill('/opt/libnccl.so');
  await page.getByLabel('Bind ranks to').selectOption('numa');
  await measuring(page).click();
  assert.deepEqual(JSON.parse(await requestJson(page).inputValue()), {
    devices: { 'gpu-0': [0, 1] },
    nccl_lib: '/opt/libnccl.so',
    bind: 'numa',
  });
  assert.equal(await page.getByText('None selected').count(), 0);
});

test('a run whose gate failed is red in the lists', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.nodes = [sampleNode('node-1')];
  addRuns(server, 3);
  const said = (answer) => ({
    verdicts: [{ kind: 'gate', answer, sentence: `the gate says ${answer}`, nodes: [] }],
  });
  server.runs.get('run-0').extra = said('pass');
  server.runs.get('run-1').extra = said('fail');
  server.runs.get('run-2').extra = {
    verdicts: [{ kind: 'lateness', answer: 'late_rank', sentence: 'rank 1 is late', nodes: ['node-1'] }],
  };
  for (const path of ['/', '/nodes/node-1']) {
    await open(path);
    await sees(page, 'name 2');
    const rows = page.locator('tr', { has: page.getByRole('link', { name: /^name / }) });
    const pills = (tone) => rows.locator(`.pill.${tone}`).allInnerTexts();
    assert.deepEqual(
      (await pills('bad')).map((text) => text.replace(/\W+/, '')),
      ['late rank', 'fail'],
      path,
    );
    assert.deepEqual(
      (await pills('good')).map((text) => text.replace(/\W+/, '')),
      ['completed'],
      path,
    );
    await sees(page, 'the gate says fail');
  }
});

test('the focus stays on a run while its row changes', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  addRuns(server, 3);
  await open('/');
  await sees(page, 'name 2');
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  const focused = () => page.evaluate(() => document.activeElement.textContent);
  assert.equal(await focused(), 'name 1');
  server.runs.get('run-1').labels = { rack: 'r1' };
  addRuns(server, 1, () => ({ id: 'run-3', name: 'name 3' }));
  await sees(page, 'name 3');
  await sees(page, 'rack=r1');
  assert.equal(await focused(), 'name 1');
  await page.keyboard.press('j');
  assert.equal(await focused(), 'name 0');
});

test('nothing is said of nodes before the server answered', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t, { expected: /Failed to load|net::ERR/ });
  server.nodes = [sampleNode('node-1')];
  /* The first request fails, the next ones get no answer. */
  let asked = 0;
  await page.route('**/api/v1/nodes?*', (route) => {
    asked += 1;
    return asked === 1 ? route.abort() : undefined;
  });
  const verdicts = page.waitForResponse(/judged=1/);
  await open('/nodes');
  await (await verdicts).finished();
  await until(() => asked > 1, 'the next request');
  assert.equal(await page.locator('.title [role=status]').innerText(), 'Waiting for the server.');
  await page.unroute('**/api/v1/nodes?*');
  await sees(page, 'node-1');
});
