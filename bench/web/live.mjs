/* SPDX-License-Identifier: Apache-2.0 */
/* live.mjs - measures the cost of a run's page while the run is in progress
 *
 * usage: live.mjs [SECONDS]. Shows two runs: 500 nodes in the last of 100 repeats, and 32 nodes with 8 ranks
 * each. Prints a table of frames, long tasks, layout shift, heap and the machine's load for each tab.
 *
 * usage: live.mjs --heap MINUTES. Keeps the page of the first run open for MINUTES and prints the heap beside
 * the number of rows. Rows arrive during the first half of the time. The tabs are shown in turn, and the list
 * of runs is visited. */
import { loadavg } from 'node:os';
import { openBrowser, whyNoBrowser } from '../../tests/web/lib/browser.mjs';
import { FakeServer } from '../../tests/web/lib/fake_server.mjs';
import { sampleRun, sizesUpTo } from '../../tests/web/lib/sample.mjs';

const heapMinutes = process.argv[2] === '--heap' ? Number(process.argv[3] ?? 30) : 0;
const SECONDS = Number(process.argv[2] ?? 20);
const TICK_MS = 50;
const RUNS = {
  '500 nodes x 1': { nodes: 500, ranks: 1, repeats: 100, sizes: sizesUpTo(8, 128 << 20) },
  '32 nodes x 8': { nodes: 32, ranks: 8, repeats: 40, sizes: sizesUpTo(8, 128 << 20) },
};
/* Cases that complete per second. */
const PACE = 0.5;
const TABS = ['table', 'ranks', 'cases'];

/* Runs in the page: records everything that is summed up later. */
function watch() {
  const seen = { frames: [], long: 0, longest: 0, shift: 0, began: performance.now() };
  Object.assign(window, { seen });
  new PerformanceObserver((list) =>
    list.getEntries().forEach(({ duration }) => {
      seen.long += duration;
      seen.longest = Math.max(seen.longest, duration);
    }),
  ).observe({ type: 'longtask' });
  new PerformanceObserver((list) =>
    list.getEntries().forEach((/** @type {any} */ { value, hadRecentInput }) => {
      seen.shift += hadRecentInput ? 0 : value;
    }),
  ).observe({ type: 'layout-shift' });
  let last = performance.now();
  const frame = (now) => {
    seen.frames.push(now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}

async function heapOf(page) {
  const client = await page.context().newCDPSession(page);
  await client.send('HeapProfiler.collectGarbage');
  const { usedSize } = await client.send('Runtime.getHeapUsage');
  await client.detach();
  return usedSize / 1e6;
}

async function measure(page, server, id, tab, perTick) {
  await page.goto(`${server.url}/runs/${id}?tab=${tab}`);
  /* Do not measure what happened before this point. */
  const rows = server.runs.get(id).events.filter(({ type }) => type === 'result').length;
  await page.getByText(`${rows} of `).waitFor();
  await page.waitForTimeout(2000);
  const before = await heapOf(page);
  await page.evaluate(watch);
  const emitting = setInterval(() => server.emit(id, perTick), TICK_MS);
  await page.waitForTimeout(SECONDS * 1000);
  clearInterval(emitting);
  const seen = await page.evaluate('seen');
  const chart = await page
    .locator('.chart-card')
    .first()
    .evaluate((element) => element.getBoundingClientRect().top + window.scrollY);
  const frames = seen.frames.sort((a, b) => a - b);
  return {
    p95: frames[Math.floor(frames.length * 0.95)],
    long: seen.long / (SECONDS * 10),
    longest: seen.longest,
    shift: seen.shift,
    chart,
    heap: [before, await heapOf(page)],
  };
}

async function watchFrames() {
  console.log(
    'run            tab    p95 frame  long tasks  longest  shift  chart top  heap, MB' + '        load',
  );
  for (const [name, options] of Object.entries(RUNS)) {
    for (const tab of TABS) {
      const server = new FakeServer();
      await server.start();
      const run = sampleRun({ ...options, id: 'live' });
      const perCase = run.events.length / options.repeats;
      const left = Math.ceil(perCase * PACE * (SECONDS + 2));
      server.add(run, run.events.length - left);
      const found = await measure(page, server, 'live', tab, Math.ceil((perCase * PACE * TICK_MS) / 1000));
      console.log(
        [
          name.padEnd(14),
          tab.padEnd(6),
          `${found.p95.toFixed(1)} ms`.padStart(9),
          `${found.long.toFixed(1)} %`.padStart(11),
          `${found.longest.toFixed(0)} ms`.padStart(8),
          found.shift.toFixed(3).padStart(6),
          `${found.chart.toFixed(0)} px`.padStart(10),
          found.heap
            .map((mb) => mb.toFixed(1))
            .join(' to ')
            .padStart(16),
          loadavg()[0].toFixed(1).padStart(5),
        ].join(' '),
      );
      await page.goto('about:blank');
      await server.stop();
    }
  }
}

async function watchHeap() {
  const STEPS = 60;
  const server = new FakeServer();
  await server.start();
  const run = sampleRun({ ...RUNS['500 nodes x 1'], id: 'live' });
  const { length } = run.events;
  /* The last event, the end of the run, is never sent. */
  server.add(run, Math.floor(length / 100));
  const perStep = Math.ceil(length / (STEPS / 2));
  await page.goto(`${server.url}/runs/live`);
  console.log('minute   rows  heap, MB  elements');
  for (let step = 0; step < STEPS; step += 1) {
    const tab = TABS[step % TABS.length];
    const inSlices = 100;
    if (step % 10 === 9) {
      await page.getByLabel('Main').getByRole('link', { name: 'Runs' }).click();
      await page.waitForTimeout(500);
      await page.goBack();
    }
    await page.getByRole('tab', { name: new RegExp(tab, 'i') }).click();
    for (let slice = 0; slice < inSlices; slice += 1) {
      const entry = server.runs.get('live');
      server.emit('live', Math.min(Math.ceil(perStep / inSlices), entry.rest.length - 1));
      await page.waitForTimeout((heapMinutes * 60000) / STEPS / inSlices);
    }
    if (step % 5 === 4) {
      const rows = server.runs.get('live').events.filter(({ type }) => type === 'result').length;
      const nodes = await page.evaluate(() => document.querySelectorAll('*').length);
      console.log(
        [
          ((heapMinutes * (step + 1)) / STEPS).toFixed(1).padStart(6),
          String(rows).padStart(6),
          (await heapOf(page)).toFixed(1).padStart(9),
          String(nodes).padStart(10),
        ].join(' '),
      );
    }
  }
  await server.stop();
}

const why = whyNoBrowser();
if (why) {
  console.log(`skipped: ${why}`);
  process.exit(0);
}
const browser = await openBrowser();
const page = await browser.context.newPage();
await page.setViewportSize({ width: 1400, height: 900 });
await (heapMinutes ? watchHeap() : watchFrames());
await browser.close();
