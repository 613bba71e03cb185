/* SPDX-License-Identifier: Apache-2.0 */
/* node_tree.mjs - the machines of tests/data/nodes as folders (its README.md has the form) */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const NODES = join(import.meta.dirname, '../../data/nodes');
const unescaped = (text) => text.replace(/\\([nt])/g, (_, letter) => (letter === 'n' ? '\n' : '\t'));

function put(path, how, rest) {
  rmSync(path, { recursive: true, force: true });
  if (how === '!') return;
  mkdirSync(dirname(path), { recursive: true });
  if (how === '>') symlinkSync(rest, path);
  else if (how === '=') writeFileSync(path, unescaped(rest));
  else {
    const [offset, hex] = rest.split('=');
    writeFileSync(path, Buffer.concat([Buffer.alloc(Number(offset)), Buffer.from(hex, 'hex')]));
  }
}

function fill(root, name) {
  for (const line of readFileSync(join(NODES, name), 'utf8').split('\n')) {
    if (line.startsWith('< ')) fill(root, line.slice(2));
    if (!line.startsWith('/')) continue;
    const [dir, ...items] = line.split('\t');
    for (const item of items) {
      const [, file, how, rest] = item.match(/^([^=>@!]*)([=>@!])(.*)$/);
      put(join(root, dir, file), how, rest);
    }
  }
}

/* A folder that an agent takes for its / by RINGBENCH_ROOT. */
export function nodeTree(t, name) {
  const root = mkdtempSync(join(tmpdir(), 'rb-node-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  fill(root, `${name}.tree`);
  return root;
}

/* All of them: {name, base: what it begins with, finding: what preflight finds of it, beside: what it finds of it beside two
 * of its base, interfaces: a namespace needs these}. */
export function nodeTrees() {
  return readdirSync(NODES)
    .filter((file) => file.endsWith('.tree'))
    .map((file) => {
      const lines = readFileSync(join(NODES, file), 'utf8').split('\n');
      const rest = (mark) => lines.find((line) => line.startsWith(mark))?.slice(mark.length);
      const finding = (mark) => {
        const [check, severity, sentence, command] = rest(mark)?.split('\t') ?? [];
        return check && { check, severity, sentence, command };
      };
      return {
        name: file.slice(0, -5),
        base: rest('< ')?.slice(0, -5),
        finding: finding('= '),
        beside: finding('+ '),
        interfaces: rest('/\tinterfaces=')?.split(' ').filter(Boolean),
      };
    });
}
