/* SPDX-License-Identifier: Apache-2.0 */
/* chart.test.mjs - charts: both figures at once, the cursor, a range, what is shared of them */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { closeBrowser, LIMIT, pageTest as test, sees, setUp, taken, until } from '../lib/page.mjs';
import { sampleRun } from '../lib/sample.mjs';

after(closeBrowser);

const RUN = '06cw1x2k3m4n';
const path = `/runs/${RUN}`;
const SIZES = [8, 1024, 65536, 1 << 20, 16 << 20];
const charts = (page) => page.locator('.chart-box');
const search = (page) => page.evaluate(() => decodeURIComponent(location.search));

/* Where a chart is, with its points' places in the window, as the page draws them. */
const boxOf = (locator) => locator.boundingBox();
const drawn = (page) => until(async () => (await page.locator('.plot-area').count()) > 0, 'a chart');

async function openRun(t, options = {}, query = '') {
  const made = await setUp(t, options);
  made.server.add(sampleRun({ sizes: SIZES, name: 'nightly', ...options.run }));
  await made.open(path + query);
  await drawn(made.page);
  return made;
}

test('bandwidth and time stand beside one another, or stacked where it is narrow', LIMIT, async (t) => {
  const { page } = await openRun(t);
  const both = () => Promise.all([0, 1].map((i) => boxOf(charts(page).nth(i))));
  let [left, right] = await both();
  assert.ok(right.x >= left.x + left.width && Math.abs(left.y - right.y) < 2);
  await sees(page, 'busbw, GB/s');
  await sees(page, 'time per call, µs');
  for (const width of [400, 640]) {
    await page.setViewportSize({ width, height: 900 });
    await until(async () => {
      [left, right] = await both();
      return right.y >= left.y + left.height;
    }, 'the charts to be stacked');
    assert.ok(left.x + left.width <= width);
  }
});

test('what is drawn says what it is good for, and leads to more', LIMIT, async (t) => {
  const { page } = await openRun(t);
  await sees(page, /compare it with your link speed/);
  await sees(page, /limited by bandwidth/);
  await page.getByRole('button', { name: 'algbw', exact: true }).click();
  await sees(page, /size divided by time/);
  await page.getByRole('tab', { name: 'Spec' }).click();
  await page.getByRole('button', { name: 'About these numbers' }).click();
  await sees(page, /as nccl-tests defines it/);
});

test('the chart is read out by keyboard, in both charts and the legend', LIMIT, async (t) => {
  const { page } = await openRun(t, {}, '?place=both');
  const legend = page.locator('.legend').first();
  assert.match(await legend.innerText(), /at 16M bytes/);
  await charts(page).first().focus();
  await page.keyboard.press('ArrowRight');
  await sees(page, '8 B');
  await page.keyboard.press('ArrowRight');
  await sees(page, '1K bytes');
  assert.match(await page.locator('.readout').first().innerText(), /in place[\s\S]*GB\/s[\s\S]*±/);
  assert.match(await legend.innerText(), /at 1K bytes/);
  assert.match(await legend.locator('tbody tr').first().innerText(), /µs/);
  /* The other chart shows the same place, and no second tooltip. */
  const across = () =>
    page
      .locator('.cross')
      .evaluateAll((lines) =>
        lines.map((line) =>
          Math.round(line.getBoundingClientRect().x - line.closest('.chart-box').getBoundingClientRect().x),
        ),
      );
  const [left, right] = await across();
  assert.ok(left > 20 && Math.abs(left - right) <= 2, `${left}, ${right}`);
  assert.equal(await page.locator('.readout').filter({ visible: true }).count(), 1);
  await page.keyboard.press('Escape');
  await page.locator('.readout').first().waitFor({ state: 'hidden' });
  assert.match(await legend.innerText(), /at 16M bytes/);
});

test('a tooltip never covers its points', LIMIT, async (t) => {
  const { server, page } = await openRun(t, { run: { name: 'a name that is rather long' } });
  server.add(sampleRun({ sizes: SIZES, id: 'r2', name: 'another name of some length' }));
  for (const [width, query, lines] of /** @type {any[][]} */ ([
    [1280, '?place=both', 2],
    [400, '?place=both', 2],
    [400, '?with=r2&place=both', 4],
    [1600, '?with=r2&place=both', 4],
  ])) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(server.url + path + query);
    await until(async () => (await page.locator('.legend-item').count()) === lines, 'lines');
    for (const chart of await charts(page).all()) {
      if (!(await chart.isVisible())) {
        continue;
      }
      await chart.scrollIntoViewIfNeeded();
      const over = await boxOf(chart.locator('.plot-area'));
      for (let part = 0.01; part < 1; part += 0.14) {
        await page.mouse.move(over.x + over.width * part, over.y + over.height / 2);
        const tip = chart.locator('.readout');
        await tip.waitFor();
        const at = (await boxOf(chart.locator('.cross'))).x;
        const { x, width: wide } = await boxOf(tip);
        assert.ok(x > at + 5 || x + wide < at - 5, JSON.stringify({ width, query, part, at, x, wide }));
        assert.ok(x >= -1 && x + wide <= width + 1, JSON.stringify({ width, x, wide }));
      }
      await page.mouse.move(1, 1);
    }
  }
});

test('a range is chosen by dragging, both charts follow, and the address keeps it', LIMIT, async (t) => {
  const { page } = await openRun(t);
  const over = await boxOf(charts(page).nth(1).locator('.plot-area'));
  const y = over.y + over.height / 2;
  await page.mouse.move(over.x + over.width * 0.01, y);
  await page.mouse.down();
  await page.mouse.move(over.x + over.width * 0.3, y, { steps: 4 });
  await page.mouse.move(over.x + over.width * 0.62, y, { steps: 4 });
  await page.mouse.up();
  await until(async () => (await search(page)) === '?zoom=8-64K', 'the address to follow');
  await sees(page, '8 to 64K: show all');
  assert.match(await page.locator('.legend').first().innerText(), /at 64K bytes/);
  await page.reload();
  await sees(page, '8 to 64K: show all');
  await drawn(page);
  for (const chart of await charts(page).all()) {
    await chart.focus();
    await page.keyboard.press('ArrowLeft');
    assert.match(await chart.locator('.readout').innerText(), /^64K bytes/);
  }
  await page.getByRole('button', { name: '8 to 64K: show all' }).click();
  await until(async () => (await search(page)) === '', 'the address to be plain');
  assert.match(await page.locator('.legend').first().innerText(), /at 16M bytes/);
});

test('a range is chosen by keyboard, and left again', LIMIT, async (t) => {
  const { page } = await openRun(t);
  await charts(page).first().focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.press('Shift+ArrowRight');
  const select = page.locator('.selected').first();
  assert.ok((await boxOf(select)).width > 50);
  await page.keyboard.press('Enter');
  await until(async () => (await search(page)) === '?zoom=1K-1M', 'the address to follow');
  assert.equal(await select.count(), 0);
  await page.keyboard.press('0');
  await until(async () => (await search(page)) === '', 'the address to be plain');
});

test('lines are hidden from the legend, and the address remembers', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.add(sampleRun({ sizes: [8, 1024] }));
  await open(`${path}?place=both`);
  const item = page.locator('.legend-item').filter({ hasText: 'in place' });
  await item.press('Enter');
  assert.equal(await item.getAttribute('aria-pressed'), 'false');
  assert.match(await page.evaluate(() => location.search), /hide=all_reduce/);
  assert.equal(
    await page.evaluate(() => document.activeElement.textContent),
    'all_reduce · float32 · sum, in place',
  );
});

test('figures at the cursor stay there while a run goes on', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  const run = sampleRun({ sizes: SIZES });
  const rows = run.events.findIndex((event) => event.type === 'result');
  server.add(run, rows + 3);
  await open(path);
  await drawn(page);
  await charts(page).first().focus();
  await page.keyboard.press('ArrowRight');
  await sees(page, '8 B');
  server.emit(RUN, 2);
  await sees(page, '5 of 10 rows measured');
  await sees(page, /at 8 B/);
  assert.equal(await page.locator('.readout').filter({ visible: true }).count(), 1);
});

/* Two runs that are hardly comparable: one is simulated. */
async function openMixed(t) {
  const made = await setUp(t);
  made.server.add(sampleRun({ sizes: SIZES, name: '<b>&' }));
  made.server.add(
    sampleRun({
      id: '06cw2b7q9r1s',
      name: 'model',
      sizes: SIZES,
      mutate: (row) => ({ ...row, simulated: true }),
    }),
  );
  await made.open(`${path}?with=06cw2b7q9r1s&zoom=1K-1M&place=both`);
  await made.page.locator('.legend-item').filter({ hasText: 'model (simulated)' }).first().waitFor();
  return made;
}

test('runs on one chart that are not alike are said to be so', LIMIT, async (t) => {
  const { page } = await openMixed(t);
  await sees(page, 'Not comparable. <b>&: host, 4 ranks; model: simulated, 4 ranks.');
  const across = await page
    .locator('.panels .unreal')
    .evaluateAll((figures) => figures.map((figure) => figure.dataset.unreal));
  assert.deepEqual(across, ['partly simulated', 'partly simulated']);
  assert.match(await page.title(), /^<b>&, model \(simulated\)/);
});

test('what is shown is taken along, of all runs', LIMIT, async (t) => {
  const { page } = await openMixed(t);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.locator('summary', { hasText: 'Share' }).first().click();
  const svg = await taken(page, /^SVG,/);
  assert.match(svg.name, /^ringbench-.*model.*\.svg$/);
  assert.match(svg.text, /^<\?xml[\s\S]*>&#60;b&#62;&#38;, model \(simulated\)<[\s\S]*<\/svg>/);
  assert.match(svg.text, />Not comparable\. [\s\S]*06cw1x2k3m4n · 2026-01-05 10:00 UTC · host/);
  assert.match(svg.text, />partly simulated</);
  const png = await taken(page, /^PNG,/);
  assert.equal(png.content.subarray(1, 4).toString(), 'PNG');
  assert.ok(png.content.length > 10000, `${png.content.length} bytes`);
  const csv = await taken(page, /^CSV,/);
  assert.equal(csv.text.trimEnd().split('\n').length, 1 + 2 * 2 * 3);
  await page.getByRole('button', { name: /^Markdown,/ }).click();
  await sees(page, 'Copied: the visible figures.');
  const markdown = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(markdown, /\*\*partly simulated: not measured\.\*\*[\s\S]*\| 64K \|/);
  await page.getByRole('button', { name: /^Link,/ }).click();
  await sees(page, 'Copied: the address restores this view.');
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), page.url());
});

test('what a run was held against is drawn, and named', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t, { expected: /404/ });
  const held = sampleRun({ sizes: SIZES, id: 'held', name: 'held' });
  held.spec.thresholds = { large: { figure: 'busbw_gbs', min: 40 } };
  held.extra = {
    verdicts: [
      {
        kind: 'gate',
        answer: 'fail',
        sentence: '1 of 2 checks failed',
        evidence: {
          checks: [
            { check: 'large', answer: 'fail', sentence: 'too slow' },
            { check: 'baseline', answer: 'pass', sentence: 'same', against: [RUN] },
          ],
        },
      },
    ],
  };
  server.add(sampleRun({ sizes: SIZES, name: 'accepted' }));
  server.add(held);
  server.add({ ...sampleRun({ sizes: SIZES, id: 'like', name: 'like' }), against: [RUN] });
  await open('/runs/held');
  await sees(page, 'large: at least 40 GB/s (fail)');
  await sees(page, `baseline: accepted, ${RUN}`);
  /* Without a check of its own, by what the server says that it is like. */
  await open('/runs/like');
  await sees(page, `baseline: accepted, ${RUN}`);
  /* What it lacks takes nothing from the page. */
  server.runs.delete(RUN);
  await open('/runs/like');
  await drawn(page);
  assert.equal(await page.locator('.references li').count(), 0);
});

test('charts fit from a phone to a wall, and at twice the size', LIMIT, async (t) => {
  const { server, page } = await openRun(t);
  server.add(sampleRun({ sizes: SIZES, id: 'r2', name: 'a name of some length'.repeat(4) }));
  await page.goto(`${server.url}${path}?with=r2&zoom=1K-16M&place=both`);
  await page.locator('.legend-item').nth(3).waitFor();
  /* A window of 1280 pixels at 200 % is one of 640. */
  for (const width of [400, 640, 1280, 2560]) {
    await page.setViewportSize({ width, height: 900 });
    const over = () =>
      page.evaluate(() =>
        [
          ...document.querySelectorAll(
            '.chart-card .chart-box svg, .chart-card .controls > *, .chart-card .menu, main',
          ),
        ]
          .filter((element) => element.getBoundingClientRect().right > window.innerWidth + 1)
          .map((element) => element.className),
      );
    await until(async () => (await over()).length === 0, `all to fit into ${width} pixels`);
    assert.ok(
      await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth),
      `${width}`,
    );
  }
});

test('charts stay as they are if the browser refuses full screen', LIMIT, async (t) => {
  const { page } = await openRun(t);
  await page.evaluate(() => {
    Element.prototype.requestFullscreen = async () => {
      document.title = 'refused';
      throw new TypeError('Permissions check failed');
    };
  });
  await page.getByRole('button', { name: /^Full screen: .*busbw/ }).click();
  await until(async () => (await page.title()) === 'refused', 'the refusal');
  await page.evaluate(() => new Promise(requestAnimationFrame));
  assert.equal(await page.locator('figure').count(), 2);
});

test('who forces colours sees what is chosen, and charts in those colours', LIMIT, async (t) => {
  const { page } = await openRun(t);
  await page.emulateMedia({ forcedColors: 'active', colorScheme: 'dark' });
  await page.reload();
  await drawn(page);
  /* What the style says in these colours, [chosen, other, axes], and they themselves. */
  const seen = await page.evaluate(() => {
    const probe = document.body.appendChild(document.createElement('i'));
    probe.style.forcedColorAdjust = 'none';
    const inWords = (colour) => {
      probe.style.color = colour;
      return getComputedStyle(probe).color;
    };
    const [chosen, other] = [...document.querySelectorAll('.switcher button')].map(
      (button) => getComputedStyle(button).backgroundColor,
    );
    const axes = getComputedStyle(document.documentElement).getPropertyValue('--muted');
    return {
      is: [chosen, inWords(axes.trim())],
      wanted: ['Highlight', 'CanvasText'].map(inWords),
      isOther: other !== chosen,
    };
  });
  assert.deepEqual(seen.is, seen.wanted);
  assert.ok(seen.isOther);
});
