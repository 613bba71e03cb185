// SPDX-License-Identifier: Apache-2.0
// edit.test.mjs - labels and notes of runs that go on and of runs that have ended
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { assertNumbered, assertProblem, long, quick, startCluster, startServer } from './lib/cluster.mjs';
import { patience, tempDir } from './lib/fixture.mjs';

const limit = { timeout: 120000 * patience };

const edit = (server, id, patch, headers = {}) =>
  server.request('PATCH', `/api/v1/runs/${id}`, { body: JSON.stringify(patch), headers });

const edits = async (server, id) => (await server.events(id)).filter(({ type }) => type === 'edit');

const found = async (server, query) =>
  (await server.get(`/api/v1/runs?total=1&${query}`)).runs.map(({ id }) => id);

// What a run's document and its list say of labels and notes.
async function assertSays(server, id, labels, notes) {
  const run = await server.getRun(id);
  assert.deepEqual([run.labels, run.notes], [labels, notes]);
  const { runs } = await server.get(`/api/v1/runs?q=${id}`);
  assert.deepEqual([runs[0].labels, runs[0].notes], [labels, notes]);
}

describe('edits of runs', { concurrency: 4 }, () => {
  test('labels and notes change while a run goes on and after its end', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const { id } = await server.run({ ...long, labels: { gpu: 'a100', team: 'x' } });
    await server.event(id, (event) => event.type === 'result');
    const first = await edit(server, id, { labels: { gpu: 'h100', team: null }, notes: 'one\n\ttwo' });
    assert.equal(first.status, 200, first.text);
    assert.deepEqual([first.json.labels, first.json.notes], [{ gpu: 'h100' }, 'one\n\ttwo']);
    assert.deepEqual(first.json.spec.labels, { gpu: 'a100', team: 'x' });
    await assertSays(server, id, { gpu: 'h100' }, 'one\n\ttwo');
    assert.deepEqual(await found(server, 'label=gpu%3Dh100'), [id]);
    assert.deepEqual(await found(server, 'label=gpu%3Da100'), []);
    assert.deepEqual(await found(server, 'q=TWO'), [id]);

    await server.request('POST', `/api/v1/runs/${id}/cancel`);
    await server.runEnds(id);
    const second = await edit(server, id, { labels: { rack: 'b7' }, notes: null });
    assert.equal(second.status, 200, second.text);
    assert.equal(second.json.state, 'cancelled');
    assert.ok(second.json.cases.length > 0);
    await assertSays(server, id, { gpu: 'h100', rack: 'b7' }, '');
    assert.deepEqual(await found(server, 'label=gpu%3Dh100&label=rack%3Db7&state=cancelled'), [id]);
    assert.deepEqual(await found(server, 'q=two'), []);

    const events = await server.events(id);
    assertNumbered(events);
    assert.deepEqual(
      events.filter(({ type }) => type === 'edit').map(({ id: _, time, ...rest }) => rest),
      [
        {
          type: 'edit',
          before: { labels: { gpu: 'a100', team: 'x' }, notes: '' },
          after: { labels: { gpu: 'h100', team: null }, notes: 'one\n\ttwo' },
          by: null,
          peer: '127.0.0.1',
        },
        {
          type: 'edit',
          before: { labels: { rack: null }, notes: 'one\n\ttwo' },
          after: { labels: { rack: 'b7' }, notes: '' },
          by: null,
          peer: '127.0.0.1',
        },
      ],
    );
    const text = await server.get(`/api/v1/runs/${id}/events?format=text`);
    const lines = text.trimEnd().split('\n');
    assert.ok(lines.includes('# labels: gpu=h100, rack=b7'), text);
    assert.match(text, /^# edited from 127\.0\.0\.1; label gpu=h100 \(was a100\); .*notes=one$/m);
    assert.match(lines.at(-1), /^cancelled/);
    assert.match(text, /rack=b7.*\n(.*\n)*cancelled/);
  });

  test('who follows a run reads of an edit', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const { id } = await server.run(long);
    const stream = await server.follow(id);
    await stream.line(/"type":"result"/);
    assert.equal((await edit(server, id, { notes: 'seen' })).status, 200);
    const [line] = await stream.line(/^.*"type":"edit".*$/);
    assert.equal(JSON.parse(line).after.notes, 'seen');
  });

  test('an edit that changes nothing is no event', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const { id } = await server.runToEnd({ ...quick, labels: { a: 'b' } });
    for (const patch of [{}, { labels: { a: 'b', c: null } }, { notes: null }, { notes: '' }]) {
      const answer = await edit(server, id, patch);
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(answer.json.labels, { a: 'b' });
    }
    assert.deepEqual(await edits(server, id), []);
  });

  test('many edits at once lose none', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const [ended, going] = [await server.runToEnd(quick), await server.run(long)];
    const names = Array.from({ length: 20 }, (_, i) => `k${i}`);
    for (const { id } of [ended, going]) {
      const answers = await Promise.all(names.map((name) => edit(server, id, { labels: { [name]: id } })));
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
      assert.deepEqual(Object.keys((await server.getRun(id)).labels).sort(), [...names].sort());
      assert.equal((await edits(server, id)).length, names.length);
    }
  });

  test('edits outlive a kill of the server', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const ended = await server.runToEnd({ ...quick, labels: { a: '1' } });
    const going = await server.run({ ...long, labels: { a: '1' } });
    await server.event(going.id, (event) => event.type === 'result');
    for (const { id } of [ended, going]) await edit(server, id, { labels: { a: '2' }, notes: 'kept' });
    await server.killHard();
    const next = await server.startAgain();
    for (const { id } of [ended, going]) await assertSays(next, id, { a: '2' }, 'kept');
    await edit(next, going.id, { labels: { a: null } });
    await next.request('POST', `/api/v1/runs/${going.id}/cancel`);
    await next.runEnds(going.id);
    await assertSays(next, going.id, {}, 'kept');
    assert.equal((await edits(next, going.id)).length, 2);
  });

  test('a bad edit is refused with a pointer to each fault, and changes nothing', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const { id } = await server.runToEnd(quick);
    const answer = await edit(server, id, { labels: { a: 1, b: 'c' }, notes: ['x'], name: 'y' });
    const { errors } = assertProblem(answer, 422);
    assert.deepEqual(errors.map(({ pointer }) => pointer).sort(), ['/labels/a', '/name', '/notes']);
    const send = (body, target = id) => server.request('PATCH', `/api/v1/runs/${target}`, { body });
    assertProblem(await send('[]'), 422);
    assertProblem(await send('{"labels":'), 400, /line 1/);
    assertProblem(await send(''), 400);
    assertProblem(await send(JSON.stringify({ notes: 'x'.repeat(70000) })), 413);
    assertProblem(await send('{}', '000000000000'), 404, /000000000000/);
    await assertSays(server, id, {}, '');
    assert.deepEqual(await edits(server, id), []);
    const { allow } = (await server.request('OPTIONS', `/api/v1/runs/${id}`)).headers;
    assert.match(allow, /PATCH/);
  });

  test('a run that is deleted meanwhile stays deleted', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const { id } = await server.runToEnd(quick);
    const asked = [
      edit(server, id, { notes: 'a' }),
      server.request('DELETE', `/api/v1/runs/${id}`),
      edit(server, id, { notes: 'b' }),
    ];
    const [first, removed, last] = (await Promise.all(asked)).map(({ status }) => status);
    assert.equal(removed, 204);
    assert.ok([200, 404].includes(first) && [200, 404].includes(last), `${first} ${last}`);
    assertProblem(await server.request('GET', `/api/v1/runs/${id}`), 404);
  });

  test('who may cancel a run may edit it, and is named', limit, async (t) => {
    const file = path.join(tempDir(t), 'tokens');
    const tokens = { viewer: 'view-0123456789abcdef', operator: 'run-0123456789abcdef' };
    fs.writeFileSync(file, `viewer ${tokens.viewer}\noperator ${tokens.operator} ann\n`, { mode: 0o600 });
    const server = await startServer(t, { args: ['--token-file', file] });
    const as = (role) => ({ Authorization: `Bearer ${tokens[role]}` });
    const { id } = (await server.post({ ...quick, nodes: { wait_s: 600 } }, as('operator'))).json;
    assertProblem(await edit(server, id, { notes: 'x' }), 401);
    assertProblem(await edit(server, id, { notes: 'x' }, as('viewer')), 403);
    assert.equal((await edit(server, id, { notes: 'x' }, as('operator'))).status, 200);
    const stored = await server.request('GET', `/api/v1/runs/${id}/events?format=ndjson&follow=0`, {
      headers: as('viewer'),
    });
    const [event] = stored.text
      .split('\n')
      .filter((line) => line.includes('"edit"'))
      .map((line) => JSON.parse(line));
    assert.deepEqual([event.by, event.peer, event.after], ['ann', '127.0.0.1', { notes: 'x' }]);
  });
});
