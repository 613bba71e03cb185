// SPDX-License-Identifier: Apache-2.0
// streams.test.mjs - runs that are followed by several clients at once, and ends in the middle of that:
// what the server's threads do together (a push runs this file under the thread sanitizer, too)
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import {
  assertNumbered,
  Lines,
  long,
  noWorkersLeft,
  parseSse,
  quick,
  ranksOf,
  startCluster,
} from './lib/cluster.mjs';
import { patience, waitFor } from './lib/fixture.mjs';

const limit = { timeout: 120000 * patience };

describe('streams', { concurrency: 4 }, () => {
  test('one POST is followed as text to its last line', limit, async (t) => {
    const { server, agents } = await startCluster(t, 4);
    const text = await server.followText({ ...quick, nodes: { count: 4 } });
    assert.equal(text.status, 201);
    assert.match(text.headers['content-type'], /^text\/plain/);
    const id = text.headers.location.split('/').pop();
    const lines = await text.ended();
    assert.match(lines[0], new RegExp(`^# run ${id} +http://127.0.0.1:${server.port}/`));
    assert.ok(lines.includes('# placed: host, 4 ranks on node-1, node-2, node-3, node-4'), text.describe());
    assert.ok(
      lines.some((line) => /^# 4 .*\b4 ranks /.test(line)),
      text.describe(),
    );
    assert.ok(
      lines.some((line) => /^ +4096 +1024 +float +sum +-1 .* 0$/.test(line)),
      text.describe(),
    );
    assert.match(lines.at(-1), /^completed: 4 rows in \d+\.\d s, busbw \d\S* GB\/s at \d+[KM]?$/);
    await noWorkersLeft(agents);
  });

  test('results of a run that goes on are those so far', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const { id } = await server.run(long);
    await server.event(id, (event) => event.type === 'result' && event.row >= 3);
    const rows = await server.rows(id);
    assert.ok(rows.length >= 4 && rows.length < 4000);
    assert.ok((await server.getRun(id)).rows_done >= 4);
  });

  test('the event stream resumes without gap or repetition', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const { id } = await server.run({ ...quick, sizes: { min: 8, max: '64K' }, iters: 20 });
    const seen = [];
    let last = 0;
    let isOver = false;
    // Again and again a client that leaves after a few events.
    while (!isOver) {
      const stream = await new Lines(t).open(server.url, 'GET', `/api/v1/runs/${id}/events`, {
        headers: { Accept: 'text/event-stream', ...(last && { 'Last-Event-ID': String(last) }) },
      });
      assert.equal(stream.status, 200);
      await waitFor(() => stream.isOver || parseSse(stream.lines).length >= 5, 'events', 20000);
      stream.stop();
      for (const event of parseSse(stream.lines)) {
        if (event.event === 'end') {
          isOver = true;
        } else {
          assert.equal(event.event, event.data.type);
          assert.equal(Number(event.id), event.data.id);
          seen.push(event.data);
          last = event.data.id;
        }
      }
    }
    assertNumbered(seen);
    assert.deepEqual(seen, await server.events(id));
    assert.equal(seen.at(-1).state, 'completed');
  });

  test('two clients see the same events, and what is stored is those', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const { id } = await server.run(quick);
    const one = await server.follow(id);
    const two = await server.follow(id);
    await one.ended();
    await two.ended();
    assert.deepEqual(one.lines, two.lines);
    const events = one.lines.filter(Boolean).map((line) => JSON.parse(line));
    assertNumbered(events);
    for (const type of ['state', 'placed', 'case', 'ranks', 'result']) {
      assert.ok(
        events.some((event) => event.type === type),
        type,
      );
    }
    assert.deepEqual(events, await server.events(id));
  });

  test('replaying the events gives the run', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const { id } = await server.run({ ...quick, repeats: 2 });
    const run = await server.runEnds(id);
    const events = await server.events(id);
    const states = events.filter((event) => event.type === 'state').map((event) => event.state);
    assert.equal(states[0], 'queued');
    assert.deepEqual(states.slice(-3), ['rendezvous', 'running', 'completed']);
    assert.equal(states.at(-1), run.state);
    const placed = events.find((event) => event.type === 'placed');
    assert.deepEqual(placed.nodes, run.nodes);
    assert.equal(placed.rows_total, run.rows_total);
    assert.deepEqual(placed.machines, run.machines);
    assert.deepEqual(
      run.machines.flatMap(({ nodes }) => nodes).sort(),
      run.nodes.map(({ name }) => name).sort(),
    );
    assert.ok(run.machines[0].hardware && run.machines[0].versions.ringbench, JSON.stringify(run.machines));
    assert.equal(events.filter((event) => event.type === 'result').length, run.rows_done);
    const ranks = new Map();
    for (const event of events.filter((each) => each.type === 'ranks')) {
      for (const rank of event.ranks) ranks.set(`${event.case}.${rank}`, event.state);
    }
    for (const one of run.cases) {
      for (const rank of ranksOf(one)) assert.equal(ranks.get(`${one.case}.${rank.rank}`), rank.state);
    }
  });

  test('SIGTERM ends agents and server cleanly', limit, async (t) => {
    const { server, agents } = await startCluster(t, 2);
    for (const agent of agents) agent.signal('SIGTERM');
    for (const agent of agents) assert.deepEqual(await agent.ended(), { code: 0, signal: null });
    await server.nodeIs('node-1', 'left');
    server.signal('SIGTERM');
    assert.deepEqual(await server.ended(), { code: 0, signal: null });
  });

  test('the server ends cleanly in the middle of streams', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const text = await server.followText(long);
    await text.line(/^ +4096 /);
    server.signal('SIGTERM');
    assert.deepEqual(await server.ended(), { code: 0, signal: null });
    await text.ended();
  });
});
