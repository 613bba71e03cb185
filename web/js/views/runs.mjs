/* runs.mjs - the home view: the nodes at a glance, and the runs */
import {debounce, h, region, setHidden, setText, syncChildren} from '../dom.mjs';
import {
  copyBlock,
  head,
  headline,
  labelChips,
  RUN_STATES,
  sparkline,
  statePill,
  stateWord,
  timeOf
} from '../parts.mjs';
import {poll} from '../poll.mjs';
import {
  formatDuration,
  plural,
  secondsBetween,
  shorten
} from '../units.mjs';
import {formatAddress, runListQuery} from '../url_state.mjs';
import {whereInWords} from '../where.mjs';
import {byName, nodeAddress, nodesInWords} from './nodes.mjs';

const PAGE = 50;
const NODES_SHOWN = 32;
const OVERLAY_MAX = 6;
const COLUMNS = [
  'Choose', 'State', 'Run', 'Started', 'Took', 'What and where', 'Rows', 'Busbw',
  'Curve'
];
const NUMBERS = new Set(['Took', 'Rows', 'Busbw']);

export default function view(root, app, {query: first}) {
  app.title('Runs');
  let query = first;
  const chosen = new Set();
  const parts = buildParts();
  const filters =
    filterBar(set => app.go(
                {view: 'runs', query: {...query, cursor: '', ...set}}, {replace: true}));
  root.append(parts.nodes, h('div.title', h('h1', 'Runs'), filters.bar), parts.note,
    parts.list, parts.pages, parts.keys, parts.empty);
  const overlay = overlayButton(chosen, app);
  parts.pages.append(overlay.button);

  async function refresh() {
    try {
      const asked = query;
      const [{runs, next}, {nodes}] =
        await Promise.all([app.api.list(runListQuery(query, PAGE)), app.api.nodes()]);
      if (asked === query) {
        draw(runs, next, nodes);
      }
    } catch (error) {
      setText(parts.note, error.status ? error.message : 'Waiting for the server.');
    }
  }

  function draw(runs, next, nodes) {
    const filtered =
      query.q || query.states.length || query.labels.length || query.cursor;
    drawNodes(parts, nodes);
    setText(parts.note, runs.length === 0 && filtered ? 'No run fits the filter.' : '');
    setHidden(parts.empty, runs.length > 0 || Boolean(filtered));
    setHidden(parts.list, runs.length === 0);
    setHidden(parts.keys, runs.length === 0);
    setHidden(parts.older, !next);
    setHidden(parts.newest, !query.cursor);
    parts.older.href =
      formatAddress({view: 'runs', query: {...query, cursor: next ?? ''}});
    parts.newest.href = formatAddress({view: 'runs', query: {...query, cursor: ''}});
    syncChildren(parts.body, runs, {
      key: run => run.id,
      signature: JSON.stringify,
      render: run => runRow(run, chosen, overlay.show)
    });
  }

  function update(next) {
    query = next;
    filters.set(query);
    polling.again();
  }

  const onKey = event => heedKey(event, parts.body, filters);
  document.addEventListener('keydown', onKey);
  filters.set(query);
  const polling = poll(refresh, 2000);
  return {
    update,
    destroy() {
      document.removeEventListener('keydown', onKey);
      filters.cancel();
      polling.stop();
    }
  };
}

/* / to filter, j and k or the arrows to move, x to choose; Enter opens, as for any link. */
function heedKey(event, body, filters) {
  const {key, target} = event;
  const isTyping =
    /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) && target.type !== 'checkbox';
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) {
    return;
  }
  const step = {j: 1, ArrowDown: 1, k: -1, ArrowUp: -1}[key];
  const rows = [...body.rows];
  const at = rows.findIndex(row => row.contains(document.activeElement));
  if (key === '/') {
    filters.focus();
  } else if (key === 'x' && at >= 0) {
    rows[at].querySelector('input').click();
  } else if (step && rows.length) {
    const next = at < 0 ? (step > 0 ? 0 : rows.length - 1) : at + step;
    rows[Math.min(rows.length - 1, Math.max(0, next))].querySelector('a').focus();
  } else {
    return;
  }
  event.preventDefault();
}

function buildParts() {
  const body = h('tbody');
  const older = h('a.button.quiet', {href: '/', hidden: true}, 'Older runs');
  const newest = h('a.button.quiet', {href: '/', hidden: true}, 'Newest runs');
  return {
    body,
    older,
    newest,
    nodes: h('section.node-strip', {'aria-label': 'Nodes'}),
    note: h('p.muted', {role: 'status'}, 'Asking the server…'),
    list: region('Runs', 'scroll card',
      h('table.list.runs', head(COLUMNS, i => NUMBERS.has(COLUMNS[i])), body)),
    pages: h('p.actions', newest, older),
    keys: h('p.muted.keys', 'Keys: / filters, ↑ ↓ move, x chooses, Enter opens.'),
    empty: emptyState()
  };
}

function filterBar(change) {
  const text = h('input',
    {type: 'search', placeholder: 'name or id', 'aria-label': 'Filter by name or id'});
  const label = h('input',
    {type: 'search', placeholder: 'label KEY=VALUE', 'aria-label': 'Filter by label'});
  const state = h('select', {'aria-label': 'Filter by state'},
    h('option', {value: ''}, 'every state'),
    RUN_STATES.map(name => h('option', {value: name}, stateWord(name))));
  const later = debounce(
    () => change(
      {q: text.value.trim(), labels: label.value.trim() ? [label.value.trim()] : []}),
    250);
  text.addEventListener('input', later);
  label.addEventListener('input', later);
  state.addEventListener(
    'change', () => change({states: state.value ? [state.value] : []}));
  const put = (input, value) => {
    if (document.activeElement !== input) {
      input.value = value;
    }
  };
  return {
    bar:
      h('form.filters', {role: 'search', on: {submit: event => event.preventDefault()}},
        text, label, state),
    cancel: later.cancel,
    focus: () => text.focus(),
    set(query) {
      put(text, query.q);
      put(label, query.labels[0] ?? '');
      state.value = query.states[0] ?? '';
    }
  };
}

/* Two to six chosen runs on one chart. */
function overlayButton(chosen, app) {
  const button = h('button.primary', {hidden: true});
  button.addEventListener('click', () => {
    const [id, ...others] = chosen;
    app.go({view: 'run', id, query: {with: others}});
  });
  const show = () => {
    setHidden(button, chosen.size < 2);
    setText(button,
      chosen.size > OVERLAY_MAX ? `Choose at most ${OVERLAY_MAX}`
                                : `Lay ${chosen.size} runs over one another`);
    button.disabled = chosen.size > OVERLAY_MAX;
  };
  return {button, show};
}

function runRow(run, chosen, onChoose) {
  const name = run.name || run.id;
  const choose = h('input', {
    type: 'checkbox',
    checked: chosen.has(run.id),
    'aria-label': `Choose ${shorten(name, 80)}`,
    on: {
      change: event => {
        chosen[event.target.checked ? 'add' : 'delete'](run.id);
        onChoose();
      }
    }
  });
  const wrong = run.summary?.wrong;
  return h('tr', h('td', choose), h('td', statePill(run.state)),
    h('th', {scope: 'row'},
      h('a', {href: `/runs/${encodeURIComponent(run.id)}`}, shorten(name, 120)),
      h('div.chips', run.name ? h('span.muted', run.id) : null,
        labelChips(run.labels).slice(0, 8)),
      run.reason ? h('div.muted.reason', shorten(run.reason, 200)) : null),
    h('td', timeOf(run.started ?? run.created)), h('td.number', tookInWords(run)),
    whatCell(run), h('td.number', run.rows_total ? rowsCell(run) : '–'),
    h('td.number', headline(run.summary?.headline), wrong ? h('div.bad', `${wrong} wrong`) : null),
    h('td', sparkline(run.summary?.curve)));
}

function tookInWords(run) {
  if (run.started && run.ended) {
    return formatDuration(secondsBetween(run.started, run.ended));
  }
  return Number.isFinite(run.eta_s) ? `${formatDuration(Math.round(run.eta_s))} left`
                                    : '–';
}

function rowsCell({rows_done: done, rows_total: total, state}) {
  const text = `${done} / ${total}`;
  return state === 'running'
        ? [text, h('progress', {max: String(total), value: done, 'aria-label': 'Rows measured'})]
        : text;
}

/* What a run measured, and where. */
export const whatCell = run =>
  h('td', run.program ?? seriesInWords(run), h('div.muted.where', whereInWords(run)));

/* The collectives and control series of a run; one that has many says how many more. */
function seriesInWords({collectives, control}) {
  const names = [...(collectives ?? []), ...(control ?? [])];
  const shown = names.slice(0, 2).join(', ');
  const more = names.length - 2;
  return more > 0 ? `${shown} and ${more} more` : shown;
}

function drawNodes(parts, nodes) {
  const sign = JSON.stringify(nodes.map(node => [node.name, node.state]));
  if (sign === parts.nodesDrawn) {
    return;
  }
  parts.nodesDrawn = sign;
  const here = byName(nodes.filter(node => node.state !== 'left'));
  parts.nodes.replaceChildren(h('a.node-count', {href: '/nodes'}, nodesInWords(nodes)),
    h('ul',
      here.slice(0, NODES_SHOWN)
        .map(node => h('li',
               h('a', {class: `node-chip ${node.state}`, href: nodeAddress(node.name)},
                 h('span.sign', {'aria-hidden': 'true'}),
                 h('span', shorten(node.name, 32)), h('span.muted', node.state))))),
    here.length > NODES_SHOWN
      ? h('a', {href: '/nodes'}, `and ${here.length - NODES_SHOWN} more`)
      : '');
}

/* The three lines that lead to a first result. */
function emptyState() {
  const origin = location.origin;
  const steps = [
    [
      'Start the server', `ringbench-server --listen ${location.host}`,
      'It runs: this page comes from it.'
    ],
    [
      'Start an agent on each node', `ringbench-agent --server ${origin}`,
      'It dials out to the server: no SSH, no MPI.'
    ],
    [
      'Start a run', `curl -N -H 'Accept: text/plain' -d '{}' ${origin}/api/v1/runs`,
      'Or with “New run” above. The results show here and in the terminal.'
    ]
  ];
  return h('section.empty', {hidden: true}, h('h2', 'No runs yet'),
    h('ol.steps',
      steps.map(([title, line, note]) => h('li', h('h3', title),
                  copyBlock(line, title).block, h('p.muted', note)))));
}
