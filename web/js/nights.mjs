/* SPDX-License-Identifier: Apache-2.0 */
/* nights.mjs - collects gate results and failures of runs with the same name, day by day. No DOM. */
import { CURRENT } from './states.mjs';
import { formatDay } from './units.mjs';
import { isBadRun } from './verdicts.mjs';

export const DAYS = 14;
const NIGHTS_MIN = 2;
const ROWS_MAX = 8;
const DAY_MS = 24 * 3600 * 1000;

export const dayOf = (time) => formatDay(new Date(time));

/** The queries of GET /runs: recent runs whose gate passed or failed, and runs that failed or have not
 * ended. */
export const nightsQueries = (now) =>
  ['verdict=pass&verdict=fail', ['failed', ...CURRENT].map((state) => `state=${state}`).join('&')].map(
    (which) => `${which}&limit=500&since=${new Date(now - DAYS * DAY_MS).toISOString()}`,
  );

/* Returns the runs of several lists, each once, newest first. */
export const mergedRuns = (lists) =>
  [...new Map(lists.flatMap(({ runs }) => runs).map((run) => [run.id, run])).values()].sort(
    (a, b) => Date.parse(b.created) - Date.parse(a.created),
  );

/** Returns {days, rows: [{name, nights}]}: the last days, oldest first. A name has a row if it ran
 * on several of these days. `nights` contains a run or null per day: the newest failed run, else
 * the newest. Names whose last run failed come first. `runs` are sorted newest first.
 * @param {Schema.RunList['runs']} runs */
export function nightsOf(runs, now) {
  const days = Array.from({ length: DAYS }, (_, i) => dayOf(now - (DAYS - 1 - i) * DAY_MS));
  const byName = new Map();
  for (const run of runs.filter(({ name, state }) => name !== '' && !CURRENT.includes(state))) {
    const at = days.indexOf(dayOf(run.created ?? 0));
    const nights = byName.get(run.name) ?? days.map(() => null);
    byName.set(run.name, nights);
    if (at >= 0 && (nights[at] === null || (isBadRun(run) && !isBadRun(nights[at])))) {
      nights[at] = run;
    }
  }
  const ranOf = (nights) => nights.filter((run) => run !== null);
  const isBadLast = (nights) => (isBadRun(ranOf(nights).at(-1)) ? 0 : 1);
  const rows = [...byName]
    .map(([name, nights]) => ({ name, nights }))
    .filter(({ nights }) => ranOf(nights).length >= NIGHTS_MIN)
    .sort((a, b) => isBadLast(a.nights) - isBadLast(b.nights) || (a.name < b.name ? -1 : 1));
  return { days, rows: rows.slice(0, ROWS_MAX) };
}
