/* SPDX-License-Identifier: Apache-2.0 */
/* trend_model.mjs - converts trends to chart panels (chart_model.mjs): lines of comparable runs,
 * marks where versions changed, and links to comparisons. The server judges; this module only
 * draws. No DOM. */
import { countBy } from './lists.mjs';
import { compareQuery } from './url_state.mjs';
import { formatChange, formatClock, formatDay, shorten } from './units.mjs';
import { whereInWords } from './where.mjs';

/* Cases per side that detect a change of 3 % in 9 of 10 comparisons
 * (docs/explanation/method.md). */
const CASES_WANTED = 8;
export const VERSIONS = ['nccl', 'cuda_driver', 'cuda_runtime', 'kernel', 'ringbench'];

/* Lines {label, columns, panels, worst} from one answer per band. A line shows comparable runs,
 * the same in all bands. `columns` are its runs, oldest first. A panel contains the line's points
 * of one band, each with its column `x`. Lines are sorted by the worst change, then by the number
 * of runs. */
export function buildTrends(answers) {
  const lines = new Map();
  answers.forEach((answer, band) => {
    const ofSeries = new Map();
    const lineFor = ({ series, like }) => {
      const key = lineKey(like);
      const line = lines.get(key) ?? { like, points: answers.map(() => []) };
      lines.set(key, line);
      ofSeries.set(series, line);
      return line;
    };
    answer.points.forEach((point) => (ofSeries.get(point.series) ?? lineFor(point)).points[band].push(point));
  });
  const pointsOfRun = answers.map(({ points }) => countBy(points, ({ run }) => run));
  const all = [...lines.values()];
  const labels = labelsOf(all.map(({ like }) => like));
  return all
    .map((line, i) => lineOf(line, labels[i], answers, pointsOfRun))
    .sort((a, b) => b.worst - a.worst || b.columns.length - a.columns.length);
}

/* The server's series covers one band. A line joins the series that differ only by band. */
const lineKey = (like) => JSON.stringify({ ...like, band: null, sizes: null });

const order = (a, b) => (a.created < b.created || (a.created === b.created && a.run < b.run) ? -1 : 1);

function lineOf({ points }, label, answers, pointsOfRun) {
  const runs = new Map(points.flat().map((point) => [point.run, point]));
  const columns = [...runs.values()].sort(order);
  const place = new Map(columns.map(({ run }, i) => [run, i]));
  const panels = answers.map(({ figure, changes, next }, band) => {
    const own = points[band].reverse().map((point) => ({
      ...point,
      x: place.get(point.run),
      isOneOf: pointsOfRun[band].get(point.run) > 1,
    }));
    return {
      figure,
      points: own,
      changes: changes.filter((one) => own.some((point) => point.series === one.series)),
      versions: versionSteps(own),
      hasMore: next !== null,
    };
  });
  return { label, columns, dates: datesOf(columns), panels, worst: Math.max(0, ...panels.flatMap(lossesOf)) };
}

/* Returns the runs whose versions differ from the previous run's. */
function versionSteps(points) {
  return points.slice(1).flatMap((point, i) => {
    const before = points[i].versions ?? {};
    const names = VERSIONS.filter((name) => (point.versions?.[name] ?? null) !== (before[name] ?? null));
    return names.length === 0
      ? []
      : [
          {
            x: point.x,
            text: names.map((name) => `${name} ${point.versions?.[name] ?? 'none'}`).join(', '),
          },
        ];
  });
}

/* Returns the labels of the lines: where the runs ran, and the facts that differ between lines. */
function labelsOf(likes) {
  const facts = likes.map(factsOf);
  const names = [...new Set(facts.flatMap(Object.keys))];
  const telling = names.filter((name) => facts.some((one) => one[name] !== facts[0][name]));
  return likes.map((like, i) => {
    const { emulated, imported } = like.series ?? {};
    const apart = telling
      .filter((name) => facts[i][name] !== undefined)
      .map((name) => (name === 'on' ? '' : `${name}=`) + facts[i][name]);
    const where = whereInWords({ ...like, nodes: nodesOf(like), emulated });
    return [where, imported ? 'imported' : '', ...apart].filter(Boolean).join(' · ');
  });
}

/* Returns nodes in the form of a run document. Hardware entries are expanded to one node each. */
function nodesOf({ nodes, hardware }) {
  if (nodes) {
    return Object.entries(nodes).map(([name, ranks]) => ({ name, ranks }));
  }
  return Object.entries(hardware ?? {}).flatMap(([name, counts]) =>
    Object.entries(counts).flatMap(([ranks, count]) =>
      Array.from({ length: count }, () => ({ name, ranks: Number(ranks) })),
    ),
  );
}

const textOf = (value) => (typeof value === 'string' ? value : JSON.stringify(value));

function factsOf({ nodes, hardware, settings, env, series }) {
  const { redop, root, group } = series ?? {};
  const entries = Object.entries({ redop, root, group, ...settings, ...env })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, textOf(value)]);
  const names = Object.keys(nodes ?? hardware ?? {});
  const on = names.slice(0, 3).join(', ') + (names.length > 3 ? ' …' : '');
  return { on, ...Object.fromEntries(entries) };
}

/* Returns the last change at or before this point, or null. */
export function changeBefore(point, changes) {
  return changes
    .filter((one) => one.series === point.series && one.run !== null && one.created <= point.created)
    .reduce((last, one) => (last && last.created > one.created ? last : one), null);
}

/* Returns a link that compares a point with the last run before its change, or with the
 * baseline. */
export function compareAddress(point, changes) {
  const change = changeBefore(point, changes);
  return address(point, [change ? change.verdict.evidence.last_before : 'baseline'], [point.run]);
}

/* Returns a link that compares the runs after a change with the runs before it. Each side takes
 * the nearest runs until it has enough cases, and stops at the next change. */
export function changeAddress({ run, series, verdict }, points) {
  const at = points.findIndex((point) => point.run === run && point.series === series);
  if (at < 1) {
    return `/compare?${compareQuery({ base: [verdict.evidence.last_before], head: [run] })}`;
  }
  const since = points.slice(at);
  const before = points.slice(0, at).reverse();
  const isNext = ({ change }, i) => i > 0 && change !== null;
  const isFirst = (_point, i) => i > 0 && before[i - 1].change !== null;
  return address(points[at], nearest(before, isFirst), nearest(since, isNext));
}

function nearest(points, isBeyond) {
  const end = points.findIndex(isBeyond);
  const runs = [];
  let cases = 0;
  for (const point of end < 0 ? points : points.slice(0, end)) {
    if (cases < CASES_WANTED) {
      runs.push(point.run);
      cases += point.cases;
    }
  }
  return runs;
}

/* For a run with several combinations, select the point's own. */
function address(point, base, head) {
  const env = !point.isOneOf
    ? []
    : Object.entries(point.like.env ?? {}).map(([name, value]) =>
        value === null ? name : `${name}=${value}`,
      );
  const isBaseline = base[0] === 'baseline';
  return `/compare?${compareQuery({ base, base_env: isBaseline ? [] : env, head, head_env: env })}`;
}

/* Returns the relative sizes of the changes for the worse in a panel. */
const lossesOf = ({ changes, points }) =>
  points
    .filter((point) => changes.some((one) => isAt(one, point) && one.verdict.answer === 'worse'))
    .map(({ change }) => Math.abs(change ?? 0));

const isAt = (change, point) => change.run === point.run && change.series === point.series;

const VERSION_MAX = 20;
const TONES = { worse: 'var(--bad)', better: 'var(--good)' };

/* Returns the chart panel of a line's band: values with intervals, a dotted mark at version
 * changes, and a mark with the difference at each detected change. */
export function trendPanel({ figure, points, versions, changes }, title, dates) {
  const line = {
    key: 'value',
    label: figure.unit,
    colour: 'var(--accent)',
    shape: 'circle',
    dash: [],
    points: points.map((point) => {
      const { x, value, low, high } = point;
      return {
        x,
        y: value,
        lo: low ?? value,
        hi: high ?? value,
        bar: low === null ? null : [low, high],
        point,
      };
    }),
  };
  return {
    key: title,
    title,
    place: 'run',
    isSize: false,
    isLog: false,
    dates,
    x: [-0.5, dates.length - 0.5],
    y: valueRange(points),
    lines: [line],
    references: [],
    marks: [
      ...versions.map(({ x, text }) => ({
        key: `version ${x}`,
        x: x - 0.5,
        text: shorten(text, VERSION_MAX),
        dash: '1 3',
      })),
      ...points.flatMap((point) => {
        const answer = changes.find((one) => isAt(one, point))?.verdict.answer;
        return answer in TONES && point.change !== null
          ? [
              {
                key: `change ${point.x}`,
                x: point.x - 0.5,
                text: `${answer === 'better' ? '▲' : '▼'} ${formatChange(point.change)}`,
                colour: TONES[answer],
                isLow: true,
              },
            ]
          : [];
      }),
    ],
  };
}

/* Returns axis labels: days if there are several, else times. */
function datesOf(columns) {
  const times = columns.map(({ created }) => new Date(created));
  const days = times.map(formatDay);
  return new Set(days).size > 1 ? days : times.map(formatClock);
}

/* Returns the value range of all points with margins, at least a tenth of the middle wide. */
export function valueRange(points) {
  const all = points.flatMap(({ low, value, high }) => [low ?? value, value, high ?? value]);
  const low = Math.min(...all);
  const high = Math.max(...all);
  const room = Math.max((high - low) * 0.12, ((high + low) / 2) * 0.05);
  return [Math.max(0, low - room), high + room];
}
