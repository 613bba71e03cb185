/* SPDX-License-Identifier: Apache-2.0 */
/* case_name.mjs - what people call a case of a run. No DOM. */

const NODES_NAMED = 2;

/* How a case differs from the others of its run: what the matrix sets in it, and of a
 * pattern which nodes are together. */
export function caseLabel(found) {
  const env = Object.entries(found?.env ?? {}).map(([name, value]) =>
    value === null ? `${name} unset` : `${name}=${value}`,
  );
  return [...env, groupOf(found?.nodes)].filter(Boolean).join(' ');
}

/* "a, b", "a … z (16 nodes)"; "" where all are together. */
function groupOf(nodes) {
  const count = nodes?.length ?? 0;
  return count > NODES_NAMED
    ? `${nodes[0]} … ${nodes[count - 1]} (${count} nodes)`
    : (nodes ?? []).join(', ');
}

/* {label, key}: of cases with the same key rows can be taken together. */
export const variantOf = (found) => ({
  label: caseLabel(found),
  key: [caseLabel({ env: found?.env }), ...(found?.nodes ?? [])].join(' '),
});

/* "NCCL_P2P_DISABLE=0, repeat 2", or "repeat 2" where there is no matrix. */
export const caseName = (found) =>
  [caseLabel(found), `repeat ${found.repeat + 1}`].filter(Boolean).join(', ');
