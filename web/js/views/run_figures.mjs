/* run_figures.mjs - what a program printed: a line per metric, over all ranks and of rank 0 */
import { h, region, setHidden, setText, syncChildren } from '../dom.mjs';

const COLUMNS = ['metric', 'of', 'unit', 'last', 'mean', 'lowest', 'highest', 'count'];

export function runFigures() {
  const body = h('tbody');
  const empty = h('p.muted', 'No figures yet.');
  const title = h('span');
  const note = h('span.muted.note');
  const head = h('tr');
  const table = h(
    'table.list',
    h('caption.visually-hidden', 'Figures: one row per metric and line'),
    h('thead', head),
    body,
  );
  const scroll = region('Figures', 'scroll', table);
  const card = h('section.card', { hidden: true }, h('h2', title, note), empty, scroll);
  return {
    element: card,
    update(state, program) {
      const items = [...state.metrics.values()].flatMap(linesOf);
      const withRank0 = items.some(({ rank0 }) => rank0?.count);
      const columns = [...COLUMNS, withRank0 && 'rank 0, mean'].filter(Boolean);
      setHidden(card, !program && items.length === 0);
      setText(title, 'Figures of the program');
      setText(note, program?.name ?? '');
      setHidden(empty, items.length > 0);
      setHidden(scroll, items.length === 0);
      if (head.childElementCount !== columns.length) {
        head.replaceChildren(
          ...columns.map((name, i) => h('th', { scope: 'col', class: i > 2 ? 'number' : null }, name)),
        );
      }
      syncChildren(body, items, {
        key: (item) => `${item.metric.metric}/${item.label}`,
        signature: (item) => `${item.sum.count}/${withRank0}`,
        render: (item) => render(item, withRank0),
      });
    },
  };
}

/* One line is the metric itself; of several each has a row. */
function linesOf(metric) {
  if (metric.lines.size < 2) {
    const [line] = metric.lines.values();
    return [
      {
        metric,
        label: line?.label ?? '',
        sum: { ...line?.all, ...metric.all },
        rank0: metric.rank0,
      },
    ];
  }
  return [...metric.lines.values()].map((line) => ({
    metric,
    label: line.label,
    sum: line.all,
    rank0: null,
  }));
}

function render({ metric, label, sum, rank0 }, withRank0) {
  const better = metric.higherIsBetter ? 'higher is better' : 'lower is better';
  const cells = [sum.last, sum.sum / sum.count, sum.min, sum.max].map(number);
  const first = withRank0 ? [rank0?.count ? number(rank0.sum / rank0.count) : '–'] : [];
  return h(
    'tr',
    h('th', { scope: 'row', title: better }, metric.metric),
    h('td', label || 'all ranks'),
    h('td', metric.unit),
    [...cells, String(sum.count), ...first].map((text) => h('td.number', text)),
  );
}

/* Six digits tell repeated measurements apart. */
function number(value) {
  return value === null || value === undefined ? '–' : String(Number(value.toPrecision(6)));
}
