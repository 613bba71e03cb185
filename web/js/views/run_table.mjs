/* run_table.mjs - the figures of a run as a table, drawn live; a row opens to per-rank
 * times, repeats and wrong elements */
import { h, paced, region, setHidden, setText, syncChildren } from '../dom.mjs';
import { laterPart } from '../later_part.mjs';
import { doubtInWords, doubtOf, sortPivot, waysInWords } from '../stats.mjs';
import { formatBandwidth, formatMicros, formatSize, plural } from '../units.mjs';

const COLUMNS = [
  ['size', 'size', 'bytes'],
  ['count', 'count', 'elements'],
  ['type', 'type', 'collective · data type · reduction'],
  ['way', 'by', 'algorithm, protocol'],
  ['out_time', 'time', 'µs'],
  ['out_algbw', 'algbw', 'GB/s'],
  ['out_busbw', 'busbw', 'GB/s'],
  ['out_wrong', 'wrong', 'elements'],
  ['in_time', 'time', 'µs'],
  ['in_algbw', 'algbw', 'GB/s'],
  ['in_busbw', 'busbw', 'GB/s'],
  ['in_wrong', 'wrong', 'elements'],
];

/* Of more rows than these, the table scrolls in a window of its own. */
const PAGE_UP_TO = 100;
/* Of more than these, those are drawn that are in sight or near. */
const ALL_UP_TO = 400;
const NEAR_PX = 600;
/* As the style has it. */
const ROW_PX = 30;

export function runTable(app, id, onSort) {
  const heads = COLUMNS.map(([key, text, unit]) => sortHead(key, text, unit, onSort));
  const body = h('tbody');
  const empty = h('p.muted', 'No figures yet.');
  const note = h('span.muted.note');
  const table = h(
    'table.figures',
    h('caption.visually-hidden', 'Results: one row per size'),
    h(
      'thead',
      h(
        'tr.places',
        h('td', { colspan: '2' }),
        h('td.type'),
        h('td.way'),
        h('th', { scope: 'colgroup', colspan: '4' }, 'out of place'),
        h('th', { scope: 'colgroup', colspan: '4' }, 'in place'),
      ),
      h(
        'tr',
        heads.map((head) => head.cell),
      ),
    ),
    body,
  );
  const scroll = region('Results', 'scroll', table);
  const open = new Map();
  let draw = () => {};
  const scrolled = paced(() => draw());
  window.addEventListener('scroll', scrolled, { passive: true });
  scroll.addEventListener('scroll', scrolled, { passive: true });
  window.addEventListener('resize', scrolled);

  return {
    element: h('section.card', h('h2', 'Figures', note), empty, scroll),
    /* `onPaper`: nothing will be scrolled. */
    update(book, sort, cases, onPaper = false) {
      const entries = sortPivot(book.table(), sort);
      const facts = factsOf(entries);
      setText(
        note,
        [unrealInWords(book), thinnedInWords(book), repeatsInWords(facts.repeats)].filter(Boolean).join('; '),
      );
      setHidden(empty, entries.length > 0);
      setHidden(scroll, entries.length === 0);
      heads.forEach((head) => head.show(sort));
      table.classList.toggle('one-type', facts.types.size < 2);
      table.classList.toggle('no-way', !facts.hasWay);
      table.classList.toggle('many', entries.length > ALL_UP_TO);
      scroll.classList.toggle('tall', entries.length > PAGE_UP_TO);
      table.setAttribute('aria-rowcount', entries.length + 2);
      draw = () => {
        const range =
          entries.length <= ALL_UP_TO
            ? [0, entries.length]
            : onPaper
              ? [0, ALL_UP_TO]
              : inSight(scroll, body, entries, open);
        const span = COLUMNS.length - (facts.hasWay ? 0 : 1);
        drawRows(
          body,
          entries,
          range,
          open,
          span,
          () => draw(),
          (entry) => laterPart(app, (views) => new views.RowDetail(app.api, id, entry, cases)),
        );
      };
      draw();
    },
    destroy() {
      scrolled.cancel();
      window.removeEventListener('scroll', scrolled);
      window.removeEventListener('resize', scrolled);
    },
  };
}

/* What the whole table shares. */
function factsOf(entries) {
  const facts = { types: new Set(), repeats: 0, hasWay: false };
  for (const entry of entries) {
    facts.types.add(entry.type);
    facts.repeats = Math.max(facts.repeats, entry.out?.repeats ?? 0, entry.in?.repeats ?? 0);
    facts.hasWay ||= wayOfEntry(entry) !== '';
  }
  return facts;
}

/* From which entry to which the table is in sight, or near. */
function inSight(scroll, body, entries, open) {
  const from = body.getBoundingClientRect().top;
  const box = scroll.getBoundingClientRect();
  const top = Math.max(0, box.top) - from - NEAR_PX;
  const bottom = Math.max(window.innerHeight, box.bottom) - from + NEAR_PX;
  let y = 0;
  let first = entries.length;
  let end = 0;
  for (; end < entries.length && y < bottom; end += 1) {
    y += heightOf(entries[end], open);
    if (y > top) {
      first = Math.min(first, end);
    }
  }
  return [Math.min(first, end), end];
}

const heightOf = (entry, open) => ROW_PX + (open.get(entry.key)?.element.closest('tr')?.offsetHeight ?? 0);

/* That figures are not measured, when they are not. */
function unrealInWords({ unreal }) {
  return unreal && (unreal === 'imported' ? 'imported: not measured here' : `${unreal}: no measurements`);
}

/* That the server left sizes out, for there are too many to show. */
function thinnedInWords({ thinned }) {
  return thinned ? `${plural(thinned, 'size')} between those shown left out, the run’s CSV has all` : '';
}

/* That a figure stands for several, when it does. */
function repeatsInWords(most) {
  return most > 1 ? `medians of ${most} repeats; a row opens to each` : '';
}

function sortHead(key, text, unit, onSort) {
  const button = h('button.sort', text, h('span.arrow', { 'aria-hidden': 'true' }), h('span.unit', unit));
  const cell = h('th', { scope: 'col', class: key === 'type' || key === 'way' ? key : 'number' }, button);
  let now = '';
  button.addEventListener('click', () => onSort(now === key ? `-${key}` : now === `-${key}` ? '' : key));
  return {
    cell,
    show(sort) {
      now = sort;
      const way = sort === key ? 'ascending' : sort === `-${key}` ? 'descending' : 'none';
      cell.setAttribute('aria-sort', way);
    },
  };
}

/* Each entry is a row, and an open one is followed by its detail. */
function drawRows(body, entries, [first, end], open, span, again, detailOf) {
  const toggle = (entry) => {
    if (!open.delete(entry.key)) {
      open.set(entry.key, detailOf(entry));
    }
    again();
    body.querySelector(`button[data-key="${CSS.escape(entry.key)}"]`)?.focus();
  };
  const rows = entries.slice(first, end).flatMap((entry, i) => {
    const row = { entry, index: first + i, open: open.has(entry.key) };
    return row.open ? [row, { ...row, detail: true }] : [row];
  });
  const items = [...gap('before', first), ...rows, ...gap('after', entries.length - end)];
  syncChildren(body, items, {
    key: (item) => item.gap ?? item.entry.key + (item.detail ? ' detail' : ''),
    signature: (item) => (item.gap ? item.rows : signature(item)),
    render: (item) =>
      item.gap
        ? gapRow(item, span)
        : item.detail
          ? detailRow(open.get(item.entry.key), item.entry, span)
          : entryRow(item, toggle),
  });
}

const gap = (name, rows) => (rows > 0 ? [{ gap: name, rows }] : []);

const gapRow = ({ rows }, span) =>
  h('tr.gap', { 'aria-hidden': 'true', vars: { height: `${rows * ROW_PX}px` } }, h('td', { colspan: span }));

/* Figures never change once measured; what changes is how many there are. */
function signature({ entry, index, open }) {
  const side = (cell) => (cell ? `${cell.repeats}:${cell.time_us}` : '');
  return `${index}|${open}|${side(entry.out)}|${side(entry.in)}`;
}

function entryRow({ entry, index, open }, toggle) {
  const wrong = (entry.out?.wrong ?? 0) + (entry.in?.wrong ?? 0) > 0;
  const button = h(
    'button.opener',
    {
      'aria-expanded': String(open),
      'data-key': entry.key,
      'aria-label': `${formatSize(entry.size)} bytes, details`,
      on: { click: () => toggle(entry) },
    },
    formatSize(entry.size),
  );
  return h(
    'tr',
    { class: wrong ? 'wrong' : null, 'aria-rowindex': index + 3 },
    h('th', { scope: 'row', class: 'number', title: `${entry.size} bytes` }, button),
    h('td.number', entry.count ?? '–'),
    h('td.type', entry.type),
    h('td.way', { title: wayOfEntry(entry) || null }, wayOfEntry(entry)),
    ...sideCells(entry.out),
    ...sideCells(entry.in),
  );
}

const wayOfEntry = ({ out, in: inside }) => waysInWords((out ?? inside)?.ways);

function sideCells(side) {
  if (!side) {
    return [1, 2, 3, 4].map(() => h('td.number.muted', '–'));
  }
  if (side.skipped !== undefined) {
    return [h('td.skipped', { colspan: '4', title: side.skipped }, h('strong', 'skipped: '), side.skipped)];
  }
  return [
    timeCell(side),
    h('td.number', formatBandwidth(side.algbw_gbs)),
    h('td.number.strong', formatBandwidth(side.busbw_gbs)),
    wrongCell(side.wrong),
  ];
}

/* The time, and how far it may be off. */
function timeCell(side) {
  const doubt = doubtOf(side);
  const title = [
    doubt &&
      `${formatMicros(doubt.lo)} to ${formatMicros(doubt.hi)} µs` +
        (side.repeats > 1
          ? `, over ${side.repeats} repeats and their 95 % intervals`
          : ': the 95 % interval of the median'),
    side.noisy > 0 && 'noisy: not known as well as asked',
  ]
    .filter(Boolean)
    .join('; ');
  return h(
    'td.number',
    { title: title || null },
    side.noisy > 0 ? h('span.noisy', '~') : null,
    formatMicros(side.time_us),
    doubt ? h('span.doubt', doubtInWords(doubt)) : null,
  );
}

function wrongCell(wrong) {
  if (wrong === null) {
    return h('td.number.muted', { title: 'not checked' }, '–');
  }
  return wrong === 0 ? h('td.number.muted', '0') : h('td.number.bad', h('strong', `✕ ${wrong}`));
}

function detailRow(detail, entry, span) {
  detail.update(entry);
  return h('tr.detail', h('td', { colspan: span }, detail.element));
}
