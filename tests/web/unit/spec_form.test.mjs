/* spec_form.test.mjs - the form gives the request that was meant, and takes one back */
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {webcrypto} from 'node:crypto';
import {test} from 'node:test';
import {
    curlLine,
    emptyForm,
    errorsByField,
    fromSpec,
    idempotencyKey,
    listAsRange,
    prettyJson,
    toSpec
} from '../../../web/js/spec_form.mjs';
import {sampleRun} from '../lib/sample.mjs';

const fill = values => ({...emptyForm(), ...values});

test('an untouched form is the empty request',
    () => { assert.deepEqual(toSpec(emptyForm()), {}); });

test('what is filled in goes out under its own key and type', () => {
    const spec = toSpec(fill({
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
        iters: '5'
    }));
    assert.deepEqual(spec, {
        name: 'nightly',
        labels: {ticket: 'NET-12', note: 'a=b', flag: ''},
        collectives: ['all_reduce', 'broadcast'],
        sizes: {min: '8', max: '1G', factor: 4},
        in_place: false,
        root: -1,
        nodes: {names: ['n1', 'n2']},
        ranks_per_node: 2,
        env: {NCCL_DEBUG: 'INFO'},
        iters: 5
    });
});

test('only the shown ones of the exclusive fields count', () => {
    const values = {
        nodes_count: '3',
        nodes_group: 'g',
        nodes_labels: 'a=b',
        nodes_wait_s: '9',
        sizes_min: '8',
        sizes_list: '8, 64K 1M'
    };
    assert.deepEqual(toSpec(fill({...values, nodes_mode: 'group', sizes_mode: 'list'})),
        {sizes: ['8', '64K', '1M'], nodes: {count: 3, wait_s: 9, group: 'g'}});
    assert.deepEqual(toSpec(fill({...values, nodes_mode: 'count', sizes_mode: 'step'})),
        {sizes: {min: '8'}, nodes: {count: 3, wait_s: 9}});
});

test('nonsense goes to the server as typed, which is the one to judge it', () => {
    assert.deepEqual(
        toSpec(fill({iters: 'many', root: '1e3'})), {iters: 'many', root: '1e3'});
});

test('an effective spec comes back unchanged but for its defaults by name', () => {
    const {spec} = sampleRun({sizes: [8, 16, 32], labels: {a: 'b'}});
    const again = toSpec(fromSpec(spec));
    const {name, backend, timing, ranks_per_node, in_place, sizes, ...rest} = spec;
    assert.deepEqual(again, {...rest, sizes: {min: '8', max: '32', factor: 2}});
});

test('what the form has no field for is kept', () => {
    const spec = {priority: 3, share: true, fault: null};
    assert.deepEqual(toSpec(fromSpec(spec)), spec);
});

test('nulls of an effective spec are unset', () => {
    const spec = {
        nodes: {count: null, names: null, group: null, labels: null, wait_s: 60}
    };
    assert.deepEqual(toSpec(fromSpec(spec)), {nodes: {wait_s: 60}});
});

test('a geometric list is a range, another is a list', () => {
    assert.deepEqual(listAsRange([8, 16, 32]), {min: 8, max: 32, factor: 2});
    assert.equal(listAsRange([8, 16, 33]), null);
    assert.equal(listAsRange([8, 16]), null);
    assert.equal(listAsRange([0, 0, 0]), null);
    assert.equal(fromSpec({sizes: [8, 100, 65536]}).sizes_list, '8, 100, 64K');
});

test('each fault stands at the field that its pointer leads to', () => {
    const problem = {
        errors: [
            {pointer: '/sizes/min', detail: 'min'},
            {pointer: '/nodes/names/1', detail: 'name'},
            {pointer: '/env/LD_PRELOAD', detail: 'env'},
            {pointer: '/bogus', detail: 'what'}, {pointer: '', detail: 'all of it'}
        ]
    };
    assert.deepEqual(errorsByField(problem, fill({nodes_mode: 'names'})), {
        sizes_min: ['min'],
        nodes_names: ['name'],
        env: ['env'],
        '': ['/bogus: what', 'all of it']
    });
});

test('a fault of a hidden field stands at what is shown of it', () => {
    const problem = {errors: [{pointer: '/sizes/1', detail: 'x'}]};
    assert.deepEqual(
        errorsByField(problem, fill({sizes_mode: 'list'})), {sizes_list: ['x']});
    assert.deepEqual(errorsByField(problem, emptyForm()), {sizes_mode: ['x']});
    assert.deepEqual(
        errorsByField({errors: [{pointer: '/nodes/group', detail: 'g'}]}, emptyForm()),
        {nodes_mode: ['g']});
});

test('a shell reads the curl line as it was meant', () => {
    const spec = {name: `it's "so" $HOME \\ \`x\`; rm -rf`, labels: {a: 'é\n'}};
    const line = curlLine(spec, 'http://head:8080', true);
    const args = execFileSync(
        '/bin/sh', ['-c', line.replace(/^curl/, "printf '%s\\0'")], {
            env: {RINGBENCH_TOKEN: 'se cret'}
        }).toString().split('\0');
    assert.deepEqual(JSON.parse(args[args.indexOf('-d') + 1]), spec);
    assert.ok(args.includes('Authorization: Bearer se cret'));
    assert.ok(args.includes('http://head:8080/api/v1/runs'));
});

test('JSON to be read keeps lists short, and is the same JSON', () => {
    const value =
        {a: [1, 2, 3], b: {c: ['x, y', '[z]'], d: []}, e: [{f: 1}], g: 'a\n[ 1,\n2 ]'};
    const text = prettyJson(value);
    assert.deepEqual(JSON.parse(text), value);
    assert.match(text, /"a": \[1, 2, 3\]/);
});

test('idempotency keys differ', () => {
    // What every browser has, and node from version 20 on.
    globalThis.crypto ??= webcrypto;
    assert.match(idempotencyKey(), /^[0-9a-f]{32}$/);
    assert.notEqual(idempotencyKey(), idempotencyKey());
});
