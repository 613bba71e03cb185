/* SPDX-License-Identifier: Apache-2.0 */
/* change_model.mjs - converts a comparison's changes by size to a chart panel (chart_model.mjs). No
 * DOM. */
import { groupBy } from './lists.mjs';
import { lookOf } from './palette.mjs';
import { isToldChange } from './stats.mjs';
import { formatSize } from './units.mjs';

/* Ratio of the axis range to the largest value, and the largest drawn change (400 %). */
const ROOM = 1.08;
const LIMIT = 4;

export const keyOf = ({ series, figure }) => `${figure} ${series}`;

export function groupName({ series, in_place: inPlace, root, group }) {
  const place = inPlace === undefined ? '' : inPlace ? ', in place' : ', out of place';
  return (
    series + place + (root >= 0 ? `, root ${root}` : '') + (Number.isInteger(group) ? `, group ${group}` : '')
  );
}

/* Returns the panel of changes by size, or null for fewer than two sizes. Positive means better: a time that
 * falls by 5 % is drawn as +5 %. In-place lines start hidden if there are out-of-place lines. */
export function changePanel({ sizes, verdict: { evidence } }, flipped, theme) {
  const isMoreBetter = new Map(evidence.bands.map((band) => [keyOf(band), band.higher_is_better]));
  const known = sizes.filter((one) => one.size > 0 && isToldChange(one));
  const groups = groupBy(known, groupName);
  const isAlwaysInPlace = known.every((one) => one.in_place);
  const lines = [...groups].map(([key, items], i) => {
    const inPlace = items[0].in_place === true;
    return {
      key,
      label: key,
      offered: true,
      hidden: (inPlace && !isAlwaysInPlace) !== flipped.includes(key),
      points: items
        .map((one) => pointOf(one, isMoreBetter.get(keyOf(one)) ? 1 : -1))
        .sort((a, b) => a.x - b.x),
      ...lookOf(i, inPlace, theme),
    };
  });
  const shown = lines.filter(({ hidden }) => !hidden).flatMap(({ points }) => points);
  const xs = lines.flatMap(({ points }) => points.map(({ x }) => x));
  if (new Set(xs).size < 2) {
    return null;
  }
  const margin = 100 * evidence.margin;
  const ends = shown.flatMap(({ y, lo, hi }) => [y, lo, hi]);
  const reach = Math.min(LIMIT * 100, ROOM * Math.max(margin, ...ends.map(Math.abs)));
  const x = [Math.min(...xs) / Math.SQRT2, Math.max(...xs) * Math.SQRT2];
  return {
    key: 'change',
    title: 'Change by size',
    axis: 'head against base, %; above 0 is better',
    unit: '%',
    values: ['change', 'low', 'high', 'answer'],
    isSize: true,
    isLog: false,
    x,
    y: [
      ends.some((end) => end < -margin) ? -reach : -2 * margin,
      ends.some((end) => end > margin) ? reach : 2 * margin,
    ],
    lines,
    references: [
      {
        key: 'margin',
        label: `changes below ${margin} % count as none`,
        colour: 'var(--muted)',
        points: x.map((at) => ({ x: at, y: 0, lo: -margin, hi: margin })),
      },
    ],
    marks: lines.filter(({ hidden }) => !hidden).flatMap(crossoversOf),
  };
}

function pointOf({ size, change, interval }, sign) {
  const bar = interval?.map((end) => 100 * sign * end).sort((a, b) => a - b) ?? null;
  const y = 100 * sign * change;
  const [lo, hi] = bar ?? [y, y];
  return { x: size, y, lo, hi, bar, point: { count: signInWords(bar) } };
}

const signInWords = (bar) => (!bar ? '' : bar[0] > 0 ? 'better' : bar[1] < 0 ? 'worse' : 'unclear');

/* A crossover lies between two consecutive significant sizes with opposite signs. */
function crossoversOf({ key, points }) {
  const sure = points.filter(({ bar }) => bar && (bar[0] > 0 || bar[1] < 0));
  return sure.slice(1).flatMap((point, i) => {
    const before = sure[i];
    const at = Math.sqrt(before.x * point.x);
    return before.y > 0 === point.y > 0
      ? []
      : [
          {
            key: `${key} ${at}`,
            x: at,
            text: `crosses between ${formatSize(before.x)} and ${formatSize(point.x)}`,
            dash: '4 3',
          },
        ];
  });
}
