/* SPDX-License-Identifier: Apache-2.0 */
/* run.jsx - the view of one run, live or from a report. Other runs can be overlaid on its chart. */
import { useEffect, useState } from 'preact/hooks';
import { bookOf } from '../book.mjs';
import { blamedIn, caseToShow, isEnded } from '../events.mjs';
import { Later } from '../parts.jsx';
import { markOf, titleOf } from '../shown.mjs';
import { Tabs } from '../ui.jsx';
import { shorten } from '../units.mjs';
import { verdictOf } from '../verdicts.mjs';
import { RankHeat } from './rank_heat.jsx';
import { RunMeaning, RunSpec } from './run_about.jsx';
import { CaseGrid, CaseNote, casesInWords } from './run_cases.jsx';
import { RunCharts } from './run_charts.jsx';
import { RunFigures } from './run_figures.jsx';
import { RunBar, RunHead } from './run_head.jsx';
import { ranksInWords, RunLanes } from './run_lanes.jsx';
import { RunLinks } from './run_links.jsx';
import { RunLogs } from './run_logs.jsx';
import { RunOverlay, runOnChart, useBaseline, useSources } from './run_overlay.jsx';
import { RunTable } from './run_table.jsx';
import { RunTimeline } from './run_timeline.jsx';

export default function Run({ app, id, query: view }) {
  const overlaid = app.isReport ? [] : view.with.filter((one) => one !== id);
  const sources = useSources(app, [id, ...overlaid]);
  const [source] = sources;
  const baseline = useBaseline(app, source);
  const onPaper = usePaper();
  const { meta, state, error } = source;
  const change = (set) => app.go({ view: 'run', id, query: { ...view, ...set } }, { replace: true });
  const book = bookOf(state);
  const unreal = state.backend === 'sim' ? 'simulated' : book.unreal;
  const own = runOnChart(source, bookOf(state, view.case), baseline);
  const runs = [own, ...sources.slice(1).map((one) => runOnChart(one, bookOf(one.state)))];
  const title = runs.length > 1 ? shorten(titleOf(runs), 100) : own.name;
  const mark = markOf(runs);
  useEffect(() => app.title(title, mark), [title, mark]);
  const tab = view.tab || (book.rows > 0 || state.metrics.size > 0 ? 'table' : 'ranks');
  const wanted = tab === 'cases' || onPaper ? (view.case ?? 0) : view.case;
  useEffect(() => source.needCase(wanted), [source, wanted]);
  /* Draw an ended run only when it is completely read, and a live one at its first event. Otherwise
   * the layout would jump. */
  const isRead = isEnded(meta ?? {}) ? isEnded(state) && state.summary !== null : state.lastId > 0;
  const isThere = meta && (isRead || (!meta.started && !isEnded(meta)) || error || app.isReport);
  return (
    <>
      <RunBar app={app} source={source} />
      <RunHead app={app} source={source} book={book} unreal={unreal} />
      {isThere && <Body {...{ app, sources, runs, view, change, tab, onPaper }} />}
    </>
  );
}

/* True while the page is printed. All tabs are shown then. */
function usePaper() {
  const [isPaper, setPaper] = useState(false);
  useEffect(() => {
    const before = () => setPaper(true);
    const after = () => setPaper(false);
    window.addEventListener('beforeprint', before);
    window.addEventListener('afterprint', after);
    return () => {
      window.removeEventListener('beforeprint', before);
      window.removeEventListener('afterprint', after);
    };
  }, []);
  return isPaper;
}

function Body({ app, sources, runs, view, change, tab, onPaper }) {
  const [source] = sources;
  const { id, meta, state } = source;
  const { spec } = meta;
  const all = bookOf(state);
  const isBare = isEnded(state) && all.rows === 0 && runs.length === 1;
  const measures = !isBare && !spec?.program && spec?.collectives?.length !== 0;
  /* A scaling run shows its sizes in the scaling chart. */
  const hasScaling = !app.isReport && [...state.cases.values()].some((one) => one.state === 'completed');
  const isOf = (pattern) => measures && spec?.pattern === pattern && view.case === null;
  const shown = { app, runs, view, change };
  return (
    <div class="stack">
      {!app.isReport && <RunLinks run={meta} blamed={blamedIn(state)} change={change} />}
      {sources.length > 1 && <RunOverlay sources={sources} change={change} />}
      <CaseNote found={state.cases.get(view.case)} change={change} />
      {isOf('pairs') && (
        <Later
          app={app}
          name="PairMap"
          props={{
            state,
            culprit: verdictOf(meta, 'culprit'),
            nodes: meta.nodes,
            racks: view.racks,
            change,
          }}
        />
      )}
      {isOf('scaling') && hasScaling && (
        <Later
          app={app}
          name="Scaling"
          props={{ app, run: runs[0], cases: [...state.cases.values()], view, change }}
        />
      )}
      {measures && !isOf('pairs') && !(isOf('scaling') && hasScaling) && <RunCharts {...shown} />}
      <RunCharts {...shown} figures />
      <Tabs
        label="Details of the run"
        items={tabsOf({ app, id, meta, state, own: runs[0], measures, view, change, onPaper })}
        chosen={tab}
        choose={(name) => change({ tab: name })}
        onPaper={onPaper}
      />
    </div>
  );
}

function tabsOf({ app, id, meta, state, own, measures, view, change, onPaper }) {
  const { spec } = meta;
  const found = caseToShow(state, view.case);
  const table = () => (
    <>
      <RunFigures state={state} program={spec?.program} />
      {measures && (
        <>
          <RunTable
            app={app}
            id={id}
            book={own.book}
            sort={view.sort}
            cases={state.cases}
            onSort={(sort) => change({ sort })}
            onPaper={onPaper}
          />
          <RunMeaning app={app} ranks={ranksTogether(state)} />
        </>
      )}
    </>
  );
  const ranks = () => (
    <>
      <RunLanes run={state} found={found} isReport={app.isReport} />
      <RankHeat app={app} id={id} book={own.book} found={found} onlyCase={view.case} />
    </>
  );
  const logs = () => (
    <>
      <RunTimeline state={state} />
      {!app.isReport && <RunLogs app={app} id={id} state={state} view={view} change={change} />}
    </>
  );
  return [
    { name: 'table', title: 'Table', panel: table },
    { name: 'ranks', title: 'Ranks', note: ranksInWords(state, found), panel: ranks },
    {
      name: 'cases',
      title: 'Cases',
      note: casesInWords(state),
      panel: () => <CaseGrid state={state} wanted={view.case} change={change} />,
    },
    { name: 'logs', title: 'Logs', panel: logs },
    { name: 'spec', title: 'Spec', panel: () => <RunSpec app={app} spec={spec} /> },
  ];
}

/* Returns the number of ranks per communicator, or 0 if communicators differ in size. */
function ranksTogether({ groups, worldSize }) {
  const sizes = new Set(groups?.map((group) => group.length) ?? [worldSize]);
  return sizes.size === 1 ? [...sizes][0] : 0;
}
