/* SPDX-License-Identifier: Apache-2.0 */
/* node_groups.mjs - nodes in groups, who of them is a suspect, and what they differ in. No DOM. */
import { compare, countBy, FACTS, groupOf } from './node_list.mjs';
import { isBad, verdictOf } from './verdicts.mjs';
import { unrealOf } from './where.mjs';

/* A search that looked at all nodes of a run clears those that it does not name. */
const clears = (run) => (verdictOf(run, 'culprit')?.answer ?? 'not_enough_data') !== 'not_enough_data';

/* Who is under suspicion, {run, answer, sentence, unreal} by name: whom the last search that looked at it
 * names, of these `runs`, the newest first. */
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

/* [{name, nodes}] in the order of names. */
export function grouped(nodes, by) {
  const groups = new Map();
  nodes.forEach((node) => {
    const name = String(groupOf(node, by));
    groups.get(name)?.push(node) ?? groups.set(name, [node]);
  });
  return [...groups].map(([name, own]) => ({ name, nodes: own })).sort((a, b) => compare(a.name, b.name));
}

/* What all of them are, [title, value], the columns in which they differ, and in each of
 * these what most have, if most have the same. */
export function differences(nodes) {
  const agreed = [];
  const differ = new Map();
  for (const [key, title] of FACTS) {
    const counts = [...countBy(nodes, key)].sort((a, b) => b[1] - a[1]);
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
