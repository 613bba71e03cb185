/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.test.mjs - a run of pairs of nodes is a map that shows who is slow */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { closeBrowser, LIMIT, pageTest as test, sees, setUp, taken, until } from '../lib/page.mjs';
import { sampleRun } from '../lib/sample.mjs';

after(closeBrowser);

const found = 'node-3, with 5 of 5';
const path = '/runs/06cw1x2k3m4n';

/* All pairs of so many nodes, one size; those with node-3 take twice as long. */
function pairsRun(count) {
  const groups = [];
  for (let i = 1; i <= count; i += 1) {
    for (let j = i + 1; j <= count; j += 1) {
      groups.push([`node-${i}`, `node-${j}`]);
    }
  }
  const run = sampleRun({ sizes: [1 << 20], repeats: groups.length });
  run.spec = { ...run.spec, pattern: 'pairs', repeats: 1 };
  for (const event of run.events) {
    if (event.type === 'case') {
      Object.assign(event, { nodes: groups[event.case], repeat: 0 });
    } else if (event.type === 'result') {
      event.busbw_gbs = groups[event.case].includes('node-3') ? 5 : 10 + event.case / 1000;
    }
  }
  const culprit = {
    kind: 'culprit',
    answer: 'slow_node',
    sentence: found,
    nodes: ['node-3'],
    evidence: {
      suspects: [
        {
          kind: 'node',
          state: 'guilty',
          name: 'node-3',
          measured: 7,
          slow: 7,
          confirming: 2,
          confirmed: 2,
        },
      ].map((suspect) => ({ ...suspect, figure: 5, reference: 10 })),
    },
  };
  return { ...run, extra: { verdicts: [culprit] } };
}

const pairMap = (page) => page.getByRole('group', { name: /^Map of pairs of nodes/ });

test('pairs are a map with the slowest node first, each to be read out and opened', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.add(pairsRun(6));
  await open(path);
  const map = pairMap(page);
  await sees(page, /^Slowest: node-\d, node-\d: .* below the median$/);
  assert.ok(!(await page.locator('.chart-card').first().isVisible()));
  await map.focus();
  await sees(page, /^node-(1, node-3|2, node-3|3, node-\d): .* GB\/s, [45]\d(\.\d)? % below the median$/);
  for (let i = 0; i < 6; i += 1) {
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowLeft');
  }
  await sees(page, 'node-3');
  await page.keyboard.press('ArrowRight');
  await sees(page, /^node-(\d, node-3|3, node-\d): /);
  await page.keyboard.press('Enter');
  await sees(page, /^Only node-(\d, node-3|3, node-\d), repeat 1/);
  await page.locator('.plot-area').first().waitFor();
  assert.ok(!(await map.isVisible()));
});

test(
  'the named node is outlined, slow pairs are coloured, and what was not measured is hollow',
  LIMIT,
  async (t) => {
    const { server, page, open } = await setUp(t);
    server.add(pairsRun(6));
    await open(path);
    await sees(page, found);
    const cell = (row, column) =>
      page
        .locator('canvas')
        .first()
        .evaluate(
          (canvas, [y, x]) => {
            const ratio = window.devicePixelRatio;
            const { data } = canvas
              .getContext('2d')
              .getImageData((110 + x * 22 + 11) * ratio, (y * 22 + 11) * ratio, 1, 1);
            return [...data];
          },
          [row, column],
        );
    const redness = async (row, column) => {
      const [red, , blue, alpha] = await cell(row, column);
      return alpha === 0 ? null : red - blue;
    };
    await until(async () => (await redness(0, 2)) > 60, 'a slow pair to be red');
    await until(async () => {
      const plain = await redness(2, 4);
      return plain !== null && Math.abs(plain) < 60;
    }, 'a pair like the others to be plain');
    const colour = (name) =>
      page.evaluate(
        (one) => getComputedStyle(document.documentElement).getPropertyValue(`--${one}`).trim(),
        name,
      );
    const inHex = ([red, green, blue]) =>
      `#${[red, green, blue].map((value) => value.toString(16).padStart(2, '0')).join('')}`;
    assert.equal(inHex(await cell(3, 3)), await colour('surface'));
    assert.equal(inHex(await cell(2, 4)), await colour('border'));
  },
);

test('on a phone the slow node is a line of a list, in place of the map', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t, { width: 400 });
  server.add(pairsRun(6));
  await open(path);
  const slow = page.locator('.slow-nodes li');
  await slow.first().waitFor();
  assert.match(await slow.allInnerTexts().then(String), /^node-3: 5 of 5 slow, 5\.00 of 10\.0 GB/);
  assert.ok(!(await pairMap(page).isVisible()));
  await page.setViewportSize({ width: 1280, height: 900 });
  await pairMap(page).waitFor();
});

test('the ranks are those of the pair that is shown, and many rows keep their place', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  const run = pairsRun(15);
  run.events.find((event) => event.type === 'placed').world_size = 512;
  server.add(run);
  await open(`${path}?case=3`);
  await page.getByRole('tab', { name: /^Ranks\s*all 4 done$/ }).waitFor();
  await open(path);
  const rows = page.getByRole('region', { name: 'Results' });
  await rows.waitFor();
  assert.ok((await rows.boundingBox()).height <= 0.8 * 900);
  assert.equal(await rows.locator('tbody tr').count(), 105);
});

test('no column of a long table is squeezed, whichever are there', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.add(pairsRun(33));
  await open(path);
  const table = page.locator('table.figures.many');
  await table.waitFor();
  for (const column of await table.locator('thead tr:last-child th:visible').all()) {
    assert.ok(
      await column.evaluate((cell) => cell.scrollWidth <= cell.clientWidth),
      await column.innerText(),
    );
  }
});

test('the map is whole where there are too many ranks to read all their events', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  const run = pairsRun(6);
  Object.assign(
    run.events.find(({ type }) => type === 'placed'),
    { nodes: Array.from({ length: 6 }, (_, i) => ({ name: `node-${i + 1}`, ranks: 5000 })) },
  );
  server.add(run);
  await open(path);
  await sees(page, /^Slowest: node-\d, node-\d: .* below the median$/);
  assert.ok(server.requests.some(({ path: asked }) => asked === `/api/v1${path}/summary`));
  assert.equal(await page.getByText('rows measured').filter({ visible: true }).count(), 0);
});

test('lists say whom a run names in the place of a figure', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.add(pairsRun(6));
  await open('/');
  const row = page.locator('tbody tr').first();
  await row.locator('.pill', { hasText: 'slow node node-3' }).waitFor();
  await sees(row, found);
});

test('more lines than can be told apart are no chart', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  const run = pairsRun(16);
  run.spec.pattern = 'all';
  server.add(run);
  await open(path);
  await sees(page, /^240 lines are too many for a chart/);
  assert.equal(await page.locator('.legend-item:visible').count(), 0);
});

test('above 64 nodes racks come first, and open', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  const run = pairsRun(66);
  const nodes = Array.from({ length: 66 }, (_, i) => ({
    name: `node-${i + 1}`,
    ranks: 2,
    labels: { rack: `rack-${Math.floor(i / 11)}` },
  }));
  server.add({ ...run, extra: { ...run.extra, nodes } });
  await open(path);
  const map = pairMap(page);
  await sees(page, /each cell the slowest of two racks’ pairs/);
  await sees(page, /^Slowest: rack-0: 5\S* GB\/s, the slowest of 55 pairs, 5\d(\.\d)? % below/);
  await map.focus();
  await page.keyboard.press('ArrowRight');
  await sees(page, /^rack-0, rack-\d: .* GB\/s, .*\b121 pairs, /);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\?racks=rack-0&racks=rack-\d$/);
  await sees(page, /^node-(\d+, node-3|3, node-\d+): .* below the median$/);
  await page.reload();
  await page.getByRole('button', { name: 'All racks' }).click();
  await sees(page, /^rack-0, rack-\d|^Slowest: rack-0/);
  const { text } = await taken(page, 'CSV');
  assert.match(text, /^a,b,busbw_gbs,off_median,pairs\r\nrack-0,rack-0,5,/);
  assert.equal(text.trim().split('\r\n').length, 1 + 21);
});
