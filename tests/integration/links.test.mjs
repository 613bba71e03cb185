// SPDX-License-Identifier: Apache-2.0
// links.test.mjs - links between the Markdown pages of the repository lead somewhere
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folders = ['.', 'bench', 'client', 'deploy', 'docs', 'examples', 'scripts', 'tests', 'web'];
const skipped = /(^|\/)(node_modules|build)\//;

// {page: its text without blocks of code}
const pages = new Map(
  folders
    .filter((folder) => fs.existsSync(path.join(root, folder)))
    .flatMap((folder) =>
      fs
        .readdirSync(path.join(root, folder), { recursive: folder !== '.' })
        .map((name) => path.join(folder, name))
        .filter((page) => page.endsWith('.md') && !skipped.test(page)),
    )
    .map((page) => [page, fs.readFileSync(path.join(root, page), 'utf8').replace(/^```[\s\S]*?^```/gm, '')]),
);

// [target, anchor] of each relative link.
const linksOf = (page) =>
  [...pages.get(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .filter(([, link]) => !/^[a-z]+:/.test(link))
    .map(([, link]) => link.split('#'))
    .map(([file, anchor]) => [file ? path.join(path.dirname(page), file) : page, anchor]);

// As forges make anchors of headings.
const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[^\p{L}\p{N}\- _]/gu, '')
    .replaceAll(' ', '-');
const anchorsOf = (page) =>
  new Set([...pages.get(page).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchorOf(heading)));

test('every relative link leads to a file and a heading', () => {
  const faults = [];
  let n = 0;
  for (const page of pages.keys())
    for (const [target, anchor] of linksOf(page)) {
      n++;
      if (!fs.existsSync(path.join(root, target))) faults.push(`${page}: there is no ${target}`);
      else if (anchor && pages.has(target) && !anchorsOf(target).has(anchor))
        faults.push(`${page}: ${target} has no heading #${anchor}`);
    }
  assert.ok(n > 100, `${n} links`);
  assert.deepEqual(faults, []);
});

test('docs/README.md leads to every page of docs', () => {
  const led = new Set(linksOf('docs/README.md').map(([target]) => target));
  const all = [...pages.keys()].filter((page) => page.startsWith('docs/') && page !== 'docs/README.md');
  assert.deepEqual(
    all.filter((page) => !led.has(page)),
    [],
  );
});
