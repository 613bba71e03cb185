/* page.mjs - the figures of the web UI: its size, the first view, a redraw of 48
 * lines, and how long a run of many events takes to open. Prints a table. */
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { quick, startCluster, startFleet, startServer } from '../../tests/integration/lib/cluster.mjs';
import { buildDir } from '../../tests/integration/lib/fixture.mjs';
import { openBrowser, whyNoBrowser } from '../../tests/web/lib/browser.mjs';
import { FakeServer } from '../../tests/web/lib/fake_server.mjs';
import { sampleNode, sampleRun } from '../../tests/web/lib/sample.mjs';

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

/* Until a run of the real server shows its rows, with an empty cache and a full one;
 * `latency`: ms that each request takes longer. */
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

async function realRun(page, report) {
  const cleanups = [];
  const { server } = await startCluster({ after: (one) => cleanups.push(one) }, 1);
  const { id } = await server.run(quick);
  await server.runEnds(id);
  for (const latency of [0, 150]) {
    report.push([
      `first rows, ${latency} ms away, cold / warm`,
      await firstData(page, `${server.url}/runs/${id}`, latency),
    ]);
  }
  for (const cleanup of cleanups.reverse()) {
    await cleanup();
  }
}

const LINES = {
  backend: 'sim',
  nodes: { count: 2 },
  sizes: { min: '8', max: '1G' },
  iters: 3,
  warmup: 1,
  matrix: {
    NCCL_ALGO: ['Ring', 'Tree'],
    NCCL_PROTO: ['LL', 'LL128', 'Simple'],
    NCCL_DEBUG: ['1', '2', '3', '4'],
  },
  env: { SIM_SLEEP_FRACTION: '0' },
};

/* 48 lines of 28 sizes in two charts: a step of the cross-hair, and a whole redraw. */
async function plots(page, report) {
  const cleanups = [];
  const t = { after: (one) => cleanups.push(one) };
  const server = await startServer(t);
  await startFleet(t, server, 2, ['--ranks', '2']);
  const { id } = await server.run(LINES);
  await server.runEnds(id);
  await page.goto(`${server.url}/runs/${id}`);
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
  report.push([`${lines} lines, redrawn twice`, `${times.redraw.toFixed(1)} ms`]);
  for (const cleanup of cleanups.reverse()) {
    await cleanup();
  }
}

const why = whyNoBrowser();
if (why) {
  console.log(`skipped: ${why}`);
  process.exit(0);
}
const server = new FakeServer();
await server.start();
server.nodes = [sampleNode('node-1')];
server.add(sampleRun({}));
const sizes = (count) => Array.from({ length: count }, (_, i) => (i + 1) * 4096);
server.add(sampleRun({ id: 'rows10k', sizes: sizes(5000) }));
server.add(sampleRun({ id: 'rows100k', sizes: sizes(4096), repeats: 12 }));
const browser = await openBrowser();
const page = await browser.context.newPage();
await page.setViewportSize({ width: 1400, height: 900 });
const report = [
  ['whole UI, compressed', `${(uiBytes() / 1000).toFixed(0)} kB`],
  [
    'first view, the run list',
    `${(await timeOpen(page, `${server.url}/`, 'table.runs tbody tr')).toFixed(0)} ms`,
  ],
  [
    'a run of 50 rows',
    `${(await timeOpen(page, `${server.url}/runs/06cw1x2k3m4n`, 'table.figures tbody tr')).toFixed(0)} ms`,
  ],
  [
    'a run of 10,000 rows',
    `${(await timeOpen(page, `${server.url}/runs/rows10k`, '.pill.good')).toFixed(0)} ms`,
  ],
  [
    'a run of 98,304 rows',
    `${(await timeOpen(page, `${server.url}/runs/rows100k`, '.pill.good')).toFixed(0)} ms`,
  ],
];
await realRun(page, report);
await plots(page, report);
for (const [name, value] of report) {
  console.log(`${name.padEnd(36)} ${value.padStart(10)}`);
}
await browser.close();
await server.stop();
