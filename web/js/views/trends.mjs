/* trends.mjs - the view of what runs came to over time: a panel for each band of sizes */
import { debounce, download, h, region, setHidden, setText } from '../dom.mjs';
import { alertBox, answerPill, fold, head, timeOf } from '../parts.mjs';
import { poll } from '../poll.mjs';
import { TrendChart } from '../trend_chart.mjs';
import { buildTrends, changeAddress, changeBefore, compareAddress, VERSIONS } from '../trend_model.mjs';
import { BANDS, formatChange, plural, shorten, significant } from '../units.mjs';
import { trendsQuery } from '../url_state.mjs';

const NAMES = Object.keys(BANDS);
const LINES_SHOWN = 4;
const REFRESH_MS = 30000;
const COLUMNS = [
  'Run',
  'Asked for',
  'Value',
  '95 %',
  'Least to most',
  'Cases',
  'Change',
  'Versions',
  'Compare',
];

export default function view(root, app, { query: first }) {
  app.title('Trends');
  let query = first;
  let drawn = '';
  let shown = LINES_SHOWN;
  let sections = [];
  const filters = filterForm(app, (set) =>
    app.go({ view: 'trends', query: { ...query, ...set } }, { replace: true }),
  );
  const note = h('div.alerts', { role: 'status' });
  const body = h('div.stack', { hidden: true });
  const more = h('button', {
    on: {
      click: () => {
        shown = Infinity;
        drawn = '';
        polling.again();
      },
    },
  });
  const empty = h('section.empty', { hidden: true });
  root.append(h('h1', 'Trends'), filters.element, note, body, h('p.actions', more), empty);

  async function refresh() {
    const asked = query;
    try {
      const answers = await Promise.all(
        NAMES.map((band) => app.api.trends(trendsQuery(asked, { band, requests: NAMES.length }))),
      );
      if (asked === query) {
        draw(answers);
      }
    } catch (error) {
      if (asked === query) {
        note.replaceChildren(
          error.status
            ? alertBox('bad', 'There are no trends. ', error.message)
            : h('p.muted', 'Waiting for the server.'),
        );
        setHidden(body, Boolean(error.status) || drawn === '');
        setHidden(more, body.hidden || sections.length < shown);
      }
    }
  }

  function draw(answers) {
    const sign = JSON.stringify(answers);
    const isEmpty = answers.every(({ points }) => points.length === 0);
    note.replaceChildren();
    setHidden(body, isEmpty);
    setHidden(empty, !isEmpty);
    empty.replaceChildren(...(isEmpty ? emptyText(query) : []));
    if (sign === drawn) {
      return;
    }
    drawn = sign;
    const lines = buildTrends(answers);
    sections.forEach((section) => section.destroy());
    sections = lines.slice(0, shown).map((line) => lineSection(app, line));
    body.replaceChildren(saveButtons(app, query, note), ...sections.map((section) => section.element));
    setHidden(more, lines.length <= shown);
    setText(more, `Show ${plural(lines.length - shown, 'more line')}`);
  }

  filters.set(query);
  const polling = poll(refresh, REFRESH_MS);
  return {
    update(next) {
      query = next;
      filters.set(query);
      polling.again();
    },
    destroy() {
      filters.cancel();
      polling.stop();
      sections.forEach((section) => section.destroy());
    },
  };
}

const emptyText = ({ collective, dtype }) => [
  h('h2', 'No run to show yet'),
  h(
    'p',
    `A trend has the runs that completed and measured ${collective} of ${dtype} in ` +
      'these places. Choose what was measured above, or ',
    h('a', { href: '/new' }, 'start a run'),
    ' and start it again each night, by the same spec: what is alike becomes a line. A ' +
      'change shows from 6 runs on.',
  ),
];

/* The values of each band as the server writes them for a spreadsheet. */
function saveButtons(app, query, note) {
  const { collective, dtype } = query;
  const save = async (band) => {
    try {
      const asked = trendsQuery(query, { band, format: 'csv', requests: NAMES.length });
      download(
        await app.api.blob(`/api/v1/trends?${asked}`),
        `ringbench-trends-${collective}-${dtype}-${band}.csv`,
      );
    } catch (error) {
      note.replaceChildren(alertBox('bad', 'That did not work. ', error.message));
    }
  };
  return h(
    'div.actions',
    h('span.muted', 'Each point is a run; the shade is the 95 % interval of its median.'),
    h('span.spring'),
    NAMES.map((band) => h('button', { on: { click: () => save(band) } }, `CSV of ${band}`)),
  );
}

/* What is alike, over its runs: a panel for each band. */
function lineSection(app, { label, columns, panels }) {
  const drawn = panels
    .map((panel, i) =>
      panel.points.length === 0 ? null : bandPanel(app, NAMES[i], panel, { label, columns }),
    )
    .filter(Boolean);
  return {
    element: h(
      'section.stack',
      { 'aria-label': label },
      h('div.title', h('h2', shorten(label, 240)), h('span.muted', plural(columns.length, 'run'))),
      h(
        'div.trends',
        drawn.map(({ element }) => element),
      ),
    ),
    destroy: () => drawn.forEach(({ chart }) => chart.destroy()),
  };
}

function bandPanel(app, band, panel, { label, columns }) {
  const isTime = panel.figure.name === 'time_us';
  const title = `${isTime ? 'Time per call' : 'Bus bandwidth'} ${BANDS[band]}`;
  const name = `${title}, ${label}`;
  const chart = new TrendChart(name, {
    readOut: (point) => readOut(point, panel),
    choose: (point) => app.go(compareAddress(point, panel.changes)),
  });
  chart.update(panel, columns);
  return {
    chart,
    element: h(
      'section.card.trend-card',
      { 'aria-label': name },
      h('h3', title),
      h(
        'ul.trend-says',
        panel.changes.map((one) => sentence(one, panel.points)),
      ),
      chart.box,
      chart.said,
      fold('Table', null, valueTable(name, panel)),
    ),
  };
}

/* What the server says, of a change with the way to look at it. */
function sentence(change, points) {
  const { answer, sentence: text } = change.verdict;
  const link = () => h('a', { href: changeAddress(change, points) }, 'Compare before and since');
  return h(
    'li',
    answerPill(answer),
    h('p', change.run ? [timeOf(change.created), ': ', text, ' ', link()] : text),
  );
}

const inUnit = (value, { unit }) => `${significant(value)} ${unit === 'us' ? 'µs' : unit}`;
const span = (from, to, figure) => (from === null ? '–' : `${significant(from)} to ${inUnit(to, figure)}`);

const nameOf = ({ name, run }) => shorten(name || run, 60);

function readOut(point, { figure, versions, changes }) {
  const step = versions.find(({ x }) => x === point.x);
  return [
    h('strong', nameOf(point)),
    ', ',
    timeOf(point.created),
    ': ',
    h('strong', inUnit(point.value, figure)),
    point.low === null ? ` (${plural(point.cases, 'case')})` : ` (${span(point.low, point.high, figure)})`,
    step ? `; from here ${step.text}` : '',
    '. Click or Enter: against ',
    changeBefore(point, changes) ? 'the last run before the change.' : 'the baseline.',
  ];
}

function valueTable(name, { figure, points, changes, hasMore }) {
  const row = (point) => [
    h('th', { scope: 'row' }, h('a', { href: `/runs/${point.run}` }, nameOf(point))),
    h('td.when', timeOf(point.created)),
    h('td.number', inUnit(point.value, figure)),
    h('td.number', span(point.low, point.high, figure)),
    h('td.number', span(point.least, point.most, figure)),
    h('td.number', point.cases),
    h('td.number', point.change === null ? '' : formatChange(point.change)),
    h('td', versionsInWords(point.versions)),
    h('td', h('a', { href: compareAddress(point, changes) }, 'compare')),
  ];
  return region(
    `Values: ${name}`,
    'scroll',
    h(
      'table.list',
      head(COLUMNS, (i) => i > 1 && i < 7),
      h(
        'tbody',
        [...points].reverse().map((point) => h('tr', row(point))),
      ),
    ),
    hasMore ? h('p.muted', 'There are older runs: raise the number above.') : null,
  );
}

const versionsInWords = (versions) =>
  VERSIONS.filter((name) => versions?.[name])
    .map((name) => `${name} ${versions[name]}`)
    .join(', ');

/* Each says what it is of; what the server does not know it refuses by a sentence. */
function filterForm(app, change) {
  const collective = h('select', { name: 'collective' });
  const dtype = h('select', { name: 'dtype' });
  const choices = (name, options) =>
    h(
      'select',
      { name },
      options.map(([value, text]) => h('option', { value }, text)),
    );
  const text = (name, hint) =>
    h('input', { name, type: 'text', placeholder: hint, autocomplete: 'off', spellcheck: 'false' });
  const controls = [
    ['Collective', collective],
    ['Data type', dtype],
    [
      'Place',
      choices('in_place', [
        ['0', 'out of place'],
        ['1', 'in place'],
      ]),
    ],
    [
      'Backend',
      choices('backend', [
        ['', 'every'],
        ['nccl', 'nccl'],
        ['host', 'host'],
        ['sim', 'sim'],
        ['mpi', 'mpi'],
      ]),
    ],
    ['Nodes', text('nodes', 'all of exactly: A,B')],
    ['Only like this run', text('run', 'a run’s id')],
    [
      'A line for each',
      choices('like', [
        ['', 'set of nodes'],
        ['hardware', 'kind of hardware'],
      ]),
    ],
    [
      'Runs',
      choices('limit', [
        ['', '100'],
        ['200', '200'],
        ['500', '500'],
      ]),
    ],
  ];
  const form = h(
    'form.card.trend-filters',
    { on: { submit: (event) => event.preventDefault() } },
    controls.map(([label, input]) => h('label', h('span', label), input)),
  );
  const read = () => {
    const set = Object.fromEntries(new FormData(form));
    return { ...set, limit: set.limit ? Number(set.limit) : null };
  };
  const later = debounce(() => change(read()), 300);
  form.addEventListener('input', later);
  offer(app, collective, dtype);
  return {
    element: form,
    cancel: later.cancel,
    set(query) {
      for (const [, input] of controls) {
        const value = String(query[input.name] ?? '');
        if (input.tagName === 'SELECT' && ![...input.options].some((one) => one.value === value)) {
          input.append(h('option', { value }, value));
        }
        if (document.activeElement !== input) {
          input.value = value;
        }
      }
    },
  };
}

/* All that the server can measure, beside what the address asks for. */
async function offer(app, collective, dtype) {
  try {
    const known = await app.api.collectives();
    for (const [select, names] of [
      [collective, known.collectives],
      [dtype, known.dtypes],
    ]) {
      const { value } = select;
      select.replaceChildren(...names.map(({ name }) => h('option', { value: name }, name)));
      select.value = value;
    }
  } catch {
    /* what is chosen stays */
  }
}
