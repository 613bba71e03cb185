/* nodes.mjs - the view of all nodes: a list, or groups that open; what they do not agree on */
import { debounce, h, region, setHidden, setText, syncChildren } from '../dom.mjs';
import { answerPill, labelChips, sorted, sortHead, statePill, toggles } from '../parts.mjs';
import { differences, grouped, isOdd, suspectsOf } from '../node_groups.mjs';
import {
  FACTS,
  groupings,
  groupOf,
  groupTitle,
  labelTexts,
  NODE_STATES,
  nodeAddress,
  nodeFits,
  nodesInWords,
  order,
  usualGrouping,
} from '../node_list.mjs';
import { keepPlace } from '../place.mjs';
import { poll } from '../poll.mjs';
import { formatAgo } from '../units.mjs';
import { jobList } from './jobs.mjs';
import { preflight } from './preflight.mjs';

const NUMBERS = new Set(['Ranks']);
const ROWS = 80;
/* So few are shown whatever group they are in. */
const FEW = 32;
const JUDGED_RUNS = 20;
const JUDGED_MS = 30000;

export default function view(root, app, { query: first }) {
  app.title('Nodes');
  let query = first;
  let limit = ROWS;
  /** @type {any[] | null} */
  let nodes = null; /* no answer yet */
  /* Their places in the list depend on them: nothing is drawn before they are known. */
  let suspects = null;
  const change = (set) => app.go({ view: 'nodes', query: { ...query, ...set } }, { replace: true });
  const count = h('p.muted', { role: 'status' }, 'Asking the server…');
  const agreed = h('p.card.agreed', { role: 'status', hidden: true });
  const table = nodeTable(app, (sort) => change(sorted(query, sort, 'asc')), turn);
  const more = h('button', {
    hidden: true,
    on: {
      click: () => {
        limit = Infinity;
        draw();
      },
    },
  });
  const filter = filterBar(change);
  const place = keepPlace();
  const jobs = jobList(app);
  table.element.hidden = true;
  root.append(
    h('div.title', h('h1', 'Nodes'), count),
    filter.bar,
    jobs.element,
    preflight(app, null),
    agreed,
    table.element,
    h('p.actions', more),
  );

  async function refresh() {
    try {
      ({ nodes } = await app.api.nodes());
    } catch (error) {
      setText(count, error.status ? error.message : 'Waiting for the server.');
      return;
    }
    draw();
    place.restore();
  }

  async function refreshSuspects() {
    const { runs } = await app.api.list(`judged=1&limit=${JUDGED_RUNS}`).catch(() => ({ runs: [] }));
    suspects = suspectsOf(runs);
    draw();
  }

  function turn(name) {
    const { turned } = query;
    change({ turned: turned.includes(name) ? turned.filter((one) => one !== name) : [...turned, name] });
  }

  function draw() {
    if (!nodes || !suspects) {
      return;
    }
    const found = order(
      nodes.filter((node) => nodeFits(node, query, suspects)),
      query,
    );
    const view = { query, suspects, ...differences(found) };
    const all = nodesInWords(nodes, suspects);
    const by = query.by === '' ? usualGrouping(nodes) : query.by;
    setText(count, found.length === nodes.length ? all : `${found.length} match the filter, of ${all}`);
    filter.offer(groupings(nodes), by);
    setHidden(table.element, found.length === 0);
    setHidden(agreed, !query.differ || found.length === 0);
    setText(agreed, agreedInWords(found, view));
    const items = itemsOf(found, by, view);
    const rows = items.filter(({ node }) => node);
    const shown = new Set(rows.slice(0, limit));
    table.draw(
      items.filter((item) => !item.node || shown.has(item)),
      view,
    );
    setHidden(more, rows.length <= limit);
    setText(more, `Show all ${rows.length}`);
  }

  function update(next) {
    query = next;
    filter.set(query);
    draw();
  }

  filter.set(query);
  const pollings = [poll(refresh, 2000), jobs, poll(refreshSuspects, JUDGED_MS)];
  return {
    update,
    destroy() {
      filter.cancel();
      pollings.forEach((polling) => polling.stop());
      place.stop();
    },
  };
}

/* "all 500: 8 ranks; ..." */
function agreedInWords(nodes, { agreed, differ }) {
  const same = agreed.map(([title, value]) => `${title} ${value}`).join('; ');
  return `All ${nodes.length} agree: ${same || 'in nothing'}.${
    differ.size ? '' : ' They differ in nothing that is shown.'
  }`;
}

const oddKeys = (node, view) =>
  view.query.differ ? FACTS.map(([key]) => key).filter((key) => isOdd(node, view, key)) : [];

const needsSomebody = (node, view) =>
  node.state === 'lost' || view.suspects.has(node.name) || oddKeys(node, view).length > 0;

/* Rows as they stand below each other: [{node} or {name, nodes, isOpen}], what needs
 * somebody first unless another order was asked for. */
function itemsOf(found, by, view) {
  const isTrouble = (node) => needsSomebody(node, view);
  const first = (nodes) =>
    view.query.sort === 'state' && view.query.order === 'asc'
      ? [...nodes.filter(isTrouble), ...nodes.filter((node) => !isTrouble(node))]
      : nodes;
  const rows = (nodes) => first(nodes).map((node) => ({ node }));
  if (by === '' || by === 'none') {
    return rows(found);
  }
  const groups = grouped(found, by).map((group) => ({ ...group, isTrouble: group.nodes.some(isTrouble) }));
  return [...groups.filter((one) => one.isTrouble), ...groups.filter((one) => !one.isTrouble)].flatMap(
    (group) => {
      const isOpen = (group.isTrouble || found.length <= FEW) !== view.query.turned.includes(group.name);
      return [{ ...group, by, isOpen }, ...(isOpen ? rows(group.nodes) : [])];
    },
  );
}

function columnsOf({ query, differ }) {
  const facts = FACTS.filter(([key]) => !query.differ || differ.has(key));
  return [
    ['Node', 'name'],
    ['State', 'state'],
    ['Runs now', null],
    ...facts.map(([key, title]) => [title, key]),
    ...(query.differ
      ? []
      : [
          ['Address', null],
          ['Last seen', 'seen'],
        ]),
  ];
}

/* `draw` gets the rows and what the view shows. */
function nodeTable(app, onSort, onTurn) {
  const body = h('tbody');
  const table = h('table.list.nodes', body);
  let drawn = '';
  let heading = null;
  return {
    element: region('Nodes', 'scroll card', table),
    draw(items, view) {
      const columns = columnsOf(view);
      if (drawn !== columns.join()) {
        drawn = columns.join();
        heading?.head.remove();
        heading = sortHead(columns, NUMBERS, onSort);
        table.prepend(heading.head);
      }
      heading.set(view.query);
      const seen = (node) => (view.query.differ ? '' : formatAgo(age(app, node)));
      syncChildren(body, items, {
        key: (item) => (item.node ? item.node.name : `group ${item.name}`),
        signature: ({ node, ...group }) =>
          JSON.stringify(
            node
              ? [{ ...node, last_seen: seen(node) }, view.suspects.get(node.name), oddKeys(node, view), drawn]
              : [group.isOpen, nodesInWords(group.nodes, view.suspects), drawn],
          ),
        render: (item) =>
          item.node
            ? nodeRow(item.node, view, seen(item.node))
            : groupRow(item, columns.length, view, onTurn),
      });
    },
  };
}

function groupRow({ name, nodes, by, isOpen }, span, view, onTurn) {
  return h(
    'tr.group',
    h(
      'td',
      { colspan: span },
      h(
        'button.quiet',
        { 'aria-expanded': String(isOpen), on: { click: () => onTurn(name) } },
        groupTitle(name, by),
      ),
      h('span.muted', nodesInWords(nodes, view.suspects)),
      nodes.some((node) => node.state === 'lost') ? statePill('lost') : null,
    ),
  );
}

function nodeRow(node, view, seen) {
  const labels = labelChips(node.labels, '/nodes');
  const said = view.suspects.get(node.name);
  const odd = oddKeys(node, view);
  const facts = FACTS.filter(([key]) => !view.query.differ || view.differ.has(key));
  return h(
    'tr',
    h(
      'th',
      { scope: 'row' },
      h('a.cut', { href: nodeAddress(node.name), title: node.name }, node.name),
      labels.length ? h('div.cut.second', { title: labelTexts(node).join('\n') }, labels) : null,
    ),
    h(
      'td',
      statePill(node.state),
      said
        ? h(
            'a.suspect',
            { href: `/runs/${said.run}`, title: said.sentence },
            answerPill(said.answer),
            said.unreal ? h('span.muted', ` ${said.unreal}`) : null,
          )
        : null,
    ),
    h('td', node.run ? h('a', { href: `/runs/${node.run}` }, node.run) : '–'),
    facts.map(([key, title]) =>
      factCell(groupOf(node, key), title, odd.includes(key) && view.differ.get(key)),
    ),
    view.query.differ ? null : [cutCell(node.address), h('td', seen)],
  );
}

/* `most` is what most others have, of a node that has something else. */
function factCell(value, title, most) {
  const text = String(value);
  const cell = h(
    'div.cut',
    { title: most === false ? text || null : `${text || 'nothing'}; most have ${most}` },
    most === false ? null : h('span.sign', { 'aria-hidden': 'true' }, '≠ '),
    text || '–',
  );
  return h(
    'td',
    { class: [NUMBERS.has(title) && 'number', most !== false && 'odd'].filter(Boolean).join(' ') || null },
    cell,
  );
}

function filterBar(change) {
  const text = h('input', {
    type: 'search',
    'aria-label': 'Filter nodes',
    placeholder: 'name, group, label, GPU, version',
  });
  const states = toggles(
    'Filter by state',
    [...NODE_STATES.slice(0, 1), 'suspect', ...NODE_STATES.slice(1)].map((name) => [name, name]),
    (chosen) => change({ states: chosen }),
  );
  const by = h('select', {
    'aria-label': 'Group by',
    on: { change: () => change({ by: by.value, turned: [] }) },
  });
  const differ = toggles(
    'What differs',
    [['differ', 'Show differences', 'Only facts in which nodes differ']],
    (chosen) => change({ differ: chosen.length > 0 }),
  );
  const later = debounce(() => change({ q: text.value.trim(), labels: [] }), 150);
  let offered = null;
  text.addEventListener('input', later);
  return {
    bar: h(
      'form.filters',
      { role: 'search', on: { submit: (event) => event.preventDefault() } },
      text,
      states.group,
      by,
      differ.group,
    ),
    cancel: later.cancel,
    offer(ways, chosen) {
      if (offered !== ways.join()) {
        offered = ways.join();
        by.replaceChildren(
          h('option', { value: 'none' }, 'no groups'),
          ...ways.map(([value, name]) => h('option', { value }, `by ${name}`)),
        );
      }
      by.hidden = ways.length === 0;
      by.value = chosen || 'none';
    },
    set({ q, labels, states: chosen, differ: isDiffer }) {
      const words = [q, ...labels].filter(Boolean).join(' ');
      if (text.value.trim() !== words) {
        text.value = words;
      }
      states.set(chosen);
      differ.set(isDiffer ? ['differ'] : []);
    },
  };
}

const age = (app, node) => (app.api.now() - Date.parse(node.last_seen)) / 1000;

const cutCell = (text) => h('td', h('div.cut', { title: text || null }, text || '–'));
