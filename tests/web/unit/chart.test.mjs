/* SPDX-License-Identifier: Apache-2.0 */
/* chart.test.mjs - what a chart draws: ranges, ticks, bounds, looks, and its SVG */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as model from '../../../web/js/chart_model.mjs';
import { lookOf } from '../../../web/js/palette.mjs';
import { markOf, unlikeInWords } from '../../../web/js/shown.mjs';
import { rowsShown, toCsv, toMarkdown } from '../../../web/js/shown_files.mjs';
import { formatAddress, parseAddress } from '../../../web/js/url_state.mjs';
import { pointValue } from '../../../web/js/stats.mjs';
import { bookOf } from '../../../web/js/book.mjs';
import { escapeXml } from '../../../web/js/xml.mjs';
import '../lib/jsx.mjs';
import { sampleRows, stateWith } from '../lib/sample.mjs';

const load = (/** @type {string} */ name) => import(`../../../web/js/${name}`);
const plot = await load('plot.jsx');
const { panelsToSvg } = await load('plot_file.jsx');

const bookWith = (rows) => bookOf(stateWith(rows));
const view = (search) => parseAddress('/runs/a', search).query;
const runWith = (rows, set = {}) => ({
  id: 'a',
  name: '',
  mark: '',
  created: '2026-01-05T10:00:00.000Z',
  backend: 'host',
  worldSize: 4,
  nodes: [{ name: 'node-1', ranks: 4 }],
  verdicts: [],
  spec: {},
  metrics: new Map(),
  book: bookWith(rows),
  ...set,
});
const source = (collectives, sizes, name = '') =>
  runWith(sampleRows({ collectives, sizes }), { id: name || 'a', name, spec: { sizes } });
const panelsOf = (runs, search = '') => model.buildPanels(runs, view(search), 'light');
const tone = {
  text: '#000',
  grid: '#ccc',
  surface: '#fff',
};
const pictureOf = (runs, search = '') =>
  panelsToSvg({ runs, panels: panelsOf(runs, search), spread: view(search).band, tone }).text;

test('bandwidth and time of each collective, on scales that collectives share', () => {
  const panels = panelsOf([source(['all_reduce', 'broadcast'], [8, 1 << 20])]);
  assert.deepEqual(
    panels.map((p) => [p.title, p.metric, p.isLog]),
    [
      ['all_reduce', 'busbw', false],
      ['all_reduce', 'time', true],
      ['broadcast', 'busbw', false],
      ['broadcast', 'time', true],
    ],
  );
  assert.deepEqual(panels[0].y, panels[2].y);
  assert.deepEqual(panels[1].y, panels[3].y);
  assert.deepEqual(
    panels[0].lines.map((l) => l.inPlace),
    [false, true],
  );
  assert.deepEqual(
    panels[0].lines.map((l) => l.key),
    panels[1].lines.map((l) => l.key),
  );
});

test('a time axis has no room below its least value, and a range fits its values', () => {
  const run = source(['all_reduce'], [8, 64, 1024, 1 << 20, 1 << 26]);
  const [, time] = panelsOf([run]);
  assert.ok(time.y[0] > 10 && time.y[0] < 19, String(time.y));
  const [bandwidth, near] = panelsOf([run], '?zoom=8-1K');
  assert.deepEqual(
    near.lines[0].points.map((p) => p.x),
    [8, 64, 1024],
  );
  assert.ok(near.y[1] < 25 && near.x[1] < 1 << 11, String(near.y));
  assert.ok(bandwidth.y[1] < 0.2, String(bandwidth.y));
});

test('the address keeps a range of sizes, and drops what is none', () => {
  assert.deepEqual(view('?zoom=64K-16M').zoom, [65536, 1 << 24]);
  for (const text of ['16M-64K', '8-8', '-', '5', 'a-b', '0-8']) {
    assert.equal(view(`?zoom=${text}`).zoom, null, text);
  }
  const query = view('?zoom=64K-16M&with=b');
  assert.equal(formatAddress({ view: 'run', id: 'a', query }), '/runs/a?zoom=64K-16M&with=b');
});

test('the size axis spans what was asked for before anything is measured', () => {
  const spec = { sizes: { min: '8', max: '1G' } };
  assert.deepEqual(panelsOf([runWith([], { spec })]), []);
  const [panel] = panelsOf([runWith(sampleRows({ sizes: [8] }), { spec })]);
  assert.ok(panel.x[0] < 8 && panel.x[0] > 4);
  assert.ok(panel.x[1] > 2 ** 30);
});

test('each figure has its value and bounds', () => {
  const point = {
    time_us: 10,
    algbw_gbs: 4,
    busbw_gbs: 6,
    rank_spread: { time_us: [8, 20], algbw_gbs: [2, 5], busbw_gbs: [3, 7.5] },
    repeat_spread: { time_us: [10, 11], algbw_gbs: [3.6, 4], busbw_gbs: [5.5, 6] },
    interval: { time_us: [9, 10.5], algbw_gbs: [3.8, 4.4], busbw_gbs: [5.7, 6.6] },
    repeats: 2,
  };
  const bounds = (key) => pointValue(point, key);
  assert.deepEqual(bounds('busbw_gbs'), { y: 6, lo: 3, hi: 7.5, bar: [5.5, 6.6] });
  assert.deepEqual(bounds('algbw_gbs'), { y: 4, lo: 2, hi: 5, bar: [3.6, 4.4] });
  assert.deepEqual(bounds('time_us'), { y: 10, lo: 8, hi: 20, bar: [9, 11] });
  // One row has its interval, one of a number of calls nothing.
  point.repeats = 1;
  assert.deepEqual(bounds('time_us').bar, [9, 10.5]);
  point.interval = null;
  assert.equal(bounds('time_us').bar, null);
  assert.equal(pointValue({ time_us: null }, 'busbw_gbs'), null);
});

test('skipped rows make no point', () => {
  const rows = sampleRows({ sizes: [8, 16] });
  rows[0] = { ...rows[0], skipped: 'why', time_us: undefined, busbw_gbs: undefined };
  const [panel] = panelsOf([runWith(rows)]);
  assert.deepEqual(
    panel.lines[0].points.map((p) => p.x),
    [16],
  );
});

test('runs laid over one another are named and differ in look', () => {
  const runs = [source(['all_reduce'], [8], 'a'), source(['all_reduce'], [8], 'b')];
  const panels = panelsOf(runs, '?place=out');
  const lines = panels[0].lines.filter((line) => line.offered);
  assert.deepEqual(
    lines.map((line) => line.label),
    ['a', 'b'],
  );
  assert.match(panels[0].axis, /float32 · sum$/);
  assert.notEqual(lines[0].colour, lines[1].colour);
  assert.notEqual(lines[0].shape, lines[1].shape);
  assert.notEqual(lines[0].key, lines[1].key);
  // One name for both, and one of them simulated: nothing is left to guess.
  const alike = [
    { ...runs[0], id: 'r1' },
    { ...runs[0], id: 'r2', mark: 'simulated' },
  ];
  assert.deepEqual(model.lineNames(alike), ['a r1', 'a r2 (simulated)']);
});

test('lines of one run say what sets them apart, and what they share once', () => {
  const rows = sampleRows({ sizes: [8] }).flatMap((row) => [
    row,
    { ...row, row: row.row + 2, dtype: 'int8' },
  ]);
  const [panel] = panelsOf([runWith(rows)]);
  assert.deepEqual(
    panel.lines.map((line) => line.label),
    ['float32', 'int8', 'float32, in place', 'int8, in place'],
  );
  assert.equal(panel.axis, 'busbw, GB/s · sum');
});

test('hidden lines do not stretch the scale', () => {
  const both = [source(['all_reduce'], [1 << 26]), source(['all_reduce'], [8], 'small')];
  const keys = panelsOf(both)[0].lines.map((line) => line.key);
  const hide = keys
    .slice(0, 2)
    .map((key) => `hide=${encodeURIComponent(key)}`)
    .join('&');
  const [panel] = panelsOf(both, `?${hide}`);
  assert.ok(panel.y[1] < 0.01, String(panel.y));
});

test('bands and error bars end within the plot, where they are drawn', () => {
  const run = source(['all_reduce'], [8, 1024]);
  for (const { points } of run.book.lines.values()) {
    const point = points.at(-1);
    point.interval = { ...point.interval, busbw_gbs: [point.busbw_gbs / 4, point.busbw_gbs * 4] };
  }
  const [drawn] = panelsOf([run]);
  const bars = drawn.lines.flatMap(({ points }) => points.flatMap(({ bar }) => bar ?? []));
  assert.ok(bars.length > 0);
  assert.ok(Math.max(...bars) <= drawn.y[1], `${bars} ${drawn.y}`);
  assert.ok(Math.max(...bars) > panelsOf([run], '?band=0')[0].y[1]);
});

test('ticks are powers of two with room between, and round values', () => {
  const places = (x, width) => plot.placeTicks({ isSize: true, x }, width);
  assert.deepEqual(places([6, 90], 200), [8, 16, 32, 64]);
  const few = places([5, 2 ** 30], 300);
  assert.ok(few.length >= 3 && few.length <= 7, String(few));
  assert.ok(places([2000, 2040], 600).length > 2);
  assert.deepEqual(plot.placeTicks({ isSize: false, x: [0.5, 4.5] }, 600), [1, 2, 3, 4]);
  const values = (isLog, y) => plot.valueTicks({ isLog, y });
  assert.deepEqual(values(true, [1, 1e6]), [1, 10, 100, 1000, 1e4, 1e5, 1e6]);
  assert.deepEqual(values(true, [20, 5000]), [20, 50, 100, 200, 500, 1000, 2000, 5000]);
  assert.deepEqual(values(true, [10, 100]), [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
  assert.deepEqual(values(true, [15, 20]), [15, 16, 17, 18, 19, 20]);
  assert.deepEqual(values(false, [0, 15]), [0, 2, 4, 6, 8, 10, 12, 14]);
});

test('an axis has the same labels on the screen and in a file', () => {
  assert.deepEqual([0, 7.5, 10, 100, 0.05].map(plot.valueLabel), ['0', '7.5', '10', '100', '0.05']);
  const [panel] = panelsOf([source(['all_reduce'], [8, 1 << 20])]);
  const text = pictureOf([source(['all_reduce'], [8, 1 << 20])]);
  for (const tick of plot.valueTicks(panel)) {
    assert.ok(text.includes(`>${plot.valueLabel(tick)}</text>`), String(tick));
  }
  assert.ok(!/>\d+\.\d*0<\/text>/.test(text));
});

/* Does a rectangle of this size at a place hold a point? */
const holds = ({ left, top }, { width, height }, /** @type {number[]} */ [x, y]) =>
  x >= left && x <= left + width && y >= top && y <= top + height;

test('a tooltip stands beside its points, wherever they are and however wide it is', () => {
  for (const width of [300, 360, 700, 1300]) {
    const box = { width, top: 12, bottom: 300 };
    for (let x = 52; x <= width - 16; x += 7) {
      const room = model.tipRoom(x, width);
      assert.ok(room >= width / 2 - 14);
      for (const tip of [
        { width: room, height: 80 },
        { width: room / 2, height: 500 },
      ]) {
        const points = [10, 60, 150, 290].map((y) => [x, y]);
        const place = model.placeTip(tip, x, points, box);
        points.forEach((point) =>
          assert.ok(!holds(place, tip, point), JSON.stringify({ width, x, tip, place, point })),
        );
        assert.ok(place.left >= -1 && place.left + tip.width <= width + 1);
      }
    }
  }
});

test('a tooltip goes where it hides the fewest points of the curve', () => {
  const box = { width: 600, top: 0, bottom: 300 };
  const tip = { width: 150, height: 80 };
  const curve = Array.from({ length: 20 }, (_, i) => [60 + i * 25, 280 - i * 13]);
  for (const [x] of curve) {
    const place = model.placeTip(tip, x, curve, box);
    const hidden = curve.filter((point) => holds(place, tip, point));
    assert.deepEqual(hidden, [], `at ${x}: ${JSON.stringify(place)}`);
  }
});

test('the value axis ends at a round number not below the value', () => {
  for (const value of [0.0012, 0.99, 1, 1.1, 9.4, 13.9, 500]) {
    assert.ok(model.niceCeil(value) >= value && model.niceCeil(value) <= value * 2.01);
  }
  assert.equal(model.niceCeil(13.9), 15);
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
  const runs = [source(['all_reduce'], [8, 64], name)];
  const text = pictureOf(runs);
  assert.ok(!text.includes('<script'));
  assert.ok(!text.includes('\u0001'));
  assert.ok(!/NaN|Infinity|undefined/.test(text), text);
  assert.match(text, /&#60;script&#62;/);
  assert.equal((text.match(/<svg /g) ?? []).length, 1);
  // The ranks' band, and a bar with two ends at each of two points.
  const [, bars] = text.match(/<path class="bars" d="([^"]*)"/);
  assert.equal(bars.match(/M/g).length, 2 * 3);
  assert.equal(text.match(/fill-opacity/g).length, 2);
  assert.ok(!/class="bars"|fill-opacity/.test(pictureOf(runs, '?band=0')));
  assert.equal(escapeXml(`<&>"'`), '&#60;&#38;&#62;&#34;&#39;');
});

const mixed = () => {
  const rows = sampleRows({ sizes: [8, 65536] });
  return [
    runWith(rows, { id: '06cw1x2k3m4n', name: 'before' }),
    runWith(rows, {
      id: '06cw2b7q9r1s',
      name: 'model',
      mark: 'simulated',
      backend: 'sim',
      worldSize: 64,
      nodes: Array.from({ length: 8 }, (_, i) => ({ name: `n${i}`, ranks: 8 })),
    }),
  ];
};

test('runs that are not alike are said to be so; runs that are, are not', () => {
  assert.equal(unlikeInWords(mixed()), 'before: host, 4 ranks; model: simulated, 64 ranks.');
  assert.equal(markOf(mixed()), 'partly simulated');
  const [one, two] = mixed();
  assert.equal(unlikeInWords([one, { ...one, id: 'b', name: 'after' }]), '');
  assert.equal(markOf([two, two]), 'simulated');
  assert.equal(markOf([one]), '');
  // One that is still to be read says nothing yet.
  assert.equal(unlikeInWords([one, { ...two, backend: null, worldSize: 0, mark: '' }]), '');
});

test('a picture names all of its runs, when and where they ran, and what is simulated', () => {
  const text = pictureOf(mixed());
  assert.match(text, />before, model \(simulated\)</);
  assert.match(text, /Not comparable\. before: host, 4 ranks; model: simulated, 64 ranks\./);
  assert.match(text, /06cw1x2k3m4n · 2026-01-05 10:00 UTC · host · 4 ranks · node-1</);
  assert.match(text, /06cw2b7q9r1s [^<]* n0, n1, n2, n3 and 4 more nodes</);
  assert.match(text, />partly simulated</);
});

test('CSV has what is shown, of all runs', () => {
  const runs = mixed();
  const panels = panelsOf(runs, '?place=out&zoom=8-64K');
  const lines = toCsv(rowsShown(runs, panels)).trimEnd().split('\r\n');
  assert.match(lines[0], /^run,name,mark,series,in_place,size,time_us,/);
  assert.deepEqual(
    lines.slice(1).map((line) => line.split(',').slice(0, 6)),
    [
      ['06cw1x2k3m4n', 'before', '', 'all_reduce · float32 · sum', 'false', '8'],
      ['06cw1x2k3m4n', 'before', '', 'all_reduce · float32 · sum', 'false', '65536'],
      ['06cw2b7q9r1s', 'model', 'simulated', 'all_reduce · float32 · sum', 'false', '8'],
      ['06cw2b7q9r1s', 'model', 'simulated', 'all_reduce · float32 · sum', 'false', '65536'],
    ],
  );
  assert.equal(
    toCsv([
      { name: '=1+1', b: 'a "b", c' },
      { name: '-5', c: null },
    ]),
    'name,b,c\r\n\'=1+1,"a ""b"", c",\r\n-5,,\r\n',
  );
});

test('Markdown has the runs, the verdict, what is simulated, and the figures', () => {
  const runs = mixed();
  runs[0].name = 'a|b *c*';
  runs[0].verdicts = [{ kind: 'gate', answer: 'fail', sentence: '1 of 2 checks failed: large' }];
  const text = toMarkdown(runs, panelsOf(runs, '?place=out'), 'http://head/runs/a?with=b');
  assert.match(text, /^### a\\\|b \\\*c\\\*, model \(simulated\)\n/);
  assert.match(text, /\*\*partly simulated: not measured\.\*\*/);
  assert.match(text, /\*\*Not comparable:\*\* /);
  assert.match(text, /1 of 2 checks failed: large/);
  assert.match(text, /\n\| 64K \| [\d.]+ \| [\d.]+ µs ±[\d.]+ % \| /);
  assert.match(text, /\[This view\]\(<http:\/\/head\/runs\/a\?with=b>\)/);
  assert.doesNotMatch(toMarkdown(runs, panelsOf(runs), null), /This view|null/);
});

/* A run that is held against others: by thresholds, with what its verdict says of them. */
const heldRun = (set = {}) => ({
  ...source(['all_reduce'], [8, 65536, 1 << 20, 64 << 20], 'held'),
  spec: {
    thresholds: {
      large: { figure: 'busbw_gbs', min: 40, sizes: { min: '1M' } },
      quick: { figure: 'time_us', max: 12, size: 8 },
      other: { figure: 'busbw_gbs', min: 1, collective: 'broadcast' },
      middle: { figure: 'algbw_gbs', min: 2, max: 30, band: 'bandwidth' },
    },
  },
  verdicts: [{ kind: 'gate', evidence: { checks: [{ check: 'large', answer: 'fail' }] } }],
  ...set,
});

test('a threshold is a line over the sizes that it is about', () => {
  const [busbw, time] = panelsOf([heldRun()]);
  const [large] = busbw.references;
  assert.deepEqual(
    busbw.references.map((one) => one.label),
    ['large: at least 40 GB/s (fail)'],
  );
  assert.deepEqual(
    large.points.map((p) => p.y),
    [40, 40],
  );
  assert.ok(large.points[0].x > 65536 && large.points[0].x <= 1 << 20);
  assert.ok(busbw.y[1] > 40, 'what was missed is in sight');
  assert.deepEqual(
    time.references.map((one) => one.label),
    ['quick: at most 12 µs'],
  );
  assert.ok(time.references[0].points[1].x < 16);
  assert.ok(time.y[0] < 12);
  const [algbw] = panelsOf([heldRun()], '?metric=algbw');
  assert.deepEqual(
    algbw.references.map((one) => one.label),
    ['middle: at least 2 GB/s', 'middle: at most 30 GB/s'],
  );
  // Out of the range that is shown there is nothing to draw.
  assert.deepEqual(panelsOf([heldRun()], '?zoom=8-64K')[0].references, []);
  // It is of the run whose page it is.
  assert.deepEqual(panelsOf([source(['all_reduce'], [8], 'a'), heldRun()])[0].references, []);
});

test('what the links allow is a line over all sizes, of the collectives that it is known of', () => {
  const ceiling = {
    kind: 'ceiling',
    evidence: { limit: '8 x 400 Gb/s NIC', busbw_gbs: { all_reduce: 400 } },
  };
  const run = heldRun({ spec: {}, verdicts: [ceiling] });
  const [busbw, time] = panelsOf([run]);
  const [line] = busbw.references;
  assert.equal(line.label, 'at most 400 GB/s: 8 x 400 Gb/s NIC');
  assert.deepEqual(
    line.points.map((p) => p.y),
    [400, 400],
  );
  assert.ok(line.points[0].x <= 8 && line.points[1].x >= 64 << 20);
  assert.deepEqual(time.references, []);
  /* One legend for all charts says whose figure is which. */
  const figures = { all_reduce: 40, all_gather: 40, broadcast: 80 };
  const [named] = panelsOf([
    heldRun({
      spec: {},
      verdicts: [{ kind: 'ceiling', evidence: { limit: 'NIC', busbw_gbs: figures } }],
    }),
  ])[0].references;
  assert.equal(named.label, 'all_reduce, all_gather: at most 40 GB/s: NIC');
  assert.notEqual(named.key, line.key);
  const unknown = { kind: 'ceiling', evidence: {} };
  assert.deepEqual(panelsOf([heldRun({ spec: {}, verdicts: [unknown] })])[0].references, []);
});

test('a baseline is a band behind its own line, from the least to the greatest', () => {
  const books = [1, 1.1].map((slow) => bookWith(sampleRows({ sizes: [8, 65536], slow })));
  const run = heldRun({ spec: {}, baseline: { label: 'baseline: b', books } });
  const [, time] = panelsOf([run], '?place=out');
  const [band] = time.references;
  assert.equal(band.label, 'baseline: b');
  assert.deepEqual(
    band.points.map((p) => p.x),
    [8, 65536],
  );
  const [at8] = books.map((book) => [...book.lines.values()][0].points[0]);
  assert.ok(band.points[0].lo <= at8.interval.time_us[0] * 1.001);
  assert.ok(band.points[0].hi >= at8.interval.time_us[1] * 1.09);
  assert.equal(time.references.length, 1, 'the hidden twin has none');
  assert.match(pictureOf([run]), /baseline: b/);
});
