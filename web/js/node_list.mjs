/* SPDX-License-Identifier: Apache-2.0 */
/* node_list.mjs - filters, orders and groups the list of nodes. No DOM. */
import { countBy } from './lists.mjs';
import { stateWord } from './states.mjs';
import { plural } from './units.mjs';

/* In list order: states that need attention come first. */
export const NODE_STATES = ['lost', 'busy', 'idle', 'left'];

/* `hardware` lists the CPU first, then the GPUs usable by NCCL. Without such GPUs, use the ones
 * found on the bus. */
const cpuOf = (node) => (node.hardware ?? '').split('; ')[0];
const gpusOf = (node) => (node.hardware ?? '').split('; ').slice(1).join('; ') || (node.gpus ?? '');

/** Facts shown for each node: [key, title, value].
 * @type {[string, string, (node: Schema.Node) => any][]} */
export const FACTS = [
  ['group', 'Group', (node) => node.group],
  ['ranks', 'Ranks', (node) => node.ranks],
  ['gpus', 'GPUs', gpusOf],
  ['nccl', 'NCCL', (node) => node.versions?.nccl],
  ['driver', 'Driver', (node) => node.versions?.cuda_driver],
  ['version', 'Agent', (node) => node.version],
  ['cpu', 'CPU', cpuOf],
];

const KEYS = {
  name: (node) => node.name,
  state: (node) => NODE_STATES.indexOf(node.state),
  seen: (node) => Date.parse(node.last_seen),
  ...Object.fromEntries(FACTS.map(([key, , value]) => [key, (node) => value(node) ?? ''])),
};

/* True if the node has all labels, and each word of `q` occurs in its listed facts. */
export function nodeFits(node, { q, labels = [], states = [] }, suspects = new Map()) {
  const own = labelTexts(node);
  const text = [
    node.name,
    node.group,
    node.address,
    node.hardware,
    node.gpus,
    node.version,
    ...Object.values(node.versions ?? {}),
    ...own,
  ]
    .join(' ')
    .toLowerCase();
  return (
    (states.length === 0 ||
      states.includes(node.state) ||
      (states.includes('suspect') && suspects.has(node.name))) &&
    labels.every((label) => own.includes(label)) &&
    q
      .toLowerCase()
      .split(/\s+/)
      .every((word) => text.includes(word))
  );
}

export const labelTexts = ({ labels }) =>
  Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`);

/* Order by name, with node-2 before node-10. */
export const { compare } = new Intl.Collator('en', { numeric: true });
const byName = (a, b) => compare(a.name, b.name);

export function order(nodes, { sort, order: way }) {
  const key = KEYS[sort];
  const sign = way === 'asc' ? 1 : -1;
  const isNumber = (value) => typeof value === 'number';
  const by = (a, b) => (isNumber(a) && isNumber(b) ? a - b : compare(a, b));
  return [...nodes].sort((a, b) => sign * by(key(a), key(b)) || byName(a, b));
}

const LABEL = 'label.';
const FEW = 32;

export const groupOf = (node, by) =>
  (by.startsWith(LABEL)
    ? node.labels?.[by.slice(LABEL.length)]
    : FACTS.find(([key]) => key === by)?.[2](node)) ?? '';

const groupCount = (nodes, by) => new Set(nodes.map((node) => groupOf(node, by))).size;

/* Returns keys for grouping: [value, text]. A key needs at least two groups, and a group with
 * several nodes. */
export function groupings(nodes) {
  const keys = [...new Set(nodes.flatMap(({ labels }) => Object.keys(labels ?? {})))].sort(compare);
  const ways = [
    ...keys.map((key) => [LABEL + key, key]),
    ...FACTS.map(([key, title]) => [key, title.replace(/^[A-Z][a-z]/, (text) => text.toLowerCase())]),
  ];
  return ways.filter(([by]) => {
    const size = groupCount(nodes, by);
    return size > 1 && size < nodes.length;
  });
}

/* Returns the default key for many nodes: the label with the fewest values. Empty for few nodes
 * or without a suitable label. */
export function usualGrouping(nodes) {
  const sizes = groupings(nodes)
    .filter(([by]) => by.startsWith(LABEL) || by === 'group')
    .map(([by]) => [groupCount(nodes, by), by])
    .filter(([size]) => nodes.length > FEW && size <= nodes.length / 2);
  return sizes.sort(([a], [b]) => a - b)[0]?.[1] ?? '';
}

export function groupTitle(name, by) {
  const key = by.startsWith(LABEL) ? by.slice(LABEL.length) : by;
  return name === '' ? `without ${key}` : name.startsWith(key) ? name : `${key} ${name}`;
}

export function nodesInWords(nodes, suspects = new Map()) {
  if (nodes.length === 0) {
    return 'No agent has registered yet.';
  }
  const counts = countBy(nodes, ({ state }) => state);
  const parts = ['idle', 'busy', 'lost', 'left']
    .filter((state) => counts.has(state))
    .map((state) => `${counts.get(state)} ${stateWord(state)}`);
  const suspected = nodes.filter(({ name }) => suspects.has(name)).length;
  return `${plural(nodes.length, 'node')}: ${[...parts, suspected ? `${suspected} suspect` : []]
    .flat()
    .join(', ')}`;
}

export const nodeAddress = (name) => `/nodes/${encodeURIComponent(name)}`;
