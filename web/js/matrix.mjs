/* SPDX-License-Identifier: Apache-2.0 */
/* matrix.mjs - lists the combinations of a run's matrix, and the pairs of them worth comparing. No
 * DOM. */

const COMBINATIONS_MAX = 64;
const PAIRS_MAX = 8;

/* Each combination as request parameters: ["NAME=VALUE", "OTHER"]. A name alone is an unset
 * variable. */
export function combinationsOf(spec) {
  const names = Object.entries(spec?.matrix ?? {});
  const sets = names.reduce(
    (all, [name, values]) =>
      all.flatMap((set) => values.map((value) => [...set, value === null ? name : `${name}=${value}`])),
    [[]],
  );
  return names.length === 0 ? [] : sets.slice(0, COMBINATIONS_MAX);
}

const diff = (a, b) => a.map((one, i) => [one, b[i]]).filter(([one, other]) => one !== other);

/* Returns the pairs of the first combination with each that differs in one variable: {base,
 * head, label}. */
export function pairsOf(spec) {
  const [first, ...others] = combinationsOf(spec);
  return others
    .map((head) => ({ base: first, head, differ: diff(first, head) }))
    .filter(({ differ }) => differ.length === 1)
    .slice(0, PAIRS_MAX)
    .map(({ base, head, differ: [[one, other]] }) => ({
      base,
      head,
      label: `${one} and ${settingOf(other)}`,
    }));
}

const settingOf = (text) => (text.includes('=') ? text.slice(text.indexOf('=') + 1) : `${text} unset`);
