/* SPDX-License-Identifier: Apache-2.0 */
/* figures.mjs - converts the figures that programs reported, from the server's summary, to chart
 * panels. No DOM. */
import { caseLabel } from './case_name.mjs';
import { lineNames } from './chart_model.mjs';
import { lookOf } from './palette.mjs';

/* True if the figure's x values are sizes in bytes. Such an axis is logarithmic, base 2. */
const isSize = (place) => place === 'size' || Boolean(place?.endsWith('bytes'));

const newSum = () => ({ count: 0, sum: 0, last: null, min: Infinity, max: -Infinity });

function addTo(sum, value, low = value, high = value) {
  sum.count += 1;
  sum.sum += value;
  sum.last = value;
  sum.min = Math.min(sum.min, low);
  sum.max = Math.max(sum.max, high);
}

function newMetric(event) {
  return {
    metric: event.metric,
    unit: event.unit === 'us' ? 'µs' : (event.unit ?? ''),
    higherIsBetter: event.higher_is_better === true,
    place: null,
    all: newSum(),
    rank0: newSum(),
    lines: new Map(),
  };
}

/* Read the figures of the server's summary into `metrics`. `caseOf(number)` returns a case. */
export function takeFigures(metrics, { figures, run }, caseOf) {
  for (const known of run.summary?.metrics ?? []) {
    const metric = newMetric(known);
    metric.all = sumOf(known);
    metric.rank0 = known.rank0 ? sumOf(known.rank0) : newSum();
    metrics.set(known.metric, metric);
  }
  for (const one of figures ?? []) {
    const metric = metrics.get(one.metric) ?? newMetric(one);
    metrics.set(one.metric, metric);
    metric.place ??= one.x ?? null;
    const found = caseOf(one.case) ?? {};
    const line = lineOf(metric, caseLabel(found), one.labels ?? {});
    addAll(line.all, one);
    for (const [index, value, x] of one.values) {
      addTo(cellAt(line.cells, x ?? index + 1), value);
    }
    addTo(cellAt(line.repeats, (found.repeat ?? 0) + 1), one.median, one.min, one.max);
  }
}

const sumOf = ({ count, mean, last = null, min, max }) => ({
  count,
  sum: mean * count,
  last,
  min: min ?? mean,
  max: max ?? mean,
});

/* Add the values of another rank or case. */
function addAll(sum, { count, mean, last, min, max }) {
  sum.count += count;
  sum.sum += mean * count;
  sum.last = last;
  sum.min = Math.min(sum.min, min);
  sum.max = Math.max(sum.max, max);
}

function lineOf(metric, variant, labels) {
  const words = Object.entries(labels)
    .filter(([, value]) => typeof value !== 'number')
    .map(([key, value]) => `${key} ${value}`);
  const label = [variant, ...words].filter(Boolean).join(' · ');
  let line = metric.lines.get(label);
  if (!line) {
    line = { label, all: newSum(), cells: new Map(), repeats: new Map() };
    metric.lines.set(label, line);
  }
  return line;
}

function cellAt(cells, x) {
  let cell = cells.get(x);
  if (!cell) {
    cell = newSum();
    cells.set(x, cell);
  }
  return cell;
}

/* Returns one panel for each metric: the mean over ranks and repeats, with a band from lowest to
 * highest. A metric with one value per case is drawn over repeats. A metric with a single line
 * of one point is not drawn. */
export function metricPanels(runs, view, theme) {
  const panels = new Map();
  const looks = new Map();
  const names = lineNames(runs);
  runs.forEach((run, index) => {
    for (const metric of run.metrics.values()) {
      const panel = panels.get(metric.metric) ?? newPanel(metric, runs);
      panels.set(metric.metric, panel);
      addLines(panel, metric, { name: names[index], index }, looks, view, theme);
    }
  });
  return [...panels.values()]
    .map((panel) => withRanges(panel, view.y === 'log'))
    .filter((panel) => panel.lines.some((line) => line.points.length > 1) || panel.lines.length > 1);
}

function newPanel(metric, runs) {
  const same = runs.map((run) => run.metrics.get(metric.metric)).filter(Boolean);
  const lines = same.flatMap((other) => [...other.lines.values()]);
  const places = new Set(lines.flatMap((line) => [...line.cells.keys()]));
  const once = places.size === 1;
  const better = metric.higherIsBetter ? 'higher is better' : 'lower is better';
  const where = once && metric.place ? `${inWords(metric.place)} ${[...places][0]}` : '';
  const place = once ? 'repeat' : inWords(metric.place ?? 'figure');
  return {
    key: metric.metric,
    title: metric.metric,
    place,
    isSize: !once && isSize(metric.place),
    axis: [`${metric.unit} by ${place}`.trim(), better, where].filter(Boolean).join(', '),
    unit: metric.unit,
    references: [],
    lines: [],
  };
}

const inWords = (name) => name.replaceAll('_', ' ');

function addLines(panel, metric, { name, index }, looks, view, theme) {
  for (const line of metric.lines.values()) {
    const label = [name, line.label].filter(Boolean).join(': ') || 'all ranks';
    const key = `${index}:${line.label}`;
    if (!looks.has(key)) {
      looks.set(key, looks.size);
    }
    const cells = panel.place === 'repeat' ? line.repeats : line.cells;
    const points = [...cells]
      .map(([x, cell]) => ({ x, y: cell.sum / cell.count, lo: cell.min, hi: cell.max, point: cell }))
      .sort((a, b) => a.x - b.x);
    panel.lines.push({
      key,
      run: index,
      series: line.label,
      label,
      points,
      inPlace: false,
      offered: true,
      hidden: view.hide.includes(key),
      ...lookOf(looks.get(key), false, theme),
    });
  }
}

function withRanges(panel, wantsLog) {
  const points = panel.lines.filter((line) => !line.hidden).flatMap((line) => line.points);
  const of = (pick) => points.map(pick).filter(Number.isFinite);
  const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
  const most = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);
  const [x0, x1] = [least(of((p) => p.x)), most(of((p) => p.x))];
  const [y0, y1] = [least(of((p) => p.lo)), most(of((p) => p.hi))];
  const pad = Math.max((x1 - x0) * 0.03, 0.5);
  const flat = points.length === 0;
  const y = flat ? [0, 1] : yRange(y0, y1);
  return {
    ...panel,
    isLog: wantsLog && y[0] > 0,
    x: flat ? [0, 1] : panel.isSize ? [x0 / Math.SQRT2, x1 * Math.SQRT2] : [x0 - pad, x1 + pad],
    y,
  };
}

/* Returns the y range, which starts at zero, unless all values lie close together far above
 * zero. */
function yRange(low, high) {
  const span = high - low || Math.abs(high) || 1;
  const bottom = low >= 0 && low < high * 0.6 ? 0 : low - span * 0.15;
  return [low === high && low > 0 ? 0 : bottom, high + span * 0.1];
}
