/* node.mjs - the view of one node: what it is, what runs there, what ran there */
import { h, region, setHidden, setText } from '../dom.mjs';
import { deviceFolds } from '../node_devices.mjs';
import { answerPill, labelChips, statePill, timeOf } from '../parts.mjs';
import { poll } from '../poll.mjs';
import { NodeRuns } from '../run_row.jsx';
import { asPart } from '../ui.jsx';
import { formatMemory, plural, shorten } from '../units.mjs';
import { formatAddress } from '../url_state.mjs';
import { isBad } from '../verdicts.mjs';
import { nodeCompare } from './node_compare.mjs';
import { preflight } from './preflight.mjs';

const HISTORY_RUNS = 100;
const HISTORY_WORDS = {
  registered: 'registered',
  lost: 'lost: the agent was silent for too long',
  left: 'left',
  returned: 'came back',
  replaced: 'replaced by another agent',
};

export default function view(root, app, { id }) {
  app.title(id);
  const state = h('span');
  const facts = h('dl.facts.card');
  const backends = h('div.cards');
  const devices = h('div.stack');
  const named = h('section.card', { hidden: true });
  const history = region('Runs here', 'scroll card');
  const ran = asPart(NodeRuns);
  const more = h(
    'p.muted',
    { hidden: true },
    `The last ${HISTORY_RUNS}; older ones are in `,
    h('a', { href: formatAddress({ view: 'runs', query: { node: id } }) }, 'the list of runs'),
    '.',
  );
  const changes = h('ol.timeline');
  const past = h('section.card', h('h2', 'History'), changes);
  const compared = nodeCompare(app, id);
  const note = h('p.muted', 'Asking the server…');
  root.append(
    h('p.crumbs', h('a', { href: '/nodes' }, 'Nodes')),
    h('div.title', h('h1', shorten(id, 200)), state),
    note,
    named,
    h('div.node-page', facts, h('section.stack', h('h2', 'Backends'), backends)),
    preflight(app, id),
    devices,
    compared.element,
    h('h2', 'Runs here'),
    history,
    more,
    h(
      'p',
      h(
        'a',
        { href: formatAddress({ view: 'trends', query: { nodes: id } }) },
        'Trends of runs on this node alone',
      ),
    ),
    past,
  );
  let drawn = '',
    drawnInventory = '';

  async function refresh() {
    try {
      const listed = (query) => app.api.list(new URLSearchParams({ ...query, limit: HISTORY_RUNS }));
      const [node, { runs, next }, { runs: accusing }] = await Promise.all([
        app.api.node(id),
        listed({ node: id }),
        listed({ suspect: id }),
      ]);
      setText(note, '');
      setHidden(more, !next);
      const sign = JSON.stringify([node, runs, accusing]);
      if (sign !== drawn) {
        drawn = sign;
        draw(node, runs);
        setHidden(named, accusing.length === 0);
        named.replaceChildren(
          h('h2', 'Flagged in'),
          h(
            'ol.timeline',
            accusing.flatMap((run) => accusations(run, id)),
          ),
        );
      }
    } catch (error) {
      setText(note, error.status ? error.message : 'Waiting for the server.');
    }
  }

  function draw(node, runs) {
    state.replaceChildren(statePill(node.state));
    const parts = nodeParts(node);
    facts.replaceChildren(
      h('dt', 'Runs now'),
      h('dd', node.run ? h('a', { href: `/runs/${node.run}` }, node.run) : 'nothing'),
      ...parts.facts,
    );
    backends.replaceChildren(...parts.backends);
    drawDevices(node.inventory ?? {});
    compared.update(runs);
    if (runs.length === 0) {
      history.replaceChildren(h('p.muted', 'None.'));
    } else {
      history.replaceChildren(ran.element);
      ran.update({ runs });
    }
    setHidden(past, !node.history?.length);
    changes.replaceChildren(...(node.history ?? []).map(changeLine));
  }

  /* Only when they are others: what somebody opened stays open. */
  function drawDevices(inventory) {
    const sign = JSON.stringify(inventory);
    if (sign !== drawnInventory) {
      drawnInventory = sign;
      devices.replaceChildren(...deviceFolds(inventory));
    }
  }

  const polling = poll(refresh, 3000);
  return { destroy: polling.stop };
}

/* What a node is, for a `dl`, and what it can do. */
export function nodeParts(node) {
  const probes = Object.entries(node.inventory?.backends ?? {}).sort();
  return {
    facts: factRows(node),
    backends: probes.map(([name, probe]) => backendCard(name, probe)),
  };
}

function factRows(node) {
  const { inventory = {}, versions = {} } = node;
  const cpu = inventory.cpu ?? {};
  /* Which interfaces are listed by themselves have them there. */
  const addresses = inventory.net
    ? []
    : (inventory.addresses ?? []).map((a) => `${a.interface} ${a.address}`);
  const rows = [
    ['Group', node.group],
    ['Labels', labelChips(node.labels, '/nodes')],
    ['Address', node.address],
    ['Host', inventory.host],
    ['System', [inventory.os, inventory.kernel].filter(Boolean).join(', ')],
    ['CPU', cpuInWords(cpu)],
    ['NUMA nodes', inventory.numa_nodes],
    ['Memory', inventory.memory_bytes ? formatMemory(inventory.memory_bytes) : null],
    ['Interfaces', addresses.map((text) => h('div', text))],
    ['Host identity', inventory.hostid],
    ['Ranks offered', node.ranks],
    ['Agent', node.version],
    ['NCCL', versions.nccl],
    ['CUDA driver', versions.cuda_driver],
    ['CUDA runtime', versions.cuda_runtime],
    ['Registered', timeOf(node.registered, true)],
    ['Last seen', timeOf(node.last_seen, true)],
  ];
  return rows
    .filter(([, value]) => value !== null && value !== undefined && value !== '' && value.length !== 0)
    .flatMap(([name, value]) => [h('dt', name), h('dd', value)]);
}

function cpuInWords({ model, ...counts }) {
  const parts = ['socket', 'core', 'thread']
    .filter((word) => counts[`${word}s`])
    .map((word) => plural(counts[`${word}s`], word));
  return [model, ...parts].filter(Boolean).join(', ');
}

function backendCard(name, probe) {
  const devices = probe?.devices ?? [];
  return h(
    'section.card',
    h(
      'h3',
      name,
      ' ',
      h(
        'span',
        { class: `pill ${probe?.available ? 'good' : 'calm'}` },
        probe?.available ? 'available' : 'not available',
      ),
    ),
    probe?.reason ? h('p', probe.reason) : null,
    devices.length === 0
      ? null
      : h(
          'ul',
          devices.map((device) =>
            h(
              'li',
              `${device.index}: ${device.name}`,
              device.memory_bytes ? ` (${formatMemory(device.memory_bytes)})` : '',
            ),
          ),
        ),
  );
}

function changeLine({ time, state, detail }) {
  return h(
    'li',
    { class: state === 'lost' ? 'bad' : null },
    h('span.number.muted', timeOf(time)),
    h('span', [HISTORY_WORDS[state] ?? state, detail].filter(Boolean).join(', ')),
  );
}

/* What a run's verdicts say of this node, the run being a click away. */
const accusations = (run, id) =>
  run.verdicts
    .filter((one) => isBad(one) && one.nodes.includes(id))
    .map(({ answer, sentence }) =>
      h(
        'li',
        h('span.number.muted', timeOf(run.created, true)),
        h('span', answerPill(answer), ' ', h('a', { href: `/runs/${run.id}` }, sentence)),
      ),
    );
