/* launch.test.mjs - nodes that an engine gives: chosen in the form, and the jobs that have them */
import assert from 'node:assert/strict';
import {after} from 'node:test';
import {problemDocument} from '../lib/fake_server.mjs';
import {closeBrowser, LIMIT, pageTest as test, sees, setUp, until} from '../lib/page.mjs';
import {sampleNode, sampleRun} from '../lib/sample.mjs';

after(closeBrowser);

const RUN = '06cw1x2k3m4n';
const LAUNCHER = {
  name: 'slurm',
  description: 'nodes of a Slurm cluster, by sbatch',
  parameters: {
    partition: {type: 'string', pattern: '[a-z0-9]*', default: ''},
    time: {type: 'string', pattern: '[0-9:]+', default: '01:00:00', description: 'limit of the job'}
  },
  limits: {nodes: 64, jobs: 4, hours: 24}
};

test('a launcher and its arguments are chosen, and a fault stands at its field', LIMIT, async t => {
  const {server, page, open} = await setUp(t, {expected: /422/});
  server.nodes = [sampleNode('node-1')];
  server.launchers = [LAUNCHER];
  server.onValidate = () => ({status: 422, body: problemDocument(422, 'one field is wrong',
    [{pointer: '/launch/args/time', detail: 'must match [0-9:]+'}])});
  await open('/new');
  await page.getByLabel('Nodes', {exact: true}).selectOption('launch');
  await page.getByLabel('How many').fill('4');
  await page.getByLabel('Launcher').selectOption('slurm');
  await sees(page, 'nodes of a Slurm cluster, by sbatch. At most 64 nodes each, 4 jobs at once.');
  await page.getByLabel('time string').fill('soon');
  await page.getByLabel('Keep them').fill('600');
  assert.deepEqual(JSON.parse(await page.getByLabel('The request as JSON').inputValue()),
    {nodes: {count: 4}, launch: {name: 'slurm', args: {time: 'soon'}, keep_s: 600}});
  await page.locator('.field', {hasText: 'must match'}).getByLabel('Launcher').waitFor();
});

test('a launched run is filled in again, without the group that it had', LIMIT, async t => {
  const {server, page, open} = await setUp(t);
  server.launchers = [LAUNCHER];
  const run = sampleRun({sizes: [8]});
  run.spec.nodes = {count: 2, group: 'job-06cw1x2k3m4n', wait_s: 30};
  run.spec.launch = {name: 'slurm', args: {partition: 'a100'}};
  server.add(run);
  await open(`/new?from=${RUN}`);
  const request = async () => JSON.parse(await page.getByLabel('The request as JSON').inputValue() || '{}');
  await until(async () => (await request()).launch, 'the launcher');
  assert.deepEqual((await request()).launch, {name: 'slurm', args: {partition: 'a100'}});
  assert.deepEqual((await request()).nodes, {count: 2, wait_s: 30});
});

test('jobs are listed while there are any, and stopped', LIMIT, async t => {
  const {server, page, open} = await setUp(t);
  server.nodes = [sampleNode('node-1')];
  await open('/nodes');
  await sees(page, 'node-1');
  assert.equal(await page.getByRole('heading', {name: 'Jobs'}).isVisible(), false);
  server.jobs = [{id: 'j1', state: 'running', run: RUN, nodes: 2, keep_s: 600, idle_since: null,
    sentence: 'job 41 of slurm is running: RUNNING None'}];
  await sees(page, 'job 41 of slurm is running: RUNNING None; 2 nodes for');
  const stop = page.getByRole('button', {name: 'Stop'});
  await stop.click();
  await page.getByRole('button', {name: 'Really stop it?'}).click();
  await until(() => server.jobs[0].state === 'stopping', 'the request');
  server.jobs[0].state = 'ended';
  await until(async () => !await page.getByRole('heading', {name: 'Jobs'}).isVisible(), 'the list is gone');
});
