/* nodes.mjs - the view of all nodes */
import {h, region, setHidden, setText, syncChildren} from '../dom.mjs';
import {head, labelChips, statePill} from '../parts.mjs';
import {poll} from '../poll.mjs';
import {formatAgo, formatMemory, plural} from '../units.mjs';

const COLUMNS = [
  'Node', 'State', 'Runs now', 'Group', 'Ranks', 'Address', 'Backends', 'CPU', 'Memory',
  'Last seen'
];

const NUMBERS = new Set(['Ranks', 'Memory']);

export default function view(root, app) {
  app.title('Nodes');
  const count = h('p.muted', 'Asking the server…');
  const body = h('tbody');
  const table = region('Nodes', 'scroll card',
    h('table.list', head(COLUMNS, i => NUMBERS.has(COLUMNS[i])), body));
  table.hidden = true;
  root.append(h('h1', 'Nodes'), count, table);

  let inventories = new Map();

  /* What a node is made of is asked for when one registers. */
  async function load() {
    const {nodes} = await app.api.nodes();
    if (nodes.some(node => !inventories.has(registration(node)))) {
      const whole = await app.api.nodes(true);
      inventories =
        new Map(whole.nodes.map(node => [registration(node), node.inventory]));
    }
    return nodes.map(node => ({...node, inventory: inventories.get(registration(node))}));
  }

  async function refresh() {
    let nodes;
    try {
      nodes = await load();
    } catch (error) {
      setText(count, error.status ? error.message : 'Waiting for the server.');
      return;
    }
    setText(count, nodesInWords(nodes));
    setHidden(table, nodes.length === 0);
    syncChildren(body, byName(nodes), {
      key: node => node.name,
      signature: node => JSON.stringify(node) + formatAgo(age(app, node)),
      render: node => nodeRow(node, app)
    });
  }

  const polling = poll(refresh, 2000);
  return {destroy: polling.stop};
}

const registration = ({name, registered}) => `${name} ${registered}`;

/* By name, node-2 before node-10. */
export const byName =
  nodes => [...nodes].sort((a, b) => a.name.localeCompare(b.name, 'en', {numeric: true}));

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

const age = (app, node) => (app.api.now() - Date.parse(node.last_seen)) / 1000;

/* The backends that a node can run, by the probes' word. */
function backendNames(inventory) {
  return Object.entries(inventory?.backends ?? {})
    .filter(([, probe]) => probe?.available)
    .map(([name]) => name)
    .sort();
}

function nodeRow(node, app) {
  const inventory = node.inventory ?? {};
  return h('tr',
    h('th', {scope: 'row'}, h('a', {href: nodeAddress(node.name)}, node.name),
      labelChips(node.labels)),
    h('td', statePill(node.state)),
    h('td', node.run ? h('a', {href: `/runs/${node.run}`}, node.run) : '–'),
    h('td', node.group ?? '–'), h('td.number', node.ranks ?? '–'),
    h('td', node.address ?? '–'), h('td', backendNames(inventory).join(', ') || '–'),
    h('td', inventory.cpu?.threads ? plural(inventory.cpu.threads, 'thread') : '–'),
    h('td.number', inventory.memory_bytes ? formatMemory(inventory.memory_bytes) : '–'),
    h('td', formatAgo(age(app, node))));
}
