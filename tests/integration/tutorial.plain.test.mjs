// SPDX-License-Identifier: Apache-2.0
// tutorial.plain.test.mjs - the pages that quote what the programs print: docs/tutorial, whose
// commands are run, and docs/troubleshooting.md
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { emulatedGpus, lacksNccl, startServer } from './lib/cluster.mjs';
import {
  Program,
  atEnd,
  binDir,
  freePort,
  killTree,
  patience,
  processesWithEnv,
  root,
  tempDir,
  waitFor,
} from './lib/fixture.mjs';

const limit = { timeout: 120000 * patience };

// The steps of a page: [{host, command, output}]. A line that begins with `$ ` or `HOST$ ` in a
// block ```console is a command; lines that begin with `> ` go on with it.
function stepsOf(page) {
  const steps = [];
  for (const [, block] of page.matchAll(/^```console\n(.*?)^```$/gms)) {
    for (const line of block.trimEnd().split('\n')) {
      const [, host, command] = /^([\w-]*)\$ (.*)$/.exec(line) ?? [];
      const step = steps.at(-1);
      if (command) steps.push({ host, command, output: [] });
      else if (line.startsWith('> ') && step.output.length === 0) step.command += `\n${line.slice(2)}`;
      else step.output.push(line);
    }
  }
  return steps;
}

// A line with `#` in place of each figure that differs from run to run. Sizes, counts and wrong
// elements stay as they are.
function masked(line) {
  const words = line.trim().split(/\s+/);
  if (/^\d+ \d+ \w+ \w+ -?\d+$/.test(words.slice(0, 5).join(' ')))
    for (const i of [5, 6, 7, 9, 10, 11]) words[i] = '#';
  return words
    .join(' ')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/\/\/(127\.0\.0\.1|head):\d+/g, '//SERVER')
    .replace(/~?(\d+\.\d+(e[-+]\d+)?|#\.#+)/g, '#')
    .replace(/\b(?=[a-z]*\d)[0-9a-z]{12}\b/g, 'RUN')
    .replace(/\d+ calls in \d+ blocks/, 'calls');
}

// Whether a line is as expected; `…` stands for any text.
const isLike = (line, expected) => {
  const parts = masked(expected)
    .split('…')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(masked(line));
};

// Whether lines are those expected, in their order; a line `...` stands for any lines.
function isOutput(lines, expected) {
  if (expected.length === 0) return lines.length === 0;
  const [first, ...rest] = expected;
  if (first === '...') return lines.some((_, i) => isOutput(lines.slice(i), rest)) || rest.length === 0;
  return lines.length > 0 && isLike(lines[0], first) && isOutput(lines.slice(1), rest);
}

// A shell of the reader's, which keeps its variables and background jobs.
class Shell {
  constructor(t, env) {
    this.program = new Program(t, 'bash', ['--norc'], { env, stdio: ['pipe', 'pipe', 'pipe'] });
    this.serial = 0;
  }

  // The lines that a command prints, on both streams.
  async run(command) {
    const mark = `end-of-command-${this.serial++}`;
    const from = this.program.lines.length;
    this.program.child.stdin.write(`{ ${command}\n} 2>&1; (status=$?; echo; echo ${mark}; exit $status)\n`);
    const end = await waitFor(
      () => this.program.lines.indexOf(mark, from) + 1,
      () => `no end of ${command}:\n${this.program.describe()}`,
      60000,
    );
    const lines = this.program.lines.slice(from, end - 1);
    if (lines.at(-1) === '') lines.pop();
    return lines;
  }
}

// Commands that only read may be asked again until what they show is there.
const isRead = (command) => /^ringbench (nodes|ls)\b|^curl (?!.*(-d|POST))/.test(command);

async function follow(t, file, hostEnv = {}) {
  const steps = stepsOf(fs.readFileSync(path.join(root, 'docs/tutorial', file), 'utf8'));
  assert.ok(steps.length >= 6, `${file} has ${steps.length} commands`);
  const home = tempDir(t);
  const port = await freePort();
  const mark = `${process.pid}-${file}`;
  const left = () => processesWithEnv('TEST_MARK', mark);
  const env = {
    PATH: `${binDir}:${process.env.PATH}`,
    HOME: home,
    XDG_RUNTIME_DIR: home,
    TEST_MARK: mark,
    RINGBENCH_PASS_ENV: 'TEST_MARK',
    RINGBENCH_SERVER: `http://127.0.0.1:${port}`,
  };
  const shells = new Map();
  const shellOf = (host) => {
    if (!shells.has(host)) shells.set(host, new Shell(t, { ...env, ...hostEnv[host] }));
    return shells.get(host);
  };
  atEnd(t, () => left().forEach((pid) => void killTree(pid)));
  for (const host of new Set(steps.map((step) => step.host))) await shellOf(host).run(`cd '${home}'`);
  for (const { host, command, output } of steps) {
    const local = command.replaceAll('//head:', '//127.0.0.1:').replaceAll(':8080', `:${port}`);
    let lines;
    const asExpected = async () => {
      lines = await shellOf(host).run(local);
      return isOutput(lines, output);
    };
    const what = () => `${host}$ ${command}\nexpected:\n${output.join('\n')}\ngot:\n${lines.join('\n')}`;
    if (isRead(command)) await waitFor(asExpected, what, 20000);
    else assert.ok(await asExpected(), what());
  }
  // The last commands of a page stop what the others started.
  const isShell = new Set([...shells.values()].map((shell) => shell.program.pid));
  await waitFor(
    () => left().every((pid) => isShell.has(pid)),
    () => `left by ${file}: ${left()}`,
    20000,
  );
}

test('a laptop', limit, (t) => follow(t, 'laptop.md'));

test('a slow node in a simulated fleet', limit, (t) => follow(t, 'find-a-slow-node.md'));

test('two nodes with GPUs', { ...limit, skip: lacksNccl }, (t) => {
  const gpus = (name) => emulatedGpus('devices=2', { RINGBENCH_NAME: name, RINGBENCH_HOSTID: name });
  return follow(t, 'two-gpu-nodes.md', { 'gpu-1': gpus('gpu-1'), 'gpu-2': gpus('gpu-2') });
});

test('troubleshooting.md quotes messages that the programs have', () => {
  const sources = ['server', 'agent', 'common', 'client']
    .flatMap((dir) =>
      fs.readdirSync(path.join(root, dir), { recursive: true }).map((file) => `${dir}/${file}`),
    )
    .filter((file) => /\.(c|h|inc)$|ringbench$/.test(file))
    .map((file) => fs.readFileSync(path.join(root, file), 'utf8'))
    .join('\n')
    .replace(/"\s*\n\s*"/g, '');
  const page = fs.readFileSync(path.join(root, 'docs/troubleshooting.md'), 'utf8');
  const quoted = [...page.matchAll(/^\| (.*?) \| /gm)]
    .flatMap(([, cell]) => [...cell.matchAll(/`([^`]*)`/g)])
    .flatMap(([, message]) => message.split('…'))
    .map((part) => part.trim())
    .filter((part) => part.length >= 8);
  assert.ok(quoted.length > 30, `${quoted.length} parts`);
  assert.deepEqual(
    quoted.filter((part) => !sources.includes(part)),
    [],
  );
});

test('run specs of README and the how-to pages are accepted', limit, async (t) => {
  const server = await startServer(t);
  const folder = path.join(root, 'docs/how-to');
  const pages = ['README.md', ...fs.readdirSync(folder).map((file) => `docs/how-to/${file}`)];
  const specs = pages.flatMap((file) => {
    const page = fs.readFileSync(path.join(root, file), 'utf8');
    const inline = [...page.matchAll(/ringbench run '(\{.*?\})'/g)];
    const blocks = [...page.matchAll(/^ *```json\n(.*?)^ *```$/gms)].filter(
      ([text]) => !text.includes('"argv"'),
    );
    return [...inline, ...blocks].map(([, spec]) => ({ file, spec }));
  });
  assert.ok(specs.length >= 6, `${specs.length} specs`);
  for (const { file, spec } of specs) {
    // A launcher is of its server.
    const { launch, ...body } = JSON.parse(spec);
    const answer = await server.request('POST', '/api/v1/runs/validate', { body: JSON.stringify(body) });
    assert.equal(answer.status, 200, `${file}: ${spec}: ${answer.text}`);
  }
});
