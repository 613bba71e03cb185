/* SPDX-License-Identifier: Apache-2.0 */
/* faults.test.mjs - what the page of a run once got wrong, and how it is now */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { axe } from '../lib/browser.mjs';
import { closeBrowser, figureRows, LIMIT, pageTest as test, sees, setUp, until } from '../lib/page.mjs';
import { sampleRun } from '../lib/sample.mjs';

after(closeBrowser);

const RUN = '06cw1x2k3m4n';
const path = `/runs/${RUN}`;

/* As the server ends a run of three cases of which the second had a wrong element. */
function wrongRun() {
  const text = 'all_reduce float32 at 8, out of place: element 7 is 5, expected 6';
  const reason = `wrong data: 1 wrong element, the first on node-2 in ${text}`;
  const blamed = {
    kind: 'wrong_data',
    rank: 2,
    node: 'node-2',
    count: 1,
    evidence: [{ rank: 2, node: 'node-2', text }],
  };
  const run = sampleRun({ sizes: [8, 16], repeats: 3 });
  for (const event of run.events) {
    if (event.case === 1 && event.type === 'result' && event.row === 0) {
      Object.assign(event, { wrong: 1, errors: [{ rank: 2, index: 7, expected: '6', got: '5' }] });
    } else if (event.case === 1 && event.state === 'completed') {
      Object.assign(event, { state: 'failed', reason, blamed });
    }
  }
  Object.assign(run.events.at(-1), { state: 'failed', reason });
  return run;
}

test('wrong data is one box, and its rank is marked on its node', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.add(wrongRun());
  await open(`${path}?tab=ranks`);
  await sees(page, /failed: wrong data: 1 /);
  assert.equal(await page.locator('.alerts > .alert').count(), 1);
  await page.getByText('1 wrong element in 1 row').click();
  await sees(page, /^rank 2 on node-2, all_reduce of 8 bytes \(out of place\), element 7/);
  await sees(page, /^rank 2 on node-2: wrong data: all_reduce/);
  assert.deepEqual(await page.locator('.rank-dot.failed > :first-child').allInnerTexts(), ['2']);
});

test('an opened list of wrong elements stays open when their names arrive', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.add(wrongRun());
  const held = [];
  await page.route(/\/results\?.*series=/, (route) => {
    held.push(route);
  });
  await open(`${path}?tab=ranks`);
  await page.getByText('1 wrong element in 1 row').click();
  await until(() => held.length > 0, 'the question for the rows');
  await Promise.all(held.map((route) => route.continue()));
  await sees(page, /^rank 2 on node-2, all_reduce of 8 bytes \(out of place\), element 7/);
});

test('the way back to a run while the server is gone is not blank', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t, { expected: /net::ERR|Failed to load/ });
  server.add(sampleRun({ sizes: [8, 16], name: 'was here' }));
  server.add(sampleRun({ id: 'other', sizes: [8, 16] }));
  await open(path);
  await until(async () => (await figureRows(page)).length === 2, 'two rows');
  await page.getByRole('link', { name: 'Runs', exact: true }).first().click();
  await page.getByRole('link', { name: 'other' }).waitFor();
  await server.stop();
  await page.goBack();
  await until(async () => (await figureRows(page)).length === 2, 'the rows of before');
  await page.goForward();
  await page.evaluate(() => {
    history.pushState(null, '', '/runs/other');
    dispatchEvent(new PopStateEvent('popstate'));
  });
  await sees(page, 'Waiting for the server.');
  await server.start();
  await until(async () => (await figureRows(page)).length === 2, 'the other run');
  assert.equal(await page.getByText('Waiting for the server.').count(), 0);
});

test('times of ranks scroll by keys, and say which repeat they are of', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.add(sampleRun({ sizes: [8, 16], repeats: 2, nodes: 20, ranks: 2 }));
  await open(path);
  await page.getByRole('button', { name: '8 bytes, details' }).click();
  const bars = page.getByRole('region', { name: /^Time per rank/ });
  await bars.first().waitFor();
  await bars.first().focus();
  assert.equal(await page.evaluate(() => document.activeElement.className), 'rank-bars');
  assert.deepEqual(
    (await axe(page)).map((found) => found.id),
    [],
  );
  assert.deepEqual(await page.locator('.row-detail h3').allInnerTexts(), [
    'out of place, repeat 1',
    'out of place, repeat 2',
    'in place, repeat 1',
    'in place, repeat 2',
  ]);
});

test('how a row was done is in the table, where it is known', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.add(
    sampleRun({
      sizes: [8, 16],
      mutate: (row) => ({
        ...row,
        nccl: { algo: row.size > 8 ? 'RING' : 'TREE', proto: 'LL128' },
      }),
    }),
  );
  server.add(sampleRun({ id: 'plain', sizes: [8, 16] }));
  await open(path);
  await page.getByRole('columnheader', { name: /algorithm, protocol/ }).waitFor();
  assert.match((await figureRows(page))[0], /TREE, LL128/);
  assert.match((await figureRows(page))[1], /RING, LL128/);
  await open('/runs/plain');
  await page.getByRole('region', { name: 'Results' }).waitFor();
  assert.equal(await page.getByRole('columnheader', { name: /algorithm/ }).count(), 0);
});

test('a name that turns its line is written out', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  const name = 'good\u202Egnirts\u200B';
  server.add(sampleRun({ sizes: [8], name, labels: { x: '\u2066y' } }));
  for (const where of ['/', path]) {
    await open(where);
    await sees(page, 'good\\u202egnirts\\u200b');
    await sees(page, 'x=\\u2066y');
    const text = await page.locator('body').innerText();
    assert.doesNotMatch(text, /[\u202A-\u202E\u2066-\u2069\u200B]/);
  }
});
