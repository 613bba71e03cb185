/* SPDX-License-Identifier: Apache-2.0 */
/* verdicts.mjs - the verdicts of a run, or of an event */

/* The first of a kind; undefined where there is none. */
export const verdictOf = ({ verdicts }, kind) => verdicts?.find((one) => one.kind === kind);
