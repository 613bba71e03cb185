// SPDX-License-Identifier: Apache-2.0
// reference.test.mjs - the tables of docs/reference, made of what the programs themselves say:
// /openapi.json, /metrics and --help. RINGBENCH_WRITE_GOLDEN=1 writes them anew.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { quick, startCluster, startServer } from './lib/cluster.mjs';
import { binDir, patience } from './lib/fixture.mjs';

const limit = { timeout: 60000 * patience };

// Compares the text between a page's marks with the wanted one, or replaces it.
function holds(page, mark, wanted) {
  const file = new URL(`../../docs/reference/${page}`, import.meta.url);
  const text = fs.readFileSync(file, 'utf8');
  const begin = `<!-- ${mark} -->\n`;
  const from = text.indexOf(begin) + begin.length;
  const to = text.indexOf(`<!-- end of ${mark} -->`);
  assert.ok(from >= begin.length && to >= from, `${page} has no marks for ${mark}`);
  if (process.env.RINGBENCH_WRITE_GOLDEN)
    fs.writeFileSync(file, text.slice(0, from) + wanted + text.slice(to));
  else
    assert.equal(text.slice(from, to), wanted, `${page}: RINGBENCH_WRITE_GOLDEN=1 brings ${mark} up to date`);
}

const code = (text) => `\`${text}\``;
const cell = (text) => String(text).replaceAll('|', '\\|').replaceAll('\n', ' ');
const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |\n`).join('');

const names = { Size: 'size', Name: 'text', Labels: 'object of texts' };

// The values that a schema allows, in words. Larger limits are none to a reader.
function values(schemas, schema) {
  const name = schema.$ref?.split('/').at(-1);
  const { type, enum: words, oneOf, items, minimum, maximum } = { ...schemas[name], ...schema };
  const number = (n) => (n >= 2 ** 31 - 1 ? '' : n.toLocaleString('en', { maximumFractionDigits: 6 }));
  if (name && names[name]) return names[name];
  if (words) return words.map((word) => code(word)).join(' ');
  if (oneOf) return [...new Set(oneOf.map((one) => values(schemas, one)))].join(' or ');
  if (items) return `array of ${values(schemas, items)}`;
  if (type === 'integer' || type === 'number') {
    const whole = type === 'integer' ? '' : 'number ';
    if (minimum === undefined) return type;
    const most = number(maximum ?? Infinity);
    return `${whole}${number(minimum)} ${most ? `to ${most}` : 'or more'}`;
  }
  if (type === 'string') return 'text';
  return type ? [type].flat().join(' or ') : 'any';
}

function fields(schemas, properties, prefix = '') {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const about = { ...schemas[schema.$ref?.split('/').at(-1)], ...schema };
    const usual = schema.default === undefined ? '' : code(JSON.stringify(schema.default));
    const members = about.type === 'object' && about.properties ? about.properties : {};
    return [
      [code(prefix + name), values(schemas, schema), usual, about.description ?? ''],
      ...fields(schemas, members, `${prefix}${name}.`),
    ];
  });
}

const help = (program) => execFileSync(path.join(binDir, program), ['--help'], { encoding: 'utf8' });

// [option, default, meaning] of each line of --help.
const optionsOf = (program) =>
  [...help(program).matchAll(/^ {2}(--\S+(?: [^ ]+)?) {2,}(.+)$/gm)].map(([, option, text]) => {
    const [, meaning, usual] = text.match(/^(.*?)(?: \(default: ([^()]*)\))?$/);
    return [code(option), usual ?? '', meaning];
  });

describe('docs/reference', () => {
  test('spec.md has every field of a run spec', limit, async (t) => {
    const { schemas } = (await (await startServer(t)).get('/openapi.json')).components;
    const { fault: _, ...shown } = schemas.RunSpec.properties;
    const rows = fields(schemas, shown);
    for (const [name, , , meaning] of rows) assert.ok(meaning, name);
    holds('spec.md', 'fields', table(['field', 'values', 'default', 'meaning'], rows));
  });

  test('api.md has every route', limit, async (t) => {
    const { paths, tags } = await (await startServer(t)).get('/openapi.json');
    const routes = Object.entries(paths).flatMap(([at, operations]) =>
      Object.entries(operations).map(([method, operation]) => {
        const short = at.replace('/api/v1/', '/');
        return { route: code(`${method.toUpperCase()} ${short}`), ...operation };
      }),
    );
    const groups = tags.filter(({ name }) => name !== 'agents');
    const lists = groups.map(({ name }) => {
      const rows = routes.filter((route) => route.tags.includes(name));
      return `\n${table(
        [name, 'answer'],
        rows.map(({ route, summary }) => [route, summary]),
      )}`;
    });
    holds('api.md', 'routes', `${lists.join('')}\n`);
  });

  test('options.md has every option', () => {
    for (const program of ['ringbench-server', 'ringbench-agent', 'ringbench-sim']) {
      const rows = optionsOf(program);
      assert.equal(rows.length, [...help(program).matchAll(/^ {2}--/gm)].length, program);
      const shown = rows.filter(([option]) => !/--(help|version)/.test(option));
      holds('options.md', program, table(['option', 'default', 'meaning'], shown));
    }
  });

  test('metrics.md has every metric', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const thresholds = { valid: { figure: 'wrong', max: 0 } };
    const { id } = await server.run({ ...quick, sizes: [8, '8M'], thresholds });
    await server.runEnds(id);
    const text = await server.get('/metrics');
    const rows = [...text.matchAll(/^# HELP (ringbench_\w+) (.*)\n# TYPE \w+ (\w+)$/gm)].map(
      ([, name, meaning, type]) => {
        const [, labels = ''] = text.match(new RegExp(`^${name}(?:_count)?\\{(.*)\\} `, 'm')) ?? [];
        const keys = [...labels.matchAll(/(\w+)="/g)].map(([, key]) => code(key)).join(' ');
        return [code(name), type, keys, meaning];
      },
    );
    assert.ok(rows.length > 40, text);
    holds('metrics.md', 'metrics', table(['metric', 'type', 'labels', 'meaning'], rows));
  });

  test('glossary.md has every kind of verdict, pattern, timing and band, in order', limit, async (t) => {
    const { paths, components } = await (await startServer(t)).get('/openapi.json');
    const { pattern, timing } = components.schemas.RunSpec.properties;
    const bands = paths['/api/v1/trends'].get.parameters.find(({ name }) => name === 'band').schema.enum;
    const kinds = Object.values(components.schemas).map(({ properties }) => properties?.kind?.const);
    const page = fs.readFileSync(new URL('../../docs/reference/glossary.md', import.meta.url), 'utf8');
    const terms = [...page.matchAll(/^\| ([^|]+) \|/gm)].map(([, term]) => term).slice(1);
    assert.ok(kinds.includes('gate') && terms.length > 80);
    for (const word of [...kinds, ...bands, ...pattern.enum, ...timing.enum])
      if (word && word !== 'all') assert.ok(terms.includes(word), word);
    assert.deepEqual(
      terms,
      [...new Set(terms)].sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)),
    );
  });
});
