/* nodes.mjs - the view of all nodes */
import {debounce, h, region, setHidden, setText, syncChildren} from '../dom.mjs';
import {labelChips, sorted, sortHead, statePill, toggles} from '../parts.mjs';
import {cpuOf, gpusOf, labelTexts, NODE_STATES, nodeAddress, nodeFits, nodesInWords, order} from '../node_list.mjs';
import {keepPlace} from '../place.mjs';
import {poll} from '../poll.mjs';
import {formatAgo} from '../units.mjs';

const COLUMNS = [
  ['Node', 'name'], ['State', 'state'], ['Runs now', null], ['Group', 'group'],
  ['Ranks', 'ranks'], ['GPUs', 'gpus'], ['NCCL', 'nccl'], ['Driver', 'driver'],
  ['Agent', 'version'], ['CPU', null], ['Address', null], ['Last seen', 'seen']
];
const NUMBERS = new Set(['Ranks']);
const ROWS = 100;

export default function view(root, app, {query: first}) {
  app.title('Nodes');
  let query = first;
  let limit = ROWS;
  let nodes = [];
  const change =
    set => app.go({view: 'nodes', query: {...query, ...set}}, {replace: true});
  const count = h('p.muted', {role: 'status'}, 'Asking the server…');
  const body = h('tbody');
  const heading = sortHead(COLUMNS, NUMBERS,
    sort => change(sorted(query, sort, 'asc')));
  const table = region('Nodes', 'scroll card', h('table.list.nodes', heading.head, body));
  const more = h('button', {hidden: true, on: {click: () => {
                                                 limit = Infinity;
                                                 draw();
                                               }}});
  const filter = filterBar(change);
  const place = keepPlace();
  table.hidden = true;
  root.append(h('div.title', h('h1', 'Nodes'), count), filter.bar, table,
    h('p.actions', more));

  async function refresh() {
    try {
      ({nodes} = await app.api.nodes());
    } catch (error) {
      setText(count, error.status ? error.message : 'Waiting for the server.');
      return;
    }
    draw();
    place.restore();
  }

  function draw() {
    const found = order(nodes.filter(node => nodeFits(node, query)), query);
    const all = nodesInWords(nodes);
    setText(count, found.length === nodes.length ? all
        : `${found.length} fit the filter, of ${all}`);
    setHidden(table, found.length === 0);
    setHidden(more, found.length <= limit);
    setText(more, `Show all ${found.length}`);
    syncChildren(body, found.slice(0, limit), {
      key: node => node.name,
      signature: node =>
        JSON.stringify({...node, last_seen: formatAgo(age(app, node))}),
      render: node => nodeRow(node, app)
    });
  }

  function update(next) {
    query = next;
    heading.set(query);
    filter.set(query);
    draw();
  }

  heading.set(query);
  filter.set(query);
  const polling = poll(refresh, 2000);
  return {
    update,
    destroy() {
      filter.cancel();
      polling.stop();
      place.stop();
    }
  };
}

function filterBar(change) {
  const text = h('input', {
    type: 'search',
    'aria-label': 'Filter nodes',
    placeholder: 'name, group, label, GPU, version'
  });
  const states = toggles('Filter by state', NODE_STATES.map(name => [name, name]),
    chosen => change({states: chosen}));
  const later = debounce(() => change({q: text.value.trim(), labels: []}), 150);
  text.addEventListener('input', later);
  return {
    bar:
      h('form.filters', {role: 'search', on: {submit: event => event.preventDefault()}},
        text, states.group),
    cancel: later.cancel,
    set({q, labels, states: chosen}) {
      const words = [q, ...labels].filter(Boolean).join(' ');
      if (text.value.trim() !== words) {
        text.value = words;
      }
      states.set(chosen);
    }
  };
}

const age = (app, node) => (app.api.now() - Date.parse(node.last_seen)) / 1000;

function nodeRow(node, app) {
  const {versions = {}} = node;
  const labels = labelChips(node.labels, '/nodes');
  return h('tr',
    h('th', {scope: 'row'}, h('a.cut', {href: nodeAddress(node.name), title: node.name}, node.name),
      labels.length ? h('div.cut.second', {title: labelTexts(node).join('\n')}, labels) : null),
    h('td', statePill(node.state)),
    h('td', node.run ? h('a', {href: `/runs/${node.run}`}, node.run) : '–'),
    h('td', node.group ?? '–'), h('td.number', node.ranks ?? '–'),
    cutCell(gpusOf(node)), cutCell(versions.nccl), cutCell(versions.cuda_driver),
    cutCell(node.version), cutCell(cpuOf(node)), cutCell(node.address),
    h('td', formatAgo(age(app, node))));
}

const cutCell = text => h('td', h('div.cut', {title: text || null}, text || '–'));
