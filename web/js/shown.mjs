/* SPDX-License-Identifier: Apache-2.0 */
/* shown.mjs - makes texts about the runs on a chart. No DOM. Runs are {id, name, mark, created,
 * backend, worldSize, nodes, verdicts}. `mark` is "simulated", "emulated" or "imported", or empty
 * for a measurement made here. */
import { plural } from './units.mjs';

/* The watermark of a chart: the mark that all runs share, or "partly …". */
export function markOf(runs) {
  const marks = [...new Set(runs.map(({ mark }) => mark))];
  const some = marks.filter(Boolean);
  return some.length === 0 || marks.length === 1 ? (marks[0] ?? '') : `partly ${some.join(', ')}`;
}

const nameOf = ({ name, mark }) => name + (mark ? ` (${mark})` : '');

export const titleOf = (runs) => runs.map(nameOf).join(', ');

/* Returns the reason why the runs on a chart are not comparable, or "". */
export function unlikeInWords(runs) {
  const ofOne = ({ backend, worldSize, mark }) =>
    [mark || backend, worldSize > 0 && plural(worldSize, 'rank')].filter(Boolean).join(', ');
  const known = runs.filter(({ backend }) => backend);
  if (new Set(known.map(ofOne)).size < 2) {
    return '';
  }
  return `${known.map((run) => `${run.name}: ${ofOne(run)}`).join('; ')}.`;
}
