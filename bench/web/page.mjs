/* SPDX-License-Identifier: Apache-2.0 */
/* page.mjs - measures the web UI and prints a table: its size, the first view, a redraw of 48 lines, and the
 * time to open a run with many events */
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { quick, startFleet, startServer } from '../../tests/integration/lib/cluster.mjs';
import { buildDir } from '../../tests/integration/lib/fixture.mjs';
import { openBrowser, whyNoBrowser } from '../../tests/web/lib/browser.mjs';

const WEB = path.join(buildDir, 'share/ringbench/web');
const REPEATS = 5;

function uiBytes() {
  return readdirSync(WEB, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.gz'))
    .reduce((sum, file) => sum + statSync(path.join(WEB, file)).size, 0);
}

const middle = (values) => values.sort((a, b) => a - b)[values.length >> 1];

async function timeOpen(page, url, ready) {
  const times = [];
  for (let i = 0; i < REPEATS; i += 1) {
    await page.goto('about:blank');
    const start = performance.now();
    await page.goto(url, { waitUntil: 'commit' });
    await page.locator(ready).first().waitFor();
    times.push(performance.now() - start);
  }
  return middle(times);
}

/* Measure the time until a run shows its rows, with an empty cache and with a full one. `latency`: additional
 * ms per request. */
async function firstData(page, url, latency) {
  const network = await page.context().newCDPSession(page);
  const times = { cold: [], warm: [] };
  await network.send('Network.enable');
  await network.send('Network.emulateNetworkConditions', {
    offline: false,
    latency,
    downloadThroughput: -1,
    uploadThroughput: -1,
  });
  for (let i = 0; i < REPEATS; i += 1) {
    await network.send('Network.clearBrowserCache');
    for (const kind of ['cold', 'warm']) {
      await page.goto('about:blank');
      const start = performance.now();
      await page.goto(url, { waitUntil: 'commit' });
      await page.locator('table.figures tbody tr').first().waitFor();
      times[kind].push(performance.now() - start);
    }
  }
  await network.detach();
  return `${middle(times.cold).toFixed(0)} / ${middle(times.warm).toFixed(0)} ms`;
}

/* Create a simulated run with `sizes` and `repeats`, and wait until it has ended. Its simulated calls take no
 * real time. */
async function simulated(server, spec) {
  const { id } = await server.run({
    backend: 'sim',
    nodes: { count: 2 },
    iters: 1,
    warmup: 1,
    env: { SIM_SLEEP_FRACTION: '0' },
    ...spec,
  });
  const { state, reason } = await server.runEnds(id);
  if (state !== 'completed') {
    throw new Error(reason);
  }
  return `${server.url}/runs/${id}`;
}

const LINES = {
  sizes: { min: '8', max: '1G' },
  iters: 3,
  matrix: {
    NCCL_ALGO: ['Ring', 'Tree'],
    NCCL_PROTO: ['LL', 'LL128', 'Simple'],
    NCCL_DEBUG: ['1', '2', '3', '4'],
  },
};
const MANY = {
  sizes: { min: 1, max: 3400, step: 1 },
  dtypes: ['int8'],
  check: 0,
  in_place: false,
  repeats: 3,
};

/* Measure two charts with 48 lines of 28 sizes: one step of the cross-hair, and a full redraw. */
async function plots(page, url, report) {
  await page.goto(url);
  await page.locator('.plot-area').first().waitFor();
  const lines = await page.locator('.legend-item').count();
  const times = await page.evaluate(async () => {
    const half = (list) => list.sort((a, b) => a - b)[list.length >> 1];
    const timed = async (count, act) => {
      const list = [];
      for (let i = 0; i < count; i += 1) {
        const start = performance.now();
        act(i);
        await new Promise((resolve) => setTimeout(resolve, 0));
        document.body.getBoundingClientRect();
        list.push(performance.now() - start);
      }
      return half(list);
    };
    const box = document.querySelector('.chart-box');
    const { left, top, width } = box.getBoundingClientRect();
    const hover = await timed(60, (i) =>
      box.dispatchEvent(
        new PointerEvent('pointermove', { clientX: left + 60 + ((width - 90) * i) / 60, clientY: top + 99 }),
      ),
    );
    const scale = /** @type {any[]} */ ([
      ...document.querySelectorAll('[aria-label="Scale of the bandwidth"] button'),
    ]);
    return { hover, redraw: await timed(12, (i) => scale[1 - (i % 2)].click()) };
  });
  report.push([`${lines} lines, a step of the cursor`, `${times.hover.toFixed(1)} ms`]);
  report.push([`${lines} lines, redrawn`, `${times.redraw.toFixed(1)} ms`]);
}

const why = whyNoBrowser();
if (why) {
  console.log(`skipped: ${why}`);
  process.exit(0);
}
const cleanups = [];
const t = { after: (one) => cleanups.push(one) };
const server = await startServer(t);
await startFleet(t, server, 2, ['--ranks', '2']);
const few = await simulated(server, quick);
const many = await simulated(server, MANY);
const lines = await simulated(server, LINES);
const browser = await openBrowser();
const page = await browser.context.newPage();
await page.setViewportSize({ width: 1400, height: 900 });
const ROW = 'table.figures tbody tr';
const report = [['whole UI, compressed', `${(uiBytes() / 1000).toFixed(0)} kB`]];
for (const [name, url, ready] of [
  ['first view, the run list', `${server.url}/`, 'table.runs tbody tr'],
  ['a run of few rows', few, ROW],
  ['a run of 10,200 rows', many, ROW],
]) {
  report.push([name, `${(await timeOpen(page, url, ready)).toFixed(0)} ms`]);
}
for (const latency of [0, 150]) {
  report.push([`first rows, ${latency} ms away, cold / warm`, await firstData(page, few, latency)]);
}
await plots(page, lines, report);
for (const [name, value] of report) {
  console.log(`${name.padEnd(36)} ${value.padStart(10)}`);
}
await browser.close();
for (const cleanup of cleanups.reverse()) {
  await cleanup();
}
