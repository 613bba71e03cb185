/* run.mjs - the view of one run, live or replayed from its events; others may be laid
 * over its chart. What stands above the chart does not grow with nodes or repeats. */
import { bookOf } from '../book.mjs';
import { caseToShow, isEnded } from '../events.mjs';
import { debounce, h, paced, setHidden } from '../dom.mjs';
import { laterPart } from '../later_part.mjs';
import { fold, tabs } from '../parts.mjs';
import { RunSource } from '../run_source.mjs';
import { asPart } from '../ui.jsx';
import { verdictOf } from '../verdicts.mjs';
import { rankHeat } from './rank_heat.mjs';
import { runMeaning, runSpec } from './run_about.mjs';
import { caseGrid, caseNote } from './run_cases.mjs';
import { RunCharts } from './run_charts.jsx';
import { RunFigures } from './run_figures.jsx';
import { runHead } from './run_head.mjs';
import { runLanes } from './run_lanes.mjs';
import { RunLinks } from './run_links.jsx';
import { runLogs } from './run_logs.mjs';
import { runOnChart, runOverlay } from './run_overlay.mjs';
import { RunTable } from './run_table.jsx';
import { runReplay, runTimeline } from './run_timeline.mjs';

const ABOVE_TABS = ['links', 'overlay', 'note', 'pairs', 'scaling', 'charts', 'metrics', 'replay'];
/* [name, title, what is in it]. */
const TABS = [
  ['table', 'Table', ['figures', 'table', 'budget', 'meaning']],
  ['ranks', 'Ranks', ['lanes', 'topology', 'heat']],
  ['cases', 'Cases', ['cases']],
  ['logs', 'Logs', ['timeline', 'logs']],
  ['spec', 'Spec', ['spec']],
];

/* The run that was looked at last, as far as it was known: who comes back finds it at
 * once, also while the server is gone. */
let last = null;

export default function view(root, app, { id, query }) {
  let view = query;
  const shown = {};
  const ask = paced(() => draw(shown, view));
  const change = (set) => app.go({ view: 'run', id, query: { ...view, ...set } }, { replace: true });
  /* A replay moves faster than a browser lets an address change. */
  const remember = debounce(() => change({}), 400);
  const seek = (at) => {
    view = { ...view, at };
    ask();
    remember();
  };
  const source = last?.id === id ? last.open(ask) : new RunSource(app.api, id, ask);
  last = source;
  const parts = buildParts(app, id, { ask, change, seek, source });
  const elements = (names) => names.map((name) => parts[name]?.element);
  const panels = tabs(
    'Details of the run',
    TABS.map(([name, title, inside]) => ({ name, title, panel: elements(inside) })),
    (tab) => change({ tab }),
  );
  const rest = h('div.stack', { hidden: true }, elements(ABOVE_TABS), panels.element);
  Object.assign(shown, { app, change, source, parts, panels, rest });
  root.append(parts.head.bar, parts.head.element, rest);
  const clock = setInterval(() => {
    if (!isEnded(source.state) && !document.hidden) {
      parts.head.tick(source.state, source);
    }
  }, 1000);
  /* On paper nothing opens: all panels are on it. */
  const onPrint = () => draw({ ...shown, onPaper: true }, view);
  window.addEventListener('beforeprint', onPrint);
  ask();
  return {
    update(next) {
      view = next;
      draw(shown, view);
    },
    destroy() {
      clearInterval(clock);
      window.removeEventListener('beforeprint', onPrint);
      ask.cancel();
      remember.cancel();
      source.close();
      Object.values(parts).forEach((part) => part.destroy?.());
    },
  };
}

function buildParts(app, id, { ask, change, seek, source }) {
  const parts = {
    head: runHead(app, id, change),
    links: asPart(RunLinks),
    note: caseNote(change),
    overlay: runOverlay(app, ask, change),
    pairs: laterPart(app, (views) => views.pairMap(change)),
    scaling: laterPart(app, (views) => asPart(views.Scaling)),
    charts: asPart(RunCharts),
    metrics: asPart(RunCharts),
    figures: asPart(RunFigures),
    replay: runReplay(seek, () => source.loadLog()),
    table: asPart(RunTable),
    budget: runBudget(app, id),
    lanes: runLanes(app),
    topology: runTopology(app, id),
    heat: rankHeat(app, id),
    cases: caseGrid(change),
    logs: runLogs(app, id, change),
    timeline: runTimeline(),
    spec: runSpec(app),
    meaning: runMeaning(app),
  };
  /* A report has neither what the ranks wrote nor other runs. */
  if (app.isReport) {
    delete parts.links;
    delete parts.logs;
    delete parts.overlay;
    delete parts.scaling;
    delete parts.budget;
    delete parts.topology;
  }
  return parts;
}

/* Of a run that asked for it, when it is opened. */
function runTopology(app, id) {
  let number = null;
  const trees = laterPart(app, (views) => views.topology(app, id));
  const element = fold('Topology', h('span.muted', 'what NCCL takes the nodes to be'), trees.element);
  const show = () => element.open && trees.update(number);
  element.addEventListener('toggle', show);
  return {
    element,
    update(spec, wanted) {
      setHidden(element, spec?.topology !== 'dump');
      number = wanted;
      show();
    },
  };
}

/* Made when it is opened. */
function runBudget(app, id) {
  const form = laterPart(app, (views) => views.budget(app, id));
  const element = fold('Training step estimate', null, form.element);
  element.addEventListener('toggle', () => element.open && form.update());
  return {
    element,
    update(isKnown) {
      setHidden(element, !isKnown);
    },
  };
}

function draw({ app, change, source, parts, panels, rest, onPaper = false }, view) {
  const state = source.stateAt(view.at);
  const all = bookOf(state);
  source.needCase(view.case);
  /* With the first events the head has its height: what follows does not jump. */
  setHidden(rest, source.meta === null || (state.lastId === 0 && !source.error && !app.isReport));
  const unreal = state.backend === 'sim' ? 'simulated' : all.unreal;
  parts.head.update(source, state, all, unreal);
  if (source.meta === null) {
    return;
  }
  const { spec } = source.meta;
  const others = parts.overlay?.update(source, view.with) ?? [];
  const own = runOnChart(source, state, bookOf(state, view.case));
  const isBare = isEnded(state) && all.rows === 0 && others.length === 0;
  const measures = !isBare && !spec?.program && spec?.collectives?.length !== 0;
  for (const name of ['charts', 'table', 'meaning']) {
    setHidden(parts[name].element, !measures);
  }
  parts.links?.update({ run: source.meta, blamed: blamedIn(state), change });
  parts.note.update(state, view.case);
  const isMap = measures && spec?.pattern === 'pairs' && view.case === null;
  parts.pairs.show(isMap);
  if (isMap) {
    setHidden(parts.charts.element, true);
    parts.pairs.update(state, verdictOf(source.meta, 'culprit')?.nodes ?? [], source.meta.nodes, view.racks);
  } else if (measures) {
    parts.charts.update({ app, runs: [own, ...others], view, change });
  }
  const isScaling = measures && spec?.pattern === 'scaling' && view.case === null && view.at === null;
  if (parts.scaling) {
    setHidden(parts.scaling.element, !isScaling);
  }
  if (isScaling) {
    parts.scaling?.update({ app, run: own, cases: [...state.cases.values()], view, change });
  }
  parts.metrics.update({ app, runs: [own, ...others], view, change, figures: true });
  parts.replay.update(source, state, view.at);
  const hasFigures = all.rows > 0 || state.metrics.size > 0;
  const tab = view.tab || (hasFigures ? 'table' : 'ranks');
  const shownCase = caseToShow(state, view.case);
  panels.set(tab, { ranks: parts.lanes.inWords(state, shownCase), cases: parts.cases.inWords(state) });
  const fill = {
    table() {
      parts.figures.update({ state, program: spec?.program });
      if (measures) {
        parts.table.update({
          app,
          id: source.id,
          book: own.book,
          sort: view.sort,
          cases: state.cases,
          onSort: (sort) => change({ sort }),
          onPaper,
        });
        parts.meaning.update(ranksTogether(state));
        parts.budget?.update(isEnded(state) && all.rows > 0);
      }
    },
    ranks() {
      parts.lanes.update(state, shownCase);
      parts.topology?.update(spec, view.case);
      parts.heat.update(own.book, shownCase, view.case);
    },
    cases() {
      source.needCase(view.case ?? 0);
      parts.cases.update(state, view.case);
    },
    logs() {
      parts.timeline.update(state);
      parts.logs?.update(state, view);
    },
    spec: () => parts.spec.update(source.meta),
  };
  (onPaper ? Object.keys(fill) : [tab]).forEach((name) => fill[name]());
  parts.logs?.show(tab === 'logs');
}

/* How many ranks a collective is of; 0 where groups differ. */
function ranksTogether({ groups, worldSize }) {
  const sizes = new Set(groups?.map((group) => group.length) ?? [worldSize]);
  return sizes.size === 1 ? [...sizes][0] : 0;
}

/* Whom the first failure names. */
const blamedIn = ({ cases }) => [...cases.values()].find(({ blamed }) => blamed)?.blamed.evidence ?? [];
