/* SPDX-License-Identifier: Apache-2.0 */
/* node_groups.mjs - finds groups of nodes, suspects, and differences between nodes. No DOM. */
import { countBy, groupBy } from './lists.mjs';
import { compare, FACTS, groupOf } from './node_list.mjs';
import { isBad, verdictOf } from './verdicts.mjs';
import { unrealOf } from './where.mjs';

/* A conclusive search for a slow node covers all nodes of its run, and clears the nodes that it does not
 * name. */
const clears = (run) => (verdictOf(run, 'culprit')?.answer ?? 'not_enough_data') !== 'not_enough_data';

/* Returns suspects by name, {run, answer, sentence, unreal}: the nodes named by the newest
 * search that covered them. `runs` are sorted newest first. */
export function suspectsOf(runs) {
  const found = new Map();
  for (const run of runs) {
    for (const { nodes, answer, sentence } of run.verdicts.filter(isBad)) {
      nodes
        .filter((name) => !found.has(name))
        .forEach((name) => found.set(name, { run: run.id, answer, sentence, unreal: unrealOf(run) }));
    }
    if (clears(run)) {
      run.nodes.filter(({ name }) => !found.has(name)).forEach(({ name }) => found.set(name, null));
    }
  }
  return new Map([...found].filter(([, said]) => said));
}

/* Returns [{name, nodes}], sorted by name. */
export const grouped = (nodes, by) =>
  [...groupBy(nodes, (node) => String(groupOf(node, by)))]
    .map(([name, own]) => ({ name, nodes: own }))
    .sort((a, b) => compare(a.name, b.name));

/* Returns {agreed, differ}. `agreed`: facts that all nodes share, [title, value]. `differ`: for
 * each other fact the majority's value, or null without a majority. */
export function differences(nodes) {
  const agreed = [];
  const differ = new Map();
  for (const [key, title] of FACTS) {
    const counts = [...countBy(nodes, (node) => groupOf(node, key))].sort((a, b) => b[1] - a[1]);
    if (counts.length > 1) {
      differ.set(key, counts[0][1] > nodes.length / 2 ? counts[0][0] : null);
    } else if (counts.length && counts[0][0] !== '') {
      agreed.push([title, counts[0][0]]);
    }
  }
  return { agreed, differ };
}

export const isOdd = (node, { differ }, key) =>
  (differ.get(key) ?? null) !== null && groupOf(node, key) !== differ.get(key);
