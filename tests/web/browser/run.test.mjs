/* SPDX-License-Identifier: Apache-2.0 */
/* run.test.mjs - a run's page: live, across failures, and restored by its address */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import {
  closeBrowser,
  figureRows,
  LIMIT,
  openPage,
  overlayLink,
  pageTest as test,
  sees,
  setUp,
  taken,
  until,
} from '../lib/page.mjs';
import { sampleRun, sampleNode } from '../lib/sample.mjs';

after(closeBrowser);

const RUN = '06cw1x2k3m4n';
const path = `/runs/${RUN}`;
/* How many events a run has before the first that fits. */
const before = (run, fits) => run.events.findIndex(fits);
const beforeRows = (run) => before(run, (event) => event.type === 'result');
const rowCount = (page, count) =>
  until(async () => (await figureRows(page)).length === count, `${count} rows in the table`);

test('points and rows appear as they are measured, then the stream closes', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  const run = sampleRun({ sizes: [8, 1024, 65536] });
  server.add(
    run,
    before(run, (event) => event.state === 'joined'),
  );
  await open(path);
  await sees(page, '0 of 4 ranks joined');
  server.emit(RUN, 1); /* a node's ranks are one event */
  await sees(page, /^2 of 4 /);
  server.emit(RUN, 1);
  await sees(page, 'all 4 joined');
  server.emit(RUN, beforeRows(run) - server.runs.get(RUN).events.length);
  await sees(page, 'all 4 running');
  server.emit(RUN, 2);
  await rowCount(page, 1);
  server.emit(RUN, 2);
  await rowCount(page, 2);
  assert.match((await figureRows(page))[1], /^1K\s+256\s+all_reduce/);
  server.emit(RUN, 100);
  await rowCount(page, 3);
  await sees(page, 'completed');
  await until(() => server.streams.size === 0, 'the stream to close');
  assert.equal(await page.locator('.chart-box svg').count(), 2);
  const asked = server.requests.filter((r) => r.path.endsWith('/events')).length;
  assert.equal(asked, 1);
});

test('a run that has no events yet is shown as queued', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.add(sampleRun({ sizes: [8] }), 0);
  await open(path);
  await page.locator('.run-bar .pill', { hasText: 'queued' }).waitFor();
  await sees(page, /^waiting for /);
  await page.getByRole('tab', { name: 'Spec' }).click();
  await sees(page, 'The same run as a shell command');
});

test('a server killed under the page loses nothing and doubles nothing', { ...LIMIT }, async (t) => {
  const { server, page, open } = await setUp(t, { expected: /net::ERR|Failed to load/ });
  const run = sampleRun({ sizes: [8, 16, 32, 64, 128, 256] });
  const rows = beforeRows(run);
  server.add(run, rows + 4);
  await open(path);
  await rowCount(page, 2);
  await server.stop();
  await sees(page, 'The server does not answer');
  assert.match(await page.locator('.gone').innerText(), /since \d\d:\d\d:\d\d/);
  server.emit(RUN, 4);
  await server.start();
  await rowCount(page, 4);
  await page.locator('.gone').waitFor({ state: 'hidden' });
  server.emit(RUN, 100);
  await rowCount(page, 6);
  await sees(page, 'completed');
  assert.deepEqual(
    (await figureRows(page)).map((text) => text.split(/\s/)[0]),
    ['8', '16', '32', '64', '128', '256'],
  );
  const resumed = server.requests
    .filter((r) => r.path.endsWith('/events'))
    .map((r) => Number(r.headers['last-event-id']));
  assert.equal(resumed[0], 0);
  assert.equal(resumed.at(-1), rows);
});

test('a hidden tab holds no stream, and catches up when it is looked at', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  const run = sampleRun({ sizes: [8, 16, 32] });
  const rows = beforeRows(run);
  server.add(run, rows + 2);
  await open(path);
  await rowCount(page, 1);
  const hide = (hidden) =>
    page.evaluate((value) => {
      Object.defineProperty(document, 'hidden', { value, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
  await hide(true);
  await until(() => server.streams.size === 0, 'the stream to close');
  server.emit(RUN, 2);
  assert.equal((await figureRows(page)).length, 1);
  await hide(false);
  await rowCount(page, 2);
  const resumed = server.requests.filter((r) => r.path.endsWith('/events')).at(-1);
  assert.equal(resumed.headers['last-event-id'], String(rows));
});

test(
  'the slow node is sought with one click, and the button stands out where one is named',
  LIMIT,
  async (t) => {
    const { server, page, open } = await setUp(t, { expected: /409/ });
    const run = sampleRun({ sizes: [8, 1024], nodes: 4 });
    const title = 'Look for it';
    const follow_up = { title, why: null, spec: { pattern: 'pairs' } };
    server.add({ ...run, extra: { follow_up } });
    server.add({
      ...run,
      id: '06cw1x2k3m4p',
      extra: { follow_up: { ...follow_up, why: 'as it was slow' } },
    });
    server.add({ ...run, id: '06cw1x2k3m4q' });
    const button = page.getByRole('button', { name: title });
    await open(path);
    await button.waitFor();
    assert.ok(!(await button.evaluate((one) => one.classList.contains('primary'))));
    await button.click();
    await sees(page, 'The request failed. nothing follows');
    server.followUp = { id: '06cw1x2k3m4q' };
    await open('/runs/06cw1x2k3m4p');
    await page.locator('button.primary', { hasText: title }).waitFor();
    assert.equal(await button.getAttribute('title'), 'as it was slow');
    await button.click();
    await page.waitForURL(/06cw1x2k3m4q/);
    await sees(page, 'Figures');
    assert.ok(!(await button.isVisible()));
    server.access = { operator: false, reason: 'no operator' };
    await open('/runs/06cw1x2k3m4p');
    await until(() => button.isDisabled(), 'a viewer to be refused');
    assert.match(await button.getAttribute('title'), /no operator/);
  },
);

test('the address restores what is shown', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.add(sampleRun({ sizes: [8, 1024], repeats: 2 }));
  await open(path);
  await page.getByRole('button', { name: 'algbw', exact: true }).click();
  await page.getByRole('button', { name: 'in place', exact: true }).click();
  await page.getByRole('button', { name: 'log', exact: true }).click();
  await page.getByRole('columnheader', { name: /count/ }).getByRole('button').click();
  await page.getByRole('columnheader', { name: /count/ }).getByRole('button').click();
  await page.getByRole('tab', { name: /^Cases/ }).click();
  await page.getByRole('button', { name: /^repeat 2/ }).click();
  await page.getByRole('tab', { name: /^Cases/ }).press('Home');
  const address = await page.evaluate(() => location.search);
  assert.equal(address, '?metric=algbw&y=log&place=in&sort=-count&case=1&tab=table');
  await page.reload();
  await rowCount(page, 2);
  const pressed = await page.locator('button[aria-pressed="true"]').allInnerTexts();
  assert.deepEqual(
    pressed.slice(0, 3).map((text) => text.split('\n')[0]),
    ['algbw', 'log', 'in place'],
  );
  await sees(page, 'Only repeat 2');
  assert.match((await figureRows(page))[0], /^1K/);
  await page.goBack().catch(() => {});
});

test('wrong elements are red with where, skipped sizes say why', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  const skipped = 'needs 512 MiB for 4 ranks, 300 MiB are free';
  server.add(
    sampleRun({
      sizes: [8, 16, 32],
      mutate: (row) => {
        if (row.size === 16 && !row.in_place) {
          return {
            ...row,
            wrong: 3,
            errors: [{ rank: 2, index: 77, expected: '6', got: '5' }],
          };
        }
        const { time_us, busbw_gbs, algbw_gbs, ...rest } = row;
        return row.size === 32 ? { ...rest, skipped } : row;
      },
    }),
  );
  await open(path);
  await sees(page, '3 wrong elements in 1 row.');
  await sees(page, /rank 2 on node-2, all_reduce of 16 bytes \(out of place\), element 77/);
  assert.match(await page.locator('tr.wrong').innerText(), /✕ 3/);
  assert.equal(await page.getByText(skipped).count(), 2);
  await page.getByRole('button', { name: '16 bytes, details' }).press('Enter');
  await sees(page, 'The first 1 of 3 wrong elements');
  assert.equal(
    await page.getByRole('button', { name: '16 bytes, details' }).getAttribute('aria-expanded'),
    'true',
  );
});

test('a failed run says why, and which rank on which node', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.add(sampleRun({ sizes: [8], state: 'failed', reason: 'rank 2 on node-2 was killed' }));
  await open(`${path}?tab=ranks`);
  await page.locator('.alert.bad').filter({ hasText: 'rank 2 on node-2 was killed' }).first().waitFor();
  await sees(page, 'rank 2 on node-2: killed by signal 9');
  await page.getByRole('button', { name: 'Delete' }).waitFor();
});

test('Stop asks the server to cancel', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  const run = sampleRun({ sizes: [8] });
  server.add(run, beforeRows(run));
  await open(path);
  await page.getByRole('button', { name: 'Stop' }).click();
  await until(() => server.runs.get(RUN).cancelled, 'the cancel to arrive');
});

test('several runs are laid over one another', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.add(sampleRun({ sizes: [8, 1024], name: 'before' }));
  server.add(sampleRun({ sizes: [8, 1024], name: 'after', id: 'r2' }));
  await open('/');
  await page.getByRole('checkbox', { name: 'Select before' }).check();
  await page.getByRole('checkbox', { name: 'Select after' }).check();
  await overlayLink(page).click();
  await page.locator('.legend-item').filter({ hasText: 'after' }).first().waitFor();
  assert.match(page.url(), /with=r2$/);
  await page.getByRole('button', { name: 'Remove after from the chart' }).click();
  await page.locator('.legend-item').filter({ hasText: 'after' }).first().waitFor({
    state: 'detached',
  });
});

test('logs are shown by rank and searched', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.add(sampleRun({ sizes: [8] }));
  server.logs = [1, 2, 3, 4].map((seq) => ({
    seq,
    time: '2026-01-05T10:00:00.123Z',
    case: 0,
    rank: seq % 2,
    stream: seq === 2 ? 'stderr' : 'stdout',
    text: `line ${seq} <b>bold</b>`,
  }));
  const devTools = await page.context().newCDPSession(page);
  await devTools.send('Emulation.setTimezoneOverride', { timezoneId: 'Asia/Kolkata' });
  await open(path);
  await page.getByRole('tab', { name: 'Logs' }).click();
  await sees(page, 'line 4 <b>bold</b>');
  assert.match(
    await page.locator('.log-lines li').first().innerText(),
    /^2026-01-05 15:30:00\.123 \S*5:30 rank 1 line 1/,
  );
  await page.getByLabel('Rank', { exact: true }).selectOption('1');
  await until(async () => (await page.locator('.log-lines li').count()) === 2, 'two lines');
  await page.getByLabel('Search the log lines').fill('line 3');
  await until(async () => (await page.locator('.log-lines li').count()) === 1, 'one line');
  assert.match(await page.evaluate(() => location.search), /rank=1&log=line\+3/);
  await page.reload();
  await sees(page, 'line 3 <b>bold</b>');
});

test('all of a run is taken along as files', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.add(sampleRun({ sizes: [8, 1024] }));
  await open(path);
  await page.locator('summary', { hasText: 'Download' }).click();
  const csv = await taken(page, /^CSV,/);
  assert.equal(csv.name, `ringbench-${RUN}.csv`);
  assert.match(csv.text, /^size,/);
});

test('a run that is not there is said to be so', LIMIT, async (t) => {
  const { page, open } = await setUp(t, { expected: /404/ });
  await open('/runs/nothing');
  await sees(page, 'Run nothing not found.');
  assert.equal(await page.locator('.pill').count(), 0);
  assert.equal(await page.getByText('Run again').isVisible(), false);
});

test('a node has a page with its inventory and its runs', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.nodes = [sampleNode('node-1', 'busy', { run: RUN })];
  server.add(sampleRun({ sizes: [8], name: 'was here' }));
  await open('/nodes');
  await page.getByRole('link', { name: 'node-1' }).click();
  await sees(page, 'AMD EPYC 9354, 2 sockets, 64 cores, 128 threads');
  await sees(page, 'libnccl.so.2 was not found');
  const unfold = (title) => page.locator('summary', { hasText: title }).click();
  for (const [title, text] of [
    ['GPUs', 'x8 of 16, 16 of 32 GT/s'],
    ['RDMA ports', '3 RoCE v2 192.168.100.11'],
    ['Interfaces', 'and 468 more'],
    ['System', '64.0 MiB'],
  ]) {
    await unfold(title);
    await sees(page, text);
  }
  /* What is open stays so when the node is told anew. */
  server.nodes = [{ ...server.nodes[0], version: '9.9.9' }];
  await sees(page, '9.9.9');
  await sees(page, '3 RoCE v2 192.168.100.11');
  await page.getByRole('link', { name: 'was here' }).click();
  await sees(page, 'Figures');
  await page.goBack();
  await sees(page, 'Backends');
});

test('what happened is told in order', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.add(sampleRun({ sizes: [8], state: 'failed', reason: 'a rank was killed' }));
  await open(path);
  await page.getByRole('tab', { name: 'Logs' }).click();
  await page.locator('.timeline li').nth(2).waitFor();
  const lines = await page.locator('.timeline li').allInnerTexts();
  assert.match(lines[0], /^\+0 ms\s+queued/);
  assert.match(lines.at(-1), /failed: a rank was killed$/);
  assert.match(lines.at(-2), /node-2, rank 2: rank 2 on node-2 was killed by signal 9$/);
});

test('six windows on one run leave connections for a seventh page', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  const run = sampleRun({ sizes: [8, 16, 32, 64] });
  server.add(run, beforeRows(run) + 2);
  await open(path);
  const pages = [page];
  while (pages.length < 6) {
    const { page: next } = await openPage(t);
    await next.goto(server.url + path);
    pages.push(next);
  }
  await Promise.all(pages.map((one) => rowCount(one, 1)));
  await until(() => server.streams.size === 4, 'four streams');
  const { page: list } = await openPage(t);
  await list.goto(server.url);
  await list.locator('table.runs tbody tr').waitFor();
  server.emit(RUN, 2);
  await Promise.all(pages.map((one) => rowCount(one, 2)));
  /* A window that closes leaves its stream to another. */
  await page.close();
  await until(() => server.streams.size === 3, 'three streams');
  const { page: late } = await openPage(t);
  await late.goto(server.url + path);
  await until(() => server.streams.size >= 4, 'four streams again');
  server.emit(RUN, 100);
  await Promise.all([...pages.slice(1), late].map((one) => sees(one, 'completed')));
  await until(() => server.streams.size === 0, 'the streams to close');
});

test('a run of very many rows is drawn without them, and goes on live', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  const sizes = Array.from({ length: 3000 }, (_, i) => 8 * (i + 1));
  const run = sampleRun({ sizes, repeats: 2 });
  const left = 6;
  server.add(run, run.events.length - left - 2);
  await open(path);
  await sees(page, /1199\d of 12000 rows measured/);
  const asked = server.requests.filter((r) => r.path.endsWith('/events'));
  assert.ok(asked.length <= 1);
  assert.match((await figureRows(page))[0], /^8\s+2\s/);
  await page.getByRole('button', { name: '8 bytes, details', exact: true }).click();
  await until(async () => (await page.locator('.row-detail > section').count()) === 4, 'four rows');
  server.emit(RUN, 100);
  await sees(page, 'completed');
});
