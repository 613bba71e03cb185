/* SPDX-License-Identifier: Apache-2.0 */
/* form.test.mjs - the form of a new run: filled in by hand or as JSON, checked, sent */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { problemDocument } from '../lib/fake_server.mjs';
import {
  closeBrowser,
  LIMIT,
  measuring,
  pageTest as test,
  requestJson,
  sees,
  setUp,
  startButton,
  until,
} from '../lib/page.mjs';
import { sampleNode, sampleRun } from '../lib/sample.mjs';

after(closeBrowser);

const RUN = '06cw1x2k3m4n';

function fill(server) {
  server.nodes = [sampleNode('node-1'), sampleNode('node-2', 'lost')];
  server.add(sampleRun({ sizes: [8, 1024] }));
}

test(
  'a failed run is filled in again without a node, with the start in sight on a phone',
  LIMIT,
  async (t) => {
    const { server, page, open } = await setUp(t, { width: 400 });
    fill(server);
    await open(`/new?from=${RUN}&without=node-2`);
    await sees(page, /without node-2/);
    await until(async () => /"names": \["node-1"\]/.test(await requestJson(page).inputValue()), 'the nodes');
    const { y, height } = await startButton(page).boundingBox();
    assert.ok(y > 0 && y + height <= 900, `${y} + ${height}`);
  },
);

test('the form shows its request as it is filled in, and starts the run', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  fill(server);
  server.onPost = () => ({ status: 201, body: { id: RUN } });
  server.onValidate = (spec) => ({
    status: 200,
    body: {
      spec,
      cases: 2,
      rows: 50,
      sizes: { count: 25, min: 8, max: 128 << 20 },
      placement: {
        outcome: 'ready',
        reason: null,
        backend: 'host',
        world_size: 4,
        nodes: [{ name: 'node-1', ranks: 4 }],
      },
      memory: { per_rank_bytes: 512 << 20, where: 'host' },
      time: { seconds: 12, basis: 'runs', detail: 'two runs' },
    },
  });
  await open('/new');
  const curl = () => page.getByRole('region', { name: 'the curl command' }).innerText();
  await until(async () => / -d '\{\}' http/.test(await curl()), 'the form');
  await sees(page, '2 cases, 25 sizes up to 128 MiB, 50 rows.');
  await sees(page, 'Starts at once: host, 1 node, 4 ranks.');
  await sees(page, 'It took 12 s in two runs');
  await page.getByRole('checkbox', { name: 'all_reduce' }).check();
  await page.getByLabel('Largest').fill('64K');
  await page.getByLabel('Nodes', { exact: true }).selectOption('names');
  await page.getByRole('checkbox', { name: 'node-1' }).check();
  await page.getByLabel('Name', { exact: true }).fill('it’s');
  const wanted = {
    collectives: ['all_reduce'],
    sizes: { max: '64K' },
    nodes: { names: ['node-1'] },
    name: 'it’s',
  };
  assert.deepEqual(JSON.parse(await requestJson(page).inputValue()), wanted);
  await startButton(page).click();
  await sees(page, 'Figures');
  assert.deepEqual(server.posts[0].spec, wanted);
  assert.match(server.posts[0].key, /^[0-9a-f]{32}$/);
});

const placed = (outcome) => ({
  outcome,
  reason: outcome === 'ready' ? null : 'sim-1 and 511 more: host: no worker',
  backend: 'sim',
  world_size: 8,
  nodes: [{ name: 'sim-1', ranks: 8 }],
});

test(
  'where only the model can run, it is chosen; what can’t start at all can’t be started',
  LIMIT,
  async (t) => {
    const { server, page, open } = await setUp(t);
    fill(server);
    server.onValidate = (spec) => ({
      status: 200,
      body: {
        spec,
        cases: 1,
        memory: { per_rank_bytes: 256 << 20, where: 'none' },
        placement: placed(spec.backend === 'sim' ? 'ready' : 'unknown'),
      },
    });
    await open('/new');
    await sees(page, 'Starts at once: sim, 1 node, 8 ranks.');
    assert.equal(await page.getByLabel('Backend').inputValue(), 'sim');
    assert.equal(await page.getByText(/none memory/).count(), 0);
    const start = startButton(page);
    assert.ok(await start.isEnabled());
    await page.getByLabel('Backend').selectOption('host');
    await sees(page, 'No suitable nodes are online: sim-1 and 511 more: host: no worker.');
    await until(() => start.isDisabled(), 'nothing to start');
    await page.getByLabel('Nodes', { exact: true }).selectOption('count');
    assert.equal(await page.getByLabel('How many').getAttribute('placeholder'), null);
    await page.getByLabel('Wait for nodes').fill('600');
    await sees(page, /^The run would wait for nodes: sim-1/);
    await until(() => start.isEnabled(), 'who waits to be let');
  },
);

test('the server’s faults stand at their fields, and the first has the focus', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t, { expected: /422/ });
  const errors = [
    { pointer: '/iters', detail: 'must be more' },
    { pointer: '/env/LD_PRELOAD', detail: 'is not allowed' },
  ];
  server.onPost = () => ({ status: 422, body: problemDocument(422, 'the spec has 2 faults', errors) });
  await open('/new');
  await measuring(page).click();
  await page.getByLabel('Timed calls').fill('0');
  await measuring(page).click();
  await startButton(page).click();
  await sees(page, 'must be more');
  await sees(page, 'the spec has 2 faults');
  const field = page.getByLabel('Timed calls');
  assert.equal(await field.getAttribute('aria-invalid'), 'true');
  assert.equal(await field.evaluate((input) => input === document.activeElement), true);
  await startButton(page).click();
  await until(() => server.posts.length === 2, 'the second try');
  assert.equal(server.posts[1].key, server.posts[0].key);
  await field.fill('5');
  await startButton(page).click();
  await until(() => server.posts.length === 3, 'the third try');
  assert.notEqual(server.posts[2].key, server.posts[0].key);
});

test('the server checks the request while it is typed', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t, { expected: /422/ });
  const errors = [{ pointer: '/iters', detail: 'must be more' }];
  server.onValidate = (spec) =>
    spec.iters === 0
      ? { status: 422, body: problemDocument(422, 'a fault', errors) }
      : { status: 200, body: { spec, cases: 1 } };
  await open('/new');
  await measuring(page).click();
  await page.getByLabel('Timed calls').fill('0');
  await sees(page, 'must be more');
  assert.equal(server.posts.length, 0);
  await page.getByLabel('Timed calls').fill('7');
  await page.getByText('must be more').waitFor({ state: 'hidden' });
});

test('nothing can be filled in before the form is there', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  fill(server);
  /** @type {(value?: unknown) => void} */
  let answer = null;
  server.beforeSchema = new Promise((resolve) => {
    answer = resolve;
  });
  await open('/new');
  await sees(page, 'Loading…');
  assert.equal(await requestJson(page).isVisible(), false);
  answer();
  await requestJson(page).waitFor();
  assert.equal(await page.getByText('Loading…').count(), 0);
});

test('JSON fills the form, and goes out as it stands', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  fill(server);
  server.onPost = () => ({ status: 201, body: { id: RUN } });
  await open('/new');
  const json = requestJson(page);
  await json.fill('{"iters": 7, "matrix": {"NCCL_ALGO": ["Ring", null]}, "later": 1');
  await sees(page, /JSON/);
  const spec = { iters: 7, matrix: { NCCL_ALGO: ['Ring', null] }, later: 1 };
  await json.fill(JSON.stringify(spec));
  assert.equal(await page.getByLabel('Variable').inputValue(), 'NCCL_ALGO');
  const values = page.getByLabel('Values, one per line');
  assert.equal(await values.inputValue(), 'Ring');
  await page.getByRole('button', { name: 'Add a variable' }).click();
  await page.getByLabel('Variable').nth(1).fill('NCCL_PROTO');
  await values.nth(1).fill('LL\nSimple');
  await startButton(page).click();
  await sees(page, 'Figures');
  assert.deepEqual(server.posts[0].spec, {
    ...spec,
    matrix: { ...spec.matrix, NCCL_PROTO: ['LL', 'Simple'] },
  });
});

test('a program is chosen with its arguments', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  fill(server);
  server.onPost = () => ({ status: 201, body: { id: RUN } });
  server.programs = [
    {
      name: 'train',
      description: 'Trains a little',
      parameters: {
        steps: { type: 'integer', min: 1, max: 500, default: 100, description: 'of training' },
        mode: { type: 'enum', values: ['fast', 'slow'] },
      },
      metrics: [{ name: 'speed', unit: 'samples/s', higher_is_better: true }],
      ranks_per_node: 2,
      timeout_s: null,
      nodes: ['node-1', 'node-2'],
    },
  ];
  await open('/new');
  await page.getByRole('button', { name: 'Run a program' }).click();
  assert.equal(await page.getByText('Collectives', { exact: true }).isVisible(), false);
  await page.getByLabel('Program', { exact: true }).selectOption('train');
  await sees(page, 'Trains a little. On 2 nodes, 2 ranks each. Figures: speed.');
  await sees(page, 'of training; 1 to 500');
  await page.getByLabel('steps').fill('20');
  await page.getByLabel('mode').selectOption('slow');
  await startButton(page).click();
  await sees(page, 'Figures');
  assert.deepEqual(server.posts[0].spec, { program: { name: 'train', args: { steps: 20, mode: 'slow' } } });
});
