// SPDX-License-Identifier: Apache-2.0
// live_summary.test.mjs - the summary of a run as its stream has it, and as it is asked for
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { faulty, median, parseSse, quick, startCluster } from './lib/cluster.mjs';
import { patience, waitFor } from './lib/fixture.mjs';

const limit = { timeout: 120000 * patience };

// Some seconds of rows: each operation of rank 0 takes a while.
const slow = { kind: 'slow', rank: 0, us: 4000 };
const watched = {
  sizes: { min: '4K', max: '64K', step: '4K' },
  iters: 10,
  warmup: 1,
  cycles: 2,
  repeats: 2,
  fault: slow,
};

const follow = (server, id, query = '&summary=1') => server.follow(id, { format: `sse${query}`, after: 0 });

const summariesOf = (stream) =>
  parseSse(stream.lines)
    .filter(({ event }) => event === 'summary')
    .map(({ data }) => data);

const placeOf = ({ points, rows, skipped, wrong, points_total, ...key }) => JSON.stringify(key);

// What a client knows after these messages: each says what is new.
function merged(messages) {
  const series = new Map();
  for (const message of messages) {
    if (message.whole) series.clear();
    for (const one of message.series) {
      const known = series.get(placeOf(one))?.points ?? [];
      const fresh = new Set(one.points.map(({ size }) => size));
      const points = [...known.filter(({ size }) => !fresh.has(size)), ...one.points];
      series.set(placeOf(one), { ...one, points: points.sort((a, b) => a.size - b.size) });
    }
  }
  return [...series.values()].sort((a, b) => a.series - b.series);
}

// Each point is of the rows up to the last message, and none is missing.
function assertIsOfRows(rows, messages) {
  const known = rows.filter(({ id }) => id <= messages.at(-1).last_event);
  assert.equal(messages.at(-1).results, known.length);
  const points = merged(messages).flatMap(({ series, points }) => points.map((one) => ({ ...one, series })));
  assert.equal(
    points.reduce((sum, point) => sum + point.rows, 0),
    known.length,
  );
  for (const { series, size, time_us } of points) {
    const times = known.filter((row) => row.series === series && row.size === size).map((row) => row.time_us);
    assert.ok(Math.abs(time_us / median(times) - 1) < 1e-9, `${time_us}: ${times}`);
  }
}

async function assertLikeAnswer(server, id, messages) {
  const answer = await server.get(`/api/v1/runs/${id}/summary`);
  const last = messages.at(-1);
  assert.equal(last.whole, true);
  for (const key of ['combinations', 'series', 'figures', 'results', 'last_event', 'points_total']) {
    assert.deepEqual(last[key], answer[key], key);
  }
  assert.deepEqual(last.run.summary, answer.run.summary);
  assert.equal(last.run.state, answer.run.state);
}

describe('summaries in streams', { concurrency: 4 }, () => {
  test('what changes adds up to what the run comes to', limit, async (t) => {
    const { server } = await startCluster(t, 2, faulty);
    const began = Date.now();
    const { id } = await server.run(watched);
    const stream = await follow(server, id);
    await waitFor(
      () => summariesOf(stream).filter(({ series }) => series.length).length > 2,
      'summaries',
      60000,
    );
    const late = await follow(server, id);
    await stream.ended(60000);
    await late.ended();
    const events = parseSse(stream.lines);
    assert.deepEqual(
      events.slice(-2).map(({ event }) => event),
      ['summary', 'end'],
    );
    const rows = events.filter(({ event }) => event === 'result').map(({ data }) => data);
    const messages = summariesOf(stream);
    assert.deepEqual(
      messages.map(({ whole }) => whole ?? false),
      messages.map((_, i) => i === 0 || i === messages.length - 1),
    );
    assert.ok(messages.length <= (Date.now() - began) / 500 + 3, `${messages.length}`);
    assert.ok(messages.slice(1, -1).some(({ series }) => series.flatMap(({ points }) => points).length < 32));
    await assertLikeAnswer(server, id, messages);
    await assertLikeAnswer(server, id, summariesOf(late));
    const answer = await server.get(`/api/v1/runs/${id}/summary`);
    assertIsOfRows(rows, messages.slice(0, Math.ceil(messages.length / 2)));
    assert.deepEqual(merged(messages), answer.series);
    assert.equal(answer.results, 128);
  });

  test('a run that has ended gives one whole summary, others none', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const { id } = await server.runToEnd(quick);
    const stream = await follow(server, id);
    await stream.ended();
    const messages = summariesOf(stream);
    assert.equal(messages.length, 1);
    await assertLikeAnswer(server, id, messages);
    for (const query of ['', '&summary=0', '&summary=1&follow=0']) {
      const plain = await follow(server, id, query);
      await plain.ended();
      assert.deepEqual(summariesOf(plain), [], query);
    }
    const lines = await (await server.follow(id, { format: 'ndjson&summary=1' })).ended();
    assert.ok(lines.every((line) => line === '' || JSON.parse(line).id > 0));
    assert.equal((await server.request('GET', `/api/v1/runs/${id}/events?summary=2`)).status, 400);
  });

  test('what a case measured that begins anew is in no summary', limit, async (t) => {
    const { server } = await startCluster(t, 2, faulty);
    const { id } = await server.run({ ...watched, repeats: 1 });
    const stream = await follow(server, id);
    await waitFor(() => summariesOf(stream).some(({ series }) => series.length), 'a summary', 60000);
    await server.killHard();
    const next = await server.startAgain();
    const again = await follow(next, id);
    await again.ended(90000);
    await assertLikeAnswer(next, id, summariesOf(again));
  });
});
