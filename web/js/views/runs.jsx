/* SPDX-License-Identifier: Apache-2.0 */
/* runs.jsx - the home view: nodes and runs that need attention, and the list of runs */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { groupBy } from '../lists.mjs';
import { suspectsOf } from '../node_groups.mjs';
import { nodeAddress, nodesInWords } from '../node_list.mjs';
import { CURRENT, RUN_STATES, stateWord } from '../states.mjs';
import {
  AnswerPill,
  Chips,
  Later,
  OldVerdicts,
  Region,
  RunPill,
  SortHead,
  Time,
  Toggles,
  TypedInput,
} from '../parts.jsx';
import { NightBoard } from '../night_board.jsx';
import { mergedRuns, nightsQueries } from '../nights.mjs';
import { keepPlace } from '../place.mjs';
import { Curve, Outcome, WhatCell } from '../run_row.jsx';
import { Tray, useTray } from '../tray.jsx';
import { Button, errorInWords, isTyping, Select, usePolled } from '../ui.jsx';
import { formatDuration, plural, secondsBetween, shorten, TIME_ZONE } from '../units.mjs';
import { formatAddress, LAST_DAY, runListQuery } from '../url_state.mjs';
import { badVerdict, isFailedRun, verdictOf } from '../verdicts.mjs';

const PAGE = 50;
const REFRESH_MS = 2000;
const ATTENTION_MS = 30000;
const JUDGED_RUNS = 20;
const NAMED_MAX = 10;
const DAY_MS = 24 * 3600 * 1000;
const COLUMNS = [
  ['Select', null],
  ['State', null],
  ['Run', null],
  ['Result', 'figure'],
  [`Created, ${TIME_ZONE}`, 'created'],
  ['Duration', 'duration'],
  ['Workload', null],
  ['Curve', null],
];
/* Answers to filter by. The kind precedes an answer that several kinds share. */
const ANSWERED = [
  'fail',
  'pass',
  'gate:not_evaluated',
  'slow_node',
  'slow_link',
  'slow_rack',
  'slow_together',
  'culprit:none',
  'late_rank',
  'lagging_rank',
  'preflight:finding',
  'transport:finding',
  'traffic:another_way',
];
const VERDICTS = [
  ['', 'any verdict'],
  ...ANSWERED.map((value) => [value, stateWord(value.replace(':', ': '))]),
];
const NUMBERS = new Set(['Duration', 'Result']);
const NO_FILTER = { q: '', states: [], labels: [], node: '', verdict: '', since: '', until: '', cursor: '' };
/* Sorting by a value hides runs without the value. These words describe the remaining runs. */
const SORTED_ARE = { duration: ' that ended', figure: ' with a headline figure' };

export default function Runs({ app, query }) {
  const [list, setList] = useState(null);
  const [nodes, setNodes] = useState(null);
  /* Drawn together with the first runs, so that the list does not move. */
  const [judged, setJudged] = useState({ at: 0, read: 0, note: '', suspects: new Map(), runs: [] });
  const counted = useRef(/** @type {any} */ ({}));
  const place = useMemo(keepPlace, []);
  const tray = useTray();
  const body = useRef(null);
  const filter = useRef(null);
  const change = (set) =>
    app.go({ view: 'runs', query: { ...query, cursor: '', ...set } }, { replace: true });
  const key = JSON.stringify(query);
  const isFiltered = Object.entries(NO_FILTER).some(([name, none]) => query[name].length !== none.length);

  useEffect(() => {
    app.title('Runs');
    const onKey = (event) => moveByKey(event, body.current, filter.current);
    document.addEventListener('keydown', onKey);
    return () => {
      document.removeEventListener('keydown', onKey);
      place.stop();
    };
  }, []);
  const [note] = usePolled(
    async (isCurrent) => {
      /* Counting is slower than a page of runs: once per filter, and after a new run. */
      const { key: of, first } = counted.current;
      const isCounted = of === key && first === list?.runs[0]?.id;
      const [found, { nodes: all }, news] = await Promise.all([
        app.api.list(runListQuery(query, PAGE, !isCounted)),
        app.api.nodes(),
        askVerdicts(app, judged),
      ]);
      if (!isCurrent()) {
        return;
      }
      if (!isCounted) {
        counted.current = { key, first: found.runs[0]?.id, total: found.total };
      }
      setList({ ...found, key });
      setNodes(all);
      setJudged(news);
    },
    REFRESH_MS,
    [key],
  );
  useEffect(() => list && place.restore(), [list]);

  const runs = list?.runs ?? [];
  const isEmpty = list !== null && runs.length === 0 && !isFiltered;
  const address = (cursor) => formatAddress({ view: 'runs', query: { ...query, cursor } });
  return (
    <>
      <Attention app={app} nodes={nodes} judged={judged} />
      {!isFiltered && !query.cursor && <NightBoard runs={judged.runs} now={app.api.now()} />}
      <div class="title">
        <h1>Runs</h1>
        <span class="muted" role="status">
          {totalInWords(counted.current.total, query)}
        </span>
      </div>
      {!isEmpty && <Filters query={query} change={change} isFiltered={isFiltered} first={filter} />}
      <p class="muted" role="status">
        {note || (list && runs.length === 0 && isFiltered ? 'No runs match the filters.' : '')}
      </p>
      {runs.length > 0 && (
        <Region label="Runs" name="scroll card">
          <table class="list runs">
            <SortHead columns={COLUMNS} numbers={NUMBERS} query={query} onSort={(sort) => change(sort)} />
            <tbody ref={body}>
              {runs.map((run) => (
                <RunRow key={run.id} run={run} tray={tray} />
              ))}
            </tbody>
          </table>
        </Region>
      )}
      <p class="actions">
        {query.cursor && (
          <a class="button quiet" href={address('')}>
            First page
          </a>
        )}
        {list?.next && (
          <a class="button quiet" href={address(list.next)}>
            Next page
          </a>
        )}
      </p>
      <Tray tray={tray} />
      {runs.length > 0 && (
        <p class="muted keys">Keys: / filter, ↑ ↓ navigate, x select, Enter open, ? all keys.</p>
      )}
      {isEmpty && <Later app={app} name="FirstSteps" props={{ app, nodes: nodes ?? [] }} />}
    </>
  );
}

/* Returns the suspects, and the runs of the night board with the current runs. `at` is the time of the
 * request, `read` that of the last one that succeeded, and `note` the error of a failed one. */
async function askVerdicts({ api }, known) {
  const now = Date.now();
  if (now < known.at + ATTENTION_MS) {
    return known;
  }
  try {
    const queries = [`judged=1&limit=${JUDGED_RUNS}`, ...nightsQueries(api.now())];
    const [judged, ...lists] = await Promise.all(queries.map((query) => api.list(query)));
    return { at: now, read: now, note: '', suspects: suspectsOf(judged.runs), runs: mergedRuns(lists) };
  } catch (error) {
    return { ...known, at: now, note: errorInWords(error) };
  }
}

/* Failed gates and runs of the last day, suspects, lost nodes, and the numbers of nodes and of current
 * runs. */
function Attention({ app, nodes, judged: { read, note, suspects: named, runs } }) {
  const failed = runs.filter((run) => isFailedRun(run) && Date.parse(run.created) > app.api.now() - DAY_MS);
  const lost = (nodes ?? []).filter(({ state }) => state === 'lost');
  const suspects = [...named].filter(([name]) => nodes?.some((node) => node.name === name));
  const items = [
    ...[...groupBy(failed, ({ name, id }) => name || id).values()].map(([run, ...others]) => ({
      key: run.id,
      href: `/runs/${run.id}`,
      text: (run.name || run.id) + (others.length > 0 ? ` and ${others.length} more` : ''),
      pill: <RunPill run={run} />,
    })),
    ...suspects.map(([name, { answer, sentence }]) => ({
      key: `suspect ${name}`,
      href: nodeAddress(name),
      text: name,
      pill: <AnswerPill answer={answer} title={sentence} />,
    })),
    ...lost.map(({ name }) => ({
      key: `lost ${name}`,
      href: nodeAddress(name),
      text: name,
      pill: <RunPill run={{ state: 'lost' }} />,
    })),
  ];
  return (
    <section class="node-strip" aria-label="Needs attention">
      <a class="node-count" href="/nodes">
        {nodes ? nodesInWords(nodes, named) : 'Nodes'}
      </a>
      <OldVerdicts note={note} at={read} />
      <Current runs={runs.filter(({ state }) => CURRENT.includes(state))} />
      <ul>
        {items.slice(0, NAMED_MAX).map(({ key, href, text, pill }) => (
          <li key={key}>
            <a class="node-chip" href={href}>
              {pill} {shorten(text, 32)}
            </a>
          </li>
        ))}
      </ul>
      {items.length > NAMED_MAX && <span class="muted">and {items.length - NAMED_MAX} more</span>}
    </section>
  );
}

/* Shows how many runs have not ended and which of them is the oldest, so that a hanging run is visible. */
function Current({ runs }) {
  const oldest = runs.at(-1);
  return (
    oldest && (
      <p>
        <a href={formatAddress({ view: 'runs', query: { ...NO_FILTER, states: CURRENT } })}>
          {plural(runs.length, 'current run')}
        </a>
        , the oldest since <Time text={oldest.created} />:{' '}
        <a href={`/runs/${oldest.id}`}>{shorten(oldest.name || oldest.id, 32)}</a>
      </p>
    )
  );
}

/* Returns a text such as "312 runs" or "10000 runs or more with a headline figure". */
function totalInWords(total, { sort }) {
  const more = total?.is_more ? ' or more' : '';
  return total ? `${plural(total.runs, 'run')}${more}${SORTED_ARE[sort] ?? ''}` : '';
}

/* Keys: / filter, j and k or arrows move, x select. Enter follows the focused link. */
function moveByKey(event, body, filter) {
  const { key } = event;
  if (isTyping(event)) {
    return;
  }
  const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[key];
  const rows = [...(body?.rows ?? [])];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  if (key === '/') {
    filter?.focus();
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

/* Text filters: [query, label, attributes]. */
const FIELDS = [
  ['q', 'Filter by name or id', { type: 'search', placeholder: 'name or id' }],
  ['labels', 'Filter by label', { type: 'search', placeholder: 'label KEY=VALUE' }],
  ['node', 'Filter by node', { type: 'search', placeholder: 'node' }],
];
const DATES = [
  ['since', 'Created from', { type: 'date', title: 'from' }],
  ['until', 'Created until', { type: 'date', title: 'until' }],
];
const textOf = (query, name) => (name === 'labels' ? query.labels.join(' ') : query[name]);
const parsed = (name, text) => (name === 'labels' ? text.split(/\s+/).filter(Boolean) : text.trim());

function Filters({ query, change, isFiltered, first }) {
  const field = ([name, label, attributes]) => (
    <TypedInput
      key={name}
      inputRef={name === 'q' ? first : undefined}
      aria-label={label}
      {...attributes}
      value={query[name] === LAST_DAY ? '' : textOf(query, name)}
      onType={(text) => change({ [name]: parsed(name, text) })}
    />
  );
  const isLastDay = query.since === LAST_DAY;
  return (
    <search>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        {FIELDS.map(field)}
        <Select
          aria-label="Filter by verdict"
          value={query.verdict}
          options={VERDICTS}
          onChange={(verdict) => change({ verdict })}
        />
        <Button
          class="quiet"
          aria-pressed={String(isLastDay)}
          onClick={() => change({ since: isLastDay ? '' : LAST_DAY, until: '' })}
        >
          last 24 h
        </Button>
        <span class="dates">
          {field(DATES[0])}–{field(DATES[1])}
        </span>
        <Toggles
          label="Filter by state"
          options={RUN_STATES.map((name) => [name, stateWord(name)])}
          chosen={query.states}
          onChange={(states) => change({ states })}
        />
        {isFiltered && (
          <Button class="quiet" onClick={() => change(NO_FILTER)}>
            Clear filters
          </Button>
        )}
      </form>
    </search>
  );
}

function RunRow({ run, tray }) {
  const name = run.name || run.id;
  const wrong = run.summary?.wrong;
  const said = run.reason ?? (badVerdict(run) ?? verdictOf(run, 'culprit'))?.sentence;
  const labels = Object.entries(run.labels ?? {});
  const words = labels.map(([key, value]) => (value === '' ? key : `${key}=${value}`));
  return (
    <tr>
      <td>
        <input
          type="checkbox"
          checked={tray.selected.some(({ id }) => id === run.id)}
          aria-label={`Select ${shorten(name, 80)}`}
          onChange={() => tray.toggle(run)}
        />
      </td>
      <td>
        <RunPill run={run} />
      </td>
      <th scope="row">
        <a class="cut" href={`/runs/${encodeURIComponent(run.id)}`} title={name}>
          {shorten(name, 300)}
        </a>
        <div class="cut second" title={[said, ...words].filter(Boolean).join('\n') || undefined}>
          {run.name && <span class="muted">{run.id} </span>}
          {said && <span class="muted">{shorten(said, 300)} </span>}
          <Chips labels={Object.fromEntries(labels.slice(0, 8))} path="/" />
        </div>
      </th>
      <td class="number">
        <Outcome run={run} />
        {wrong ? <div class="bad">{wrong} wrong</div> : null}
      </td>
      <td>
        <Time text={run.created} isCell />
      </td>
      <td class="number">
        {tookInWords(run)}
        <Progress run={run} />
      </td>
      <WhatCell run={run} />
      <td>
        <Curve curve={run.summary?.curve} />
      </td>
    </tr>
  );
}

/* Shown until a run has measured all of its rows. */
const Progress = ({ run: { state, rows_total: total, rows_done: done } }) =>
  total && done < total ? (
    <div class="second muted">
      {done} of {plural(total, 'row')}
      {state === 'running' && <progress max={total} value={done} aria-label="Rows measured" />}
    </div>
  ) : null;

function tookInWords(run) {
  if (run.started && run.ended) {
    return formatDuration(secondsBetween(run.started, run.ended));
  }
  return Number.isFinite(run.eta_s) ? `${formatDuration(Math.round(run.eta_s))} left` : '–';
}
