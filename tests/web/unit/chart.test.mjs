/* chart.test.mjs - what a chart draws: ranges, ticks, bounds, looks, and its SVG */
import assert from 'node:assert/strict';
import {test} from 'node:test';
import * as model from '../../../web/js/chart_model.mjs';
import {escapeXml, panelsToSvg} from '../../../web/js/chart_svg.mjs';
import {lookOf} from '../../../web/js/palette.mjs';
import {parseAddress} from '../../../web/js/url_state.mjs';
import {bookOf} from '../../../web/js/book.mjs';
import {sampleRows, stateWith} from '../lib/sample.mjs';

const bookWith = rows => bookOf(stateWith(rows));
const view = search => parseAddress('/runs/a', search).query;
const source = (collectives, sizes, name = '') =>
  ({name, book: bookWith(sampleRows({collectives, sizes})), spec: {sizes}});
const TONE = {
  title: 't',
  text: '#000',
  grid: '#ccc',
  surface: '#fff'
};

test('a panel per collective, on shared scales', () => {
  const panels = model.buildPanels(
    [source(['all_reduce', 'broadcast'], [8, 1 << 20])], view(''), 'light');
  assert.deepEqual(panels.map(p => p.collective), ['all_reduce', 'broadcast']);
  assert.deepEqual(panels[0].y, panels[1].y);
  assert.deepEqual(panels[0].lines.map(l => l.inPlace), [false, true]);
});

test('the size axis spans what was asked for before anything is measured', () => {
  const empty = {name: '', book: bookWith([]), spec: {sizes: {min: '8', max: '1G'}}};
  assert.deepEqual(model.buildPanels([empty], view(''), 'light'), []);
  const rows = sampleRows({sizes: [8]});
  const [panel] =
    model.buildPanels([{...empty, book: bookWith(rows)}], view(''), 'light');
  assert.ok(panel.x[0] < 8 && panel.x[0] > 4);
  assert.ok(panel.x[1] > 2 ** 30);
});

test('each metric has its value and bounds', () => {
  const point = {
    time_us: 10,
    algbw_gbs: 4,
    busbw_gbs: 6,
    rank_spread: {time_us: [8, 20], algbw_gbs: [2, 5], busbw_gbs: [3, 7.5]},
    repeat_spread: {time_us: [10, 11], algbw_gbs: [3.6, 4], busbw_gbs: [5.5, 6]},
    interval: {time_us: [9, 10.5], algbw_gbs: [3.8, 4.4], busbw_gbs: [5.7, 6.6]},
    repeats: 2
  };
  const bounds = metric => model.pointValue(point, metric);
  assert.deepEqual(bounds('busbw'), {y: 6, lo: 3, hi: 7.5, bar: [5.5, 6.6]});
  assert.deepEqual(bounds('algbw'), {y: 4, lo: 2, hi: 5, bar: [3.6, 4.4]});
  assert.deepEqual(bounds('time'), {y: 10, lo: 8, hi: 20, bar: [9, 11]});
  assert.deepEqual(bounds('latency'), {y: 10, lo: 8, hi: 20, bar: [9, 11]});
  // One row has its interval, one of a number of calls nothing.
  point.repeats = 1;
  assert.deepEqual(bounds('time').bar, [9, 10.5]);
  point.interval = null;
  assert.equal(bounds('time').bar, null);
  assert.equal(model.pointValue({time_us: null}, 'busbw'), null);
});

test('the latency view holds the small sizes only', () => {
  const [panel] = model.buildPanels(
    [source(['all_reduce'], [8, 65536, 1 << 20])], view('?metric=latency'), 'light');
  assert.deepEqual(panel.lines[0].points.map(p => p.x), [8, 65536]);
  assert.ok(panel.x[1] < 1 << 18);
});

test('skipped rows make no point', () => {
  const rows = sampleRows({sizes: [8, 16]});
  rows[0] = {...rows[0], skipped: 'why', time_us: undefined, busbw_gbs: undefined};
  const [panel] =
    model.buildPanels([{name: '', book: bookWith(rows), spec: {}}], view(''), 'light');
  assert.deepEqual(panel.lines[0].points.map(p => p.x), [16]);
});

test('runs laid over one another are named and differ in look', () => {
  const panels = model.buildPanels(
    [source(['all_reduce'], [8], 'a'), source(['all_reduce'], [8], 'b')],
    view('?place=out'), 'dark');
  const lines = panels[0].lines.filter(line => line.offered);
  assert.deepEqual(lines.map(line => line.label), ['a', 'b']);
  assert.match(panels[0].axis, /float32 · sum$/);
  assert.notEqual(lines[0].colour, lines[1].colour);
  assert.notEqual(lines[0].shape, lines[1].shape);
  assert.notEqual(lines[0].key, lines[1].key);
});

test('lines of one run say what sets them apart, and what they share once', () => {
  const rows = sampleRows(
    {sizes: [8]}).flatMap(row => [row, {...row, row: row.row + 2, dtype: 'int8'}]);
  const [panel] =
    model.buildPanels([{name: '', book: bookWith(rows), spec: {}}], view(''), 'light');
  assert.deepEqual(panel.lines.map(line => line.label),
    ['float32', 'int8', 'float32, in place', 'int8, in place']);
  assert.equal(panel.axis, 'busbw, GB/s · sum');
});

test('hidden lines do not stretch the scale', () => {
  const both = [source(['all_reduce'], [1 << 26]), source(['all_reduce'], [8], 'small')];
  const keys = model.buildPanels(both, view(''), 'light')[0].lines.map(line => line.key);
  const hide = keys.slice(0, 2).map(key => `hide=${encodeURIComponent(key)}`).join('&');
  const [panel] = model.buildPanels(both, view(`?${hide}`), 'light');
  assert.ok(panel.y[1] < 0.01, String(panel.y));
});

test('ticks are powers of two with room between, and of ten', () => {
  assert.deepEqual(model.sizeTicks([6, 90], 1000, 44), [8, 16, 32, 64]);
  const few = model.sizeTicks([5, 2 ** 30], 300, 44);
  assert.ok(few.length >= 3 && few.length <= 7, String(few));
  assert.deepEqual(model.logTicks([1, 1000]), [1, 10, 100, 1000]);
  assert.deepEqual(model.logTicks([10, 100]), [10, 20, 50, 100]);
});

test('the value axis ends at a round number not below the value', () => {
  for (const value of [0.0012, 0.99, 1, 1.1, 9.4, 13.9, 500]) {
    assert.ok(model.niceCeil(value) >= value && model.niceCeil(value) <= value * 2.01);
  }
  assert.equal(model.niceCeil(13.9), 15);
});

test('lines on one x array have nulls where they have no such size', () => {
  const line = xs => ({points: xs.map(x => ({x, y: x * 2}))});
  assert.deepEqual(model.alignLines([line([8, 32]), line([16])]),
    [[8, 16, 32], [16, null, 64], [null, 32, null]]);
});

test('a line and its in-place twin share colour and shape, not dash and filling', () => {
  for (let index = 0; index < 14; index += 1) {
    const out = lookOf(index, false, 'light');
    const inside = lookOf(index, true, 'light');
    assert.equal(out.colour, inside.colour);
    assert.notDeepEqual(out.dash, inside.dash);
    assert.notEqual(out.hollow, inside.hollow);
  }
});

test('the SVG is well-formed whatever the names hold', () => {
  const name = '<script>alert(1)</script> & "quotes" \u0001';
  const panels =
    model.buildPanels([source(['all_reduce'], [8, 64], name)], view(''), 'light');
  const {text} = panelsToSvg(panels, view(''), {...TONE, title: name});
  assert.ok(!text.includes('<script'));
  assert.ok(!text.includes('\u0001'));
  assert.ok(!/NaN|Infinity|undefined/.test(text), text);
  assert.match(text, /&#60;script&#62;/);
  assert.equal((text.match(/<svg /g) ?? []).length, 1);
  // The ranks' band, and a bar with two ends at each of two points.
  const [, bars] = text.match(/<path d="([^"]*)"/);
  assert.equal(bars.match(/M/g).length, 2 * 3);
  assert.equal(text.match(/fill-opacity/g).length, 2);
  const bare = panelsToSvg(panels, view('?band=0'), {...TONE, title: name});
  assert.ok(!/<path|fill-opacity/.test(bare.text));
  assert.equal(escapeXml(`<&>"'`), '&#60;&#38;&#62;&#34;&#39;');
});
