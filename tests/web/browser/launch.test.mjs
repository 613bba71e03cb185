/* SPDX-License-Identifier: Apache-2.0 */
/* launch.test.mjs - nodes that an engine gives: chosen in the form, and the jobs that have them */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { axe } from '../lib/browser.mjs';
import { problemDocument } from '../lib/fake_server.mjs';
import {
  closeBrowser,
  LIMIT,
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
const LAUNCHER = {
  name: 'slurm',
  description: 'nodes of a Slurm cluster, by sbatch',
  parameters: {
    partition: { type: 'string', pattern: '[a-z0-9]*', default: '' },
    time: { type: 'string', pattern: '[0-9:]+', default: '01:00:00', description: 'limit of the job' },
  },
  limits: { nodes: 64, jobs: 4, hours: 24 },
};

test('a launcher and its arguments are chosen, and a fault stands at its field', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t, { expected: /422/ });
  server.nodes = [sampleNode('node-1')];
  server.launchers = [LAUNCHER];
  server.onValidate = () => ({
    status: 422,
    body: problemDocument(422, 'one field is wrong', [
      { pointer: '/launch/args/time', detail: 'must match [0-9:]+' },
    ]),
  });
  await open('/new');
  await page.getByLabel('Nodes', { exact: true }).selectOption('launch');
  await nodesWanted(page).fill('4');
  await page.getByLabel('Launcher').selectOption('slurm');
  await sees(
    page,
    'nodes of a Slurm cluster, by sbatch. A job has up to 64 nodes and runs for up to 24 hours. At most 4 jobs at a time.',
  );
  await page.getByLabel('time string').fill('soon');
  assert.deepEqual(JSON.parse(await requestJson(page).inputValue()), {
    nodes: { count: 4 },
    launch: { name: 'slurm', args: { time: 'soon' } },
  });
  await page.locator('.field', { hasText: 'must match' }).getByLabel('Launcher').waitFor();
});

test('a run whose nodes an engine gives can be started as it is', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.launchers = [LAUNCHER];
  server.onValidate = (spec) => ({
    status: 200,
    body: {
      spec,
      cases: 1,
      placement: {
        outcome: 'unknown',
        reason: spec.launch ? 'slurm has been asked' : 'none has come',
        nodes: [],
      },
    },
  });
  await open('/new');
  await sees(page, /: none has come/);
  const start = startButton(page);
  await until(() => start.isDisabled(), 'nothing to start');
  await page.getByLabel('Nodes', { exact: true }).selectOption('launch');
  assert.equal(await page.getByLabel('Launcher').inputValue(), 'slurm', 'there is one');
  await sees(page, /: slurm has been asked$/);
  assert.ok(await start.isEnabled());
});

test('a launched run is filled in again, without the group that it had', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.launchers = [LAUNCHER];
  const run = sampleRun({ sizes: [8] });
  run.spec.nodes = { count: 2, group: 'job-06cw1x2k3m4n', wait_s: 30 };
  run.spec.launch = { name: 'slurm', args: { partition: 'a100' } };
  server.add(run);
  await open(`/new?from=${RUN}`);
  const request = async () => JSON.parse((await requestJson(page).inputValue()) || '{}');
  await until(async () => (await request()).launch, 'the launcher');
  assert.deepEqual((await request()).launch, { name: 'slurm', args: { partition: 'a100' } });
  assert.deepEqual((await request()).nodes, { count: 2, wait_s: 30 });
});

const JOB = {
  id: '1ngc13d9jrq1',
  launcher: 'slurm',
  args: {},
  nodes: 2,
  group: 'job-1ngc13d9jrq1',
  job: '41',
  run: RUN,
  state: 'running',
  reason: 'RUNNING None',
  sentence: 'job 41 of slurm is running: RUNNING None',
  created: '',
  started: '',
  ended: null,
  follow_up_until: null,
};
const ago = (seconds) => new Date(Date.now() - seconds * 1000).toISOString();
const running = (set = {}) => ({ ...JOB, created: ago(7400), started: ago(7300), ...set });
const nodesWanted = (page) => page.getByLabel('Nodes to request');
const jobsAsked = (server) => server.requests.filter(({ path }) => path === '/api/v1/jobs').length;
const row = (page) => page.getByRole('region', { name: 'Jobs' }).getByRole('listitem').first();

test('an engine is offered where there is one, and shown where it is asked for', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.nodes = [sampleNode('node-1')];
  await open('/new');
  const nodes = page.getByLabel('Nodes', { exact: true });
  await until(
    () => server.requests.some((one) => one.path.endsWith('/launchers')),
    'the launchers to be asked for',
  );
  assert.equal(await nodes.locator('option', { hasText: 'from a launcher' }).count(), 0);
  await requestJson(page).fill('{"launch": {"name": "gone"}, "nodes": {"count": 3}}');
  assert.equal(await nodes.inputValue(), 'launch');
  assert.equal(await nodesWanted(page).inputValue(), '3');
  assert.equal(await page.getByLabel('Launcher').inputValue(), 'gone');
  server.launchers = [LAUNCHER];
  await open('/new');
  await nodes.locator('option', { hasText: 'from a launcher' }).waitFor({ state: 'attached' });
  await nodes.selectOption('launch');
  await sees(page, 'Default: 1, or 2 for patterns that measure groups of nodes.');
  await page.getByLabel('Launcher').selectOption('slurm');
  const places = await page
    .locator('.kind-launch .field')
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
  assert.equal(places[0], places[1], 'arguments stand beside one another');
});

test('a job is listed with its age and the engine’s words, and stopped', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.nodes = [sampleNode('node-1')];
  server.launchers = [LAUNCHER];
  server.jobs = [
    running(),
    { ...running(), id: 'j0', job: '40', state: 'ended', ended: ago(7300), reason: 'TIMEOUT TimeLimit' },
  ];
  await open('/nodes');
  await sees(page, 'started 2 h ago');
  assert.match(
    await row(page).innerText(),
    /running\s+slurm 41\s+2 nodes\s+requested by 06cw1x2k3m4n\s+started 2 h ago\s+Stop\s+RUNNING None/,
  );
  await page.getByText('1 job has ended').click();
  await sees(page, 'TIMEOUT TimeLimit');
  await sees(page, 'ended 2 h ago');
  const stop = page.getByRole('button', { name: 'Stop: slurm 41' });
  await stop.focus();
  server.jobs[0].follow_up_until = ago(-60);
  await sees(page, /kept for a follow-up run until/);
  assert.ok(
    await stop.evaluate((button) => button === document.activeElement),
    'what is new leaves the focus',
  );
  await page.keyboard.press('Enter');
  await sees(page, 'The job releases 2 nodes. Runs on them fail.');
  await page.getByRole('button', { name: 'Keep it' }).click();
  assert.equal(server.jobs[0].state, 'running');
  await stop.click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
  await until(() => server.jobs[0].state === 'stopping', 'the request');
  await page.getByRole('button', { name: 'Stop again: slurm 41' }).click();
  await sees(page, 'the server gives up the job');
  await page.getByRole('button', { name: 'Keep it' }).click();
  server.jobs = [];
  await until(
    async () => !(await page.getByRole('heading', { name: 'Jobs' }).isVisible()),
    'the list is gone',
  );
});

test('jobs that can’t be asked for stay, and the page says so', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t, { expected: /503/ });
  server.launchers = [LAUNCHER];
  server.jobs = null;
  await open('/nodes');
  await sees(page, 'The jobs could not be loaded. the jobs are lost');
  server.jobs = [running()];
  await sees(page, 'slurm 41');
  assert.equal(await page.getByText('the jobs are lost').isVisible(), false);
  server.jobs = null;
  await sees(page, /the jobs are lost/);
  await sees(page, 'slurm 41');
});

test('without launchers and jobs they are asked for once', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.nodes = [sampleNode('node-1')];
  await page.clock.install();
  await open('/nodes');
  await sees(page, 'node-1');
  await until(() => jobsAsked(server) === 1, 'the jobs');
  assert.equal(await page.getByRole('heading', { name: 'Jobs' }).isVisible(), false);
  const nodesAsked = () => server.requests.filter(({ path }) => path === '/api/v1/nodes').length;
  const before = nodesAsked();
  await until(async () => {
    await page.clock.runFor(2500);
    return nodesAsked() > before + 5;
  }, 'time passes');
  assert.equal(jobsAsked(server), 1);
});

test('who may not stop jobs reads why', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.access = { operator: false, demo: false, reason: 'an operator’s token is needed' };
  server.launchers = [LAUNCHER];
  server.jobs = [running()];
  await open('/nodes');
  const stop = page.getByRole('button', { name: 'Stop: slurm 41' });
  await until(() => stop.isDisabled(), 'who only looks');
  assert.equal(await stop.getAttribute('title'), 'an operator’s token is needed');
});

for (const [width, scheme] of [
  [1280, 'dark'],
  [400, 'light'],
]) {
  test(`jobs and launchers fit ${width} px, ${scheme}, and axe finds nothing`, LIMIT, async (t) => {
    const { server, page, open } = await setUp(t, { width, scheme });
    server.launchers = [LAUNCHER];
    server.jobs = ['starting', 'pending', 'running', 'stopping', 'ended'].map((state, i) =>
      running({
        id: `j${i}`,
        state,
        job: state === 'starting' ? null : 'long-name-'.repeat(10),
        ended: state === 'ended' ? ago(5) : null,
      }),
    );
    const isFine = async () => {
      assert.deepEqual(
        (await axe(page)).map(({ id }) => id),
        [],
      );
      assert.ok(
        await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth),
        'as wide as the window',
      );
    };
    await open('/nodes');
    await page.getByText('1 job has ended').click();
    await isFine();
    await open('/new');
    await page.getByLabel('Nodes', { exact: true }).selectOption('launch');
    await page.getByLabel('Launcher').selectOption('slurm');
    await isFine();
  });
}
