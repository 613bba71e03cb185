/* run_table.mjs - the figures of a run as a table, drawn live; a row opens to per-rank
 * times, repeats and wrong elements */
import {h, region, setHidden, setText, syncChildren} from '../dom.mjs';
import {doubtOf, sortPivot} from '../stats.mjs';
import {
  formatBandwidth,
  formatMicros,
  formatPercent,
  formatSize,
  plural
} from '../units.mjs';
import {RowDetail} from './row_detail.mjs';

const ROWS_FIRST = 400;
const COLUMNS = [
  ['size', 'size', 'bytes'], ['count', 'count', 'elements'],
  ['type', 'type', 'collective · data type · reduction'], ['out_time', 'time', 'µs'],
  ['out_algbw', 'algbw', 'GB/s'], ['out_busbw', 'busbw', 'GB/s'],
  ['out_wrong', 'wrong', 'elements'], ['in_time', 'time', 'µs'],
  ['in_algbw', 'algbw', 'GB/s'], ['in_busbw', 'busbw', 'GB/s'],
  ['in_wrong', 'wrong', 'elements']
];

export function runTable(app, id, onSort) {
  const heads = COLUMNS.map(([key, text, unit]) => sortHead(key, text, unit, onSort));
  const body = h('tbody');
  const more = h('button.quiet', {hidden: true});
  const empty = h('p.muted', 'No figures yet.');
  const note = h('span.muted.note');
  const table =
    h('table.figures', h('caption.visually-hidden', 'Results: one row per size'),
      h('thead',
        h('tr.places', h('td', {colspan: '2'}), h('td.type'),
          h('th', {scope: 'colgroup', colspan: '4'}, 'out of place'),
          h('th', {scope: 'colgroup', colspan: '4'}, 'in place')),
        h('tr', heads.map(head => head.cell))),
      body);
  const scroll = region('Results', 'scroll', table);
  const open = new Map();
  let limit = ROWS_FIRST;
  let again = () => {};
  more.addEventListener('click', () => {
    limit = Infinity;
    again();
  });

  return {
    element: h('section.card', h('h2', 'Figures', note), empty, scroll, more),
    update(book, sort) {
      again = () => this.update(book, sort);
      const entries = sortPivot(book.table(), sort);
      setText(note,
        [unrealInWords(book), thinnedInWords(book), repeatsInWords(entries)]
          .filter(Boolean)
          .join('; '));
      setHidden(empty, entries.length > 0);
      setHidden(scroll, entries.length === 0);
      setHidden(more, entries.length <= limit);
      setText(more, `Show all ${plural(entries.length, 'row')}`);
      heads.forEach(head => head.show(sort));
      table.classList.toggle(
        'one-type', new Set(entries.map(entry => entry.type)).size < 2);
      drawRows(body, entries.slice(0, limit), open, () => again(),
        entry => new RowDetail(app.api, id, entry));
    }
  };
}

/* That figures are not measured, when they are not. */
function unrealInWords({unreal}) {
  return unreal &&
    (unreal === 'imported' ? 'imported: not measured here'
                           : `${unreal}: no measurements`);
}

/* That the server left sizes out, for there are too many to show. */
function thinnedInWords({thinned}) {
  return thinned
    ? `${plural(thinned, 'size')} between those shown left out, the run’s CSV has all`
    : '';
}

/* That a figure stands for several, when it does. */
function repeatsInWords(entries) {
  const most = Math.max(0,
    ...entries.map(entry => Math.max(entry.out?.repeats ?? 0, entry.in?.repeats ?? 0)));
  return most > 1 ? `medians of ${most} repeats; a row opens to each` : '';
}

function sortHead(key, text, unit, onSort) {
  const button = h(
    'button.sort', text, h('span.arrow', {'aria-hidden': 'true'}), h('span.unit', unit));
  const cell = h('th', {scope: 'col', class: key === 'type' ? 'type' : 'number'}, button);
  let now = '';
  button.addEventListener('click',
    () => onSort(now === key ? `-${key}`
        : now === `-${key}` ? ''
                            : key));
  return {
    cell,
    show(sort) {
      now = sort;
      const way = sort === key ? 'ascending' : sort === `-${key}` ? 'descending' : 'none';
      cell.setAttribute('aria-sort', way);
    }
  };
}

/* Each entry is a row, and an open one is followed by its detail. */
function drawRows(body, entries, open, again, detailOf) {
  const items = entries.flatMap(entry => open.has(entry.key)
      ? [{entry, detail: false, open: true}, {entry, detail: true, open: true}]
      : [{entry, detail: false, open: false}]);
  const toggle = entry => {
    if (!open.delete(entry.key)) {
      open.set(entry.key, detailOf(entry));
    }
    again();
    body.querySelector(`button[data-key="${CSS.escape(entry.key)}"]`)?.focus();
  };
  syncChildren(body, items, {
    key: item => item.entry.key + (item.detail ? ' detail' : ''),
    signature: item => signature(item),
    render: item => (item.detail ? detailRow(open.get(item.entry.key), item.entry)
                                 : entryRow(item, toggle))
  });
}

/* Figures never change once measured; what changes is how many there are. */
function signature({entry, open}) {
  const side = cell =>
    (cell ? `${cell.repeats}:${cell.rows.length}:${cell.time_us}` : '');
  return `${open}|${side(entry.out)}|${side(entry.in)}`;
}

function entryRow({entry, open}, toggle) {
  const wrong = (entry.out?.wrong ?? 0) + (entry.in?.wrong ?? 0) > 0;
  const button = h('button.opener', {
    'aria-expanded': String(open),
    'data-key': entry.key,
    'aria-label': `${formatSize(entry.size)} bytes, details`,
    on: {click: () => toggle(entry)}
  },
    formatSize(entry.size));
  return h('tr', {class: wrong ? 'wrong' : null},
    h('th', {scope: 'row', class: 'number', title: `${entry.size} bytes`}, button),
    h('td.number', entry.count ?? '–'), h('td.type', entry.type), ...sideCells(entry.out),
    ...sideCells(entry.in));
}

function sideCells(side) {
  if (!side) {
    return [1, 2, 3, 4].map(() => h('td.number.muted', '–'));
  }
  if (side.skipped !== undefined) {
    return [h('td.skipped', {colspan: '4'}, h('strong', 'skipped: '), side.skipped)];
  }
  return [
    timeCell(side), h('td.number', formatBandwidth(side.algbw_gbs)),
    h('td.number.strong', formatBandwidth(side.busbw_gbs)), wrongCell(side.wrong)
  ];
}

/* The time, and how far it may be off. */
function timeCell(side) {
  const doubt = doubtOf(side);
  const title =
    [
      doubt &&
        `${formatMicros(doubt.lo)} to ${formatMicros(doubt.hi)} µs` +
          (side.repeats > 1 ? `, over ${side.repeats} repeats and their 95 % intervals`
                            : ': the 95 % interval of the median'),
      side.noisy > 0 && 'noisy: not known as well as asked'
    ].filter(Boolean)
      .join('; ');
  return h('td.number', {title: title || null},
    side.noisy > 0 ? h('span.noisy', '~') : null, formatMicros(side.time_us),
    doubt ? h('span.doubt', `±${formatPercent(doubt.half)}`) : null);
}

function wrongCell(wrong) {
  if (wrong === null) {
    return h('td.number.muted', {title: 'not checked'}, '–');
  }
  return wrong === 0 ? h('td.number.muted', '0')
                     : h('td.number.bad', h('strong', `✕ ${wrong}`));
}

function detailRow(detail, entry) {
  detail.update(entry);
  return h('tr.detail', h('td', {colspan: String(COLUMNS.length)}, detail.element));
}
