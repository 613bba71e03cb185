/* runs.mjs - the home view: the nodes at a glance, and the runs */
import { debounce, h, region, setHidden, setText, syncChildren } from '../dom.mjs';
import {
  labelChips,
  outcome,
  RUN_STATES,
  runPill,
  sorted,
  sortHead,
  sparkline,
  stateWord,
  timeOf,
  toggles,
} from '../parts.mjs';
import { nodeAddress, nodesInWords, troubleFirst } from '../node_list.mjs';
import { keepPlace } from '../place.mjs';
import { poll } from '../poll.mjs';
import { buildTray } from '../tray.mjs';
import { formatDuration, plural, secondsBetween, shorten } from '../units.mjs';
import { formatAddress, runListQuery } from '../url_state.mjs';
import { badVerdict, verdictOf } from '../verdicts.mjs';
import { whereInWords } from '../where.mjs';

const PAGE = 50;
const NODES_SHOWN = 10;
const COLUMNS = [
  ['Choose', null],
  ['State', null],
  ['Run', null],
  ['Figure', 'figure'],
  ['Created', 'created'],
  ['Took', 'duration'],
  ['What and where', null],
  ['Rows', null],
  ['Curve', null],
];
/* Answers of verdicts on runs; with the kind where several have the answer. */
const ANSWERED = [
  'fail',
  'pass',
  'gate:not_evaluated',
  'slow_node',
  'slow_link',
  'slow_rack',
  'culprit:none',
  'late_rank',
  'lagging_rank',
  'preflight:finding',
  'transport:finding',
  'traffic:another_way',
];
const NUMBERS = new Set(['Took', 'Rows', 'Figure']);
const NO_FILTER = { q: '', states: [], labels: [], node: '', verdict: '', since: '', until: '', cursor: '' };
/* What is left out of a list that is sorted so. */
const SORTED_ARE = { duration: ' that ended', figure: ' with a figure' };

export default function view(root, app, { query: first }) {
  app.title('Runs');
  let query = first;
  const change = (set) =>
    app.go({ view: 'runs', query: { ...query, cursor: '', ...set } }, { replace: true });
  const filters = filterBar(change);
  const tray = buildTray(() => drawRows(shown));
  const parts = buildParts((sort) => change(sorted(query, sort)));
  const place = keepPlace();
  let steps = null;
  let shown = [];
  let counted = {};
  root.append(
    parts.nodes,
    h('div.title', h('h1', 'Runs'), parts.total),
    filters.bar,
    parts.note,
    parts.list,
    parts.pages,
    tray.element,
    parts.keys,
    parts.empty,
  );

  async function refresh() {
    try {
      const asked = query;
      /* Counting takes longer than a page: once for each filter, and when a run was added. */
      const isCounted = counted.query === asked && counted.first === shown[0]?.id;
      const [{ runs, next, total }, { nodes }] = await Promise.all([
        app.api.list(runListQuery(query, PAGE, !isCounted)),
        app.api.nodes(),
      ]);
      if (asked === query) {
        counted = isCounted ? counted : { query, first: runs[0]?.id, total };
        draw(runs, next, nodes);
        place.restore();
      }
    } catch (error) {
      setText(parts.note, error.status ? error.message : 'Waiting for the server.');
    }
  }

  function draw(runs, next, nodes) {
    const isFiltered = Object.entries(NO_FILTER).some(([key, none]) => query[key].length !== none.length);
    drawNodes(parts, nodes);
    setText(parts.note, runs.length === 0 && isFiltered ? 'No run fits the filter.' : '');
    setText(parts.total, totalInWords(counted.total, query));
    setHidden(filters.clear, !isFiltered);
    setHidden(parts.empty, runs.length > 0 || isFiltered);
    setHidden(filters.bar, !parts.empty.hidden);
    if (!parts.empty.hidden) {
      drawFirstSteps(nodes).catch(() => {}); /* asked again soon */
    }
    setHidden(parts.list, runs.length === 0);
    setHidden(parts.keys, runs.length === 0);
    setHidden(parts.older, !next);
    setHidden(parts.newest, !query.cursor);
    parts.older.href = formatAddress({ view: 'runs', query: { ...query, cursor: next ?? '' } });
    parts.newest.href = formatAddress({ view: 'runs', query: { ...query, cursor: '' } });
    drawRows(runs);
  }

  /* Who has runs never needs them. */
  async function drawFirstSteps(nodes) {
    const { firstSteps } = await import('./later.mjs');
    steps ??= firstSteps(parts.empty, app);
    steps.update(nodes);
  }

  function drawRows(runs) {
    shown = runs;
    syncChildren(parts.body, runs, {
      key: (run) => run.id,
      signature: (run) => JSON.stringify([run, tray.has(run.id)]),
      render: (run) => runRow(run, tray),
    });
  }

  function update(next) {
    query = next;
    showQuery();
    polling.again();
  }

  function showQuery() {
    filters.set(query);
    parts.head.set(query);
  }

  const onKey = (event) => heedKey(event, parts.body, filters);
  document.addEventListener('keydown', onKey);
  showQuery();
  const polling = poll(refresh, 2000);
  return {
    update,
    destroy() {
      document.removeEventListener('keydown', onKey);
      filters.cancel();
      polling.stop();
      place.stop();
    },
  };
}

/* "312 runs", "10000 runs or more with a figure" */
function totalInWords(total, { sort }) {
  const more = total?.is_more ? ' or more' : '';
  return total ? `${plural(total.runs, 'run')}${more}${SORTED_ARE[sort] ?? ''}` : '';
}

/* / to filter, j and k or the arrows to move, x to choose; Enter opens, as for any link. */
function heedKey(event, body, filters) {
  const { key, target } = event;
  const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) && target.type !== 'checkbox';
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) {
    return;
  }
  const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[key];
  const rows = [...body.rows];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
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

function buildParts(onSort) {
  const body = h('tbody');
  const older = h('a.button.quiet', { href: '/', hidden: true }, 'Next page');
  const newest = h('a.button.quiet', { href: '/', hidden: true }, 'First page');
  const heading = sortHead(COLUMNS, NUMBERS, onSort);
  return {
    body,
    older,
    newest,
    head: heading,
    nodes: h('section.node-strip', { 'aria-label': 'Nodes' }),
    total: h('span.muted', { role: 'status' }),
    note: h('p.muted', { role: 'status' }, 'Asking the server…'),
    list: region('Runs', 'scroll card', h('table.list.runs', heading.head, body)),
    pages: h('p.actions', newest, older),
    keys: h('p.muted.keys', 'Keys: / filters, ↑ ↓ move, x chooses, Enter opens.'),
    empty: h('section.empty', { hidden: true }),
  };
}

/* A field of the filter, whose value stays as it is typed until another is set. */
function filterField(
  label,
  props,
  read,
  input = h('input', { type: 'search', 'aria-label': label, ...props }),
) {
  return {
    input,
    set(value) {
      if (read(input.value) !== value) {
        input.value = value;
      }
    },
  };
}

const trimmed = (text) => text.trim();

function filterBar(change) {
  const fields = {
    q: filterField('Filter by name or id', { placeholder: 'name or id' }, trimmed),
    labels: filterField('Filter by label', { placeholder: 'label KEY=VALUE' }, trimmed),
    node: filterField('Filter by node', { placeholder: 'node' }, trimmed),
    verdict: filterField(
      '',
      {},
      trimmed,
      h(
        'select',
        { 'aria-label': 'Filter by verdict' },
        h('option', { value: '' }, 'any verdict'),
        ANSWERED.map((value) => h('option', { value }, stateWord(value.replace(':', ': ')))),
      ),
    ),
    since: filterField('Created from', { type: 'date', title: 'from' }, trimmed),
    until: filterField('Created until', { type: 'date', title: 'until' }, trimmed),
  };
  const states = toggles(
    'Filter by state',
    RUN_STATES.map((name) => [name, stateWord(name)]),
    (chosen) => change({ states: chosen }),
  );
  const clear = h(
    'button.quiet',
    { hidden: true, on: { click: () => change(NO_FILTER) } },
    'Clear the filter',
  );
  const read = ([key, { input }]) => {
    const value = input.value.trim();
    return [key, key === 'labels' ? value.split(/\s+/).filter(Boolean) : value];
  };
  const later = debounce(() => change(Object.fromEntries(Object.entries(fields).map(read))), 250);
  Object.values(fields).forEach(({ input }) => input.addEventListener('input', later));
  return {
    bar: h(
      'form.filters',
      { role: 'search', on: { submit: (event) => event.preventDefault() } },
      fields.q.input,
      fields.labels.input,
      fields.node.input,
      fields.verdict.input,
      h('span.dates', fields.since.input, '–', fields.until.input),
      states.group,
      clear,
    ),
    clear,
    cancel: later.cancel,
    focus: () => fields.q.input.focus(),
    set(query) {
      later.cancel();
      for (const [key, field] of Object.entries(fields)) {
        field.set(key === 'labels' ? query.labels.join(' ') : query[key]);
      }
      states.set(query.states);
    },
  };
}

/* A line of text that is cut, whole on hover. */
const cutLine = (name, title, ...children) => h(`div.cut.${name}`, { title }, children);

function runRow(run, tray) {
  const name = run.name || run.id;
  const labels = labelChips(run.labels, '/');
  const choose = h('input', {
    type: 'checkbox',
    checked: tray.has(run.id),
    'aria-label': `Choose ${shorten(name, 80)}`,
    on: { change: () => tray.toggle(run) },
  });
  const wrong = run.summary?.wrong;
  const said = run.reason ?? (badVerdict(run) ?? verdictOf(run, 'culprit'))?.sentence;
  const second = [said, ...labels.map((chip) => chip.textContent)].filter(Boolean);
  return h(
    'tr',
    h('td', choose),
    h('td', runPill(run)),
    h(
      'th',
      { scope: 'row' },
      h('a.cut', { href: `/runs/${encodeURIComponent(run.id)}`, title: name }, shorten(name, 300)),
      cutLine(
        'second',
        second.join('\n') || null,
        run.name ? h('span.muted', `${run.id} `) : null,
        said ? h('span.muted', `${shorten(said, 300)} `) : null,
        labels.slice(0, 8),
      ),
    ),
    h('td.number', outcome(run), wrong ? h('div.bad', `${wrong} wrong`) : null),
    h('td', timeOf(run.created, true)),
    h('td.number', tookInWords(run)),
    whatCell(run),
    h('td.number', run.rows_total ? rowsCell(run) : '–'),
    h('td', sparkline(run.summary?.curve)),
  );
}

function tookInWords(run) {
  if (run.started && run.ended) {
    return formatDuration(secondsBetween(run.started, run.ended));
  }
  return Number.isFinite(run.eta_s) ? `${formatDuration(Math.round(run.eta_s))} left` : '–';
}

function rowsCell({ rows_done: done, rows_total: total, state }) {
  const text = `${done} / ${total}`;
  return state === 'running'
    ? [text, h('progress', { max: String(total), value: done, 'aria-label': 'Rows measured' })]
    : text;
}

/* What a run measured, and where. */
export function whatCell(run) {
  const where = whereInWords(run);
  const nodes = (run.nodes ?? []).map((node) => node.name).join(' ');
  return h(
    'td',
    h('div.cut', run.program ?? seriesInWords(run)),
    cutLine('muted', `${where}\n${shorten(nodes, 1000)}`, where),
  );
}

/* The collectives of a run; one that has many says how many more. */
function seriesInWords({ collectives }) {
  const names = collectives ?? [];
  const shown = names.slice(0, 2).join(', ');
  const more = names.length - 2;
  return more > 0 ? `${shown} and ${more} more` : shown;
}

function drawNodes(parts, nodes) {
  const sign = JSON.stringify(nodes.map((node) => [node.name, node.state]));
  if (sign === parts.nodesDrawn) {
    return;
  }
  parts.nodesDrawn = sign;
  const here = troubleFirst(nodes.filter((node) => node.state !== 'left'));
  parts.nodes.replaceChildren(
    h('a.node-count', { href: '/nodes' }, nodesInWords(nodes)),
    h(
      'ul',
      here
        .slice(0, NODES_SHOWN)
        .map((node) =>
          h(
            'li',
            h(
              'a',
              { class: `node-chip ${node.state}`, href: nodeAddress(node.name) },
              h('span.sign', { 'aria-hidden': 'true' }),
              h('span', shorten(node.name, 32)),
              h('span.muted', node.state),
            ),
          ),
        ),
    ),
    here.length > NODES_SHOWN ? h('a', { href: '/nodes' }, `and ${here.length - NODES_SHOWN} more`) : '',
  );
}
