// SPDX-License-Identifier: Apache-2.0
// options.test.mjs - what programs say of their options before they do anything
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { binDir, buildDir, patience } from './lib/fixture.mjs';

const limit = { timeout: 60000 * patience };
const programs = ['server', 'agent', 'worker-host', 'worker-nccl', 'worker-sim'].map(
  (name) => `ringbench-${name}`,
);

const ask = (program, args, env = {}) =>
  spawnSync(path.join(binDir, program), args, { encoding: 'utf8', env: { PATH: process.env.PATH, ...env } });

test('every program says the same version and build, which is that of the probes', limit, () => {
  const said = programs.map((program) => ask(program, ['--version']).stdout);
  const [, rest] = said[0].match(/^ringbench-server (\d+\.\d+\.\d+ \(workers' build [0-9a-f]{12}\))\n$/);
  assert.deepEqual(
    said,
    programs.map((program) => `${program} ${rest}\n`),
  );
  const probe = JSON.parse(ask('ringbench-worker-host', ['--probe']).stdout);
  assert.equal(`${probe.version} (workers' build ${probe.build})`, rest);
});

test('a mistyped variable is named', limit, () => {
  for (const [program, wrong] of [
    ['ringbench-server', 'RINGBENCH_LISEN'],
    ['ringbench-agent', 'RINGBENCH_SEVER'],
  ]) {
    const { stderr } = ask(program, ['--no-such-option'], { [wrong]: 'x' });
    assert.match(stderr, new RegExp(`^${program}: warning: .*${wrong} `, 'm'));
  }
});

test('the options of one program are no mistakes to the other', limit, () => {
  const daemons = programs.slice(0, 2);
  const env = Object.fromEntries(
    daemons
      .flatMap((program) => [...ask(program, ['--help']).stdout.matchAll(/^ {2}--([a-z-]+)/gm)])
      .filter(([, name]) => !['help', 'version', 'config'].includes(name))
      .map(([, name]) => [`RINGBENCH_${name.toUpperCase().replaceAll('-', '_')}`, '1']),
  );
  assert.ok(Object.keys(env).length > 30);
  for (const program of daemons)
    assert.doesNotMatch(ask(program, ['--no-such-option'], env).stderr, /is unknown/);
});

test('every program answers --help, and its manual page has all of that', limit, () => {
  for (const program of [...programs, 'ringbench-sim', 'ringbench-case', 'ringbench']) {
    const { status, stdout } = ask(program, ['--help']);
    assert.equal(status, 0, program);
    const page = fs
      .readFileSync(path.join(buildDir, 'man', `${program}.1`), 'utf8')
      .replaceAll('\\-', '-')
      .replaceAll('\n.B ', '\n');
    for (const [, words] of stdout.matchAll(/^(?:usage: | {2})(\S.*?)(?: {2}.*)?$/gm))
      assert.ok(page.includes(`\n${words}\n`), `${program}: ${words}`);
  }
});
