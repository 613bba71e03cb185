/* spec_cost.test.mjs - what a request asks for, before it is sent */
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {costInWords, specCost} from '../../../web/js/spec_cost.mjs';

test('the empty request is the documented default',
    () => { assert.equal(costInWords({}), '1 case, 25 sizes up to 128 MiB, 50 rows.'); });

test('every dimension multiplies', () => {
    const spec = {
        collectives: ['all_reduce', 'broadcast'],
        sizes: {min: '1K', max: '4K', factor: 2},
        dtypes: ['float32', 'int8'],
        redops: ['sum', 'max', 'min'],
        in_place: false,
        repeats: 5
    };
    /* all_reduce 3 sizes x 2 types x 3 reductions, broadcast without reductions */
    assert.equal(specCost(spec).rows, (18 + 6) * 5);
    assert.equal(specCost(spec).cases, 5);
});

test('every root in turn is counted per rank, for what has a root', () => {
    const spec = {collectives: ['all_gather', 'gather'], root: -1, sizes: [8, '1K']};
    assert.equal(
        costInWords(spec), '1 case, 2 sizes up to 1.00 KiB, 4 rows and 4 rows per rank.');
});

test('steps end at the last size that is not above the largest', () => {
    const cost = specCost({sizes: {min: '4K', max: '1M', step: '100K'}});
    assert.deepEqual([cost.sizes, cost.largest], [11, 4096 + 10 * 102400]);
});

test('a size that makes no sense gives no estimate', () => {
    for (const sizes of [['x'], [], {min: 'x'}, {min: '1M', max: '1K'}, {factor: 1},
             {step: '0'}, {factor: 'two'}]) {
        assert.equal(costInWords({sizes}), '', JSON.stringify(sizes));
    }
});
