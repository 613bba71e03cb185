/* SPDX-License-Identifier: Apache-2.0 */
/* lists.mjs - groups and counts the items of a list by key. No DOM. */

/* A Map of arrays, in the order of the first item of each key. (Map.groupBy is too new.) */
export function groupBy(items, keyOf) {
  const groups = new Map();
  for (const item of items) {
    const key = keyOf(item);
    groups.get(key)?.push(item) ?? groups.set(key, [item]);
  }
  return groups;
}

export const countBy = (items, keyOf) =>
  new Map([...groupBy(items, keyOf)].map(([key, own]) => [key, own.length]));
