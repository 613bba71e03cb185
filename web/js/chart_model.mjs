/* SPDX-License-Identifier: Apache-2.0 */
/* chart_model.mjs - turns a run's series into chart panels, for the screen and for files. No DOM.
 * A panel is one chart:
 *
 *   key, title      identifier, and the heading
 *   axis            title of the value axis; `good`, a sentence about the metric's use
 *   metric          a key of METRICS; panels of program figures have `unit` instead
 *   isSize, place   isSize: x is logarithmic, base 2. place: the quantity on x ("step", "nodes").
 *                   x is in bytes if isSize is set and place is not "nodes"
 *   values          names of y, lo, hi and the count, for figures that are not means
 *   isLog, x, y     isLog: y is logarithmic, base 10. x, y: both ranges, [low, high]
 *   isLimited       the user typed the y range; points outside are not drawn
 *   lines           {key, label, colour, shape, dash, hollow, hidden, offered, points}. Points are
 *                   {x, y, lo, hi, bar, point}. lo to hi is the shaded band. `bar` is the
 *                   error bar [low, high], or null
 *   references      {key, label, colour, points}: thresholds, ceilings and baselines. Drawn as a
 *                   line through y and as a band from lo to hi */
import { lookOf } from './palette.mjs';
import { baselineOf, ceilingOf, thresholdsOf } from './references.mjs';
import { pointValue } from './stats.mjs';
import { parseSize, shorten } from './units.mjs';

export const METRICS = {
  busbw: {
    figure: 'busbw_gbs',
    axis: 'busbw, GB/s',
    good:
      'Bus bandwidth: compare it with your link speed. It is algbw times a factor that depends on the ' +
      'collective and the rank count, so it can exceed the link rate where the switch reduces or ranks ' +
      'share memory.',
  },
  algbw: {
    figure: 'algbw_gbs',
    axis: 'algbw, GB/s',
    good:
      'Algorithm bandwidth: size divided by time. It falls as ranks are added, so compare it at the ' +
      'same rank count.',
  },
  time: {
    figure: 'time_us',
    axis: 'time per call, µs',
    good: 'Flat part: latency. Rising part: limited by bandwidth.',
  },
};

/* Two panels per collective, bandwidth and time. All collectives share their scales. `runs` have a
 * book and a spec besides the members in shown.mjs. `view` is the run page's address state. */
export function buildPanels(runs, view, theme) {
  const [bandwidth, time] = [view.metric, 'time'].map((metric) => panelsOf(runs, view, theme, metric));
  return bandwidth.flatMap((panel, i) => [panel, time[i]]);
}

function panelsOf(runs, view, theme, metric) {
  const names = lineNames(runs);
  const series = runs.flatMap((run) => [...run.book.lines.values()]);
  /* If all results are in place, the default view (out of place) would be empty. */
  const place = view.place === 'out' && series.every((one) => one.inPlace) ? 'in' : view.place;
  const all = runs.flatMap((run, index) =>
    [...run.book.lines.values()].map((one) =>
      lineOf(one, { index, name: names[index] }, { ...view, place }, metric),
    ),
  );
  const look = looksOf(runs, all, theme);
  all.forEach((line) => Object.assign(line, look(line)));
  const isLog = metric === 'time' || view.y === 'log';
  const x = sizeRange(
    runs.map((run) => run.spec),
    all,
    view.zoom,
  );
  const axis = [METRICS[metric].axis, ...shortenLabels(all)].join(' · ');
  const panels = [...new Set(all.map((line) => line.collective))].map((collective, i) => {
    const lines = all.filter((line) => line.collective === collective);
    return {
      key: `${collective} ${metric}`,
      title: collective,
      axis,
      good: i === 0 ? METRICS[metric].good : '',
      metric,
      isSize: true,
      isLog,
      x,
      lines,
      references: referencesOf(runs[0], lines, metric, x, view.zoom, theme),
    };
  });
  const y = valueRange(panels, isLog, view.band);
  return panels.map((panel) => ({ ...panel, y }));
}

/* Styles of the lines. In a matrix of two variables, the first selects the colour and the second
 * the dash. */
function looksOf(runs, lines, theme) {
  const families = [...new Set(lines.map(({ family }) => family))];
  const matrix = Object.entries((runs.length === 1 && runs[0].spec?.matrix) || {});
  const variables = matrix.filter(([, values]) => values.length > 1);
  const placesOf = ({ series }) =>
    variables.map(([name, values]) => values.indexOf(series.env?.[name] ?? null));
  const places = new Set(lines.map((line) => [line.collective, ...placesOf(line)].join()));
  return variables.length === 2 && places.size === families.length
    ? (line) => lookOf(placesOf(line)[0], line.inPlace, theme, placesOf(line)[1])
    : (line) => lookOf(families.indexOf(line.family), line.inPlace, theme);
}

/* References belong to the page's own run. Overlaid runs have other thresholds and baselines. */
function referencesOf(run, lines, metric, x, zoom, theme) {
  const { figure } = METRICS[metric];
  const own = run.baseline ? lines.filter((line) => line.run === 0 && !line.hidden) : [];
  return [
    ...own.map((line) => baselineOf(run.baseline, line, figure, zoom, theme)),
    ...thresholdsOf(run, figure, lines[0].collective, x, theme),
    ...ceilingOf(run, figure, lines[0].collective, x, theme),
  ].filter(({ points }) => points.length > 0);
}

/* Returns line prefixes, one for each run: empty for a single run, else the name. The id is
 * added if two runs share a name. Runs that were not measured here are marked. */
export function lineNames(runs) {
  const isTwice = (name) => runs.filter((run) => run.name === name).length > 1;
  return runs.map(({ id, name, mark }) =>
    runs.length < 2 ? '' : shorten(name, 30) + (isTwice(name) ? ` ${id}` : '') + (mark ? ` (${mark})` : ''),
  );
}

/* Remove the words that all lines share, and return them for the axis title. A single line (or its
 * in-place twin) keeps its label. */
function shortenLabels(lines) {
  const differ = lines.some((line) => line.family !== lines[0].family);
  if (!differ) {
    return [];
  }
  const isCommon = (part) => lines.every((line) => line.words.includes(part));
  const collectives = new Set(lines.map((line) => line.collective));
  const common = lines[0].words.filter(isCommon);
  for (const line of lines) {
    const own = line.words.filter((part) => !isCommon(part)).join(' · ');
    const words = [line.name, own].filter(Boolean).join(': ') || line.collective;
    line.label = words + (line.inPlace ? ', in place' : '');
  }
  return common.filter((part) => !collectives.has(part));
}

function lineOf(series, { index, name }, view, metric) {
  const key = index === 0 ? series.key : `${index}:${series.key}`;
  const family = `${index}:${series.lineKey}`;
  const wanted = view.place === 'both' || (view.place === 'in') === series.inPlace;
  return {
    key,
    run: index,
    series,
    collective: series.collective,
    family,
    name,
    words: series.label.split(' · '),
    label: [name, series.label].filter(Boolean).join(': ') + (series.inPlace ? ', in place' : ''),
    inPlace: series.inPlace,
    hidden: !wanted || view.hide.includes(key),
    offered: wanted,
    points: within(pointsOf(series, metric), view.zoom),
  };
}

const within = (points, zoom) => (zoom ? points.filter(({ x }) => x >= zoom[0] && x <= zoom[1]) : points);

/* Returns the points of a series for a metric. Cached on the series, which is replaced with each
 * summary. */
function pointsOf(series, metric) {
  series.drawn ??= {};
  if (series.drawn[metric]) {
    return series.drawn[metric];
  }
  const points = [];
  for (const point of series.points) {
    const value = pointValue(point, METRICS[metric].figure);
    if (value && point.size > 0) {
      points.push({ x: point.size, ...value, point });
    }
  }
  series.drawn[metric] = points;
  return points;
}

/* The x range covers all planned sizes, so that the axis does not move while points arrive. */
function sizeRange(specs, lines, zoom) {
  const sizes =
    zoom ??
    [
      ...specs.flatMap(planSizes),
      ...lines.flatMap(({ points }) => [...points.slice(0, 1), ...points.slice(-1)].map(({ x }) => x)),
    ].filter((size) => size > 0);
  if (sizes.length === 0) {
    return [8, 1024];
  }
  const low = sizes.reduce((a, b) => Math.min(a, b));
  const high = sizes.reduce((a, b) => Math.max(a, b));
  return [low / Math.SQRT2, high * Math.SQRT2];
}

/* Returns the smallest and largest size in a spec, or [] if the spec has none. */
function planSizes(spec) {
  const sizes = spec?.sizes;
  const asked = Array.isArray(sizes) ? sizes : [sizes?.min, sizes?.max];
  return asked.map((size) => (size == null ? null : parseSize(size))).filter((size) => size !== null);
}

/* Returns the y range that contains all visible points, bands, error bars and references. */
function valueRange(panels, isLog, spread) {
  let low = Infinity;
  let high = 0;
  const take = (value) => {
    low = Math.min(low, value > 0 ? value : low);
    high = Math.max(high, value);
  };
  for (const { lines, references } of panels) {
    for (const { points } of lines.filter((line) => !line.hidden)) {
      points.flatMap(({ y, lo, hi, bar }) => (spread ? [y, lo, hi, ...(bar ?? [])] : [y])).forEach(take);
    }
    references.forEach(({ points }) => points.forEach(({ y }) => take(y)));
  }
  if (!(high > 0)) {
    return isLog ? [0.1, 10] : [0, 1];
  }
  return [isLog ? niceFloor(low * 0.98) : 0, niceCeil(high * 1.04)];
}

const NICE = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];

/* Returns the next of 1, 1.2, 1.5, 2, 2.5 … times a power of ten, so that a growing axis changes
 * rarely. */
export function niceCeil(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return (NICE.find((step) => step * power >= value * (1 - 1e-9)) ?? 10) * power;
}

export function niceFloor(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return (NICE.findLast((step) => step * power <= value * (1 + 1e-9)) ?? 1) * power;
}

/* Panels with equal keys share a typed y range: all collectives of a metric do. */
const rangeKey = ({ metric, key }) => metric ?? key;

/* Parses "busbw 10 50" into ["busbw", 10, 50]. */
function parsedLimit(text) {
  const [, key, ...ends] = /^(.*) (\S+) (\S+)$/.exec(text) ?? [];
  return [key, ...ends.map(Number)];
}

/* Apply the panel's typed y range. `limits` are texts such as "busbw 10 50". */
export function limitedTo(panel, limits) {
  const [, low, high] = limits.map(parsedLimit).find(([key]) => key === rangeKey(panel)) ?? [];
  return low < high && (low > 0 || !panel.isLog) ? { ...panel, y: [low, high], isLimited: true } : panel;
}

/* Returns `limits` with the panel's range replaced by [low, high], or removed (null). */
export const limitsWith = (limits, panel, range) => [
  ...limits.filter((text) => parsedLimit(text)[0] !== rangeKey(panel)),
  ...(range ? [[rangeKey(panel), ...range].join(' ')] : []),
];

export const isBytes = ({ isSize, place }) => isSize && place !== 'nodes';

/* Distance of a tooltip from the crosshair in px. Larger than a point, so that none is covered. */
const TIP_GAP = 14;

/* The largest width of a tooltip in px: the width of the wider side of `x`, minus the gap. */
export const tipRoom = (x, width) => Math.max(x, width - x) - TIP_GAP;

/* Returns the position of a tooltip beside `x`: the side and height that cover the fewest of
 * `points`, [[x, y], …]. */
export function placeTip({ width, height }, x, points, box) {
  const lefts = [x + TIP_GAP, x - TIP_GAP - width].filter(
    (left) => left >= -1 && left + width <= box.width + 1,
  );
  const wider = box.width - x >= x ? x + TIP_GAP : x - TIP_GAP - width;
  const places = (lefts.length > 0 ? lefts : [wider]).flatMap((left) =>
    [box.top, Math.max(box.top, box.bottom - height)].map((top) => ({ left, top })),
  );
  const hides = ({ left, top }) =>
    points.filter(([px, py]) => px >= left && px <= left + width && py >= top && py <= top + height).length;
  return places.reduce((best, place) => (hides(place) < hides(best) ? place : best));
}
