// report.test.mjs - a run as one file: whole, harmless, honest about what it is
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import test from 'node:test';

import { faulty, quick, startCluster } from './lib/cluster.mjs';
import { patience } from './lib/fixture.mjs';

const limit = { timeout: 120000 * patience };

const reportOf = (server, id, method = 'GET') =>
  server.request(method, `/api/v1/runs/${id}/report.html`);

async function page(server, id) {
  const answer = await reportOf(server, id);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.type, 'text/html; charset=utf-8');
  return answer.text;
}

function dataOf(html) {
  const [, text] = html.match(/<script type="application\/json" id="ringbench-data">(.*)<\/script>/);
  return JSON.parse(text);
}

async function ended(server, spec) {
  const { id } = await server.run(spec);
  return server.runEnds(id);
}

test('a report holds all that the server knows of the run', limit, async (t) => {
  const { server } = await startCluster(t, 2, { agent: { ranks: 2 } });
  const run = await ended(server, {
    ...quick, name: 'nightly', collectives: ['all_reduce', 'all_gather'], repeats: 2,
    matrix: { NCCL_ALGO: ['Ring', null] }, env: { NCCL_DEBUG: 'WARN' }, labels: { ticket: 'NET-12' },
  });
  const html = await page(server, run.id);
  const data = dataOf(html);
  assert.equal(data.format, 'ringbench-report');
  assert.deepEqual(data.run, await server.getRun(run.id));
  assert.deepEqual(data.rows, await server.rows(run.id));
  assert.equal(data.rows_left_out, 0);
  assert.deepEqual(data.nodes.map((node) => node.name), ['node-1', 'node-2']);
  assert.ok(data.nodes[0].inventory.cpu.cores > 0);
  assert.equal(data.connected.length, 16);
  for (const words of ['<h1>nightly</h1>', 'ticket = NET-12', 'NCCL_DEBUG=WARN', 'NCCL_ALGO=Ring',
    'NCCL_ALGO</code> unset', 'What the numbers mean', 'Bus bandwidth of all_reduce over size',
    'Time per call of all_gather over size', 'shm: 16']) {
    assert.ok(html.includes(words), words);
  }
  // Each row is a line of the table: in place and out of place, every case.
  assert.equal(html.match(/<th scope="row" class="n">/g).length, run.rows_total);
  assert.ok(!html.includes('no measurements'));
});

test('its policy allows its own style and nothing else', limit, async (t) => {
  const { server } = await startCluster(t, 1);
  const { id } = await ended(server, quick);
  const answer = await reportOf(server, id);
  const [, style] = answer.text.match(/<style>([^]*?)<\/style>/);
  const hash = createHash('sha256').update(style).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; form-action 'none'`;
  assert.equal(answer.headers['content-security-policy'], `${policy}; frame-ancestors 'none'`);
  assert.ok(answer.text.includes(
    `<meta http-equiv="Content-Security-Policy" content="${policy.replaceAll("'", '&#39;')}">`));
  assert.equal(answer.headers['content-disposition'], `inline; filename="ringbench-${id}.html"`);
  assert.equal(answer.headers['x-content-type-options'], 'nosniff');
  assert.ok(!/ (style|on\w+)="/.test(answer.text));
  assert.ok(!/(src|href)="(?!data:,")/.test(answer.text));
  const head = await reportOf(server, id, 'HEAD');
  assert.equal(head.status, 200);
  assert.equal(head.text, '');
  assert.equal(head.headers['content-security-policy'], answer.headers['content-security-policy']);
});

test('names that are markup stay text', limit, async (t) => {
  const evil = '</script><script>alert(1)</script>"\'&\u00e9';
  const { server } = await startCluster(t, 1);
  const run = await ended(server, {
    ...quick, name: evil, labels: { x: evil.repeat(3) }, matrix: { NCCL_DEBUG_SUBSYS: [evil, '\u202e'] },
  });
  const html = await page(server, run.id);
  assert.equal(html.match(/<script/g).length, 1);
  assert.equal(html.match(/<\/script>/g).length, 1);
  assert.ok(html.includes('&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;\u00e9'));
  assert.ok(html.includes('NCCL_DEBUG_SUBSYS=\ufffd') && !html.replace(/<script type[^]*<\/script>/, '').includes('\u202e'));
  assert.equal(dataOf(html).run.name, evil);
});

test('wrong elements are named with their rank and node', limit, async (t) => {
  const { server } = await startCluster(t, 2, faulty);
  const run = await ended(server, { ...quick, fault: { kind: 'wrong', rank: 1, row: 2, index: 5 } });
  const html = await page(server, run.id);
  assert.equal(run.state, 'failed');
  assert.ok(html.includes('<span class="pill bad">failed</span>'));
  assert.match(html, /<li class="bad">all_reduce float32 sum, out of place, 4K bytes: 1 wrong<ul><li>rank 1 on node-2, element 5: expected /);
  assert.match(html, /<circle class="alarm"/);
  assert.equal(html.match(/<tr class="bad"><th scope="row" class="n">4096/g).length, 1);
});

test('what is simulated or not finished says so', limit, async (t) => {
  const { server } = await startCluster(t, 2);
  const sim = await ended(server, { backend: 'sim', sizes: ['64K', '1T'], env: { SIM_SLEEP_FRACTION: '0' } });
  const html = await page(server, sim.id);
  assert.match(html, /<title>\[simulated\] /);
  assert.match(html, /<strong>simulated<\/strong> These are no measurements/);
  assert.match(html, /class="mark"[^>]*>simulated</);
  assert.match(html, /<h2>Skipped<\/h2>[^]*1T bytes: [^<]+ \(2 rows\)/);
  const { id } = await server.run({ nodes: { names: ['nobody'], wait_s: 60 } });
  assert.match(await page(server, id), /<strong>unfinished<\/strong>/);
  await server.request('POST', `/api/v1/runs/${id}/cancel`);
  await server.runEnds(id);
  assert.doesNotMatch(await page(server, id), /<strong>unfinished<\/strong>/);
  const nothing = await reportOf(server, 'nothing');
  assert.equal(nothing.status, 404);
  assert.match(nothing.type, /^application\/problem\+json/);
});

test('a run of very many rows is drawn whole and listed in part', limit, async (t) => {
  const { server } = await startCluster(t, 1);
  const run = await ended(server, {
    backend: 'sim', sizes: { min: 1, max: 4000, step: 1 }, dtypes: ['int8'], iters: 1, warmup: 1,
    check: 0, in_place: false, repeats: 3, env: { SIM_SLEEP_FRACTION: '0' },
  });
  assert.equal(run.rows_total, 12000);
  const html = await page(server, run.id);
  const data = dataOf(html);
  assert.equal(data.rows.length, 10000);
  assert.equal(data.rows_left_out, 2000);
  assert.ok(html.includes('The first 10000 rows of 12000: 2000 are left out'));
  assert.ok(html.includes('They stand for every row'));
  // Medians of all three repeats, though the third is not among the rows.
  assert.match(html, /<td class="n">4000<\/td>(<td class="n">[\d.]+<\/td>){5}<td class="n">3<\/td>/);
});

test('many readers at once get their reports or are told to come again', limit, async (t) => {
  const { server } = await startCluster(t, 1);
  const { id } = await ended(server, quick);
  const answers = await Promise.all(Array.from({ length: 40 }, () => reportOf(server, id)));
  for (const { status, headers } of answers) {
    assert.ok(status === 200 || (status === 503 && headers['retry-after'] === '2'), status);
  }
  assert.ok(answers.some(({ status }) => status === 200));
  assert.equal((await reportOf(server, id)).status, 200);
});
