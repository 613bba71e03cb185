/* SPDX-License-Identifier: Apache-2.0 */
/* baseline.mjs - the runs that a run was compared with, or is to be (docs/reference/baselines.md) */
import { bookOf } from './book.mjs';
import { isEnded } from './events.mjs';
import { stateOfSummary } from './summary.mjs';
import { plural, shorten } from './units.mjs';
import { verdictOf } from './verdicts.mjs';

/* The newest of a lot speak for it. */
const RUNS_MAX = 8;

/* {label, books} of what the run is compared with, null where there is nothing, or where
 * nobody can say: a chart without it is still right. */
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

/* What the verdict was given against never changes. */
async function against(api, run) {
  const check = verdictOf(run, 'gate')?.evidence?.checks?.find((one) => one.check === 'baseline');
  const found = check?.against ?? (await api.baseline(run.id)).runs;
  return found.filter((id) => id !== run.id);
}

function labelOf(runs) {
  const [first] = runs;
  return runs.length === 1
    ? `baseline: ${[shorten(first.name, 40), first.id].filter(Boolean).join(', ')}`
    : `${plural(runs.length, 'run')} like it, ${first.id} the newest: lowest to highest`;
}
