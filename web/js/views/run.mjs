/* run.mjs - the view of one run, live or replayed from its events; others may be laid
 * over its chart */
import {caseToShow, currentRows, isEnded} from '../events.mjs';
import {h, perFrame, setHidden} from '../dom.mjs';
import {RunSource} from '../run_source.mjs';
import {shorten} from '../units.mjs';
import {runMeaning, runShare, runSpec} from './run_about.mjs';
import {caseBar} from './run_cases.mjs';
import {runCharts} from './run_charts.mjs';
import {runHead} from './run_head.mjs';
import {runLanes} from './run_lanes.mjs';
import {runLogs} from './run_logs.mjs';
import {runOverlay} from './run_overlay.mjs';
import {runTable} from './run_table.mjs';

export function runView(root, app, {id, query}) {
    let view = query;
    const ask = perFrame(draw);
    const change = set =>
        app.go({view: 'run', id, query: {...view, ...set}}, {replace: true});
    const source = new RunSource(app.api, id, ask);
    const parts = {
        head: runHead(app, id),
        cases: caseBar(change),
        lanes: runLanes(),
        overlay: runOverlay(app, ask, change),
        charts: runCharts(change, ask),
        table: runTable(sort => change({sort})),
        logs: runLogs(app, id, change),
        spec: runSpec(app),
        meaning: runMeaning()
    };
    const rest = h('div', {class: 'stack'}, parts.cases.element, parts.lanes.element,
        parts.overlay.element, parts.charts.element, parts.table.element,
        runShare(app, id), parts.logs.element, parts.spec.element, parts.meaning.element);
    root.append(parts.head.element, rest);
    const clock = setInterval(() => {
        if (!isEnded(source.state) && !document.hidden) {
            parts.head.tick(source.state);
        }
    }, 1000);

    function draw() {
        const state = source.state;
        const rows = currentRows(state);
        const shownCase = caseToShow(state, view.case);
        setHidden(rest, source.meta === null);
        parts.head.update(source, state, rows);
        if (source.meta === null) {
            return;
        }
        parts.cases.update(state, view.case);
        parts.lanes.update(state, shownCase);
        const wanted =
            view.case === null ? rows : rows.filter(row => row.case === view.case);
        const others = parts.overlay.update(source, view.with);
        parts.charts.update(
            [
                {
                    name: others.length ? shorten(source.name(), 30) : '',
                    rows: wanted,
                    spec: source.meta.spec
                },
                ...others
            ],
            view, source.name());
        parts.table.update(wanted, view.sort);
        parts.logs.update(state, shownCase, view);
        parts.spec.update(source.meta);
        parts.meaning.update(state.worldSize);
    }

    ask();
    return {
        update(next) {
            view = next;
            draw();
        },
        destroy() {
            clearInterval(clock);
            ask.cancel();
            source.close();
            parts.overlay.destroy();
            parts.charts.destroy();
            parts.logs.destroy();
        }
    };
}
