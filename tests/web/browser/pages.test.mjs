/* pages.test.mjs - what holds for every view: no violation, no overflow, no markup out of
 * data, no way round the content security policy */
import assert from 'node:assert/strict';
import {after} from 'node:test';
import {axe} from '../lib/browser.mjs';
import {problemDocument} from '../lib/fake_server.mjs';
import {closeBrowser, LIMIT, pageTest as test, sees, setUp, until} from '../lib/page.mjs';
import {sampleNode, sampleProgram, sampleRun} from '../lib/sample.mjs';

after(closeBrowser);

const RUN = '06cw1x2k3m4n';
const EVIL = '<script>window.owned = 1</script><img src=x onerror="window.owned = 1">';

/* path, and what is there when the view is drawn. */
const VIEWS = {
  runs: ['/', 'Peak busbw'],
  run: [`/runs/${RUN}`, 'Figures'],
  overlay: [`/runs/${RUN}?with=r2&metric=time`, 'On one chart'],
  figures: ['/runs/prog', 'Figures of the program'],
  new: [`/new?from=${RUN}`, 'change what should differ'],
  nodes: ['/nodes', 'Last seen'],
  node: ['/nodes/node-1', 'Host identity'],
  missing: ['/nowhere/at/all', 'Nothing is at this address']
};

function fill(server, {name = 'nightly', label = 'NET-12', node = 'node-1'} = {}) {
  server.nodes = [sampleNode(node), sampleNode('node-2', 'lost')];
  const wrong = {wrong: 2, errors: [{rank: 1, index: 0, expected: '6', got: '5'}]};
  server.add(sampleRun({
    name,
    labels: {ticket: label},
    sizes: [8, 1024, 65536],
    collectives: ['all_reduce', 'broadcast'],
    repeats: 2,
    mutate: row => (row.row === 0 ? {...row, ...wrong} : row)
  }));
  server.add(sampleProgram());
  server.add(sampleRun({id: 'r2', state: 'failed', reason: 'why', sizes: [8]}));
}

const openAll = page => page.evaluate(() => {
  document.querySelectorAll('details').forEach(details => { details.open = true; });
});

for (const scheme of ['light', 'dark']) {
  test(`no accessibility violation on any view, ${scheme}`, LIMIT, async t => {
    const {server, page, open} = await setUp(t, {scheme});
    fill(server);
    for (const [view, [path, text]] of Object.entries(VIEWS)) {
      await open(path);
      await sees(page, text);
      await openAll(page);
      const found = await axe(page);
      assert.deepEqual(found.map(v => [v.id, v.nodes[0].html]), [], view);
    }
  });
}

test('the accessibility check itself finds a violation', LIMIT, async t => {
  const {page, open} = await setUp(t);
  await open('/nowhere');
  await page.evaluate(
    () => document.querySelector('main').append(document.createElement('input')));
  assert.ok((await axe(page)).some(violation => violation.id === 'label'));
});

for (const width of [400, 1600]) {
  test(`nothing is wider than the window at ${width} pixels, whatever the names`, LIMIT,
    async t => {
      const {server, page, open} = await setUp(t, {width});
      fill(server, {name: 'n'.repeat(10000), label: 'x'.repeat(10000)});
      for (const [view, [path, text]] of Object.entries(VIEWS)) {
        await open(path);
        await sees(page, text);
        await openAll(page);
        const [inner, outer] =
          await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
        assert.ok(inner <= outer, `${view}: ${inner} in ${outer}`);
      }
    });
}

test('ids and names keep their letters, and a short one its line', LIMIT, async t => {
  const {server, page, open} = await setUp(t, {width: 400, height: 900});
  fill(server, {name: 'x', node: 'node-1'});
  await open('/nodes');
  await sees(page, 'Last seen');
  const [lines, ligatures] = await page.evaluate(() => {
    const link = document.querySelector('tbody th a');
    return [link.getClientRects().length, getComputedStyle(link).fontVariantLigatures];
  });
  assert.equal(lines, 1, 'node-1 is broken');
  assert.equal(ligatures, 'no-contextual');
});

test('a run of control series alone says which they are', LIMIT, async t => {
  const {server, page, open} = await setUp(t);
  server.nodes = [sampleNode('node-1')];
  const sample = sampleRun({sizes: [8]});
  Object.assign(sample.spec, {collectives: [], control: ['barrier', 'chunks']});
  server.add(sample);
  for (const path of ['/', '/nodes/node-1']) {
    await open(path);
    await sees(page, 'barrier, chunks');
  }
});

test('names that are markup stay text on every view', LIMIT, async t => {
  const {server, page, open} = await setUp(t);
  fill(server, {name: EVIL, label: EVIL, node: EVIL});
  server.logs = [{seq: 1, time: '', case: 0, rank: 0, stream: 'stdout', text: EVIL}];
  const paths = {...VIEWS, node: [`/nodes/${encodeURIComponent(EVIL)}`, 'Host identity']};
  for (const [view, [path, text]] of Object.entries(paths)) {
    await open(path);
    await sees(page, text);
    await openAll(page);
    if (view === 'run') {
      await page.locator('.log-lines').getByText(EVIL).waitFor();
    }
    assert.equal(await page.evaluate(() => window.owned), undefined, view);
    assert.equal(await page.locator('main script, main img').count(), 0, view);
  }
});

test('the policy that the pages live under refuses inline code', LIMIT, async t => {
  const {page, errors, open} = await setUp(t, {expected: /Content Security Policy/});
  await open('/nowhere');
  await sees(page, 'Nothing is at this address');
  assert.deepEqual(errors, []);
  await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.owned = 1';
    document.body.append(script);
  });
  assert.equal(await page.evaluate(() => window.owned), undefined);
  await until(() => errors.length > 0, 'the refusal in the console');
});

test('an empty server shows the three lines to copy', LIMIT, async t => {
  const {server, page, open} = await setUp(t);
  await open('/');
  await sees(page, 'No runs yet');
  const lines = await page.locator('.steps code').allInnerTexts();
  assert.deepEqual(lines, [
    `ringbench-server --listen ${new URL(server.url).host}`,
    `ringbench-agent --server ${server.url}`,
    `curl -N -H 'Accept: text/plain' -d '{}' ${server.url}/api/v1/runs`
  ]);
  fill(server);
  await sees(page, 'nightly');
  assert.equal(await page.getByText('No runs yet').isVisible(), false);
});

test('the list is filtered, and the address holds the filter', LIMIT, async t => {
  const {server, page, open} = await setUp(t);
  fill(server);
  await open('/');
  await sees(page, 'nightly');
  await page.getByLabel('Filter by state').selectOption('failed');
  await page.getByText('nightly').waitFor({state: 'detached'});
  assert.match(page.url(), /\?state=failed$/);
  await page.getByLabel('Filter by name or id').fill('nothing');
  await sees(page, 'No run fits the filter.');
  await page.reload();
  assert.equal(await page.getByLabel('Filter by name or id').inputValue(), 'nothing');
  assert.equal(await page.getByLabel('Filter by state').inputValue(), 'failed');
});

test('older runs are a page further', LIMIT, async t => {
  const {server, page, open} = await setUp(t);
  for (let i = 0; i < 60; i += 1) {
    server.add(sampleRun({id: `run-${i}`, sizes: [8]}));
  }
  await open('/');
  await sees(page, 'run-59');
  await page.getByRole('link', {name: 'Older runs'}).click();
  await sees(page, 'run-9');
  assert.match(page.url(), /\?cursor=50$/);
  await page.getByRole('link', {name: 'Newest runs'}).click();
  await sees(page, 'run-59');
});

test('the theme is switched and remembered', LIMIT, async t => {
  const {server, page, open} = await setUp(t);
  fill(server);
  await open(`/runs/${RUN}`);
  const background = () =>
    page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await background();
  await page.getByRole('button', {name: 'Dark theme'}).click();
  const dark = await background();
  assert.notEqual(dark, light);
  await page.reload();
  assert.equal(await background(), dark);
  await page.getByRole('button', {name: 'Light theme'}).click();
  assert.equal(await background(), light);
  await page.evaluate(() => localStorage.clear());
});

test('a token is asked for, sent with everything, and lives in this tab only', LIMIT,
  async t => {
    const {server, page, open} = await setUp(t, {expected: /401/});
    fill(server);
    server.token = 'secret';
    await open(`/runs/${RUN}`);
    await page.getByRole('textbox', {name: 'Token'}).fill('wrong');
    await page.getByRole('button', {name: 'Use it'}).click();
    await sees(page, 'The token was not accepted.');
    await page.getByRole('textbox', {name: 'Token'}).fill('secret');
    await page.getByRole('button', {name: 'Use it'}).click();
    await page.getByRole('region', {name: 'Results'}).waitFor();
    const events = server.requests.filter(r => r.path.endsWith('/events')).at(-1);
    assert.equal(events.headers.authorization, 'Bearer secret');
    assert.equal(
      await page.evaluate(() => sessionStorage.getItem('ringbench-token')), 'secret');
    assert.equal(
      await page.evaluate(() => JSON.stringify(localStorage).includes('secret')), false);
    await page.getByText('Spec and environment').click();
    assert.match(await page.getByRole('region', {name: 'the curl line'}).innerText(),
      /Bearer \$RINGBENCH_TOKEN/);
  });

test(
  'the form shows its request as it is filled in, and starts the run', LIMIT, async t => {
    const {server, page, open} = await setUp(t);
    fill(server);
    server.onPost = () => ({status: 201, body: {id: RUN}});
    server.onValidate = spec => ({
      status: 200,
      body: {
        spec,
        cases: 2,
        rows: 50,
        sizes: {count: 25, min: 8, max: 128 << 20},
        placement: {
          outcome: 'ready',
          reason: null,
          backend: 'host',
          world_size: 4,
          nodes: [{name: 'node-1', ranks: 4}]
        },
        memory: {per_rank_bytes: 512 << 20, where: 'host'},
        time: {seconds: 12, basis: 'runs', detail: 'from the last completed runs'}
      }
    });
    await open('/new');
    const curl = () => page.getByRole('region', {name: 'the curl line'}).innerText();
    await until(async () => / -d '\{\}' http/.test(await curl()), 'the form');
    await sees(page, '2 cases, 25 sizes up to 128 MiB, 50 rows.');
    await sees(page, 'Starts at once: host, 1 node, 4 ranks.');
    await sees(page, 'Roughly 12 s: from the last completed runs');
    await page.getByRole('checkbox', {name: 'all_reduce'}).check();
    await page.getByLabel('Largest').fill('64K');
    await page.getByLabel('Nodes', {exact: true}).selectOption('names');
    await page.getByRole('checkbox', {name: 'node-1'}).check();
    await page.getByLabel('Name', {exact: true}).fill('it’s');
    const wanted = {
      collectives: ['all_reduce'],
      sizes: {max: '64K'},
      nodes: {names: ['node-1']},
      name: 'it’s'
    };
    assert.deepEqual(
      JSON.parse(await page.getByLabel('The request as JSON').inputValue()), wanted);
    await page.getByRole('button', {name: 'Start the run'}).click();
    await sees(page, 'Figures');
    assert.deepEqual(server.posts[0].spec, wanted);
    assert.match(server.posts[0].key, /^[0-9a-f]{32}$/);
  });

test('the server’s faults stand at their fields, and the first has the focus', LIMIT,
  async t => {
    const {server, page, open} = await setUp(t, {expected: /422/});
    const errors = [
      {pointer: '/iters', detail: 'must be 1 to 1000000, not 0'},
      {pointer: '/env/LD_PRELOAD', detail: 'is not allowed'}
    ];
    server.onPost = () =>
      ({status: 422, body: problemDocument(422, 'the spec has 2 faults', errors)});
    await open('/new');
    await page.getByText('How to measure').click();
    await page.getByLabel('Timed calls').fill('0');
    await page.getByText('How to measure').click();
    await page.getByRole('button', {name: 'Start the run'}).click();
    await sees(page, 'must be 1 to 1000000, not 0');
    await sees(page, 'the spec has 2 faults');
    const field = page.getByLabel('Timed calls');
    assert.equal(await field.getAttribute('aria-invalid'), 'true');
    assert.equal(await field.evaluate(input => input === document.activeElement), true);
    await page.getByRole('button', {name: 'Start the run'}).click();
    await until(() => server.posts.length === 2, 'the second try');
    assert.equal(server.posts[1].key, server.posts[0].key);
    await field.fill('5');
    await page.getByRole('button', {name: 'Start the run'}).click();
    await until(() => server.posts.length === 3, 'the third try');
    assert.notEqual(server.posts[2].key, server.posts[0].key);
  });

test('the server checks the request while it is typed', LIMIT, async t => {
  const {server, page, open} = await setUp(t, {expected: /422/});
  const errors = [{pointer: '/iters', detail: 'must be 1 to 1000000, not 0'}];
  server.onValidate = spec =>
    (spec.iters === 0 ? {status: 422, body: problemDocument(422, 'a fault', errors)}
                      : {status: 200, body: {spec, cases: 1}});
  await open('/new');
  await page.getByText('How to measure').click();
  await page.getByLabel('Timed calls').fill('0');
  await sees(page, 'must be 1 to 1000000, not 0');
  assert.equal(server.posts.length, 0);
  await page.getByLabel('Timed calls').fill('7');
  await page.getByText('must be 1 to 1000000, not 0').waitFor({state: 'hidden'});
});

test('nothing can be filled in before the form is there', LIMIT, async t => {
  const {server, page, open} = await setUp(t);
  fill(server);
  let answer = null;
  server.beforeSchema = new Promise(resolve => { answer = resolve; });
  await open('/new');
  await sees(page, 'Asking the server…');
  assert.equal(await page.getByLabel('The request as JSON').isVisible(), false);
  answer();
  await page.getByLabel('The request as JSON').waitFor();
  assert.equal(await page.getByText('Asking the server…').count(), 0);
});

test('JSON fills the form, and goes out as it stands', LIMIT, async t => {
  const {server, page, open} = await setUp(t);
  fill(server);
  server.onPost = () => ({status: 201, body: {id: RUN}});
  await open('/new');
  const json = page.getByLabel('The request as JSON');
  await json.fill('{"iters": 7, "matrix": {"NCCL_ALGO": ["Ring", null]}, "later": 1');
  await sees(page, /JSON/);
  const spec = {iters: 7, matrix: {NCCL_ALGO: ['Ring', null]}, later: 1};
  await json.fill(JSON.stringify(spec));
  assert.equal(await page.getByLabel('Variable').inputValue(), 'NCCL_ALGO');
  assert.equal(await page.getByLabel('Values, one a line').inputValue(), 'Ring');
  await page.getByRole('button', {name: 'Add a variable'}).click();
  await page.getByLabel('Variable').nth(1).fill('NCCL_PROTO');
  await page.getByLabel('Values, one a line').nth(1).fill('LL\nSimple');
  await page.getByRole('button', {name: 'Start the run'}).click();
  await sees(page, 'Figures');
  assert.deepEqual(server.posts[0].spec,
    {...spec, matrix: {...spec.matrix, NCCL_PROTO: ['LL', 'Simple']}});
});

test('a program is chosen with its arguments', LIMIT, async t => {
  const {server, page, open} = await setUp(t);
  fill(server);
  server.onPost = () => ({status: 201, body: {id: RUN}});
  server.programs = [{
    name: 'train',
    description: 'Trains a little',
    parameters: {
      steps:
        {type: 'integer', min: 1, max: 500, default: 100, description: 'of training'},
      mode: {type: 'enum', values: ['fast', 'slow']}
    },
    metrics: [{name: 'speed', unit: 'samples/s', higher_is_better: true}],
    ranks_per_node: 2,
    timeout_s: null,
    nodes: ['node-1', 'node-2']
  }];
  await open('/new');
  await page.getByRole('button', {name: 'Run a program'}).click();
  assert.equal(await page.getByText('Collectives', {exact: true}).isVisible(), false);
  await page.getByLabel('Program', {exact: true}).selectOption('train');
  await sees(page, 'Trains a little. On 2 nodes, 2 ranks each. Figures: speed.');
  await sees(page, 'of training; 1 to 500');
  await page.getByLabel('steps').fill('20');
  await page.getByLabel('mode').selectOption('slow');
  await page.getByRole('button', {name: 'Start the run'}).click();
  await sees(page, 'Figures');
  assert.deepEqual(
    server.posts[0].spec, {program: {name: 'train', args: {steps: 20, mode: 'slow'}}});
});

test(
  'what a program printed is charted by step, a line per environment', LIMIT, async t => {
    const {server, page, open} = await setUp(t);
    fill(server);
    await open('/runs/prog');
    await page.locator('.legend-item', {hasText: 'NCCL_P2P_DISABLE=1'}).waitFor();
    await sees(page, 'samples/s by step, higher is better');
    await page.locator('.chart-box').first().focus();
    await page.keyboard.press('ArrowRight');
    await sees(page, 'step 1');
    assert.match(await page.locator('.readout').first().innerText(), /2\.00 samples\/s/);
    await sees(page, 'NCCL_P2P_DISABLE=0, repeat 2');
  });

test('keys move through the runs, choose and filter', LIMIT, async t => {
  const {server, page, open} = await setUp(t);
  fill(server);
  await open('/');
  await sees(page, 'nightly');
  await page.keyboard.press('j');
  await page.keyboard.press('ArrowDown');
  const focused = () => page.evaluate(() => document.activeElement.textContent);
  assert.equal(await focused(), 'train');
  await page.keyboard.press('x');
  assert.equal(
    await page.getByRole('checkbox', {name: 'Choose train'}).isChecked(), true);
  await page.keyboard.press('/');
  await page.keyboard.type('night');
  await until(
    async () => await page.locator('table.runs tbody tr').count() === 1, 'one run');
  assert.match(page.url(), /q=night$/);
});
