/* chart_model.mjs - from a run's series to what one chart panel draws: lines with points
 * and bounds, and both axes' ranges. No DOM. */
import {lookOf} from './palette.mjs';
import {doubtOf} from './stats.mjs';
import {parseSize} from './units.mjs';

/* Below this a call is bound by latency, not by bandwidth. */
export const LATENCY_MAX_BYTES = 65536;

const AXES = {
  busbw: 'busbw, GB/s',
  algbw: 'algbw, GB/s',
  time: 'time per call, µs',
  latency: 'time per call, µs (up to 64 KiB)'
};

/* A point's value under a metric. The band is always from the least to the greatest of any
 * rank, over all repeats: however many rows there are, and whoever added them up. The bar
 * is how far the figure itself may be off, or null. */
export function pointValue(point, metric) {
  if (point.time_us === null) {
    return null;
  }
  const isTime = metric === 'time' || metric === 'latency';
  const key = isTime ? 'time_us' : `${metric}_gbs`;
  const [lo, hi] = point.rank_spread[key];
  const doubt = doubtOf(point, key);
  return {y: point[key], lo, hi, bar: doubt && [doubt.lo, doubt.hi]};
}

/* The sources are {name, book, spec} of one run or of several laid over one another; the
 * view is the run page's address state. One panel per collective, on shared scales. */
export function buildPanels(sources, view, theme) {
  const all = [];
  const looks = new Map();
  sources.forEach((source, index) => {
    for (const series of source.book.lines.values()) {
      all.push(lineOf(series, source, index, view, looks, theme));
    }
  });
  const panels = new Map();
  for (const line of all) {
    const panel = panels.get(line.collective) ?? {collective: line.collective, lines: []};
    panel.lines.push(line);
    panels.set(line.collective, panel);
  }
  const visible = all.filter(line => !line.hidden);
  const x = sizeRange(sources.map(source => source.spec), all, view);
  const y = valueRange(visible, yScale(view));
  const common = shortenLabels(all);
  return [...panels.values()].map(
    panel =>
      ({...panel, x, y, axis: [AXES[view.metric], ...common].join(' · '), isSize: true}));
}

/* What all lines have in common is said once, beside the axis' name; returns it. A lone
 * line, with its in-place twin, keeps its whole name. */
function shortenLabels(lines) {
  const differ = lines.some(line => line.family !== lines[0].family);
  if (!differ) {
    return [];
  }
  const isCommon = part => lines.every(line => line.words.includes(part));
  const collectives = new Set(lines.map(line => line.collective));
  const common = lines[0].words.filter(isCommon);
  for (const line of lines) {
    const own = line.words.filter(part => !isCommon(part)).join(' · ');
    const words = [line.name, own].filter(Boolean).join(': ') || line.collective;
    line.label = words + (line.inPlace ? ', in place' : '');
  }
  return common.filter(part => !collectives.has(part));
}

/* Times over all sizes span decades: their axis is logarithmic unless asked otherwise. */
export function yScale(view, panel = {}) {
  if (panel.kind === 'figure') {
    return view.y === 'log' && panel.y[0] > 0 ? 'log' : 'linear';
  }
  if (view.y === 'auto') {
    return view.metric === 'time' ? 'log' : 'linear';
  }
  return view.y;
}

function lineOf(series, source, index, view, looks, theme) {
  const key = index === 0 ? series.key : `${index}:${series.key}`;
  const family = `${index}:${series.lineKey}`;
  if (!looks.has(family)) {
    looks.set(family, looks.size);
  }
  const wanted = view.place === 'both' || (view.place === 'in') === series.inPlace;
  return {
    key,
    collective: series.collective,
    family,
    name: source.name,
    words: series.label.split(' · '),
    label: [source.name, series.label].filter(Boolean).join(': ') +
      (series.inPlace ? ', in place' : ''),
    inPlace: series.inPlace,
    hidden: !wanted || view.hide.includes(key),
    offered: wanted,
    points: pointsOf(series, view.metric),
    ...lookOf(looks.get(family), series.inPlace, theme)
  };
}

/* What is drawn of a series; made anew only when a row was added to it. */
function pointsOf(series, metric) {
  const kept = series.drawn;
  if (kept?.metric === metric && kept.revision === series.revision) {
    return kept.points;
  }
  const points = [];
  for (const point of series.points) {
    const value = pointValue(point, metric);
    const inView = metric !== 'latency' || point.size <= LATENCY_MAX_BYTES;
    if (value && inView && point.size > 0) {
      points.push({x: point.size, ...value, point});
    }
  }
  series.drawn = {metric, revision: series.revision, points};
  return points;
}

/* The sizes that will come are known from the start: the axis does not move as points
 * arrive. */
function sizeRange(specs, lines, view) {
  const sizes = specs.flatMap(planSizes);
  for (const line of lines) {
    for (const point of line.points) {
      sizes.push(point.x);
    }
  }
  const cap = view.metric === 'latency' ? LATENCY_MAX_BYTES : Infinity;
  const usable = sizes.filter(size => size > 0 && size <= cap);
  if (usable.length === 0) {
    return [8, 1024];
  }
  const low = usable.reduce((a, b) => Math.min(a, b));
  const high = usable.reduce((a, b) => Math.max(a, b));
  return [low / Math.SQRT2, high * Math.SQRT2];
}

/* The smallest and the largest size that a spec asks for, [] where it does not say. */
export function planSizes(spec) {
  const sizes = spec?.sizes;
  const asked = Array.isArray(sizes) ? sizes : [sizes?.min, sizes?.max];
  return asked.map(size => (size == null ? null : parseSize(size)))
    .filter(size => size !== null);
}

function valueRange(lines, scale) {
  let low = Infinity;
  let high = 0;
  for (const line of lines) {
    for (const point of line.points) {
      low = Math.min(low, point.y > 0 ? point.y : low);
      high = Math.max(high, point.y);
    }
  }
  if (!(high > 0)) {
    return scale === 'log' ? [0.1, 10] : [0, 1];
  }
  if (scale === 'log') {
    return [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high * 1.05))];
  }
  return [0, niceCeil(high * 1.04)];
}

/* The next of 1, 1.2, 1.5, 2, 2.5 … times a power of ten: the axis grows in few steps. */
export function niceCeil(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  const steps = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];
  return steps.find(step => step * power >= value * (1 - 1e-9)) * power;
}

/* Powers of two between, not closer than `room` pixels apart. */
export function sizeTicks([low, high], width, room) {
  const first = Math.ceil(Math.log2(low) - 1e-9);
  const last = Math.floor(Math.log2(high) + 1e-9);
  const span = Math.log2(high) - Math.log2(low);
  const stride = Math.max(1, Math.ceil((room * span) / Math.max(1, width)));
  const ticks = [];
  for (let power = Math.ceil(first / stride) * stride; power <= last; power += stride) {
    ticks.push(2 ** power);
  }
  return ticks;
}

/* Whole numbers between, not closer than `room` pixels apart. */
export function countTicks([low, high], width, room) {
  const least = Math.max(1, (high - low) * room / Math.max(1, width));
  const power = 10 ** Math.floor(Math.log10(least));
  const stride = [1, 2, 5, 10].find(step => step * power >= least) * power;
  const ticks = [];
  for (let tick = Math.ceil(low / stride) * stride; tick <= high; tick += stride) {
    ticks.push(tick);
  }
  return ticks;
}

/* 1, 2, 5 or only whole powers of ten, as there is room. */
export function logTicks([low, high]) {
  const decades = Math.log10(high / low);
  const factors = decades <= 2 ? [1, 2, 5] : [1];
  const stride = Math.max(1, Math.ceil(decades / 8));
  const ticks = [];
  for (let p = Math.floor(Math.log10(low)); p <= Math.log10(high) + 1e-9; p += stride) {
    for (const factor of factors) {
      const tick = factor * 10 ** p;
      if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) {
        ticks.push(tick);
      }
    }
  }
  return ticks;
}

/* The lines on one x array, for uPlot: nulls where a line has no such size. Lines of one
 * run mostly have the same sizes: then nothing has to be looked up. */
export function alignLines(lines) {
  const longest =
    lines.reduce((a, b) => (b.points.length > a.points.length ? b : a), {points: []});
  const same =
    lines.every(line => line.points.every((point, i) => point.x === longest.points[i].x));
  const xs = same ? longest.points.map(p => p.x) : mergedPlaces(lines);
  const at = same ? null : new Map(xs.map((x, index) => [x, index]));
  const columns = lines.map(line => {
    const column = new Array(xs.length).fill(null);
    line.points.forEach((point, i) => { column[same ? i : at.get(point.x)] = point.y; });
    return column;
  });
  return [xs, ...columns];
}

function mergedPlaces(lines) {
  const all = new Set();
  for (const line of lines) {
    line.points.forEach(point => all.add(point.x));
  }
  return [...all].sort((a, b) => a - b);
}

/* Half the width of a bar's ends, in pixels. */
export const BAR_HALF = 3.5;

/* The strokes of a bar between two heights: itself and its ends. */
export const barStrokes = (x, [a, b],
  half) => [[[x, a], [x, b]], ...[a, b].map(y => [[x - half, y], [x + half, y]])];
