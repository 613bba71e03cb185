/* SPDX-License-Identifier: Apache-2.0 */
/* spec_form.test.mjs - the form gives the request that was meant, and takes one back */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { webcrypto } from 'node:crypto';
import { test } from 'node:test';
import { emptyForm, errorsByField, fromSpec, toSpec } from '../../../web/js/spec_form.mjs';
import { curlLine, idempotencyKey, listAsRange, prettyJson, shortSpec } from '../../../web/js/spec_text.mjs';
import { buildGroups } from '../../../web/js/spec_fields.mjs';
import { SCHEMA } from '../lib/fake_server.mjs';
import { sampleRun } from '../lib/sample.mjs';

const schema = JSON.parse(readFileSync(SCHEMA, 'utf8'));
const groups = buildGroups(schema);
const fields = groups.flatMap((group) => group.fields);
const fill = (values) => ({ ...emptyForm(fields), ...values });
const form = (spec) => fromSpec(fields, spec);

test('an untouched form is the empty request', () => {
  assert.deepEqual(toSpec(fields, emptyForm(fields)), {});
});

test('what is filled in goes out under its own key and type', () => {
  const spec = toSpec(
    fields,
    fill({
      name: ' nightly ',
      labels: 'ticket=NET-12\n\nnote=a=b\nflag',
      collectives: ['all_reduce', 'broadcast'],
      sizes_min: '8',
      sizes_max: '1G',
      sizes_factor: '4',
      in_place: 'false',
      root: '-1',
      nodes_mode: 'names',
      nodes_names: ['n1', 'n2'],
      ranks_per_node: '2',
      env: 'NCCL_DEBUG=INFO',
      iters: '5',
    }),
  );
  assert.deepEqual(spec, {
    name: 'nightly',
    labels: { ticket: 'NET-12', note: 'a=b', flag: '' },
    collectives: ['all_reduce', 'broadcast'],
    sizes: { min: '8', max: '1G', factor: 4 },
    in_place: false,
    root: -1,
    nodes: { names: ['n1', 'n2'] },
    ranks_per_node: 2,
    env: { NCCL_DEBUG: 'INFO' },
    iters: 5,
  });
});

test('only the shown ones of the exclusive fields count', () => {
  const values = {
    nodes_count: '3',
    nodes_group: 'g',
    nodes_labels: 'a=b',
    nodes_wait_s: '9',
    sizes_min: '8',
    sizes_list: '8, 64K 1M',
  };
  assert.deepEqual(toSpec(fields, fill({ ...values, nodes_mode: 'group', sizes_mode: 'list' })), {
    sizes: ['8', '64K', '1M'],
    nodes: { count: 3, wait_s: 9, group: 'g' },
  });
  assert.deepEqual(toSpec(fields, fill({ ...values, nodes_mode: 'count', sizes_mode: 'step' })), {
    sizes: { min: '8' },
    nodes: { count: 3, wait_s: 9 },
  });
});

test('nonsense goes to the server as typed, which is the one to judge it', () => {
  assert.deepEqual(toSpec(fields, fill({ iters: 'many', root: '1e3' })), { iters: 'many', root: '1e3' });
});

test('an effective spec comes back unchanged but for its defaults by name', () => {
  const { spec } = sampleRun({ sizes: [8, 16, 32], labels: { a: 'b' } });
  const again = toSpec(fields, form(spec));
  const { name, backend, timing, ranks_per_node, in_place, sizes, ...rest } = spec;
  assert.deepEqual(again, { ...rest, sizes: { min: '8', max: '32', factor: 2 } });
  assert.deepEqual(shortSpec({ ...spec, program: null, matrix: {} }), {
    ...rest,
    backend,
    timing,
    ranks_per_node,
    in_place,
    sizes: again.sizes,
  });
});

test('what the form has no field for is kept', () => {
  const spec = { priority: 3, share: true, fault: null };
  assert.deepEqual(toSpec(fields, form(spec)), spec);
});

test('a backend that the form does not offer is kept', () => {
  assert.deepEqual(toSpec(fields, form({ backend: 'tree' })), { backend: 'tree' });
});

test('nulls of an effective spec are unset', () => {
  const spec = { nodes: { count: null, names: null, group: null, labels: null, wait_s: 60 } };
  assert.deepEqual(toSpec(fields, form(spec)), { nodes: { wait_s: 60 } });
});

test('a geometric list is a range, another is a list', () => {
  assert.deepEqual(listAsRange([8, 16, 32]), { min: 8, max: 32, factor: 2 });
  assert.equal(listAsRange([8, 16, 33]), null);
  assert.equal(listAsRange([8, 16]), null);
  assert.equal(listAsRange([0, 0, 0]), null);
  assert.equal(form({ sizes: [8, 100, 65536] }).sizes_list, '8, 100, 64K');
});

test('each fault stands at the field that its pointer leads to', () => {
  const problem = {
    errors: [
      { pointer: '/sizes/min', detail: 'min' },
      { pointer: '/nodes/names/1', detail: 'name' },
      { pointer: '/env/LD_PRELOAD', detail: 'env' },
      { pointer: '/bogus', detail: 'what' },
      { pointer: '', detail: 'all of it' },
    ],
  };
  assert.deepEqual(errorsByField(fields, problem, fill({ nodes_mode: 'names' })), {
    sizes_min: ['min'],
    nodes_names: ['name'],
    env: ['env'],
    '': ['/bogus: what', 'all of it'],
  });
});

test('a fault of a hidden field stands at what is shown of it', () => {
  const problem = { errors: [{ pointer: '/sizes/1', detail: 'x' }] };
  assert.deepEqual(errorsByField(fields, problem, fill({ sizes_mode: 'list' })), { sizes_list: ['x'] });
  assert.deepEqual(errorsByField(fields, problem, emptyForm(fields)), { sizes_mode: ['x'] });
  assert.deepEqual(
    errorsByField(fields, { errors: [{ pointer: '/nodes/group', detail: 'g' }] }, emptyForm(fields)),
    { nodes_mode: ['g'] },
  );
});

test('a shell reads the curl line as it was meant', () => {
  const spec = { name: `it's "so" $HOME \\ \`x\`; rm -rf`, labels: { a: 'é\n' } };
  const line = curlLine(spec, 'http://head:8080', true);
  const args = execFileSync('/bin/sh', ['-c', line.replace(/^curl/, "printf '%s\\0'")], {
    env: { RINGBENCH_TOKEN: 'se cret' },
  })
    .toString()
    .split('\0');
  assert.deepEqual(JSON.parse(args[args.indexOf('-d') + 1]), spec);
  assert.ok(args.includes('Authorization: Bearer se cret'));
  assert.ok(args.includes('http://head:8080/api/v1/runs'));
});

test('JSON to be read keeps lists short, and is the same JSON', () => {
  const value = { a: [1, 2, 3], b: { c: ['x, y', '[z]'], d: [] }, e: [{ f: 1 }], g: 'a\n[ 1,\n2 ]' };
  const text = prettyJson(value);
  assert.deepEqual(JSON.parse(text), value);
  assert.match(text, /"a": \[1, 2, 3\]/);
});

test('idempotency keys differ', () => {
  // What every browser has, and node from version 20 on.
  globalThis.crypto ??= /** @type {any} */ (webcrypto);
  assert.match(idempotencyKey(), /^[0-9a-f]{32}$/);
  assert.notEqual(idempotencyKey(), idempotencyKey());
});

test('there is a field for everything that a request may have', () => {
  const named = new Set(fields.map((field) => field.pointer.split('/')[1]));
  const all = Object.keys(schema.components.schemas.RunSpec.properties);
  assert.deepEqual(
    all.filter((key) => !named.has(key)),
    ['fault'],
  );
  assert.deepEqual(
    fields.filter((field) => !field.label || !field.kind),
    [],
  );
  assert.equal(new Set(fields.map((field) => field.id)).size, fields.length);
});

test('choices, defaults and ranges of values are the server’s', () => {
  const field = (id) => fields.find((one) => one.id === id);
  assert.deepEqual(
    field('timing').options.map((option) => option[2]),
    [undefined, 'isolated'],
  );
  assert.deepEqual(
    field('in_place').options.map((option) => option[2]),
    [undefined, true, false],
  );
  assert.equal(field('iters').hint, 'auto');
  assert.equal(field('sizes_min').hint, '8');
  assert.ok(field('collectives').options.includes('alltoall'));
  assert.equal(field('nccl_stream').kind, 'choice');
  assert.equal(field('share').kind, 'choice');
});

test('a field that the server has of late has its place without a word of ours', () => {
  const later = structuredClone(schema);
  Object.assign(later.components.schemas.RunSpec.properties, {
    hops: { type: 'integer', default: 3, description: 'how many' },
    shape: { type: 'object', properties: { wide: { type: 'boolean', default: false } } },
    free: { oneOf: [{ type: 'array', items: { type: 'integer' } }, { type: 'object' }] },
  });
  const more = buildGroups(later)
    .at(-1)
    .fields.map(({ pointer, kind, hint, help }) => [pointer, kind, hint, help])
    .slice(-3);
  assert.deepEqual(more, [
    ['/hops', 'number', '3', 'how many'],
    ['/shape/wide', 'choice', 'false', undefined],
    ['/free', 'any', undefined, undefined],
  ]);
});

test('a matrix is variables with values, one of which may be none at all', () => {
  const matrix = [
    { name: 'NCCL_ALGO', values: 'Ring\n\n Tree ', unset: true },
    { name: '', values: '', unset: false },
  ];
  const spec = toSpec(fields, fill({ matrix }));
  assert.deepEqual(spec, { matrix: { NCCL_ALGO: ['Ring', 'Tree', null] } });
  assert.deepEqual(toSpec(fields, form(spec)), spec);
});

test('a run of a program has none of what belongs to a measurement', () => {
  const program = { name: 'torch-train', args: { steps: 20 } };
  const spec = toSpec(fields, fill({ what: 'program', program, iters: '5', repeats: '3' }));
  assert.deepEqual(spec, { program, repeats: 3 });
  assert.deepEqual(toSpec(fields, form(spec)), spec);
});

test('what the fields cannot say of a spec is kept', () => {
  const spec = { nccl: { stream: 'null' }, share: true };
  assert.deepEqual(toSpec(fields, form(spec)), spec);
});
