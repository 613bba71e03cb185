// figures.test.mjs - what a program's ranks print, as a run's state
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {currentRows, replay} from '../../../web/js/events.mjs';

const figure = (id, value, set = {}) => ({
    id,
    type: 'result',
    case: 0,
    attempt: 1,
    metric: 'speed',
    value,
    unit: 'samples/s',
    higher_is_better: true,
    rank: 0,
    ...set
});

test('figures add up by metric, over all ranks and of rank 0', () => {
    const run = replay([
        figure(1, 4), figure(2, -2, {rank: 1}), figure(3, 7, {case: 1}),
        figure(4, 0.5, {metric: 'loss', unit: '', higher_is_better: false})
    ]);
    assert.deepEqual([...run.metrics.keys()], ['speed', 'loss']);
    const {all, rank0, higherIsBetter} = run.metrics.get('speed');
    assert.deepEqual(all, {count: 3, sum: 9, last: 7, min: -2, max: 7});
    assert.deepEqual(rank0, {count: 2, sum: 11, last: 7, min: 4, max: 7});
    assert.equal(higherIsBetter, true);
    assert.equal(run.metrics.get('loss').higherIsBetter, false);
});

test('figures are no rows of a measurement, and none is counted twice', () => {
    const run = replay([figure(1, 4), figure(1, 4)]);
    assert.equal(run.metrics.get('speed').all.count, 1);
    assert.deepEqual(currentRows(run), []);
});
