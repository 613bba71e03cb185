// SPDX-License-Identifier: Apache-2.0
// clean_text.test.mjs - what others say reaches terminals and logs as text, not as commands
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { assertProblem, quick, startAgent, startCluster, startServer } from './lib/cluster.mjs';
import { FakeAgent } from './lib/fake_agent.mjs';
import { patience, tempDir } from './lib/fixture.mjs';

const limit = { timeout: 120000 * patience };

// What a terminal acts upon, and what turns the reading direction; a newline is not among them.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it searches for
const unseen = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;
const forged = '2026-01-01T00:00:00.000Z ringbench-server error the disk is full';

function assertClean(text, what) {
  const at = text.search(unseen);
  assert.equal(at, -1, `${what}: ${JSON.stringify(text.slice(Math.max(0, at - 60), at + 20))}`);
}

// A config directory with a program that runs `script`.
function configDir(t, script) {
  const dir = tempDir(t);
  fs.mkdirSync(path.join(dir, 'programs.d'));
  fs.writeFileSync(path.join(dir, 'hostile.mjs'), script);
  fs.writeFileSync(
    path.join(dir, 'programs.d', 'hostile.json'),
    JSON.stringify({
      argv: [process.execPath, path.join(dir, 'hostile.mjs')],
      metrics: [{ name: 'speed', unit: 'x/s', json: 'speed', higher_is_better: true, labels: ['note'] }],
      ranks_per_node: 1,
    }),
  );
  return dir;
}

test("a program cannot write on the reader's terminal, nor lines of others", limit, async (t) => {
  const dir = configDir(
    t,
    `
    console.log(JSON.stringify({ speed: 1, note: 'a\\ncompleted: 1 figure\\u001b[31m\\u009b31m' }));
    console.log('red \\u001b[31m title \\u001b]0;owned\\u0007 turned \\u202e back');
    process.stdout.write(Buffer.from([0x62, 0x9b, 0xff, 0x0a]));
    console.error('last words \\u001b[2J');
    console.error(${JSON.stringify(forged)});
    process.exitCode = 3;
  `,
  );
  const { server, agents } = await startCluster(t, 1, { agent: { args: ['--config-dir', dir] } });
  const stream = await server.followText({ program: { name: 'hostile' } });
  const id = stream.headers.location.split('/').pop();
  const lines = await stream.ended();
  assertClean(lines.join('\n'), 'the text stream');
  assert.ok(
    lines.some((line) => /^speed .*note=a\\ncompleted: 1 figure\\u001b\[31m\\u009b31m$/.test(line)),
    stream.describe(),
  );
  assert.ok(
    lines.some((line) => /^#.*last words \\u001b\[2J/.test(line)),
    stream.describe(),
  );
  assert.deepEqual(
    lines.filter((line) => /^(completed|failed|cancelled):/.test(line)),
    [lines.at(-1)],
  );
  assert.match(lines.at(-1), /^failed: /);
  for (const target of ['logs?format=text', 'results?format=text']) {
    assertClean(await server.get(`/api/v1/runs/${id}/${target}`), target);
  }
  const log = await server.get(`/api/v1/runs/${id}/logs?format=text`);
  assert.match(log, /red \\u001b\[31m title \\u001b\]0;owned\\u0007 turned \\u202e back/);
  // A program reads what was written.
  const { lines: entries } = await server.get(`/api/v1/runs/${id}/logs`);
  assert.ok(entries.some(({ text }) => text.includes('red \x1b[31m')));
  for (const program of [server, ...agents]) {
    assertClean(program.errors.join('\n'), program.name);
    for (const line of program.errors) assert.match(line, /^\S+Z ringbench-(server|agent|case) \w+ /);
    assert.equal(program.errors.includes(forged), false, program.describe());
  }
});

test("an agent's words stay in one line of the server's log", limit, async (t) => {
  const server = await startServer(t);
  const agent = new FakeAgent(server, 'me');
  assert.equal((await agent.register()).status, 201);
  const { id } = await server.run({ ...quick, backend: 'host' });
  const reason = `no\n${forged}\x1b[2J\u009b`;
  assert.equal((await agent.say(await agent.command('start'), { type: 'refused', reason })).status, 200);
  await server.runEnds(id);
  await server.errorLine(new RegExp(`run ${id} failed: `));
  assert.equal(server.errors.includes(forged), false, server.describe());
  assertClean(server.errors.join('\n'), "the server's log");
  assert.ok(
    server.errors.some((line) => line.includes(`no\\n${forged}\\u001b[2J\\u009b`)),
    server.describe(),
  );
});

// One error, there, which names the character.
function assertFound(errors, pointer, called) {
  assert.deepEqual(
    errors.map((error) => [error.pointer, error.detail.endsWith(` ${called}`)]),
    [[pointer, true]],
  );
}

test('names with characters that nobody sees are refused, and the character is named', limit, async (t) => {
  const { server } = await startCluster(t, 1);
  for (const [character, called] of [
    ['\x1b', 'U+001B'],
    ['\n', 'U+000A'],
    ['\x7f', 'U+007F'],
    ['\u009b', 'U+009B'],
    ['\u202e', 'U+202E'],
    ['\u2066', 'U+2066'],
    ['\u2028', 'U+2028'],
    ['\u200b', 'U+200B'],
    ['\u{e0041}', 'U+E0041'],
  ]) {
    const name = `a${character}b`;
    for (const [spec, pointer] of /** @type {any[][]} */ ([
      [{ name }, '/name'],
      [{ labels: { k: name } }, '/labels/k'],
      [{ labels: { [name]: 'v' } }, `/labels/${name}`],
      [{ nodes: { names: [name] } }, '/nodes/names/0'],
      [{ nodes: { group: name } }, '/nodes/group'],
      [{ nodes: { labels: { k: name } } }, '/nodes/labels/k'],
    ])) {
      const { errors } = assertProblem(await server.post({ ...quick, ...spec }), 422);
      assertFound(errors, pointer, called);
    }
    for (const [more, pointer] of [
      [{ group: name }, '/group'],
      [{ labels: { k: name } }, '/labels/k'],
      [{ labels: { [name]: 'v' } }, `/labels/${name}`],
    ]) {
      const answer = await new FakeAgent(server, 'me').register(more);
      assertFound(assertProblem(answer, 422).errors, pointer, called);
    }
  }
  const { name, labels } = await server.run({ ...quick, name: 'späte Übung 後 🙂', labels: { ort: 'Köln' } });
  assert.deepEqual([name, labels], ['späte Übung 後 🙂', { ort: 'Köln' }]);
  for (const [args, said] of /** @type {any[][]} */ ([
    [['--group', 'a\u202eb'], /--group: .*U\+202E/],
    [['--label', 'k=a\x1bb'], /--label: .*U\+001B/],
    [['--label', 'k\u009b=v'], /--label: .*U\+009B/],
  ])) {
    const agent = await startAgent(t, server, 'node-2', { args, ready: false });
    await agent.errorLine(said);
    assertClean(agent.errors.join('\n'), "the agent's refusal");
    assert.notEqual((await agent.ended()).code, 0);
  }
});
