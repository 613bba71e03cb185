/* figures.mjs - what programs and control series report: named figures, summed up as they
 * come, for there may be many, and kept as lines to plot. No DOM. */
import { caseLabel } from './case_name.mjs';
import { lineNames } from './chart_model.mjs';
import { lookOf } from './palette.mjs';

/* Places that are sizes go by powers of 2. */
const isSize = (place) => place === 'size' || Boolean(place?.endsWith('bytes'));

const newSum = () => ({ count: 0, sum: 0, last: null, min: Infinity, max: -Infinity });

function addTo(sum, value, low = value, high = value) {
  sum.count += 1;
  sum.sum += value;
  sum.last = value;
  sum.min = Math.min(sum.min, low);
  sum.max = Math.max(sum.max, high);
}

export function newMetric(event) {
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

/* Add a `result` event that carries a figure, of the case that was found for it. */
export function addFigure(metrics, event, found) {
  if (event.value === undefined) {
    return; /* skipped: the table says why */
  }
  let metric = metrics.get(event.metric);
  if (!metric) {
    metric = newMetric(event);
    metrics.set(event.metric, metric);
  }
  addTo(metric.all, event.value);
  if (event.rank === 0) {
    addTo(metric.rank0, event.value);
  }
  const place = placeOf(event.labels ?? {});
  metric.place ??= place ?? null;
  const at = place && event.labels[place];
  addToLine(lineOf(metric, caseLabel(found), event.labels ?? {}), event, found, at);
}

/* The label `size`, or the first that is a number, is a place along an axis. */
const placeOf = (labels) => ['size', ...Object.keys(labels)].find((name) => Number.isFinite(labels[name]));

/* The figures of the server's summary; `caseOf(number)` finds their cases. */
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
    line.counts.set(`${one.case}:${one.rank}`, one.count);
    for (const [index, value, x] of one.values) {
      addTo(line.all, value);
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

function lineOf(metric, variant, labels) {
  const words = Object.entries(labels)
    .filter(([, value]) => typeof value !== 'number')
    .map(([key, value]) => `${key} ${value}`);
  const label = [variant, ...words].filter(Boolean).join(' · ');
  let line = metric.lines.get(label);
  if (!line) {
    line = { label, all: newSum(), counts: new Map(), cells: new Map(), repeats: new Map() };
    metric.lines.set(label, line);
  }
  return line;
}

/* By place, which is the label's or the how-manieth figure of its rank; and by repeat. */
function addToLine(line, event, found, at) {
  const whose = `${event.case}:${event.rank}`;
  const count = (line.counts.get(whose) ?? 0) + 1;
  line.counts.set(whose, count);
  const { value } = event;
  const low = Math.min(value, event.min ?? value);
  const high = Math.max(value, event.max ?? value);
  const cells = [cellAt(line.cells, at ?? count), cellAt(line.repeats, (found.repeat ?? 0) + 1)];
  [line.all, ...cells].forEach((sum) => addTo(sum, value, low, high));
  if (event.p99 !== undefined) {
    line.all.p99 = Math.max(line.all.p99 ?? 0, event.p99);
  }
}

function cellAt(cells, x) {
  let cell = cells.get(x);
  if (!cell) {
    cell = newSum();
    cells.set(x, cell);
  }
  return cell;
}

/* A panel per metric for the chart: means over ranks and repeats, with the lowest and the
 * highest as a band. One figure in a case is drawn over the repeats. Those with nothing to
 * compare make none. */
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

/* From zero, unless the figures lie close together far above it: then their span shows. */
function yRange(low, high) {
  const span = high - low || Math.abs(high) || 1;
  const bottom = low >= 0 && low < high * 0.6 ? 0 : low - span * 0.15;
  return [low === high && low > 0 ? 0 : bottom, high + span * 0.1];
}
