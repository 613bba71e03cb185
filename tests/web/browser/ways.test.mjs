/* SPDX-License-Identifier: Apache-2.0 */
/* ways.test.mjs - what a run's page says of how NCCL or the host backend did it: by which ways it connected, and
 * which algorithm it took by size, of runs that are drawn row by row and of such that are drawn
 * from a summary */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { axe } from '../lib/browser.mjs';
import { closeBrowser, figureRows, LIMIT, pageTest as test, sees, setUp, taken } from '../lib/page.mjs';
import { sampleRun } from '../lib/sample.mjs';

after(closeBrowser);

const RUN = '06cw1x2k3m4n';
const path = `/runs/${RUN}`;

/* Sixteen nodes, of which one goes by sockets. */
const transports = {
  ways: [
    ...Array.from({ length: 8 }, (_, i) => ({
      text: `InfiniBand mlx5_${i}, GPUDirect, 2 channels`,
      between: `node-1 and node-2, node-2 and node-3, node-3 and node-4 and ${i + 9} more pairs`,
    })),
    { text: 'sockets over IPoIB ib0, 2 channels', between: 'node-15 and node-16, node-16 and node-1' },
    { text: 'P2P through CUDA memory, 2 channels', between: 'inside of 16 nodes' },
  ],
  verdicts: [
    {
      kind: 'transport',
      answer: 'finding',
      sentence:
        'node-16 goes by sockets over ib0 while all others use InfiniBand: NCCL_IB_HCA=ens13np0 names no RDMA device there',
    },
    { kind: 'transport', answer: 'finding', sentence: 'mlx5_2 is DOWN on node-16' },
  ],
};

function runOf(options, more = []) {
  const run = sampleRun(options);
  run.events.findLast((event) => event.type === 'case').transports = transports;
  const at = run.events.findLastIndex((event) => event.type === 'case') + 1;
  run.events.splice(at, 0, ...more.map((event) => ({ ...event, time: run.events[at - 1].time })));
  run.events.forEach((event, i) => {
    event.id = i + 1;
  });
  return run;
}

/* Those of the table, by size; repeats of the least differ. */
const choices = (row, repeat) =>
  row.size <= 64
    ? { algo: 'TREE', proto: 'LL', by: 'profiler' }
    : row.size <= 4096 && repeat === 0
      ? { algo: 'RING', proto: 'LL128', by: 'profiler', ranks_differ: true }
      : { algo: 'RING', proto: 'SIMPLE', by: 'profiler' };

function withChoices(run) {
  const repeatOf = new Map();
  for (const event of run.events.filter(({ type }) => type === 'result')) {
    const key = `${event.series}/${event.size}`;
    const repeat = repeatOf.get(key) ?? 0;
    repeatOf.set(key, repeat + 1);
    event.nccl = choices(event, repeat);
  }
  return run;
}

const isWide = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);

async function picture(page, name) {
  if (process.env.WAYS_PICTURES) {
    await page.screenshot({ path: `${process.env.WAYS_PICTURES}/${name}.png`, fullPage: true });
  }
}

for (const width of [1280, 400]) {
  for (const scheme of ['light', 'dark']) {
    test(`ways and what speaks against them are read ${width} wide, ${scheme}`, LIMIT, async (t) => {
      const { server, page, open } = await setUp(t, { width, scheme });
      server.add(withChoices(runOf({ sizes: [8, 64, 512, 4096, 65536], repeats: 2, nodes: 16, ranks: 1 })));
      await open(`${path}?tab=ranks`);
      const table = page.getByRole('region', { name: 'Transports', exact: true });
      await table.waitFor();
      assert.deepEqual(
        await table
          .locator('tbody tr')
          .allInnerTexts()
          .then((rows) => rows.map((row) => row.split('\t'))),
        transports.ways.map(({ text, between }) => [text, between]),
      );
      for (const { sentence } of transports.verdicts) {
        await sees(page, sentence);
      }
      assert.equal(await isWide(page), false, 'the page is as wide as the window');
      await table.focus();
      assert.equal(
        await page.evaluate(() => document.activeElement.getAttribute('aria-label')),
        'Transports',
      );
      assert.deepEqual(
        (await axe(page)).map(({ id }) => id),
        [],
      );
      await picture(page, `ways-${width}-${scheme}`);
    });

    test(`algorithms by size are read ${width} wide, ${scheme}`, LIMIT, async (t) => {
      const { server, page, open } = await setUp(t, { width, scheme });
      server.add(withChoices(runOf({ sizes: [8, 64, 512, 4096, 65536], repeats: 2 })));
      await open(path);
      const mixed = '1 × RING, LL128, ranks differ; 1 × RING, SIMPLE';
      const head = page.locator('details.run-verdict', { hasText: 'goes by sockets over ib0' });
      await head.locator('summary').click();
      assert.deepEqual(
        (await head.locator('.checks li').allInnerTexts()).map((text) => text.replace(/^!\s*/, '')),
        transports.verdicts.map(({ sentence }) => `finding transport: ${sentence}`),
      );
      await page.locator('table.figures tbody tr').first().waitFor();
      const rows = await figureRows(page);
      assert.match(rows[0], /\tTREE, LL\t/);
      assert.ok(rows[2].includes(`\t${mixed}\t`), rows[2]);
      assert.equal(await isWide(page), false, 'the page is as wide as the window');
      assert.deepEqual(
        (await axe(page)).map(({ id }) => id),
        [],
      );
      await picture(page, `algorithms-${width}-${scheme}`);
    });
  }
}

test('so is what carried the host backend, with what speaks against it', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t, { width: 1280 });
  const run = sampleRun({ sizes: [8], nodes: 2, ranks: 2 });
  const sentence = 'mlx5_0 on node-1, node-2 is odd';
  run.events.findLast((event) => event.type === 'case').transports = {
    by: 'host',
    nodes: ['node-1', 'node-2'],
    ways: [
      {
        text: 'sockets over eth0',
        between: 'node-1 and node-2',
        pairs: [[0, 1]],
      },
      {
        text: 'shared memory',
        between: 'inside 2 nodes',
        pairs: [
          [0, 0],
          [1, 1],
        ],
      },
    ],
    verdicts: [{ kind: 'transport', answer: 'finding', sentence }],
  };
  server.add(run);
  await open(`${path}?tab=ranks`);
  await page.getByRole('heading', { name: 'How ranks connected' }).waitFor();
  assert.deepEqual(
    await page.getByRole('region', { name: 'Transports', exact: true }).locator('tbody tr').allInnerTexts(),
    ['sockets over eth0\tnode-1 and node-2', 'shared memory\tinside 2 nodes'],
  );
  assert.match(
    await page.locator('details.run-verdict').innerText(),
    /finding\s+mlx5_0 on node-1, node-2 is odd$/,
  );
  assert.deepEqual(
    (await axe(page)).map(({ id }) => id),
    [],
  );
  await picture(page, 'ways-host');
});

test('what network ports carried is beside it, those of all nodes together', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t, { width: 1280 });
  const run = sampleRun({ sizes: [8], nodes: 2, ranks: 2 });
  const port = (kind, name, sent, received) => ({ kind, name, sent_bytes: sent, received_bytes: received });
  const say = (node, ports) =>
    run.events.push({
      ...{ id: run.events.length + 1, time: run.events.at(-1).time, type: 'conditions' },
      ...{ case: 0, attempt: 1, node, notes: [], ports },
    });
  say('node-1', [port('net', 'eth0', 2 ** 20, 2 ** 21), port('roce', 'mlx5_0', 2 ** 31, 2 ** 30)]);
  say('node-2', [port('roce', 'mlx5_0', 2 ** 30, 2 ** 31)]);
  server.add(run);
  await open(`${path}?tab=ranks`);
  await page.getByRole('heading', { name: 'Traffic on network ports' }).waitFor();
  assert.deepEqual(
    await page.getByRole('region', { name: 'Network ports' }).locator('tbody tr').allInnerTexts(),
    ['mlx5_0\troce\t2\t3.00 GiB\t3.00 GiB', 'eth0\tnet\t1\t1.00 MiB\t2.00 MiB'],
  );
  assert.deepEqual(
    (await axe(page)).map(({ id }) => id),
    [],
  );
});

test('of a run of thousands of sizes all of it is there', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  const sizes = Array.from({ length: 2600 }, (_, i) => 8 * (i + 1));
  const later = Array.from({ length: 600 }, () => ({
    type: 'rank',
    case: 0,
    attempt: 1,
    rank: 0,
    node: 'node-1',
    state: 'done',
  }));
  server.add(withChoices(runOf({ sizes, repeats: 2 }, later)));
  await open(path);
  await page.locator('table.figures tbody tr').first().waitFor();
  const mixed = '1 × RING, LL128, ranks differ; 1 × RING, SIMPLE';
  const rows = await figureRows(page);
  assert.match(rows[0], /\tTREE, LL\t/);
  assert.ok(rows[8].includes(mixed), rows[8]);
  await page.locator('summary', { hasText: 'Share' }).first().click();
  const { text } = await taken(page, /CSV/);
  assert.match(text, /,nccl\r\n/);
  assert.match(text, /,"?TREE, LL"?\r\n/);
  assert.ok(text.includes(mixed));
  await open(`${path}?tab=ranks`);
  await page.getByRole('region', { name: 'Transports', exact: true }).waitFor();
  await sees(page, transports.verdicts[1].sentence);
});
