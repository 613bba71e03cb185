/* SPDX-License-Identifier: Apache-2.0 */
/* real.test.mjs - the pages as the real server serves them, with agents and workers */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after } from 'node:test';
import {
  Server,
  assertNumbered,
  faulty,
  noNccl,
  startAgent,
  startCluster,
  startServer,
} from '../../integration/lib/cluster.mjs';
import { binDir, buildDir } from '../../integration/lib/fixture.mjs';
import { nodeTree } from '../../integration/lib/node_tree.mjs';
import {
  addWatch,
  Calendar,
  day,
  sim,
  startChanging,
  sweepsAre,
  watchOf,
} from '../../integration/lib/watches.mjs';
import { axe } from '../lib/browser.mjs';
import {
  closeBrowser,
  figureRows,
  measuring,
  openPage,
  pageTest as test,
  patience,
  sees,
  seesNoRunsYet,
  skip,
  startButton,
  until,
} from '../lib/page.mjs';

after(closeBrowser);

function whyNotReal() {
  if (skip) {
    return skip;
  }
  const needed = [
    path.join(binDir, 'ringbench-server'),
    path.join(buildDir, 'share/ringbench/web/index.html'),
  ];
  const missing = needed.find((file) => !fs.existsSync(file));
  return missing ? `${missing} is not built` : false;
}

const LIMIT = {
  timeout: 180000 * patience,
  skip: whyNotReal(),
};
/* Each operation of rank 0 takes a while: a run that can be watched, for seconds. */
const SLOW = {
  kind: 'slow',
  rank: 0,
  us: 6000,
};
const WATCHED = {
  sizes: { min: '4K', max: '64K', step: '4K' },
  iters: 20,
  fault: SLOW,
};

const currentRun = (page) => page.url().match(/\/runs\/([0-9a-z]+)/)[1];
const sizes = async (page) => (await figureRows(page)).map((text) => text.split(/\s/)[0]);
const state = (page) => page.locator('.run-bar .pill').first().innerText();

async function setUp(t, { nodes = 2, expected = undefined } = {}) {
  const cluster = await startCluster(t, nodes, faulty);
  const { page, errors } = await openPage(t, { expected });
  return { ...cluster, page, errors, open: (to) => page.goto(cluster.server.url + to) };
}

/* The run once it has `rows` rows out of place; it stands still until it is let go on, so
 * that a slow page sees it under way. */
async function hold({ server, agents }, id, rows) {
  await server.event(id, (event) => event.type === 'result' && event.row >= 2 * rows - 2);
  const workers = Server.workersOf(agents);
  workers.forEach((pid) => process.kill(pid, 'SIGSTOP'));
  return () => workers.forEach((pid) => process.kill(pid, 'SIGCONT'));
}

/* The page's table holds what the server has, each row once. */
async function assertSameRows(page, server, id) {
  const rows = await server.rows(id);
  const wanted = rows
    .filter((row) => !row.in_place)
    .map((row) => [row.size % 1024 ? String(row.size) : `${row.size / 1024}K`, row.busbw_gbs.toPrecision(3)]);
  const shown = (await figureRows(page)).map((text) => text.split(/\s+/));
  assert.deepEqual(
    shown.map((cells) => cells[0]),
    wanted.map(([size]) => size),
  );
  shown.forEach((cells, i) =>
    assert.ok(
      cells.some((cell) => Number(cell) === Number(wanted[i][1])),
      `${cells} holds ${wanted[i]}`,
    ),
  );
}

test('a run is started from the form and watched to its end', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  await open('/');
  await seesNoRunsYet(page);
  await sees(page, '2 nodes: 2 idle');
  await page.getByRole('link', { name: 'New run' }).click();
  await page.getByLabel('Largest').fill('4K');
  await page.getByLabel('Name', { exact: true }).fill('from the form');
  await startButton(page).click();
  await until(
    async () =>
      (await state(page).catch(() => '')) === '✓\ncompleted' ||
      /completed/.test(await state(page).catch(() => '')),
    'the run to complete',
    60000,
  );
  const run = await server.getRun(currentRun(page));
  assert.equal(run.name, 'from the form');
  assert.equal(run.rows_total, 20);
  await until(async () => (await figureRows(page)).length === 10, 'ten rows');
  await assertSameRows(page, server, run.id);
  assert.deepEqual(
    (await axe(page)).map((violation) => violation.id),
    [],
  );
  await page.getByRole('link', { name: 'Runs', exact: true }).first().click();
  await page.getByRole('link', { name: 'from the form' }).waitFor();
});

test('what is found of nodes is on their pages, with what mends it, and on their runs', LIMIT, async (t) => {
  const server = await startServer(t);
  const { page } = await openPage(t, { expected: /500/ });
  for (const name of ['sick-1', 'sick-2']) {
    await startAgent(t, server, name, { env: { ...noNccl, RINGBENCH_ROOT: nodeTree(t, 'laptop_cgroup') } });
  }
  await startAgent(t, server, 'well', { env: { ...noNccl, RINGBENCH_ROOT: nodeTree(t, 'laptop') } });
  await page.goto(`${server.url}/nodes`);
  /* NCCL can use none of the GPUs on their buses. */
  await until(async () => (await page.locator('table.nodes tbody tr').count()) === 3, 'three nodes');
  const column = (await page.locator('table.nodes th[scope=col]').allInnerTexts()).findIndex((text) =>
    text.trim().startsWith('GPUs'),
  );
  const gpus = page.locator(`table.nodes tbody tr > :nth-child(${column + 1})`);
  assert.deepEqual(await gpus.allInnerTexts(), ['1 x unknown GPU', '1 x unknown GPU', '1 x unknown GPU']);
  await page.getByText('Preflight', { exact: true }).click();
  /* Whose findings are alike are one row; who is well has none. */
  const rows = page.getByRole('region', { name: 'Nodes by checks' }).locator('tbody tr');
  await until(async () => (await rows.count()) === 1, 'a row of the matrix');
  assert.match(await rows.innerText(), /^sick-1\s+and 1 more\s+warn\s*$/);
  await sees(page, 'give the job or container all CPUs of the node');
  assert.deepEqual(
    (await axe(page)).map((violation) => violation.id),
    [],
  );
  await page.goto(`${server.url}/nodes/sick-2`);
  await page.getByText('Preflight', { exact: true }).click();
  await sees(page, /\b1 finding: cgroup: .*\b1\.5 /);
  const { id } = await server.run({ sizes: [8], backend: 'host', nodes: { names: ['sick-1', 'well'] } });
  await page.goto(`${server.url}/runs/${id}`);
  await sees(page, /\b1 finding: cgroup: sick-1: .*\b1\.5 /);
  /* Its inventory beside that of the run's other node, and beside its own in another run. */
  await server.runEnds(id);
  const again = await server.run({
    name: 'again',
    sizes: [8],
    backend: 'host',
    nodes: { names: ['sick-1', 'well'] },
  });
  await server.runEnds(again.id);
  await page.goto(`${server.url}/nodes/sick-1`);
  await page.getByText('Compare inventories', { exact: true }).click();
  const found = page.getByRole('region', { name: 'Differences of inventories' });
  await found.getByRole('row', { name: /^limits\.cgroup_cpus .*1\.5/ }).waitFor();
  const earlier = page.getByLabel('Compared with').locator('option').nth(1);
  assert.match(await earlier.innerText(), /, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d [A-Z]/);
  await page.getByLabel('Compared with').selectOption({ index: 1 });
  await sees(page, 'No differences.');
  assert.deepEqual(
    (await axe(page)).map((violation) => violation.id),
    [],
  );
  /* An error goes with the choice that it answered, before the next answer comes. */
  await page.route('**/differences?base_node=*', (route) =>
    route.fulfill({ status: 500, json: { status: 500, detail: 'out of order' } }),
  );
  await page.route('**/differences?base=*', () => {});
  await page.getByLabel('Compared with').selectOption({ index: 0 });
  await sees(page, /out of order/);
  await page.getByLabel('Compared with').selectOption({ index: 1 });
  await until(async () => (await page.getByText(/out of order/).count()) === 0, 'the error is gone');
});

test('points arrive while they are measured', LIMIT, async (t) => {
  const { server, agents, page, open } = await setUp(t);
  const { id } = await server.run(WATCHED);
  const goOn = await hold({ server, agents }, id, 2);
  await open(`/runs/${id}`);
  await sees(page, 'all 2 running');
  await until(async () => (await figureRows(page)).length >= 2, 'the first rows', 30000);
  assert.match(await state(page), /running/);
  assert.ok((await figureRows(page)).length < 16);
  goOn();
  const run = await server.runEnds(id);
  assert.equal(run.state, 'completed');
  await until(async () => /completed/.test(await state(page)), 'the end on the page');
  await assertSameRows(page, server, id);
});

test('three tabs that watch a run show the same', LIMIT, async (t) => {
  const { server, agents, page, open } = await setUp(t);
  const { id } = await server.run(WATCHED);
  const goOn = await hold({ server, agents }, id, 2);
  const others = [await openPage(t), await openPage(t)].map((opened) => opened.page);
  await open(`/runs/${id}`);
  await Promise.all(others.map((other) => other.goto(`${server.url}/runs/${id}`)));
  for (const tab of [page, ...others]) {
    await until(async () => (await figureRows(tab)).length >= 2, 'the first rows', 30000);
  }
  goOn();
  await server.runEnds(id);
  for (const tab of [page, ...others]) {
    await until(async () => /completed/.test(await state(tab)), 'the end on the page');
    await assertSameRows(tab, server, id);
  }
});

test('the server is killed and comes back under the page: no gap, no duplicate', LIMIT, async (t) => {
  const { server, agents, page, open } = await setUp(t, { expected: /net::ERR|Failed to load/ });
  const { id } = await server.run(WATCHED);
  const goOn = await hold({ server, agents }, id, 3);
  await open(`/runs/${id}`);
  await until(async () => (await figureRows(page)).length >= 3, 'three rows', 30000);
  await server.killHard();
  await page.locator('.gone').waitFor();
  const before = await sizes(page);
  const again = await server.startAgain();
  await page.locator('.gone').waitFor({ state: 'hidden' });
  goOn();
  await again.runEnds(id);
  await until(async () => /completed|failed/.test(await state(page)), 'the end', 30000);
  assert.deepEqual((await sizes(page)).slice(0, before.length), before);
  assertNumbered(await again.events(id));
  await assertSameRows(page, again, id);
  const live = await figureRows(page);
  await page.reload();
  await until(async () => (await figureRows(page)).length === live.length, 'all rows');
  assert.deepEqual(await figureRows(page), live);
});

test('a wrong element of a real rank is shown with where', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  const { id } = await server.run({
    sizes: [1024, 4096],
    iters: 2,
    fault: { kind: 'wrong', rank: 1, row: 2, index: 7 },
  });
  await open(`/runs/${id}`);
  await sees(page, /failed: wrong data: 1 /);
  await page.getByText('1 wrong element in 1 row').click();
  await sees(page, /rank 1 on node-\d, all_reduce of 4K bytes \(out of place\), element 7/);
  assert.equal(await page.locator('.alerts > .alert').count(), 1);
});

test('a rank that dies ends the run with its name, and its log is there', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  const { id } = await server.run({ ...WATCHED, fault: { kind: 'die', rank: 1, row: 3 } });
  await open(`/runs/${id}`);
  await until(async () => /failed/.test(await state(page)), 'the failure', 30000);
  await page.locator('.alert.bad').filter({ hasText: 'node-2' }).first().waitFor();
  const named = page.getByRole('navigation', { name: 'Named by the failure' });
  assert.equal(
    await named.getByRole('link', { name: 'node-2', exact: true }).getAttribute('href'),
    '/nodes/node-2',
  );
  await named.getByRole('button', { name: 'Log of rank 1' }).click();
  await page.waitForURL('**?rank=1&tab=logs');
});

test('Stop ends the run', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  const { id } = await server.run({ ...WATCHED, iters: 1000 });
  await open(`/runs/${id}`);
  await sees(page, 'all 2 running');
  await page.getByRole('button', { name: 'Stop' }).click();
  await until(async () => /cancelled/.test(await state(page)), 'the cancel', 30000);
});

/* What the page's table says of each point: size, time and busbw of the row's text, as the
 * summary's points have them. */
async function assertTableIs(page, { series }) {
  const wanted = series
    .filter((one) => !one.in_place)
    .flatMap(({ points }) => points)
    .map(({ size, count, time_us: us, busbw_gbs: gbs }) => [size, count, us, gbs]);
  const shown = (await figureRows(page)).map((text) => text.split(/\s+/));
  assert.equal(shown.length, wanted.length);
  wanted.forEach(([size, count, us, gbs], i) => {
    const cells = shown[i].map((cell) => Number(cell.replace(/^~|(±.*|unknown)$/g, '')));
    assert.equal(shown[i][0], size % 1024 ? String(size) : `${size / 1024}K`);
    assert.equal(cells[1], count);
    for (const figure of [us, gbs]) {
      assert.ok(
        cells.some((cell) => Math.abs(cell / figure - 1) < 0.01),
        `${shown[i]} holds ${figure}`,
      );
    }
  });
}

test('what the page shows of repeats is what the server says, live and in the end', LIMIT, async (t) => {
  const { server, agents, page, open } = await setUp(t);
  const { id } = await server.run({ ...WATCHED, repeats: 3, in_place: false });
  await open(`/runs/${id}`);
  const summary = () => server.get(`/api/v1/runs/${id}/summary`);
  const isThere = async ({ results }) =>
    (await page.getByText(new RegExp(`^${results} of 48 rows measured`)).count()) === 1;
  const letGo = await hold({ server, agents }, id, 5);
  const live = await summary();
  await until(() => isThere(live), 'the rows so far');
  await assertTableIs(page, live);
  letGo();
  await until(async () => /completed/.test(await state(page)), 'the end', 60000);
  const end = await summary();
  assert.ok(end.series[0].points.every(({ rows }) => rows === 3));
  await until(async () => (await sizes(page)).length === 16, 'every size');
  await assertTableIs(page, end);
});

test('labels and notes are changed on the page, and what is wrong is said there', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t, { nodes: 1, expected: /422/ });
  const { id } = await server.runToEnd({ sizes: [8], iters: 1, labels: { gpu: 'a100', draft: 'yes' } });
  await open(`/runs/${id}`);
  await page.getByRole('button', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog');
  const labels = dialog.getByLabel('Labels');
  assert.equal(await labels.inputValue(), 'gpu=a100\ndraft=yes');
  await labels.fill(`gpu=${'x'.repeat(201)}`);
  await dialog.getByLabel('Notes').fill('one\n<b>two</b>');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await sees(page, /^\/labels\/gpu: .*200/);
  assert.deepEqual(await axe(page), []);
  await labels.fill('gpu = h100\n\nrack=b=7');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await sees(page, 'rack=b=7');
  await page.reload();
  await sees(page, 'gpu=h100');
  assert.equal(await page.locator('.run-notes').innerText(), 'one\n<b>two</b>');
  const { labels: stored, notes } = await server.getRun(id);
  assert.deepEqual([stored, notes], [{ gpu: 'h100', rack: 'b=7' }, 'one\n<b>two</b>']);
  await page.getByRole('tab', { name: 'Logs' }).click();
  await sees(page, /edited by 127\.0\.0\.1: label gpu=h100, .*draft removed, notes/);
  await page.getByRole('button', { name: 'Edit' }).click();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  assert.equal((await server.events(id)).filter(({ type }) => type === 'edit').length, 1);
});

test('the server judges the form: a long name, no iterations, an unknown node', LIMIT, async (t) => {
  const { page, open } = await setUp(t, { expected: /422/ });
  await open('/new');
  await page.getByLabel('Name', { exact: true }).fill('<script>'.repeat(1250));
  await measuring(page).click();
  await page.getByLabel('Timed calls').fill('0');
  await page.getByText('Environment and limits').click();
  await page.getByLabel('Environment', { exact: true }).fill('LD_PRELOAD=/x.so');
  await startButton(page).click();
  await page.locator('#name-error').filter({ hasText: /\w/ }).waitFor();
  for (const id of ['name', 'iters', 'env']) {
    assert.match(await page.locator(`#${id}-error`).innerText(), /\w/, id);
  }
  assert.equal(await page.evaluate(() => document.activeElement.id), 'name');
});

test('a name that is markup comes back as text through the real server', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t, { nodes: 1 });
  const name = '<script>window.owned = 1</script>';
  const { id } = await server.run({ name, sizes: [8], iters: 1, labels: { x: '<b>&' } });
  await server.runEnds(id);
  await open('/');
  await page.getByRole('link', { name }).click();
  await sees(page, 'x=<b>&');
  assert.equal(await page.evaluate('window.owned'), undefined);
});

test('a node shows its inventory', LIMIT, async (t) => {
  const { page, open } = await setUp(t, { nodes: 1 });
  await open('/nodes/node-1');
  await sees(page, 'Host id');
  const facts = await page.locator('dl.facts.card').innerText();
  assert.match(facts, /Memory\s+\d+(\.\d+)? GiB/);
  assert.doesNotMatch(facts, /Interfaces/);
  await open('/nodes');
  await sees(page, '1 node: 1 idle');
  assert.ok(!(await page.getByLabel('Group by').isVisible()));
});

test('an empty server has simulated nodes by a click, and names the slow one', LIMIT, async (t) => {
  const server = await Server.start(t);
  const { page, errors } = await openPage(t);
  await page.goto(server.url);
  await page.getByRole('button', { name: 'Load demo data' }).click();
  await sees(page, /\bsim-6 .*\b15 .*\b15 /);
  await sees(page, 'Simulated');
  await page.getByRole('link', { name: 'Runs', exact: true }).first().click();
  await sees(page, 'demo: all nodes');
  assert.equal(await page.getByRole('button', { name: 'Load demo data' }).isVisible(), false);
  await page.getByRole('link', { name: 'Nodes', exact: true }).click();
  await page.getByRole('link', { name: 'slow node simulated' }).waitFor();
  assert.deepEqual(errors, []);
});

test('a watch names a slow node; its night leads to the map of pairs, and it is paused', LIMIT, async (t) => {
  const calendar = new Calendar(t);
  const server = await startServer(t, { env: calendar.env });
  const slow = await startChanging(t, server);
  const spec = { ...sim, env: { ...sim.env, SIM_NOISE: '0.002' } };
  const id = await addWatch(server, { name: 'nightly', every: '24h', spec });
  await sweepsAre(server, id, 1);
  for (let n = 2; n <= 7; n++) {
    calendar.move(day);
    await sweepsAre(server, id, n);
  }
  slow('sim-2:0.5');
  calendar.move(day);
  const { last, nodes } = await sweepsAre(server, id, 8);
  const [{ run }] = last.evidence.named;

  const { page } = await openPage(t);
  await page.goto(`${server.url}/watches`);
  await sees(page, last.sentence);
  await sees(page, '4 of 4 nodes measured in the last 24 h');
  const nights = page.getByRole('list', { name: /^nightly: / }).getByRole('link');
  assert.equal(await nights.count(), 8);
  assert.deepEqual(await axe(page), []);
  await nights.last().click();
  await page.waitForURL(`**/runs/${run}`);
  await page.getByLabel(/^Map of pairs of nodes/).waitFor();
  await page.goBack();
  await page.getByRole('link', { name: 'sim-2', exact: true }).click();
  await page.waitForURL('**/nodes/sim-2');

  const { level, low, high } = nodes.find(({ name }) => name === 'sim-2');
  await page.goto(`${server.url}/nodes`);
  const cell = page.getByRole('row', { name: /^sim-2 / }).getByRole('cell', { name: /usual/ });
  const text = await cell.textContent();
  for (const figure of [level, low, high]) {
    assert.ok(
      text.match(/\d+\.?\d*/g).some((shown) => Math.abs(Number(shown) / figure - 1) < 0.01),
      `${text} has ${figure}`,
    );
  }
  assert.ok(level < low && text.includes('slower'), text);
  assert.equal(await page.locator('td.odd').count(), 1, 'all nodes share the level, one was named');

  await page.goto(`${server.url}/watches`);
  await page.getByRole('button', { name: 'pause nightly' }).click();
  await page.getByRole('button', { name: 'resume nightly' }).waitFor();
  assert.equal((await watchOf(server, id)).state, 'paused');
});
