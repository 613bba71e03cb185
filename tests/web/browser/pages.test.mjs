/* SPDX-License-Identifier: Apache-2.0 */
/* pages.test.mjs - what holds for every view: no violation, no overflow, no markup out of
 * data, no way round the content security policy */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { axe } from '../lib/browser.mjs';
import {
  closeBrowser,
  LIMIT,
  pageTest as test,
  sees,
  seesNoRunsYet,
  setUp,
  slowNodeButton,
  until,
} from '../lib/page.mjs';
import { sampleLevel, sampleNode, sampleProgram, sampleRun, sampleWatch } from '../lib/sample.mjs';

after(closeBrowser);

const RUN = '06cw1x2k3m4n';
const EVIL = '<script>window.owned = 1</script><img src=x onerror="window.owned = 1">';

/* path, and what is there when the view is drawn. */
const nameFilter = (page) => page.getByLabel('Filter by name or id');
const VIEWS = {
  runs: ['/', 'Result'],
  run: [`/runs/${RUN}`, 'Figures'],
  ranks: [`/runs/${RUN}?tab=ranks`, 'Ranks by size'],
  cases: [`/runs/${RUN}?tab=cases`, 'Cases'],
  logs: [`/runs/${RUN}?tab=logs`, 'Timeline'],
  spec: [`/runs/${RUN}?tab=spec`, 'Effective spec'],
  overlay: [`/runs/${RUN}?with=r2&metric=time`, 'Overlaid runs'],
  figures: ['/runs/prog', 'Figures of the program'],
  new: [`/new?from=${RUN}`, 'Change what should differ'],
  nodes: ['/nodes', 'Last seen'],
  node: ['/nodes/node-1', 'Host id'],
  watches: ['/watches', '58 of 64 nodes'],
  missing: ['/nowhere/at/all', 'Page not found'],
};

function fill(server, { name = 'nightly', label = 'NET-12', node = 'node-1' } = {}) {
  server.nodes = [sampleNode(node), sampleNode('node-2', 'lost')];
  const named = [{ answer: 'slow_node', nodes: [node], sentence: name, run: RUN }];
  server.watches = [
    sampleWatch(
      [
        { answer: 'slow_node', named },
        { answer: 'pass', skipped: 1 },
      ],
      {
        name,
        stale: [node],
        nodes: [sampleLevel(node, 38.1, 6)],
      },
    ),
  ];
  const wrong = { wrong: 2, errors: [{ rank: 1, index: 0, expected: '6', got: '5' }] };
  server.add(
    sampleRun({
      name,
      labels: { ticket: label },
      sizes: [8, 1024, 65536],
      collectives: ['all_reduce', 'broadcast'],
      repeats: 2,
      mutate: (row) => (row.row === 0 ? { ...row, ...wrong } : row),
    }),
  );
  server.add(sampleProgram());
  server.add(sampleRun({ id: 'r2', state: 'failed', reason: 'why', sizes: [8] }));
}

const openAll = (page) =>
  page.evaluate(() => {
    document.querySelectorAll('details').forEach((details) => {
      details.open = true;
    });
  });

for (const scheme of ['light', 'dark']) {
  test(`no accessibility violation on any view, ${scheme}`, LIMIT, async (t) => {
    const { server, page, open } = await setUp(t, { scheme });
    fill(server);
    for (const [view, [path, text]] of Object.entries(VIEWS)) {
      await open(path);
      await sees(page, text);
      await openAll(page);
      const found = await axe(page);
      assert.deepEqual(
        found.map((v) => [v.id, v.nodes[0].html]),
        [],
        view,
      );
    }
  });
}

test('the accessibility check itself finds a violation', LIMIT, async (t) => {
  const { page, open } = await setUp(t);
  await open('/nowhere');
  await page.evaluate(() => document.querySelector('main').append(document.createElement('input')));
  assert.ok((await axe(page)).some((violation) => violation.id === 'label'));
});

for (const width of [400, 1600]) {
  test(`nothing is wider than the window at ${width} pixels, whatever the names`, LIMIT, async (t) => {
    const { server, page, open } = await setUp(t, { width });
    fill(server, { name: 'n'.repeat(10000), label: 'x'.repeat(10000) });
    for (const [view, [path, text]] of Object.entries(VIEWS)) {
      await open(path);
      await sees(page, text);
      await openAll(page);
      const [inner, outer] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(inner <= outer, `${view}: ${inner} in ${outer}`);
    }
  });
}

test('ids and names keep their letters, and a short one its line', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t, { width: 400, height: 900 });
  fill(server, { name: 'x', node: 'node-1' });
  await open('/nodes');
  await sees(page, 'Last seen');
  const [lines, ligatures] = await page.evaluate(() => {
    const link = document.querySelector('tbody th a');
    return [link.getClientRects().length, getComputedStyle(link).fontVariantLigatures];
  });
  assert.equal(lines, 1, 'node-1 is broken');
  assert.equal(ligatures, 'no-contextual');
});

test('names that are markup stay text on every view', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  fill(server, { name: EVIL, label: EVIL, node: EVIL });
  server.logs = [{ seq: 1, time: '', case: 0, rank: 0, stream: 'stdout', text: EVIL }];
  const paths = { ...VIEWS, node: [`/nodes/${encodeURIComponent(EVIL)}`, 'Host id'] };
  for (const [view, [path, text]] of Object.entries(paths)) {
    await open(path);
    await sees(page, text);
    await openAll(page);
    if (view === 'logs') {
      await page.locator('.log-lines').getByText(EVIL).waitFor();
    }
    assert.equal(await page.evaluate('window.owned'), undefined, view);
    assert.equal(await page.locator('main script, main img').count(), 0, view);
  }
});

test('the policy that the pages live under refuses inline code', LIMIT, async (t) => {
  const { page, errors, open } = await setUp(t, { expected: /Content Security Policy/ });
  await open('/nowhere');
  await sees(page, VIEWS.missing[1]);
  assert.deepEqual(errors, []);
  await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.owned = 1';
    document.body.append(script);
  });
  assert.equal(await page.evaluate('window.owned'), undefined);
  await until(() => errors.length > 0, 'the refusal in the console');
});

test('an empty server shows the three lines to copy', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  await open('/');
  await seesNoRunsYet(page);
  const lines = await page.locator('.steps code').allInnerTexts();
  assert.deepEqual(lines, [
    `ringbench-server --listen ${new URL(server.url).host}`,
    `ringbench-agent --server ${server.url}`,
    `curl -sSN -H 'Accept: text/plain' -d '{}' ${server.url}/api/v1/runs`,
  ]);
  assert.equal(await nameFilter(page).isVisible(), false);
  await page.evaluate(() => sessionStorage.setItem('ringbench-token', 'secret'));
  await page.reload();
  await seesNoRunsYet(page);
  const withToken = await page.locator('.steps code').allInnerTexts();
  assert.match(withToken[1], /^ringbench-agent --server \S+ --token-file agent\.token$/);
  assert.match(withToken[2], /-H "Authorization: Bearer \$RINGBENCH_TOKEN" -d '\{\}' http/);
  fill(server);
  await sees(page, 'nightly');
  assert.equal(await page.locator('.steps').isVisible(), false);
});

test('idle nodes and no run: the slow one is sought with one click', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t, { expected: /404/ });
  server.nodes = [1, 2, 3].map((i) => sampleNode(`node-${i}`));
  server.onValidate = (spec) => ({
    status: 200,
    body: { placement: { outcome: spec.backend === 'sim' ? 'ready' : 'unknown' } },
  });
  server.onPost = () => ({ status: 201, body: { id: 'made' } });
  await open('/');
  await sees(page, 'Measures all 3 idle nodes in pairs');
  await slowNodeButton(page).click();
  await page.waitForURL(/\/runs\/made$/);
  assert.deepEqual(server.posts[0].spec, {
    name: 'slow node',
    backend: 'sim',
    pattern: 'pairs',
    sizes: ['64M'],
    in_place: false,
  });
  server.nodes.pop();
  await open('/');
  await seesNoRunsYet(page);
  await sees(page, '2 nodes: 2 idle');
  assert.ok(!(await slowNodeButton(page).isVisible()));
});

test('the list is filtered, and the address holds the filter', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  fill(server);
  await open('/');
  await sees(page, 'nightly');
  const failed = page.getByRole('button', { name: 'failed', exact: true });
  await failed.click();
  await page.getByText('nightly').waitFor({ state: 'detached' });
  assert.match(page.url(), /\?state=failed$/);
  await nameFilter(page).fill('nothing');
  await sees(page, '0 runs');
  await page.reload();
  assert.equal(await nameFilter(page).inputValue(), 'nothing');
  assert.equal(await failed.getAttribute('aria-pressed'), 'true');
});

test('older runs are a page further', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  for (let i = 0; i < 60; i += 1) {
    server.add(sampleRun({ id: `run-${i}`, sizes: [8] }));
  }
  await open('/');
  await sees(page, 'run-59');
  await page.getByRole('link', { name: 'Next page' }).click();
  await sees(page, 'run-9');
  assert.match(page.url(), /\?cursor=50$/);
  await page.getByRole('link', { name: 'First page' }).click();
  await sees(page, 'run-59');
});

test('the theme is switched and remembered', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  fill(server);
  await open(`/runs/${RUN}`);
  const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await background();
  await page.getByRole('button', { name: 'Dark theme' }).click();
  const dark = await background();
  assert.notEqual(dark, light);
  await page.reload();
  assert.equal(await background(), dark);
  await page.getByRole('button', { name: 'Light theme' }).click();
  assert.equal(await background(), light);
  await page.evaluate(() => localStorage.clear());
});

test('a token is asked for, sent with everything, and lives in this tab only', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t, { expected: /401/ });
  fill(server);
  server.token = 'secret';
  await open(`/runs/${RUN}`);
  await page.getByRole('textbox', { name: 'Token' }).fill('wrong');
  await page.getByRole('button', { name: 'Continue' }).click();
  await sees(page, 'The token was not accepted.');
  await page.getByRole('textbox', { name: 'Token' }).fill('secret');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('region', { name: 'Results' }).waitFor();
  const events = server.requests.filter((r) => r.path.endsWith('/events')).at(-1);
  assert.equal(events.headers.authorization, 'Bearer secret');
  assert.equal(await page.evaluate(() => sessionStorage.getItem('ringbench-token')), 'secret');
  assert.equal(await page.evaluate(() => JSON.stringify(localStorage).includes('secret')), false);
  await page.getByRole('tab', { name: 'Spec' }).click();
  assert.match(
    await page.getByRole('region', { name: 'the curl command' }).innerText(),
    /Bearer \$RINGBENCH_TOKEN/,
  );
});

test('a token is asked for even where the answer comes before the first frame', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t, { expected: /401/ });
  fill(server);
  server.token = 'secret';
  /* Frames of a busy machine: effects wait for them, and answers come meanwhile. */
  await page.addInitScript(() => {
    const { setTimeout } = window;
    window.requestAnimationFrame = (callback) => setTimeout(callback, 500);
    const slow = (callback, ms, ...rest) => setTimeout(callback, ms > 0 && ms < 500 ? 500 : ms, ...rest);
    window.setTimeout = /** @type {any} */ (slow);
  });
  await open(`/runs/${RUN}`);
  await page.getByRole('textbox', { name: 'Token' }).waitFor();
});

test('what a program printed is charted by step, a line per environment', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  fill(server);
  await open('/runs/prog');
  await page.locator('.legend-item', { hasText: 'NCCL_P2P_DISABLE=1' }).waitFor();
  await sees(page, 'samples/s by step, higher is better');
  await page.locator('.chart-box').first().focus();
  await page.keyboard.press('ArrowRight');
  await sees(page, 'step 1');
  assert.match(await page.locator('.readout').first().innerText(), /2\.00 samples\/s/);
  await page.getByRole('tab', { name: /^Cases/ }).click();
  await page.getByRole('button', { name: 'NCCL_P2P_DISABLE=0, repeat 2' }).waitFor();
});

test('keys move through the runs, choose and filter', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  fill(server);
  await open('/');
  await sees(page, 'nightly');
  await page.keyboard.press('j');
  await page.keyboard.press('ArrowDown');
  const focused = () => page.evaluate(() => document.activeElement.textContent);
  assert.equal(await focused(), 'train');
  await page.keyboard.press('x');
  assert.equal(await page.getByRole('checkbox', { name: 'Select train' }).isChecked(), true);
  await page.keyboard.press('/');
  await page.keyboard.type('night');
  await until(async () => (await page.locator('table.runs tbody tr').count()) === 1, 'one run');
  assert.match(page.url(), /q=night$/);
});
