// SPDX-License-Identifier: Apache-2.0
// report.test.mjs - a run as one file: whole, harmless, honest about what it is
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';

import { quick, startCluster, startServer } from './lib/cluster.mjs';
import { FakeAgent } from './lib/fake_agent.mjs';
import { patience } from './lib/fixture.mjs';
import { dataOf, page, reportOf, textOf } from './lib/report.mjs';

const limit = { timeout: 120000 * patience };

async function ended(server, spec) {
  const { id } = await server.run(spec);
  return server.runEnds(id);
}

describe('reports', { concurrency: 3 }, () => {
  test('a report holds all that the server knows of the run', limit, async (t) => {
    const { server } = await startCluster(t, 2, { agent: { ranks: 2 } });
    const run = await ended(server, {
      ...quick,
      name: 'nightly',
      collectives: ['all_reduce', 'all_gather'],
      repeats: 2,
      matrix: { NCCL_ALGO: ['Ring', null] },
      env: { NCCL_DEBUG: 'WARN' },
      labels: { ticket: 'NET-12' },
    });
    const html = await page(server, run.id);
    const data = dataOf(html);
    assert.equal(data.format, 'ringbench-report');
    assert.equal(data.version, 2);
    assert.deepEqual(data.run, await server.getRun(run.id));
    const events = await server.get(`/api/v1/runs/${run.id}/events?format=ndjson&follow=0`);
    assert.deepEqual(
      data.events,
      events
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    );
    assert.equal(data.events.filter((event) => event.type === 'result').length, run.rows_total);
    assert.deepEqual(
      data.nodes.map((node) => node.name),
      ['node-1', 'node-2'],
    );
    assert.ok(data.nodes[0].inventory.cpu.cores > 0);
    assert.equal(
      data.collectives.find((fact) => fact.name === 'all_reduce').bus_factor.formula,
      '2 (n - 1) / n',
    );
    assert.match(html, /<title>nightly · ringbench<\/title>/);
    // Who runs no scripts has the run as text, as curl shows it.
    const text = textOf(html);
    assert.ok(text.includes('# case 0 (NCCL_ALGO=Ring), all_reduce float32 sum\n'), text);
    assert.match(text, /\ncompleted: .*\n$/);
  });

  test('its policy allows its own script and style and nothing else', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const { id } = await ended(server, quick);
    const answer = await reportOf(server, id);
    const hashes = (tag) =>
      [...answer.text.matchAll(new RegExp(`<${tag}>([^]*?)</${tag}>`, 'g'))]
        .map(([, text]) => ` 'sha256-${createHash('sha256').update(text).digest('base64')}'`)
        .join('');
    const policy =
      `default-src 'none'; script-src${hashes('script')}; style-src${hashes('style')}; ` +
      "img-src data: blob:; base-uri 'none'; form-action 'none'";
    assert.equal(answer.headers['content-security-policy'], `${policy}; frame-ancestors 'none'`);
    assert.ok(answer.text.includes(`<meta http-equiv="Content-Security-Policy" content="${policy}">`));
    assert.equal(answer.headers['content-disposition'], `inline; filename="ringbench-${id}.html"`);
    assert.equal(answer.headers['x-content-type-options'], 'nosniff');
    const markup = answer.text.replace(/<(script|style)[\s\S]*?<\/\1>/g, '');
    assert.ok(!/ (style|on\w+)="/.test(markup));
    assert.ok(!/(src|href)="(?!data:,")/.test(markup));
    const head = await reportOf(server, id, 'HEAD');
    assert.equal(head.status, 200);
    assert.equal(head.text, '');
    assert.equal(head.headers['content-security-policy'], answer.headers['content-security-policy']);
  });

  test('names that are markup stay text', limit, async (t) => {
    const evil = '</script><script>alert(1)</script>"\'&\u00e9';
    const { server } = await startCluster(t, 1);
    const run = await ended(server, {
      ...quick,
      name: evil,
      labels: { x: evil.repeat(3) },
      matrix: { NCCL_DEBUG_SUBSYS: [evil, '\u202e'] },
    });
    const html = await page(server, run.id);
    const plain = await page(server, (await ended(server, quick)).id);
    // No more elements than a harmless one has, and nothing of the name but as text.
    assert.equal(html.match(/<script/g).length, plain.match(/<script/g).length);
    assert.equal(html.match(/<\/script>/g).length, plain.match(/<\/script>/g).length);
    assert.match(
      html,
      /<title>&lt;\/script&gt;&lt;script&gt;alert\(1\)&lt;\/script&gt;"'&amp;\u00e9 · ringbench<\/title>/,
    );
    assert.ok(!textOf(html).includes('\u202e'));
    assert.equal(dataOf(html).run.name, evil);
  });

  test('what is simulated or not finished says so', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const sim = await ended(server, {
      backend: 'sim',
      sizes: ['64K', '1T'],
      env: { SIM_SLEEP_FRACTION: '0' },
    });
    const text = textOf(await page(server, sim.id));
    assert.match(text, /simulated/);
    assert.match(text, /1099511627776 +skipped: /);
    const { id } = await server.run({ nodes: { names: ['nobody'], wait_s: 60 } });
    assert.equal(dataOf(await page(server, id)).run.state, 'waiting_for_nodes');
    await server.request('POST', `/api/v1/runs/${id}/cancel`);
    await server.runEnds(id);
    assert.match(textOf(await page(server, id)), /\ncancelled/);
    const nothing = await reportOf(server, 'nothing');
    assert.equal(nothing.status, 404);
    assert.match(nothing.type, /^application\/problem\+json/);
  });

  // Rows of as many ranks as no machine of a test has, from an agent that only says so.
  test('a run of few rows and very many bytes is reported by its summary too', limit, async (t) => {
    const server = await startServer(t);
    const agent = new FakeAgent(server, 'wide');
    assert.equal((await agent.register()).status, 201);
    const rows = 300;
    const { id } = await server.run({
      backend: 'host',
      sizes: { min: 4, max: 4 * rows, step: 4 },
      iters: 1,
      check: 0,
      in_place: false,
    });
    const command = await agent.command('start');
    const times_us = Array.from({ length: 10000 }, (_, i) => i + 0.25);
    for (let i = 0; i < rows; i += 10) {
      const lines = Array.from({ length: 10 }, (_, k) => ({
        type: 'result',
        rank: 0,
        row: i + k,
        series: 0,
        collective: 'all_reduce',
        dtype: 'float32',
        redop: 'sum',
        root: -1,
        in_place: false,
        size: 4 * (i + k + 1),
        count: i + k + 1,
        time_us: 1,
        time_min_us: 1,
        time_max_us: 1,
        algbw_gbs: 1,
        busbw_gbs: 1,
        times_us,
      }));
      assert.equal((await agent.say(command, ...lines)).status, 200);
    }
    assert.equal((await server.get(`/api/v1/runs/${id}`)).rows_done, rows);
    const data = dataOf(await page(server, id));
    assert.equal(data.events, undefined);
    assert.equal(data.summary.series[0].points.length, rows);
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
});
