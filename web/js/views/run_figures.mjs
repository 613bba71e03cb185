/* run_figures.mjs - what a program printed: a line per metric, over all ranks and of rank 0 */
import {h, setHidden, setText, syncChildren} from '../dom.mjs';

const COLUMNS =
    ['metric', 'unit', 'last', 'mean', 'lowest', 'highest', 'count', 'rank 0, mean'];

export function runFigures() {
    const body = h('tbody');
    const empty = h('p', {class: 'muted'}, 'No figures yet.');
    const note = h('span', {class: 'muted note'});
    const table = h('table', {class: 'figures'},
        h('caption', {class: 'visually-hidden'}, 'Figures: one row per metric'),
        h('thead', {}, h('tr', {}, COLUMNS.map(name => h('th', {scope: 'col'}, name)))),
        body);
    const scroll = h('div',
        {'class': 'scroll', 'tabindex': '0', 'role': 'region', 'aria-label': 'Figures'},
        table);
    const card = h('section', {class: 'card', hidden: true},
        h('h2', {}, 'Figures of the program', note), empty, scroll);
    return {
        element: card,
        update(state, program) {
            const metrics = [...state.metrics.values()];
            setHidden(card, !program);
            setText(note, program?.name ?? '');
            setHidden(empty, metrics.length > 0);
            setHidden(scroll, metrics.length === 0);
            syncChildren(body, metrics, {
                key: metric => metric.metric,
                signature: metric => `${metric.all.count}`,
                render
            });
        }
    };
}

function render(metric) {
    const {all, rank0} = metric;
    const better = metric.higherIsBetter ? 'higher is better' : 'lower is better';
    const cells = [all.last, all.sum / all.count, all.min, all.max].map(number);
    return h('tr', {}, h('th', {scope: 'row', title: better}, metric.metric),
        h('td', {}, metric.unit), [
            ...cells, String(all.count),
            rank0.count ? number(rank0.sum / rank0.count) : '–'
        ].map(text => h('td', {class: 'number'}, text)));
}

/* Six digits tell repeated measurements apart. */
function number(value) {
    return String(Number(value.toPrecision(6)));
}
