/* SPDX-License-Identifier: Apache-2.0 */
/* case_name.mjs - makes the display names of cases. No DOM. */

const NODES_NAMED = 2;

/* The settings from the matrix, and the nodes of a pattern's group, that distinguish a case from
 * others of its run. */
export function caseLabel(found) {
  const env = Object.entries(found?.env ?? {}).map(([name, value]) =>
    value === null ? `${name} unset` : `${name}=${value}`,
  );
  return [...env, groupOf(found?.nodes)].filter(Boolean).join(' ');
}

/* Returns "a, b" or "a … z (16 nodes)". Empty if the case runs on all nodes of the run. */
function groupOf(nodes) {
  const count = nodes?.length ?? 0;
  return count > NODES_NAMED
    ? `${nodes[0]} … ${nodes[count - 1]} (${count} nodes)`
    : (nodes ?? []).join(', ');
}

/* Returns {label, key}. Cases with equal keys are repeats of one combination. */
export const variantOf = (found) => ({
  label: caseLabel(found),
  key: [caseLabel({ env: found?.env }), ...(found?.nodes ?? [])].join(' '),
});

export const caseName = (found) =>
  [caseLabel(found), `repeat ${found.repeat + 1}`].filter(Boolean).join(', ');
