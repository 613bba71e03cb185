/* pairs.mjs - what each pair of nodes came to, of a run whose pattern is pairs. No DOM. */
import {headlineOfCases} from './book.mjs';
import {median} from './stats.mjs';

/* {names, middle, size, cells}: the nodes, slowest first by the median over their partners;
 * `cells` has for "i,j" {found, figure, part}: the case that ended last, its GB/s, and by
 * how much that is off the median of all pairs (null: no figure). */
export function pairsOf(state) {
  const figures = headlineOfCases(state);
  const pairs = [...state.cases.values()].filter(({nodes}) => nodes?.length === 2);
  const known = new Map();
  for (const found of pairs) {
    const value = figures.get(found.case)?.busbw_gbs ?? null;
    found.nodes.forEach(name => known.set(name, [...known.get(name) ?? [], value ?? []].flat()));
  }
  const middle = median([...figures.values()].map(({busbw_gbs: value}) => value));
  const speeds = new Map([...known].map(([name, values]) => [name, median(values)]));
  const names = [...speeds.keys()].sort((a, b) => (speeds.get(a) ?? Infinity) -
    (speeds.get(b) ?? Infinity) || a.localeCompare(b, undefined, {numeric: true}));
  const places = new Map(names.map((name, i) => [name, i]));
  const cells = new Map();
  for (const found of pairs) {
    const value = figures.get(found.case)?.busbw_gbs ?? null;
    const [i, j] = found.nodes.map(name => places.get(name));
    const cell = {found, figure: value, part: value === null ? null : value / middle - 1};
    cells.set(`${i},${j}`, cell).set(`${j},${i}`, cell);
  }
  return {names, middle, size: [...figures.values()][0]?.size ?? null, cells};
}
