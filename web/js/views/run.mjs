/* run.mjs - the view of one run, live or replayed from its events; others may be laid
 * over its chart */
import {bookOf} from '../book.mjs';
import {caseToShow, isEnded} from '../events.mjs';
import {debounce, h, paced, setHidden} from '../dom.mjs';
import {RunSource} from '../run_source.mjs';
import {runMeaning, runSpec} from './run_about.mjs';
import {caseBar} from './run_cases.mjs';
import {runCharts} from './run_charts.mjs';
import {runFigures} from './run_figures.mjs';
import {runHead} from './run_head.mjs';
import {runLanes} from './run_lanes.mjs';
import {runLogs} from './run_logs.mjs';
import {runOnChart, runOverlay} from './run_overlay.mjs';
import {runTable} from './run_table.mjs';
import {runReplay, runTimeline} from './run_timeline.mjs';

const PARTS_IN_ORDER = [
  'cases', 'lanes', 'overlay', 'charts', 'metrics', 'figures', 'replay', 'table', 'logs',
  'timeline', 'spec', 'meaning'
];

export default function view(root, app, {id, query}) {
  let view = query;
  const ask = paced(() => draw(source, parts, rest, view));
  const change = set =>
    app.go({view: 'run', id, query: {...view, ...set}}, {replace: true});
  /* A replay moves faster than a browser lets an address change. */
  const remember = debounce(() => change({}), 400);
  const seek = at => {
    view = {...view, at};
    ask();
    remember();
  };
  const source = new RunSource(app.api, id, ask);
  const parts = buildParts(app, id, {ask, change, seek, source});
  const rest =
    h('div.stack', {hidden: true}, PARTS_IN_ORDER.map(name => parts[name]?.element));
  root.append(parts.head.element, rest);
  const clock = setInterval(() => {
    if (!isEnded(source.state) && !document.hidden) {
      parts.head.tick(source.state, source);
    }
  }, 1000);
  ask();
  return {
    update(next) {
      view = next;
      draw(source, parts, rest, view);
    },
    destroy() {
      clearInterval(clock);
      ask.cancel();
      remember.cancel();
      source.close();
      Object.values(parts).forEach(part => part.destroy?.());
    }
  };
}

function buildParts(app, id, {ask, change, seek, source}) {
  const parts = {
    head: runHead(app, id),
    cases: caseBar(change),
    lanes: runLanes(app),
    overlay: runOverlay(app, ask, change),
    charts: runCharts(change, ask),
    metrics: runCharts(change, ask, true),
    figures: runFigures(),
    replay: runReplay(seek, () => source.loadLog()),
    table: runTable(app, id, sort => change({sort})),
    logs: runLogs(app, id, change),
    timeline: runTimeline(),
    spec: runSpec(app),
    meaning: runMeaning(app)
  };
  /* A report has neither what the ranks wrote nor other runs. */
  if (app.isReport) {
    delete parts.logs;
    delete parts.overlay;
  }
  return parts;
}

function draw(source, parts, rest, view) {
  const state = source.stateAt(view.at);
  const all = bookOf(state);
  const shownCase = caseToShow(state, view.case);
  source.needCase(view.case);
  setHidden(rest, source.meta === null);
  const unreal = state.backend === 'sim' ? 'simulated' : all.unreal;
  parts.head.update(source, state, all, unreal);
  if (source.meta === null) {
    return;
  }
  const {spec} = source.meta;
  parts.cases.update(state, view.case);
  parts.lanes.update(state, shownCase);
  const others = parts.overlay?.update(source, view.with) ?? [];
  const own = runOnChart(source, state, bookOf(state, view.case));
  const isBare = isEnded(state) && all.rows === 0 && others.length === 0;
  const measures = !isBare && !spec?.program && spec?.collectives?.length !== 0;
  for (const name of ['charts', 'table', 'meaning']) {
    setHidden(parts[name].element, !measures);
  }
  if (measures) {
    parts.charts.update([own, ...others], view);
    parts.table.update(own.book, view.sort);
  }
  parts.metrics.update([own, ...others], view);
  parts.figures.update(state, spec?.program);
  parts.replay.update(source, state, view.at);
  parts.logs?.update(state, view);
  parts.timeline.update(state);
  parts.spec.update(source.meta);
  parts.meaning.update(ranksTogether(state));
}

/* How many ranks a collective is of; 0 where groups differ. */
function ranksTogether({groups, worldSize}) {
  const sizes = new Set(groups?.map(group => group.length) ?? [worldSize]);
  return sizes.size === 1 ? [...sizes][0] : 0;
}
