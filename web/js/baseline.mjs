/* SPDX-License-Identifier: Apache-2.0 */
/* baseline.mjs - the runs that a run's chart shows as its baseline (docs/reference/baselines.md) */
import { bookOf } from './book.mjs';
import { isEnded } from './events.mjs';
import { stateOfSummary } from './summary.mjs';
import { plural, shorten } from './units.mjs';
import { verdictOf } from './verdicts.mjs';

/* Use at most this many runs, the newest first. */
const RUNS_MAX = 8;

/* Resolves to {label, books}, or to null if there is no baseline or the request failed. The chart
 * is still correct without a baseline. */
export async function findBaseline(api, run) {
  if (!isEnded(run) || run.program) {
    return null;
  }
  try {
    const ids = (await against(api, run)).slice(0, RUNS_MAX);
    const found = await Promise.all(ids.map((id) => api.summary(id, 'combination')));
    return found.length === 0
      ? null
      : {
          label: labelOf(found.map((summary) => summary.run)),
          books: found.map((summary) => bookOf(stateOfSummary(summary))),
        };
  } catch {
    return null;
  }
}

/* Returns the IDs of the baseline runs. A gate verdict names the runs that it used, and these
 * never change. */
async function against(api, run) {
  const check = verdictOf(run, 'gate')?.evidence?.checks?.find((one) => one.check === 'baseline');
  const found = check?.against ?? (await api.baseline(run.id)).runs;
  return found.filter((id) => id !== run.id);
}

function labelOf(runs) {
  const [first] = runs;
  return runs.length === 1
    ? `baseline: ${[shorten(first.name, 40), first.id].filter(Boolean).join(', ')}`
    : `range of ${plural(runs.length, 'comparable run')}, the newest ${first.id}`;
}
