/* readout.mjs - figures at one place of charts: the tooltip, the legend with all of them, and
 * a series' sample glyph */
import { h, region, setHidden, setText, svg, syncChildren } from './dom.mjs';
import { isBytes, METRICS } from './chart_model.mjs';
import { REFERENCE_DASH, shapeCorners } from './palette.mjs';
import { doubtInWords, doubtOf } from './stats.mjs';
import { formatBandwidth, formatMemory, formatSize, formatTime, significant } from './units.mjs';

const LINES_MAX = 12;

/* ---- The tooltip ---- */

/* The panel's own figure of each line at x. */
export function tipOf(panel, x) {
  const found = panel.lines
    .filter((line) => !line.hidden)
    .map((line) => ({ line, point: pointAt(line, x) }))
    .filter(({ point }) => point);
  return h(
    'div',
    h('p.readout-size', placeInWords(panel, x)),
    h(
      'table',
      h(
        'tbody',
        found
          .slice(0, LINES_MAX)
          .map(({ line, point }) =>
            h(
              'tr',
              h('th', { scope: 'row' }, glyph(line), h('span', line.label)),
              h('td', valueInWords(panel, point)),
              h('td.muted', spanInWords(panel, point)),
            ),
          ),
      ),
    ),
    found.length > LINES_MAX ? h('p', `and ${found.length - LINES_MAX} more`) : null,
  );
}

const pointAt = ({ points }, x) => points.find((point) => point.x === x);

function placeInWords(panel, x) {
  if (!isBytes(panel)) {
    return `${panel.place} ${x}`;
  }
  return formatSize(x) === String(x) ? formatMemory(x) : `${formatSize(x)} bytes`;
}

function valueInWords(panel, { y, point }) {
  if (panel.unit !== undefined) {
    return `${significant(y)} ${panel.unit}`;
  }
  return panel.metric === 'time' ? timeInWords(point) : `${formatBandwidth(y)} GB/s`;
}

const timeInWords = (point) => (point.noisy > 0 ? '~' : '') + formatTime(point.time_us);

function spanInWords(panel, { lo, hi, point }) {
  if (panel.unit !== undefined) {
    return `${significant(lo)} … ${significant(hi)}`;
  }
  return doubtInWords(doubtOf(point, METRICS[panel.metric].figure));
}

/* ---- The legend ---- */

/* What stands above a column, and what of a point stands in it. The first three are there on
 * narrow screens, too. */
const MEASURED = {
  busbw: ['busbw, GB/s', ({ point }) => formatBandwidth(point.busbw_gbs)],
  algbw: ['algbw, GB/s', ({ point }) => formatBandwidth(point.algbw_gbs)],
  time: ['time', ({ point }) => timeInWords(point)],
  doubt: ['±', ({ point }) => doubtInWords(doubtOf(point)).replace('±', '')],
  ranks: ['fastest … slowest rank', ({ point }) => range(point.rank_spread.time_us)],
  repeats: [
    'repeats',
    ({ point }) =>
      (point.repeats > 1 ? `${point.repeats}: ${range(point.repeat_spread.time_us)}` : '–') +
      (point.wrong ? `, ${point.wrong} wrong` : ''),
  ],
};
const reported = ([middle, low, high, count] = ['mean', 'min', 'max', 'figures']) => [
  [middle, ({ y }) => significant(y)],
  [`${low} … ${high}`, ({ lo, hi }) => `${significant(lo)} … ${significant(hi)}`],
  [count, ({ point }) => String(point.count)],
];

function columnsOf({ metric, values }) {
  const other = metric === 'busbw' ? 'algbw' : 'busbw';
  return metric === undefined
    ? reported(values)
    : [metric, 'time', 'doubt', other, 'ranks', 'repeats'].map((name) => MEASURED[name]);
}

const range = (times) => times.map(formatTime).join(' … ');

/* A row for each line of the panels, with its figures at one place, and a button that asks to
 * show or to hide it: `onToggle(key)`. */
export function chartLegend(onToggle, name) {
  const place = h('th', { scope: 'col' });
  const head = h('tr');
  const body = h('tbody');
  const element = region(name, 'scroll', h('table.legend', h('thead', head), body));
  let panels = [];
  let at = null;

  function draw() {
    const lines = linesOf(panels);
    const columns = columnsOf(panels[0]);
    const under = at && panels.find(({ key }) => key === at.key);
    const from = under || panels[0];
    const x = under ? at.x : lastPlace(from);
    const what = from.metric === undefined ? `${from.title} ` : '';
    setText(place, x === null ? '' : `${what}at ${placeInWords(from, x)}`);
    head.replaceChildren(place, ...columns.map(([text]) => h('th', { scope: 'col' }, text)));
    syncChildren(body, lines, {
      key: (line) => line.key,
      signature: (line) => JSON.stringify([line.label, line.colour, line.hidden]),
      render: (line) =>
        h(
          'tr',
          h('th', { scope: 'row' }, button(line)),
          columns.map(() => h('td.number')),
        ),
    });
    lines.forEach((line, i) => fill(body.children[i], columns, lineOf(line, from), x));
  }

  /* The line as the panel under the cursor has it. */
  const lineOf = (line, panel) => panel.lines.find(({ key }) => key === line.key) ?? line;

  function button(line) {
    return h(
      'button.legend-item',
      {
        'aria-pressed': String(!line.hidden),
        'data-key': line.key,
        on: {
          click: () => {
            onToggle(line.key);
            [...body.querySelectorAll('button')].find(({ dataset }) => dataset.key === line.key)?.focus();
          },
        },
      },
      glyph(line),
      line.label,
    );
  }

  return {
    element,
    update(next) {
      panels = next;
      setHidden(element, panels.length === 0);
      if (panels.length > 0) {
        draw();
      }
    },
    /* The figures at x of the panel with this key; null: at the last place that there is. */
    show(x, key) {
      at = x === null ? null : { x, key };
      draw();
    },
  };
}

const linesOf = (panels) => [
  ...new Map(
    panels
      .flatMap((panel) => panel.lines)
      .filter((line) => line.offered)
      .map((line) => [line.key, line]),
  ).values(),
];

/* null: nothing is drawn. */
function lastPlace({ lines }) {
  const xs = lines.filter((line) => !line.hidden).flatMap(({ points }) => points.slice(-1));
  return xs.length > 0 ? Math.max(...xs.map(({ x }) => x)) : null;
}

function fill(row, columns, line, x) {
  const point = line.hidden ? null : pointAt(line, x);
  columns.forEach(([, text], i) => setText(row.children[i + 1], point ? text(point) || '–' : '–'));
}

/* What the panels' lines are held against, once each. */
export function referenceList() {
  const element = h('ul.references', { 'aria-label': 'Held against' });
  return {
    element,
    update: (panels) =>
      syncChildren(
        element,
        [...new Map(panels.flatMap(({ references }) => references).map((one) => [one.key, one])).values()],
        {
          key: ({ key }) => key,
          signature: ({ label, colour }) => `${colour} ${label}`,
          render: ({ label, colour, points }) =>
            h('li', glyph({ colour, dash: REFERENCE_DASH, isBand: points[0].lo !== undefined }), label),
        },
      ),
  };
}

/* A short piece of the line with its point, for legends. */
export function glyph(line) {
  const corners = shapeCorners(line.shape, 14, 7, 3.4);
  const paint = {
    class: line.hollow ? 'hollow' : null,
    stroke: line.colour,
    'stroke-width': 1.6,
    fill: line.colour,
  };
  return svg(
    'svg',
    { class: 'glyph', viewBox: '0 0 28 14', 'aria-hidden': 'true' },
    line.isBand ? svg('rect', { width: 28, height: 14, fill: line.colour, opacity: 0.25 }) : null,
    svg('path', {
      d: 'M0 7H28',
      stroke: line.colour,
      'stroke-width': 2,
      'stroke-dasharray': line.dash.join(' ') || undefined,
    }),
    line.shape === undefined
      ? null
      : corners
        ? svg('polygon', { points: corners.map((c) => c.join(',')).join(' '), ...paint })
        : svg('circle', { cx: 14, cy: 7, r: 3.4, ...paint }),
  );
}
