/* page.mjs - the figures of the web UI: its size, the first view, a redraw of 10,000
 * points, and how long a run of many events takes to open. Prints a table. */
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { quick, startCluster } from '../../tests/integration/lib/cluster.mjs';
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

/* One more row in a run of many: what a frame of the live page costs. */
const redraw = (page) =>
  page.evaluate(async () => {
    /* Of the page's address, not of this file's. */
    const load = (/** @type {string} */ module) => import(module);
    const { bookOf } = await load('/js/book.mjs');
    const { chartPanels } = await load('/js/chart_panels.mjs');
    const { buildPanels } = await load('/js/chart_model.mjs');
    const { applyEvents, newRunState } = await load('/js/events.mjs');
    const { parseAddress } = await load('/js/url_state.mjs');
    const FRAMES = 31;
    const root = document.querySelector('main');
    const events = [];
    for (let i = 1; i <= 2500; i += 1) {
      for (let series = 0; series < 4; series += 1) {
        const time = 10 + i / 9;
        events.push({
          id: events.length + 1,
          type: 'result',
          case: 0,
          attempt: 1,
          collective: 'all_reduce',
          dtype: `d${series >> 1}`,
          redop: 'sum',
          root: -1,
          in_place: series % 2 === 1,
          row: events.length,
          size: i * 4096,
          time_us: time,
          time_min_us: time * 0.9,
          time_max_us: time * 1.2,
          algbw_gbs: i / time,
          busbw_gbs: (1.5 * i) / time,
        });
      }
    }
    const view = parseAddress('/runs/x', '').query;
    const charts = chartPanels({ onToggle() {} });
    root.append(charts.element);
    const state = newRunState();
    const run = { id: 'x', name: '', mark: '', spec: {} };
    const build = () => buildPanels([{ ...run, book: bookOf(state) }], view, 'light');
    const shown = { spread: true, mark: '' };
    applyEvents(state, events.slice(0, -FRAMES));
    charts.update(build(), shown);
    const times = { model: [], draw: [] };
    for (const event of events.slice(-FRAMES)) {
      const start = performance.now();
      applyEvents(state, [event]);
      const panels = build();
      const built = performance.now();
      charts.update(panels, shown);
      await Promise.resolve();
      root.querySelectorAll('canvas').forEach((canvas) => canvas.getContext('2d').getImageData(0, 0, 1, 1));
      times.model.push(built - start);
      times.draw.push(performance.now() - built);
      await new Promise(requestAnimationFrame);
    }
    charts.destroy();
    const half = (list) => list.sort((a, b) => a - b)[list.length >> 1];
    return { model: half(times.model), draw: half(times.draw) };
  });

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
await page.goto(`${server.url}/nowhere`);
const { model, draw } = await redraw(page);
report.push(['10,000 points, one more row to lines', `${model.toFixed(1)} ms`]);
report.push(['10,000 points, redrawn', `${draw.toFixed(1)} ms`]);
for (const [name, value] of report) {
  console.log(`${name.padEnd(36)} ${value.padStart(10)}`);
}
await browser.close();
await server.stop();
