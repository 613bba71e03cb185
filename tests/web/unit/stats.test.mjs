/* stats.test.mjs - rows made into series and table rows */
import assert from 'node:assert/strict';
import {test} from 'node:test';
import * as stats from '../../../web/js/stats.mjs';
import {sampleRow} from '../lib/sample.mjs';

const row = options =>
    ({case: 0, attempt: 1, ...sampleRow({row: 0, series: 0, ...options})});

test('the median is the middle, or the mean of both middles', () => {
    assert.equal(stats.median([]), null);
    assert.equal(stats.median([3]), 3);
    assert.equal(stats.median([9, 1, 5]), 5);
    assert.equal(stats.median([10, 2, 4, 100]), 7);
});

test('bus factors are those of nccl-tests', () => {
    assert.equal(stats.busFactor('all_reduce', 4), 1.5);
    for (const name
             of ['all_gather', 'reduce_scatter', 'alltoall', 'gather', 'scatter']) {
        assert.equal(stats.busFactor(name, 4), 0.75, name);
    }
    for (const name of ['broadcast', 'reduce', 'sendrecv']) {
        assert.equal(stats.busFactor(name, 4), 1, name);
    }
});

test('repeats become medians, with the widest bounds that any rank saw', () => {
    const rows = [10, 30, 20].map(time => ({
        ...row({size: 8}),
        time_us: time,
        time_min_us: time - 1,
        time_max_us: time + 2,
        algbw_gbs: 100 / time,
        busbw_gbs: 150 / time,
        wrong: time === 30 ? 4 : 0
    }));
    const summary = stats.summarise(rows);
    assert.equal(summary.time_us, 20);
    assert.equal(summary.busbw_gbs, 7.5);
    assert.deepEqual(summary.time_bounds_us, [9, 32]);
    assert.deepEqual(summary.busbw_bounds_gbs, [150 / 32, 150 / 9]);
    assert.equal(summary.wrong, 4);
    assert.equal(summary.repeats, 3);
});

test('a skipped row has a reason and no figure; one of several does not hide the others',
    () => {
        const skipped = {row: 0, size: 8, skipped: 'too small'};
        const alone = stats.summarise([skipped]);
        assert.equal(alone.skipped, 'too small');
        assert.equal(alone.time_us, null);
        assert.equal(alone.busbw_bounds_gbs, null);
        const among = stats.summarise([skipped, row({size: 8})]);
        assert.equal(among.skipped, undefined);
        assert.equal(among.repeats, 1);
    });

test('unchecked data is null, not right', () => {
    assert.equal(stats.summarise([{...row({size: 8}), wrong: null}]).wrong, null);
});

test('a series has its points by size, whatever the order in which they came', () => {
    const rows = [64, 8, 16].map((size, i) => row({row: i, size}));
    const series = stats.buildSeries([...rows, row({row: 3, size: 8, inPlace: true})]);
    assert.equal(series.length, 2);
    assert.deepEqual(series[0].points.map(p => p.size), [8, 16, 64]);
    assert.equal(series[0].label, 'all_reduce · float32 · sum');
    assert.equal(series[1].inPlace, true);
    assert.equal(series[0].lineKey, series[1].lineKey);
});

test('the table pairs both placements of a size, in the order of measuring', () => {
    const rows = [8, 16].flatMap(
        (size,
            i) => [row({row: 2 * i, size}), row({row: 2 * i + 1, size, inPlace: true})]);
    const table = stats.pivot(rows.reverse());
    assert.deepEqual(table.map(entry => entry.size), [8, 16]);
    assert.equal(table[0].out.rows[0].row, 0);
    assert.equal(table[0].in.rows[0].row, 1);
});

test(
    'repeats of a row share a table row; sizes that round to the same one do not', () => {
        const rows = [
            row({row: 0, size: 16}), row({row: 1, size: 16}),
            {...row({row: 0, size: 16}), case: 1}
        ];
        const table = stats.pivot(rows);
        assert.equal(table.length, 2);
        assert.deepEqual(table.map(entry => entry.out.repeats), [2, 1]);
    });

test('sorting puts what has no figure last, both ways, and keeps ties in order', () => {
    const rows = [
        row({row: 0, size: 8}), row({row: 2, size: 1 << 20}), {
            row: 4,
            size: 64,
            collective: 'all_reduce',
            dtype: 'float32',
            redop: 'sum',
            root: -1,
            in_place: false,
            skipped: 'why'
        }
    ];
    const sizes = order => stats.sortPivot(stats.pivot(rows), order).map(e => e.size);
    assert.deepEqual(sizes('out_busbw'), [8, 1 << 20, 64]);
    assert.deepEqual(sizes('-out_busbw'), [1 << 20, 8, 64]);
    assert.deepEqual(sizes('-size'), [1 << 20, 64, 8]);
    assert.deepEqual(sizes('no such column'), [8, 1 << 20, 64]);
});

test('wrong elements are counted in full and named up to a limit', () => {
    const errors = [0, 1, 2].map(index => ({rank: 1, index, expected: '6', got: '5'}));
    const rows = [{...row({size: 8}), wrong: 100, errors}, row({row: 1, size: 16})];
    const found = stats.wrongElements(rows, 2);
    assert.deepEqual([found.total, found.rows, found.named.length], [100, 1, 2]);
    assert.equal(found.named[0].row.size, 8);
});
