/* SPDX-License-Identifier: Apache-2.0 */
/* shown.mjs - the runs that charts show, in words. No DOM. They are {id, name, mark, created,
 * backend, worldSize, nodes, verdict}; a `mark` says what is no measurement of here
 * ("simulated"), or is ''. */
import { plural } from './units.mjs';

/* What is to stand across charts of these runs: a mark that all have, or that some have. */
export function markOf(runs) {
  const marks = [...new Set(runs.map(({ mark }) => mark))];
  const some = marks.filter(Boolean);
  return some.length === 0 || marks.length === 1 ? (marks[0] ?? '') : `partly ${some.join(', ')}`;
}

const nameOf = ({ name, mark }) => name + (mark ? ` (${mark})` : '');

/* "before, after (simulated)" */
export const titleOf = (runs) => runs.map(nameOf).join(', ');

/* In what runs on one chart are not alike, "" where they are. */
export function unlikeInWords(runs) {
  const ofOne = ({ backend, worldSize, mark }) =>
    [mark || backend, worldSize > 0 && plural(worldSize, 'rank')].filter(Boolean).join(', ');
  const known = runs.filter(({ backend }) => backend);
  if (new Set(known.map(ofOne)).size < 2) {
    return '';
  }
  return `${known.map((run) => `${run.name}: ${ofOne(run)}`).join('; ')}.`;
}
