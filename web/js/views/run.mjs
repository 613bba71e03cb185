/* run.mjs - the view of one run, live or replayed from its events; others may be laid
 * over its chart */
import {caseToShow, currentRows, isEnded} from '../events.mjs';
import {debounce, h, paced, setHidden} from '../dom.mjs';
import {RunSource} from '../run_source.mjs';
import {shorten} from '../units.mjs';
import {runMeaning, runShare, runSpec} from './run_about.mjs';
import {caseBar} from './run_cases.mjs';
import {runCharts} from './run_charts.mjs';
import {runFigures} from './run_figures.mjs';
import {runHead} from './run_head.mjs';
import {runLanes} from './run_lanes.mjs';
import {runLogs} from './run_logs.mjs';
import {runOverlay} from './run_overlay.mjs';
import {runTable} from './run_table.mjs';
import {runReplay, runTimeline} from './run_timeline.mjs';

const PARTS_IN_ORDER = [
    'cases', 'lanes', 'overlay', 'charts', 'figures', 'replay', 'table', 'share', 'logs',
    'timeline', 'spec', 'meaning'
];

export function runView(root, app, {id, query}) {
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
    const parts = buildParts(app, id, {ask, change, seek});
    const rest =
        h('div', {class: 'stack'}, PARTS_IN_ORDER.map(name => parts[name].element));
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

function buildParts(app, id, {ask, change, seek}) {
    return {
        head: runHead(app, id),
        cases: caseBar(change),
        lanes: runLanes(),
        overlay: runOverlay(app, ask, change),
        charts: runCharts(change, ask),
        figures: runFigures(),
        replay: runReplay(seek),
        table: runTable(sort => change({sort})),
        share: {element: runShare(app, id)},
        logs: runLogs(app, id, change),
        timeline: runTimeline(),
        spec: runSpec(app),
        meaning: runMeaning()
    };
}

function draw(source, parts, rest, view) {
    const state = source.stateAt(view.at);
    const rows = currentRows(state);
    const shownCase = caseToShow(state, view.case);
    setHidden(rest, source.meta === null);
    parts.head.update(source, state, rows);
    if (source.meta === null) {
        return;
    }
    const program = source.meta.spec?.program;
    for (const name of ['overlay', 'charts', 'table', 'meaning']) {
        setHidden(parts[name].element, Boolean(program));
    }
    parts.figures.update(state, program);
    parts.cases.update(state, view.case);
    parts.lanes.update(state, shownCase);
    const wanted = view.case === null ? rows : rows.filter(row => row.case === view.case);
    const others = parts.overlay.update(source, view.with);
    const own = {
        name: others.length ? shorten(source.name(), 30) : '',
        rows: wanted,
        spec: source.meta.spec
    };
    parts.charts.update([own, ...others], view, source.name());
    parts.replay.update(source.state, source.log, state, view.at);
    parts.table.update(wanted, view.sort);
    parts.logs.update(state, view);
    parts.timeline.update(state);
    parts.spec.update(source.meta);
    parts.meaning.update(state.worldSize);
}
