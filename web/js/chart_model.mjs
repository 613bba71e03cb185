/* SPDX-License-Identifier: Apache-2.0 */
/* chart_model.mjs - from a run's series to what charts draw, on the screen and in a file. No
 * DOM. A panel is one chart:
 *
 *   key, title      its name among its like, and the one that people see
 *   axis            the name of the value axis; `good`, a sentence on what it is good for
 *   metric          which of METRICS is drawn; of figures there is none, but `unit`
 *   isSize, place   whether places go by powers of 2, of bytes but for the place "nodes"; and
 *                   what they are ("step")
 *   values          of figures that are no means: the names of y, lo, hi and of their count
 *   isLog, x, y     whether values go by powers of 10, and both ranges, [low, high]
 *   isLimited       whether the range of values was typed: what lies outside is not drawn
 *   lines           {key, label, colour, shape, dash, hollow, hidden, offered, points}, points
 *                   {x, y, lo, hi, bar, point}: lo to hi is shaded, `bar` [low, high] is how
 *                   far y may be off, or null
 *   references      {key, label, tone, colour, points}: what lines are compared with, as a line
 *                   through y and as a band from lo to hi, as far as points have them */
import { lookOf } from './palette.mjs';
import { baselineOf, ceilingOf, thresholdsOf } from './references.mjs';
import { pointValue } from './stats.mjs';
import { parseSize, shorten } from './units.mjs';

/* What rows are drawn by. */
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

/* The runs are those of shown.mjs with their books and specs, one or several laid over one
 * another; the view is the run page's address state. Two panels for each collective,
 * bandwidth and time, on scales that the collectives share. */
export function buildPanels(runs, view, theme) {
  const [bandwidth, time] = [view.metric, 'time'].map((metric) => panelsOf(runs, view, theme, metric));
  return bandwidth.flatMap((panel, i) => [panel, time[i]]);
}

function panelsOf(runs, view, theme, metric) {
  const names = lineNames(runs);
  const series = runs.flatMap((run) => [...run.book.lines.values()]);
  /* Where nothing was measured out of place, the usual view shows what was. */
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

/* The look of each line. In a run's matrix of two variables the first is the colour, the other the
 * dashes. */
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

/* Of the run whose page it is: others on its charts are compared with something else. */
function referencesOf(run, lines, metric, x, zoom, theme) {
  const { figure } = METRICS[metric];
  const own = run.baseline ? lines.filter((line) => line.run === 0 && !line.hidden) : [];
  return [
    ...own.map((line) => baselineOf(run.baseline, line, figure, zoom, theme)),
    ...thresholdsOf(run, figure, lines[0].collective, x, theme),
    ...ceilingOf(run, figure, lines[0].collective, x, theme),
  ].filter(({ points }) => points.length > 0);
}

/* What stands before the lines of each run: of one alone nothing, of several the name, with
 * the id where another has the same, and whether it is no measurement. */
export function lineNames(runs) {
  const isTwice = (name) => runs.filter((run) => run.name === name).length > 1;
  return runs.map(({ id, name, mark }) =>
    runs.length < 2 ? '' : shorten(name, 30) + (isTwice(name) ? ` ${id}` : '') + (mark ? ` (${mark})` : ''),
  );
}

/* What all lines have in common is said once, beside the axis' name; returns it. A lone
 * line, with its in-place twin, keeps its whole name. */
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

/* What is drawn of a series, which is made anew with each summary. */
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

/* The sizes that will come are known from the start: the axis does not move as points
 * arrive. */
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

/* The smallest and the largest size that a spec asks for, [] where it does not say. */
function planSizes(spec) {
  const sizes = spec?.sizes;
  const asked = Array.isArray(sizes) ? sizes : [sizes?.min, sizes?.max];
  return asked.map((size) => (size == null ? null : parseSize(size))).filter((size) => size !== null);
}

/* Of what is drawn, bands and error bars where they are, and of what it is compared with. */
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

/* The next of 1, 1.2, 1.5, 2, 2.5 … times a power of ten: the axis grows in few steps. */
export function niceCeil(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return (NICE.find((step) => step * power >= value * (1 - 1e-9)) ?? 10) * power;
}

export function niceFloor(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return (NICE.findLast((step) => step * power <= value * (1 + 1e-9)) ?? 1) * power;
}

/* What tells a panel's range of values apart from others': collectives share it. */
const rangeKey = ({ metric, key }) => metric ?? key;

/* ["busbw", 10, 50] of "busbw 10 50" */
function parsedLimit(text) {
  const [, key, ...ends] = /^(.*) (\S+) (\S+)$/.exec(text) ?? [];
  return [key, ...ends.map(Number)];
}

/* A panel with the range of values that was typed for it, as ["busbw 10 50", ...] have it. */
export function limitedTo(panel, limits) {
  const [, low, high] = limits.map(parsedLimit).find(([key]) => key === rangeKey(panel)) ?? [];
  return low < high && (low > 0 || !panel.isLog) ? { ...panel, y: [low, high], isLimited: true } : panel;
}

/* The limits with one panel's range, [low, high], or without any for it. */
export const limitsWith = (limits, panel, range) => [
  ...limits.filter((text) => parsedLimit(text)[0] !== rangeKey(panel)),
  ...(range ? [[rangeKey(panel), ...range].join(' ')] : []),
];

export const isBytes = ({ isSize, place }) => isSize && place !== 'nodes';

/* How far a tooltip keeps from the line that it speaks of: more than a point is wide. */
const TIP_GAP = 14;

/* How wide a tooltip beside `x` may be in a box of this width: as the wider side has room. */
export const tipRoom = (x, width) => Math.max(x, width - x) - TIP_GAP;

/* Where a tooltip stands: beside `x`, never on it, at the side and height where it hides the
 * fewest of the points, [[x, y], …], that are drawn. */
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
