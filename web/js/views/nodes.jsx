/* SPDX-License-Identifier: Apache-2.0 */
/* nodes.jsx - the view of all nodes: a list or groups, and the differences between nodes */
import { useEffect, useMemo, useState } from 'preact/hooks';
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
import {
  AnswerPill,
  Chips,
  OldVerdicts,
  Region,
  SortHead,
  StatePill,
  Toggles,
  TypedInput,
} from '../parts.jsx';
import { keepPlace } from '../place.mjs';
import { stateWord } from '../states.mjs';
import { Button, flipped, Select, usePolled } from '../ui.jsx';
import { formatAgo } from '../units.mjs';
import { levelInWords, levelsOf, readWatches } from '../watches.mjs';
import { Jobs } from './jobs.jsx';
import { Preflight } from './preflight.jsx';

const NUMBERS = new Set(['Ranks']);
const ROWS = 80;
/* With up to this many nodes, all groups are open. */
const FEW = 32;
const JUDGED_RUNS = 20;
const JUDGED_MS = 30000;
const STATE_OPTIONS = ['lost', 'suspect', ...NODE_STATES.slice(1)].map((name) => [name, stateWord(name)]);
const NOBODY = new Map();

export default function Nodes({ app, query }) {
  const [limit, setLimit] = useState(ROWS);
  const [{ nodes, answers }, setAnswer] = useState(/** @type {any} */ ({ nodes: null, answers: 0 }));
  const [suspects, setSuspects] = useState(/** @type {Map<string, any> | null} */ (null));
  const [levels, setLevels] = useState(NOBODY);
  const [judgedAt, setJudgedAt] = useState(0);
  const place = useMemo(keepPlace, []);
  const known = useMemo(() => new Map(), []);
  const change = (set) => app.go({ view: 'nodes', query: { ...query, ...set } }, { replace: true });
  useEffect(() => {
    app.title('Nodes');
    return () => place.stop();
  }, []);
  const [note] = usePolled(
    async () => {
      const { nodes: all } = await app.api.nodes();
      setAnswer((old) => ({ nodes: all, answers: old.answers + 1 }));
    },
    2000,
    [],
  );
  const [judgedNote] = usePolled(
    async () => {
      const [{ runs }, watches] = await Promise.all([
        app.api.list(`judged=1&limit=${JUDGED_RUNS}`),
        readWatches(app.api, known),
      ]);
      setLevels(levelsOf(watches));
      setSuspects(suspectsOf(runs));
      setJudgedAt(Date.now());
    },
    JUDGED_MS,
    [],
  );
  /* Row order depends on suspects, and columns on watches. Only the first draw waits for them, so
   * that rows do not move. */
  const isShown = nodes !== null && (suspects !== null || answers > 1);
  useEffect(() => isShown && place.restore(), [isShown]);
  const all = isShown ? nodes : [];
  const by = query.by === '' ? usualGrouping(all) : query.by;
  const found = order(
    all.filter((node) => nodeFits(node, query, suspects ?? NOBODY)),
    query,
  );
  const view = { query, levels, suspects: suspects ?? NOBODY, ...differences(found) };
  const items = itemsOf(found, by, view);
  const rows = items.filter(({ node }) => node);
  const shown = new Set(rows.slice(0, limit));
  const columns = columnsOf(view);
  const words = nodesInWords(all, view.suspects);
  const counted = found.length === all.length ? words : `${found.length} match the filter, of ${words}`;
  return (
    <>
      <div class="title">
        <h1>Nodes</h1>
        <p class="muted" role="status">
          {note || (isShown ? counted : 'Loading…')}
        </p>
        <OldVerdicts note={judgedNote} at={judgedAt} />
      </div>
      <Filters query={query} change={change} ways={groupings(all)} by={by} />
      <Jobs app={app} />
      <Preflight app={app} name={null} />
      {query.differ && found.length > 0 && (
        <p class="card agreed" role="status">
          {agreedInWords(found, view)}
        </p>
      )}
      {found.length > 0 && (
        <Region label="Nodes" name="scroll card">
          <table class={hasLevels(view) ? 'list nodes levels' : 'list nodes'}>
            <SortHead columns={columns} numbers={NUMBERS} query={query} onSort={change} first="asc" />
            <tbody>
              {items
                .filter((item) => !item.node || shown.has(item))
                .map((item) =>
                  item.node ? (
                    <NodeRow key={item.node.name} node={item.node} view={view} now={app.api.now()} />
                  ) : (
                    <GroupRow
                      key={`group ${item.name}`}
                      group={item}
                      span={columns.length}
                      suspects={view.suspects}
                      onTurn={() => change({ turned: flipped(query.turned, item.name) })}
                    />
                  ),
                )}
            </tbody>
          </table>
        </Region>
      )}
      {rows.length > limit && (
        <p class="actions">
          <Button onClick={() => setLimit(Infinity)}>Show all {rows.length}</Button>
        </p>
      )}
    </>
  );
}

/* "Equal on all 500: Ranks 8; ..." */
function agreedInWords(nodes, { agreed, differ }) {
  const same = agreed.map(([title, value]) => `${title} ${value}`).join('; ');
  return `Equal on all ${nodes.length}: ${same || 'nothing'}.${differ.size ? '' : ' No listed fact differs.'}`;
}

const oddKeys = (node, view) =>
  view.query.differ ? FACTS.map(([key]) => key).filter((key) => isOdd(node, view, key)) : [];

const needsSomebody = (node, view) =>
  node.state === 'lost' || view.suspects.has(node.name) || oddKeys(node, view).length > 0;

/* Returns rows in display order: {node}, or {name, nodes, isOpen} for a group. Nodes that need
 * attention come first unless another order is selected. */
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

/* Show the column of levels if a watch has measured any. */
const hasLevels = ({ query, levels }) => levels.size > 0 && !query.differ;

function columnsOf(view) {
  const { query, differ } = view;
  const facts = FACTS.filter(([key]) => !query.differ || differ.has(key));
  return [
    ['Node', 'name'],
    ['State', 'state'],
    ['Current run', null],
    ...(hasLevels(view) ? [['Level of last run', null]] : []),
    ...facts.map(([key, title]) => [title, key]),
    ...(query.differ
      ? []
      : [
          ['Address', null],
          ['Last seen', 'seen'],
        ]),
  ];
}

const GroupRow = ({ group: { name, nodes, by, isOpen }, span, suspects, onTurn }) => (
  <tr class="group">
    <td colSpan={span}>
      <Button class="quiet" aria-expanded={String(isOpen)} onClick={onTurn}>
        {groupTitle(name, by)}
      </Button>
      <span class="muted">{nodesInWords(nodes, suspects)}</span>
      {nodes.some((node) => node.state === 'lost') && <StatePill state="lost" />}
    </td>
  </tr>
);

function NodeRow({ node, view, now }) {
  const suspicion = view.suspects.get(node.name);
  const odd = oddKeys(node, view);
  const facts = FACTS.filter(([key]) => !view.query.differ || view.differ.has(key));
  const labels = labelTexts(node);
  return (
    <tr>
      <th scope="row">
        <a class="cut" href={nodeAddress(node.name)} title={node.name}>
          {node.name}
        </a>
        {labels.length > 0 && (
          <div class="cut second" title={labels.join('\n')}>
            <Chips labels={node.labels} path="/nodes" />
          </div>
        )}
      </th>
      <td>
        <StatePill state={node.state} />
        {suspicion && (
          <a class="suspect" href={`/runs/${suspicion.run}`} title={suspicion.sentence}>
            <AnswerPill answer={suspicion.answer} />
            {suspicion.unreal && <span class="muted"> {suspicion.unreal}</span>}
          </a>
        )}
      </td>
      <td>{node.run ? <a href={`/runs/${node.run}`}>{node.run}</a> : '–'}</td>
      {hasLevels(view) && (
        <LevelCell node={view.levels.get(node.name)} isNamed={Boolean(suspicion)} now={now} />
      )}
      {facts.map(([key, title]) => (
        <FactCell
          key={key}
          text={String(groupOf(node, key))}
          isNumber={NUMBERS.has(title)}
          most={odd.includes(key) ? view.differ.get(key) : null}
        />
      ))}
      {!view.query.differ && (
        <>
          <FactCell text={node.address ?? ''} />
          <td>{formatAgo((now - Date.parse(node.last_seen)) / 1000)}</td>
        </>
      )}
    </tr>
  );
}

/* The last level measured by a watch, its usual range and age. All nodes of a run share its level,
 * so only a suspect is highlighted. */
function LevelCell({ node, isNamed, now }) {
  if (!node) {
    return <td>–</td>;
  }
  const { text, usual, isSlower } = levelInWords(node);
  return (
    <td class={isSlower && isNamed ? 'odd' : undefined}>
      <a href={`/runs/${node.level_run}`}>
        {isSlower && (
          <>
            <span aria-hidden="true">▼ </span>
            <span class="visually-hidden">slower: </span>
          </>
        )}
        {text}
      </a>{' '}
      <span class="second">{usual}</span>
      <div class="second">
        measured {formatAgo((now - Date.parse(node.level_measured)) / 1000)}
        {node.unreal && `, ${node.unreal}`}
      </div>
    </td>
  );
}

/* `most` is the majority's value if this node differs from it, else null. */
const FactCell = ({ text, isNumber = false, most = null }) => (
  <td class={[isNumber && 'number', most !== null && 'odd'].filter(Boolean).join(' ') || undefined}>
    <div class="cut" title={most === null ? text || undefined : `${text || 'nothing'}; most have ${most}`}>
      {most !== null && (
        <span class="sign" aria-hidden="true">
          ≠{' '}
        </span>
      )}
      {text || '–'}
    </div>
  </td>
);

function Filters({ query, change, ways, by }) {
  return (
    <search>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <TypedInput
          type="search"
          aria-label="Filter nodes"
          placeholder="name, group, label, GPU, version"
          value={[query.q, ...query.labels].filter(Boolean).join(' ')}
          onType={(text) => change({ q: text.trim(), labels: [] })}
        />
        <Toggles
          label="Filter by state"
          options={STATE_OPTIONS}
          chosen={query.states}
          onChange={(states) => change({ states })}
        />
        {ways.length > 0 && (
          <Select
            aria-label="Group by"
            value={by || 'none'}
            options={[['none', 'no groups'], ...ways.map(([value, name]) => [value, `by ${name}`])]}
            onChange={(value) => change({ by: value, turned: [] })}
          />
        )}
        <Toggles
          label="Differences"
          options={[['differ', 'Show differences']]}
          chosen={query.differ ? ['differ'] : []}
          onChange={(chosen) => change({ differ: chosen.length > 0 })}
        />
      </form>
    </search>
  );
}
