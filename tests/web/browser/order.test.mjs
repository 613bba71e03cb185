/* SPDX-License-Identifier: Apache-2.0 */
/* order.test.mjs - a run's page is in the same order however many nodes and repeats it
 * has: what it is and says, its chart, and the rest in tabs */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { closeBrowser, LIMIT, pageTest as test, sees, setUp, until } from '../lib/page.mjs';
import { sampleRun } from '../lib/sample.mjs';

after(closeBrowser);

const RUN = '06cw1x2k3m4n';
const path = `/runs/${RUN}`;
const VERDICT = {
  kind: 'gate',
  answer: 'fail',
  sentence: '1 of 3 checks failed: large: busbw is 8.93 GB/s at 1M, at least 40 GB/s required',
  evidence: {
    checks: [
      { check: 'completed', answer: 'pass', sentence: 'the run completed' },
      { check: 'large', answer: 'fail', sentence: 'busbw is 8.93 GB/s at 1M' },
      { check: 'baseline', answer: 'pass', sentence: 'against r0: no difference' },
    ],
  },
};

const topOf = (locator) =>
  locator.evaluate((element) => element.getBoundingClientRect().top + window.scrollY);

test('the chart is near the top with 500 nodes, and with 100 repeats', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  const broad = sampleRun({ id: 'broad', sizes: [8, 1024], nodes: 500, ranks: 1 });
  const long = sampleRun({ id: 'long', sizes: [8, 1024], repeats: 100 });
  const failed = sampleRun({
    id: 'failed',
    sizes: [8, 1024],
    repeats: 100,
    state: 'failed',
    reason: `rank 7 was killed, ${'and there is more to say of it, '.repeat(20)}`,
  });
  for (const run of [broad, long, failed]) {
    server.add({ ...run, extra: { verdicts: [VERDICT] } });
    await open(`/runs/${run.id}`);
    await page.locator('.plot-area').first().waitFor();
    const top = await topOf(page.locator('.chart-card').first());
    assert.ok(top <= 400, `${run.id}: ${top} px`);
  }
});

test('nothing jumps while the page of a large run loads, whatever its tab', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.add(sampleRun({ sizes: [8, 1024, 65536], nodes: 512, ranks: 8 }));
  await page.addInitScript(() => {
    Object.assign(window, { shifted: 0 });
    new PerformanceObserver((entries) => {
      for (const entry of /** @type {any[]} */ (entries.getEntries())) {
        /** @type {any} */ (window).shifted += entry.hadRecentInput ? 0 : entry.value;
      }
    }).observe({ type: 'layout-shift', buffered: true });
  });
  for (const [tab, what] of [
    ['table', 'table.figures tbody tr'],
    ['ranks', 'table.lanes tbody tr'],
  ]) {
    await open(`/runs/06cw1x2k3m4n?tab=${tab}`);
    await page.locator(what).first().waitFor();
    await page.locator('.plot-area').nth(1).waitFor();
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
    const shifted = await page.evaluate(() => /** @type {any} */ (window).shifted);
    assert.ok(shifted < 0.05, `${tab}: ${shifted}`);
  }
});

test('name, state, figure and verdict stay in sight, and are the server’s words', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  const run = sampleRun({ name: 'nightly', repeats: 3, sizes: [8, 1 << 20] });
  server.add({ ...run, extra: { verdicts: [VERDICT] } });
  await open(path);
  await sees(page, 'completed');
  const bar = page.locator('.run-bar');
  await bar.locator('.run-verdict .pill.bad', { hasText: 'fail' }).first().waitFor();
  /* The middle one of the repeats, which get slower. */
  const { busbw_gbs: middle } = run.events.find(
    ({ case: at, size, in_place: inPlace }) => at === 1 && size === 1 << 20 && !inPlace,
  );
  assert.match(await bar.innerText(), /nightly\s+✓\s*completed\s+[\d.]+ GB\/s at 1M/);
  assert.equal(await page.locator('.headline strong').innerText(), middle.toPrecision(3));
  await sees(page, /^1 of 3 checks failed: .*; baseline: against r0: no difference$/);
  await page.evaluate(() => scrollTo(0, 500));
  assert.equal(await bar.evaluate((element) => element.getBoundingClientRect().top), 0);
  await page.getByText('1 of 3 checks failed').click();
  await sees(page, 'large: busbw is 8.93 GB/s at 1M');
});

test('who is slow or late is said on top', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  const said = (kind, answer, sentence, quiet = false) => ({ kind, answer, sentence, quiet, evidence: {} });
  server.add({
    ...sampleRun({ sizes: [8, 1024] }),
    extra: {
      verdicts: [
        said('culprit', 'slow_node', 'node-2 is slow: 12.2 of 46.5 GB/s'),
        said('lateness', 'none', 'no rank comes late'),
        said('preflight', 'ok', 'no finding: 21 checks passed', true),
        said('traffic', 'another_way', 'the ports carried nothing'),
        said('ceiling', 'expected', 'rings reach 50 GB/s', true),
      ],
    },
  });
  await open(path);
  await sees(page, 'node-2 is slow: 12.2 of 46.5 GB/s');
  const lines = await page.locator('.run-verdict').allInnerTexts();
  assert.deepEqual(
    lines.map((text) => text.split(/\s+/).slice(1, 3).join(' ')),
    ['slow node', 'none no', 'another way'],
  );
});

test('groups of a pattern are lines and cases of their own', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  const run = sampleRun({ sizes: [8, 1024], repeats: 3 });
  const groups = [
    ['node-1', 'node-2'],
    ['node-1', 'node-3'],
    ['a', 'b', 'c'],
  ];
  run.events
    .filter(({ type }) => type === 'case')
    .forEach((event) => Object.assign(event, { nodes: groups[event.case], repeat: 0 }));
  server.add(run);
  await open(`${path}?tab=cases`);
  await page.getByRole('button', { name: /^a … c \(3 nodes\), repeat 1: completed/ }).click();
  await sees(page, 'Only a … c (3 nodes), repeat 1');
  await page.getByRole('button', { name: 'Show all cases' }).click();
  await page.locator('.legend-item', { hasText: 'node-1, node-3' }).first().waitFor();
  assert.equal(await page.locator('.case-cell').count(), 3);
});

test('the figure and the verdict come when a run that is watched ends', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  const run = sampleRun({ sizes: [8, 1024] });
  server.add(run, run.events.length - 7);
  await open(path);
  await sees(page, 'running');
  server.runs.get(RUN).extra = { verdicts: [VERDICT] };
  server.emit(RUN, 100);
  await sees(page, /^1 of 3 checks failed/);
  assert.match(await page.locator('.headline').innerText(), /GB\/s at 1K/);
});

test('tabs are reached by keys, and stand in the address', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.add(sampleRun({ sizes: [8, 1024], repeats: 2 }));
  await open(path);
  await page.getByRole('region', { name: 'Results' }).waitFor();
  await page.getByRole('tab', { name: 'Table' }).focus();
  await page.keyboard.press('ArrowRight');
  await page.getByRole('tabpanel', { name: /^Ranks/ }).waitFor();
  assert.match(page.url(), /\?tab=ranks$/);
  await page.keyboard.press('End');
  await page.getByRole('tabpanel', { name: 'Spec' }).waitFor();
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-selected')), 'true');
  await page.keyboard.press('ArrowLeft');
  await page.reload();
  await sees(page, 'Effective spec');
  assert.equal(await page.getByRole('tabpanel').count(), 1);
});

test('cases are a grid of combinations and repeats that choose', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  const run = sampleRun({ sizes: [8, 1024], repeats: 6 });
  run.events.forEach((event) => {
    if (event.type === 'case') {
      Object.assign(event, { env: { P2P: event.case % 2 ? '1' : null }, repeat: event.case >> 1 });
    }
    if (event.type === 'case' && event.case === 3 && event.state === 'completed') {
      Object.assign(event, { state: 'failed', reason: 'it was killed' });
    }
  });
  server.add(run);
  await open(`${path}?tab=cases`);
  await sees(page, 'P2P=1');
  assert.deepEqual(await page.locator('#panel-cases h3').allInnerTexts(), ['P2P unset', 'P2P=1']);
  const cells = await page.locator('.case-cell').allInnerTexts();
  assert.deepEqual(
    cells.map((text) => text.split(/\s+/)[0]),
    ['1', '2', '3', '1', '2', '3'],
  );
  assert.match(cells[0], /^1\s+✓\s+0\.0/);
  await page.getByRole('button', { name: /^P2P=1, repeat 2: failed, .*it was killed/ }).click();
  await sees(page, 'Only P2P=1, repeat 2');
  assert.match(page.url(), /case=3&tab=cases$/);
  await page.getByRole('button', { name: 'Show all cases' }).click();
  assert.doesNotMatch(page.url(), /case=/);
});

/* A run of 40 nodes, of which one has not gone on, and rank 37 is slow. */
function withOneBehind() {
  const run = sampleRun({
    sizes: [8, 1024],
    nodes: 40,
    ranks: 2,
    mutate: (row) => ({ ...row, times_us: row.times_us.map((time, i) => (i === 37 ? time / 9 : time)) }),
  });
  for (const event of run.events) {
    if (event.type === 'ranks' && (event.state === 'running' || event.state === 'done')) {
      event.ranks = event.ranks.filter((rank) => rank !== 33);
    }
  }
  return run;
}

test('of many nodes those that differ have a lane', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  const run = withOneBehind();
  server.add(
    run,
    run.events.findIndex((event) => event.state === 'done'),
  );
  await open(`${path}?tab=ranks`);
  await sees(page, '39 nodes running; node-17 connected, running');
  assert.equal(await page.locator('.lanes tbody tr').count(), 2);
  assert.match(await page.locator('.lanes tbody tr').first().innerText(), /^node-17/);
  await page.getByRole('button', { name: 'Show all 40 nodes' }).click();
  assert.equal(await page.locator('.lanes tbody tr').count(), 40);
});

test('a rank whose times differ is read out of the map', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.add(withOneBehind());
  await open(`${path}?tab=ranks`);
  const map = page.getByRole('group', { name: /^Heat map of ranks and sizes/ });
  await map.focus();
  await sees(page, /^rank 37 on node-19 at (8|1K): .*, 8\d % shorter than the median/);
  await page.keyboard.press('ArrowRight');
  await sees(page, /^rank 38 on node-20 at /);
  const blue = () =>
    map.locator('canvas').evaluate((canvas) => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let i = 0; i < data.length; i += 4) {
        count += data[i] < 20 && data[i + 2] > 160 ? 1 : 0;
      }
      return count;
    });
  await until(async () => (await blue()) > 50, 'the rank to be blue');
});

test('a table of many rows holds those in sight, and scrolls to all', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  const sizes = Array.from({ length: 4000 }, (_, i) => 8 * (i + 1));
  server.add(sampleRun({ sizes }));
  await open(path);
  const rows = page.locator('.figures tbody tr');
  await rows.first().waitFor();
  await sees(page, 'completed');
  /* Up to some hundred are all there, as the first to come may be for a moment. */
  await until(async () => (await rows.count()) < 200, 'rows that are out of sight to go');
  const table = page.getByRole('region', { name: 'Results' });
  assert.ok((await table.boundingBox()).height <= 0.8 * 900);
  await table.evaluate((box) => box.scrollTo(0, box.scrollHeight));
  await page.getByRole('button', { name: '32000 bytes, details', exact: true }).click();
  await page.locator('.row-detail').waitFor();
  assert.ok((await rows.count()) < 200);
});

test('the map and the lanes follow a run that does not pause', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  const run = sampleRun({ sizes: [8, 1024], nodes: 20, ranks: 1, repeats: 300 });
  const rows = run.events.findIndex((event) => event.type === 'result');
  server.add(run, rows);
  await open(`${path}?tab=ranks`);
  await sees(page, '20 nodes running');
  const going = setInterval(() => server.emit(RUN, 2), 20);
  await sees(page, /^Largest deviation: rank \d+ on node-/);
  clearInterval(going);
  assert.ok(server.runs.get(RUN).rest.length > 0);
});
