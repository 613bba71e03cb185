/* case_name.mjs - what people call a case of a run. No DOM. */

/* How a case differs from the others of its run: what the matrix sets in it. */
export function caseLabel(found) {
  return Object.entries(found?.env ?? {})
    .map(([name, value]) => (value === null ? `${name} unset` : `${name}=${value}`))
    .join(' ');
}

/* "NCCL_P2P_DISABLE=0, repeat 2", or "repeat 2" where there is no matrix. */
export const caseName = found =>
  [caseLabel(found), `repeat ${found.repeat + 1}`].filter(Boolean).join(', ');
