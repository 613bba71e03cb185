/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.test.mjs - what a run's page and the nodes' say of ranks: who failed, who belongs
 * together, what they have of a GPU */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { closeBrowser, LIMIT, numbersExplained, pageTest as test, sees, setUp } from '../lib/page.mjs';
import { sampleNode, sampleRun } from '../lib/sample.mjs';

after(closeBrowser);

const RUN = '06cw1x2k3m4n';
const path = `/runs/${RUN}`;

/* A run with further events before those that end its case. */
function withEvents(options, added) {
  const run = sampleRun(options);
  const at = run.events.findIndex((event) => event.state === 'done');
  const rest = run.events.splice(at);
  run.events.push(...added.map((event) => ({ time: rest[0].time, case: 0, attempt: 1, ...event })));
  run.events.push(...rest);
  run.events.forEach((event, i) => {
    event.id = i + 1;
  });
  return run;
}

test('whom the failure names stands on top, and apart from who was stopped', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  const reason = 'stalled: behind: rank 3 on node-2; 3 ranks wait for it';
  const blamed = { kind: 'stalled', evidence: [{ rank: 3, node: 'node-2', text: '' }] };
  const run = sampleRun({ sizes: [8] });
  const at = run.events.findIndex((event) => event.state === 'done');
  const time = run.events[at].time;
  run.events.splice(at);
  [0, 1, 2, 3].forEach((rank) =>
    run.events.push({
      type: 'rank',
      time,
      case: 0,
      attempt: 1,
      rank,
      node: rank < 2 ? 'node-1' : 'node-2',
      state: 'failed',
      reason: 'cancelled: stopped on request',
    }),
  );
  run.events.push(
    { type: 'message', time, level: 'error', text: `stopping case 0: ${reason}` },
    { type: 'case', time, case: 0, attempt: 1, state: 'failed', reason, blamed },
    { type: 'state', time, state: 'failed', reason },
  );
  run.events.forEach((event, i) => {
    event.id = i + 1;
  });
  const follow_up = { title: 'Find the slow node', why: null, spec: { pattern: 'pairs' } };
  server.add({ ...run, extra: { follow_up } });
  await open(`${path}?tab=ranks`);
  const without = page.getByRole('link', { name: 'Run again without node-2' });
  assert.equal(await without.getAttribute('href'), '/new?from=06cw1x2k3m4n&without=node-2');
  await sees(page, '1 of 4 failed');
  assert.equal(await page.getByRole('button', { name: 'Find the slow node' }).count(), 0);
  const whys = await page.locator('.whys li').allInnerTexts();
  assert.deepEqual(whys, ['rank 3 on node-2: caused the failure', 'ranks 0–2: stopped by the server']);
  assert.match(await page.locator('.lanes tbody tr').first().innerText(), /^node-2/);
  assert.equal(await page.locator('.rank-dot.failed').count(), 1);
  assert.equal(await page.locator('.alerts > .alert').count(), 1);
});

test('a run that measured nothing has no empty chart when it is over', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.add(sampleRun({ sizes: [], state: 'failed', reason: 'no node came' }));
  await open(path);
  /* The last event's word: before that nobody knows that nothing was measured. */
  await sees(page, 'no node came');
  assert.equal(await page.locator('.chart-card').first().isVisible(), false);
  assert.equal(await page.getByText('No figures yet').filter({ visible: true }).count(), 0);
});

test('groups name their ranks, wherever a rank is named', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  const mutate = (row) => ({ ...row, group: row.in_place ? 1 : 0, times_us: row.times_us.slice(0, 2) });
  server.add(
    sampleRun({
      sizes: [8, 1024],
      mutate,
      groups: [
        [0, 2],
        [1, 3],
      ],
    }),
  );
  await open(`${path}?place=both`);
  await page.locator('.legend-item').filter({ hasText: 'group 1 (ranks 1, 3)' }).waitFor();
  const opener = page.getByRole('button', { name: '8 bytes, details' }).last();
  await opener.click();
  await sees(
    page,
    /^2 ranks: fastest \S+ µs \(rank 1 on node-1\), median \S+ µs, slowest \S+ µs \(rank 3 on node-2\)$/,
  );
  const bars = await page.locator('.rank-bars li').allInnerTexts();
  assert.deepEqual(
    bars.map((text) => text.match(/rank \d/)[0]),
    ['rank 1', 'rank 3'],
  );
  await numbersExplained(page).click();
  await sees(page, '1.00 (n = 2)');
  const hypercube = page.getByRole('row').filter({ hasText: 'hypercube' });
  assert.match(await hypercube.innerText(), /hypercube\s+1\s+1.00/);
});

test('what NCCL said of memory and channels is shown, the same once', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  const log = {
    network: 'IB',
    channels: { collective: 16, point_to_point: 32 },
    transports: [{ via: 'NET/IB', device: 0, gdr: true, name: 'mlx5_0', to: '1' }],
  };
  const memory = { init_bytes: 300 << 20, end_bytes: 1 << 30 };
  const ranks = [0, 1, 2, 3].flatMap((rank) => {
    const at = { rank, node: rank < 2 ? 'node-1' : 'node-2' };
    return [
      { ...at, type: 'rank', state: 'running', init_s: 0.25, gpu_memory: memory },
      { ...at, type: 'nccl', log: rank === 3 ? { ...log, network: 'Socket' } : log },
    ];
  });
  const way = { text: 'InfiniBand mlx5_0, no GPUDirect, 2 channels', between: 'node-1 and node-2' };
  const sentence = 'mlx5_0 on node-1 is odd';
  const run = withEvents({ sizes: [8] }, ranks);
  const end = run.events.findLast((event) => event.type === 'case');
  end.transports = { ways: [way], verdicts: [{ kind: 'transport', answer: 'finding', sentence }] };
  server.add(run);
  await open(`${path}?tab=ranks`);
  for (const text of [sentence, way.text, way.between]) {
    await sees(page, text);
  }
  await sees(page, 'NCCL on ranks 0–2');
  await sees(page, 'NCCL on rank 3 on node-2');
  const card = await page.locator('.links section').first().innerText();
  for (const text of [
    '250 ms',
    'init 300 MiB, end 1.00 GiB',
    'NET/IB mlx5_0 GDR',
    'collective 16, point to point 32',
  ]) {
    assert.ok(card.includes(text), `${text} in ${card}`);
  }
});

test('the list of nodes asks for no inventory, which is most of what is known', LIMIT, async (t) => {
  const { server, page, open } = await setUp(t);
  server.nodes = [sampleNode('node-1')];
  const asked = () => server.requests.filter((r) => r.path === '/api/v1/nodes');
  await open('/nodes');
  await page.getByRole('link', { name: 'node-1' }).waitFor();
  const before = asked().length;
  server.nodes.push(sampleNode('node-2'));
  await page.getByRole('link', { name: 'node-2' }).waitFor();
  assert.ok(asked().length > before);
  await open('/');
  await sees(page, '2 nodes: 2 idle');
  assert.deepEqual([...new Set(asked().map((one) => one.search))], ['?inventory=0']);
});
