/* node_list.mjs - which nodes are shown, and in what order. No DOM. */
import {plural} from './units.mjs';

/* What needs somebody comes first. */
export const NODE_STATES = ['lost', 'busy', 'idle', 'left'];

const KEYS = {
  name: node => node.name,
  state: node => NODE_STATES.indexOf(node.state),
  group: node => node.group ?? '',
  ranks: node => node.ranks,
  gpus: node => gpusOf(node),
  nccl: node => node.versions?.nccl ?? '',
  driver: node => node.versions?.cuda_driver ?? '',
  version: node => node.version ?? '',
  seen: node => Date.parse(node.last_seen)
};

/* The hardware names the CPU first, and what GPUs there are. */
export const cpuOf = node => (node.hardware ?? '').split('; ')[0];
export const gpusOf = node => (node.hardware ?? '').split('; ').slice(1).join('; ');

/* Whether all words are somewhere in what the list shows of a node, and it has the labels. */
export function nodeFits(node, {q, labels = [], states = []}) {
  const own = labelTexts(node);
  const text = [node.name, node.group, node.address, node.hardware, node.version,
    ...Object.values(node.versions ?? {}), ...own]
                 .join(' ')
                 .toLowerCase();
  return (states.length === 0 || states.includes(node.state)) &&
    labels.every(label => own.includes(label)) &&
    q.toLowerCase().split(/\s+/).every(word => text.includes(word));
}

export const labelTexts =
  ({labels}) => Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`);

/* By name, node-2 before node-10. */
const {compare} = new Intl.Collator('en', {numeric: true});
const byName = (a, b) => compare(a.name, b.name);

export function order(nodes, {sort, order: way}) {
  const key = KEYS[sort];
  const sign = way === 'asc' ? 1 : -1;
  const by = (a, b) => (typeof a === 'number' ? a - b : compare(a, b));
  return [...nodes].sort((a, b) => sign * by(key(a), key(b)) || byName(a, b));
}

/* Those that are lost before all others. */
export const troubleFirst = nodes => order(nodes, {sort: 'state', order: 'asc'});

/* "4 nodes: 3 idle, 1 busy" */
export function nodesInWords(nodes) {
  if (nodes.length === 0) {
    return 'No agent has registered yet.';
  }
  const counts = {};
  for (const node of nodes) {
    counts[node.state] = (counts[node.state] ?? 0) + 1;
  }
  const parts = ['idle', 'busy', 'lost', 'left']
                  .filter(state => counts[state])
                  .map(state => `${counts[state]} ${state}`);
  return `${plural(nodes.length, 'node')}: ${parts.join(', ')}`;
}

export const nodeAddress = name => `/nodes/${encodeURIComponent(name)}`;
