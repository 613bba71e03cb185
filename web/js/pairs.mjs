/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.mjs - computes the bandwidth of each pair of nodes, for runs with the pattern "pairs". No
 * DOM. */
import { headlineOfCases } from './book.mjs';
import { compare } from './node_list.mjs';
import { median } from './stats.mjs';

/* Larger than the id of any place, so that one number can encode two ids. */
const PLACES_MAX = 2 ** 20;

/** Returns {names, middle, size, cells}. `names` are the nodes, slowest median first. `cells` maps
 * "i,j" to {found, figure, part, of, failed}: the last case, its GB/s, and the deviation from the
 * median of all pairs (null: no figure). With `rackOf`, `names` are racks and a cell is the
 * slowest of its `of` pairs, since a median would hide a single slow node. `only` selects the
 * nodes.
 * @param {Pick<import('./events.mjs').RunState, 'cases' | 'summary'>} state
 * @param {{ rackOf?: ((node: string) => string) | null, only?: (node: string) => boolean }} [options] */
export function pairsOf(state, { rackOf = null, only = () => true } = {}) {
  const figures = headlineOfCases(state);
  const placeOf = placesOf(rackOf ?? ((name) => name), only);
  const middle = median([...figures.values()].map(({ busbw_gbs: value }) => value));
  const byName = new Map();
  const byPair = new Map();
  for (const found of state.cases.values()) {
    const [one, other] = found.nodes?.length === 2 ? found.nodes.map(placeOf) : [];
    if (!one || !other) {
      continue;
    }
    const value = figures.get(found.case)?.busbw_gbs ?? null;
    const ends = one.name <= other.name ? [one, other] : [other, one];
    push(byName, one.name, value);
    if (one !== other) {
      push(byName, other.name, value);
    }
    const cell = push(byPair, ends[0].id * PLACES_MAX + ends[1].id, value);
    Object.assign(cell, { found, ends, failed: (cell.failed ?? 0) + (found.state === 'failed') });
  }
  const stands = rackOf ? least : median;
  const speeds = new Map([...byName].map(([name, { values }]) => [name, stands(values)]));
  const names = [...speeds.keys()].sort(
    (a, b) => (speeds.get(a) ?? Infinity) - (speeds.get(b) ?? Infinity) || compare(a, b),
  );
  const order = new Map(names.map((name, i) => [name, i]));
  const cells = new Map();
  for (const { found, ends, values, failed, last } of byPair.values()) {
    const figure = rackOf ? least(values) : last;
    const [i, j] = ends.map(({ name }) => order.get(name));
    const cell = {
      found,
      figure,
      part: figure === null ? null : figure / middle - 1,
      of: values.length,
      failed,
    };
    cells.set(`${i},${j}`, cell).set(`${j},${i}`, cell);
  }
  return { names, middle, size: [...figures.values()][0]?.size ?? null, cells };
}

/** Returns what the verdict names, in its order: [{name, slow, of, figure, reference}], with the
 * counts and the median GB/s of its pairs and of the others' (culprit_json.c). Pairs that were
 * measured again to confirm a suspicion are not counted.
 * @param {{ evidence?: any } | null} culprit */
export function slowPlaces(culprit) {
  const suspects = culprit?.evidence?.suspects ?? [];
  return suspects
    .filter(({ state }) => state === 'guilty')
    .map(({ kind, name, measured, confirming, slow, confirmed, figure, reference }) => ({
      name,
      slow: kind === 'node' ? slow - confirmed : slow,
      of: kind === 'node' ? measured - confirming : measured,
      figure,
      reference,
    }));
}

/* Maps a node to its place {name, id}, or to null if `only` excludes the node. Cached per node,
 * because there are far more pairs than nodes. */
function placesOf(rackOf, only) {
  const places = new Map();
  const nodes = new Map();
  return (node) => {
    if (!nodes.has(node)) {
      const name = rackOf(node);
      if (!places.has(name)) {
        places.set(name, { name, id: places.size });
      }
      nodes.set(node, only(node) ? places.get(name) : null);
    }
    return nodes.get(node);
  };
}

const least = (values) => (values.length > 0 ? Math.min(...values) : null);

function push(map, key, value) {
  const entry = map.get(key) ?? { values: [] };
  entry.last = value;
  if (value !== null) {
    entry.values.push(value);
  }
  map.set(key, entry);
  return entry;
}
