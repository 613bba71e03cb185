/* SPDX-License-Identifier: Apache-2.0 */
/* scaling.test.mjs - a run over node counts as a chart, what the server makes of more nodes,
 * and what a model's step would take; served by the real server to simulated nodes */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { startFleet, startServer } from '../../integration/lib/cluster.mjs';
import { axe } from '../lib/browser.mjs';
import { closeBrowser, LIMIT, openPage, pageTest as test, sees, until } from '../lib/page.mjs';

after(closeBrowser);

const SPEC = {
  backend: 'sim',
  pattern: 'scaling',
  sizes: { min: '1M', max: '64M' },
  in_place: false,
  repeats: 3,
  env: { SIM_SLEEP_FRACTION: '0', NCCL_ALGO: 'ring', SIM_SEED: '7' },
};

async function setUp(t, options) {
  const server = await startServer(t);
  await startFleet(t, server, 32, ['--ranks', '2']);
  const run = await server.runEnds((await server.run(SPEC)).id, 120000);
  assert.equal(run.state, 'completed', run.reason);
  const { page } = await openPage(t, options);
  await page.goto(`${server.url}/runs/${run.id}`);
  return { server, page, run };
}

const card = (page) => page.getByRole('region', { name: 'Scaling' });

test('a run over node counts is projected to those that are asked about', LIMIT, async (t) => {
  const { server, page, run } = await setUp(t);
  await sees(page, /^on 64 nodes all_reduce float32 .*\d+M .* \(simulated\)$/);
  const legend = card(page).getByRole('region', { name: 'Measured and projected' });
  await legend.getByRole('button', { name: 'projected to 64 nodes' }).waitFor();
  await page.getByLabel('Project to').fill('128');
  await page.getByRole('button', { name: 'Project', exact: true }).click();
  await sees(page, /^on 128 nodes all_reduce float32 .*\d+M /);
  await page.getByLabel('Size', { exact: true }).selectOption({ label: 'all_reduce float32 sum, 4M' });
  await sees(page, /^on 128 nodes all_reduce float32 .*\b4M /);
  assert.match(page.url(), /nodes=128/);

  /* The figures at a place are those of the server. */
  const told = await server.get(`/api/v1/runs/${run.id}/projection?nodes=128`);
  const { measured, verdict } = told.sizes.find(({ size }) => size === 2 ** 22);
  const { time_us: time } = verdict.evidence.at;
  const chart = card(page).getByRole('group', { name: /^Chart of .*time per call/ });
  await chart.focus();
  await page.keyboard.press('ArrowRight');
  await sees(page, 'nodes 1');
  await until(
    async () => (await chart.innerText()).includes(`${Number(measured[0].time_us.toPrecision(3))} µs`),
    'the first measured time',
  );
  await page.keyboard.press('ArrowLeft');
  for (let i = 0; i < 9; i += 1) {
    await page.keyboard.press('ArrowRight');
  }
  await sees(page, 'nodes 128');
  await until(
    async () =>
      (await chart.innerText()).includes(`${time >= 100 ? Math.round(time) : time.toPrecision(3)} µs`),
    'the projected time',
  );

  /* The address restores it; beyond 8 times as many it says which count to measure. */
  await page.reload();
  await sees(page, /^on 128 nodes all_reduce float32 .*\b4M /);
  await page.getByLabel('Project to').fill('400');
  await page.getByRole('button', { name: 'Project', exact: true }).click();
  await sees(page, /400 nodes .*\b8 .*\b50 nodes \(simulated\)$/);
  assert.deepEqual(
    (await axe(page)).map((violation) => violation.id),
    [],
  );
});

test('the chart is saved as CSV', LIMIT, async (t) => {
  const { page } = await setUp(t);
  await sees(page, /^on 64 nodes/);
  await card(page).getByText('Share', { exact: true }).click();
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    card(page).getByRole('button', { name: /^CSV/ }).click(),
  ]);
  const chunks = [];
  for await (const chunk of await saved.createReadStream()) {
    chunks.push(chunk);
  }
  const [head, first] = Buffer.concat(chunks).toString().split('\r\n');
  assert.equal(head, 'run,name,mark,metric,unit,series,nodes,median,low,high,cases');
  assert.match(first, /,simulated,"all_reduce float32 sum, \d+M",GB\/s,measured,1,[\d.]+,[\d.]+,[\d.]+,3$/);
});
