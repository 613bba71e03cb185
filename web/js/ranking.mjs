/* SPDX-License-Identifier: Apache-2.0 */
/* ranking.mjs - finds the fastest setting of a run's matrix, by size. No DOM. */
import { caseLabel } from './case_name.mjs';
import { groupBy } from './lists.mjs';
import { doubtOf } from './stats.mjs';

const FIGURE = 'busbw_gbs';

/** Per collective, ranges of consecutive sizes with the same answer: [{collective, from, to, best,
 * ahead}]. `best` lists the settings whose intervals overlap the fastest one's, or is null if all
 * overlap. `ahead` [least, most] is the relative lead over the best other setting. */
export function rankingOf({ lines }) {
  const found = [];
  for (const [collective, own] of byCollective([...lines.values()])) {
    const sizes = [...new Set(own.flatMap(({ points }) => points.map(({ size }) => size)))];
    for (const size of sizes.sort((a, b) => a - b)) {
      const answer = bestAt(own, size);
      const last = found.at(-1);
      if (answer && last && last.collective === collective && last.best === answer.best) {
        last.to = size;
        last.ahead = [Math.min(last.ahead[0], answer.ahead), Math.max(last.ahead[1], answer.ahead)];
      } else if (answer) {
        const { best, ahead } = answer;
        found.push({ collective, from: size, to: size, best, ahead: [ahead, ahead] });
      }
    }
  }
  return found;
}

/* Returns lines that differ only by their settings, grouped by data and placement. */
function byCollective(lines) {
  const isIn = lines.every(({ inPlace }) => inPlace);
  const own = lines
    .filter(({ env, inPlace }) => env && inPlace === isIn)
    .map((line) => ({ ...line, setting: caseLabel(line) }));
  const groups = groupBy(own, ({ label, setting }) => label.replace(` · ${setting}`, ''));
  return [...groups].filter(([, some]) => some.length > 1);
}

function bestAt(lines, size) {
  const found = lines
    .map(({ setting, points }) => ({ setting, point: points.find((one) => one.size === size) }))
    .filter(({ point }) => point?.[FIGURE] > 0)
    .sort((a, b) => b.point[FIGURE] - a.point[FIGURE]);
  if (found.length < 2) {
    return null;
  }
  const least = doubtOf(found[0].point, FIGURE)?.lo ?? 0;
  const isWorse = ({ point }) => doubtOf(point, FIGURE)?.hi < least;
  const next = found.find(isWorse);
  const alike = found.filter((one) => !isWorse(one)).map(({ setting }) => setting);
  return next
    ? { best: alike.sort().join(' or '), ahead: found[0].point[FIGURE] / next.point[FIGURE] - 1 }
    : { best: null, ahead: 0 };
}
