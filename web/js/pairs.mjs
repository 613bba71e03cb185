/* pairs.mjs - what each pair of nodes came to, of a run whose pattern is pairs. No DOM. */
import {headlineOfCases} from './book.mjs';
import {median} from './stats.mjs';

/* {names, middle, size, cells}: the nodes, slowest first by the median over their partners;
 * `cells` has for "i,j" {found, figure, part, of, failed}: the case that ended last, its GB/s,
 * and by how much that is off the median of all pairs (null: no figure).
 * With `rackOf` the names are those of the nodes' racks, and a cell's figure is that of the
 * slowest of its `of` pairs, as a median hides one node among many; `only` keeps the pairs whose nodes it is true of. */
export function pairsOf(state, {rackOf = null, only = () => true} = {}) {
  const figures = headlineOfCases(state);
  const endsOf = ({nodes}) => (rackOf ? nodes.map(rackOf) : nodes);
  const pairs = [...state.cases.values()].filter(
    ({nodes}) => nodes?.length === 2 && nodes.every(only));
  const middle = median([...figures.values()].map(({busbw_gbs: value}) => value));
  const byName = new Map();
  const byPair = new Map();
  for (const found of pairs) {
    const value = figures.get(found.case)?.busbw_gbs ?? null;
    const ends = [...new Set(endsOf(found))].sort();
    ends.forEach(name => push(byName, name, value));
    const cell = push(byPair, ends.join('\n'), value);
    Object.assign(cell, {found, ends, failed: (cell.failed ?? 0) + (found.state === 'failed')});
  }
  const stands = rackOf ? least : median;
  const speeds = new Map([...byName].map(([name, {values}]) => [name, stands(values)]));
  const names = [...speeds.keys()].sort((a, b) => (speeds.get(a) ?? Infinity) -
    (speeds.get(b) ?? Infinity) || a.localeCompare(b, undefined, {numeric: true}));
  const places = new Map(names.map((name, i) => [name, i]));
  const cells = new Map();
  for (const {found, ends, values, failed, last} of byPair.values()) {
    const figure = rackOf ? least(values) : last;
    const [i, j] = [places.get(ends[0]), places.get(ends.at(-1))];
    const cell = {found, figure, part: figure === null ? null : figure / middle - 1,
      of: values.length, failed};
    cells.set(`${i},${j}`, cell).set(`${j},${i}`, cell);
  }
  return {names, middle, size: [...figures.values()][0]?.size ?? null, cells};
}

const least = values => (values.length > 0 ? Math.min(...values) : null);

function push(map, key, value) {
  const entry = map.get(key) ?? {values: []};
  entry.last = value;
  if (value !== null) {
    entry.values.push(value);
  }
  map.set(key, entry);
  return entry;
}
