/* compare_result.mjs - a comparison as it is shown: warnings, the sentence, the bands, in
 * what the sides differ, and single sizes. Every number and sentence is the server's. */
import { groupName, keyOf } from '../change_model.mjs';
import { deltaAxis, deltaLimit, deltaRow, formatInterval } from '../delta_row.mjs';
import { h, region } from '../dom.mjs';
import { alertBox, answerPill, fold, head as columnHeads, timeOf, unrealPill } from '../parts.mjs';
import {
  BANDS,
  formatBandwidth,
  formatChange,
  formatSize,
  formatTime,
  plural,
  shorten,
  significant,
} from '../units.mjs';
import { asPart } from '../ui.jsx';
import { unrealOf } from '../where.mjs';
import { ChangePlot } from './change_plot.jsx';

const SIZES_SHOWN = 500;

/* What stands in the window's title and on top of a file. */
export const headline = ({ base, head }) => `${namesOf(head)} against ${namesOf(base)}`;

const namesOf = ({ runs }) =>
  runs
    .slice(0, 2)
    .map((run) => shorten(run.name || run.id, 40) + (unrealOf(run) ? ` (${unrealOf(run)})` : ''))
    .join(', ') + (runs.length > 2 ? ` and ${runs.length - 2} more` : '');

export function comparison(answer) {
  const { verdict } = answer;
  const { warnings, differences } = verdict.evidence;
  return [
    warnings.length
      ? alertBox(
          'warn',
          plural(warnings.length, 'warning'),
          h(
            'ul',
            warnings.map((text) => h('li', text)),
          ),
        )
      : null,
    h(
      'section',
      { class: `verdict ${verdict.answer}` },
      answerPill(verdict.answer),
      h('p', { role: 'status' }, verdict.sentence),
    ),
    h('div.sides', sideCard('Base', answer.base), sideCard('Head', answer.head)),
    changeCard(answer),
    bandsCard(answer),
    differencesCard(differences),
    sizesCard(answer),
  ].filter(Boolean);
}

function sideCard(title, { runs, cases }) {
  const sets = new Set(cases.map(({ env }) => envInWords(env)));
  return h(
    'section.card',
    h('h2', title, h('span.note', plural(cases.length, 'case'))),
    h(
      'ul',
      runs.map((run) =>
        h(
          'li',
          h('a', { href: `/runs/${encodeURIComponent(run.id)}` }, shorten(run.name || run.id, 80)),
          ' ',
          unrealPill(run),
          ' ',
          h('span.muted', run.name ? `${run.id}, ` : '', timeOf(run.created)),
        ),
      ),
    ),
    sets.size === 1 && !sets.has('') ? h('p.muted', [...sets][0]) : null,
  );
}

const envInWords = (env) =>
  Object.entries(env)
    .map(([name, value]) => (value === null ? `${name} unset` : `${name}=${value}`))
    .join(' ');

/* Where sizes were compared. */
function changeCard(answer) {
  const part = asPart(ChangePlot);
  part.update({ answer });
  return part.element;
}

function bandsCard({ verdict: { evidence } }) {
  const { bands, cases, paired, unit, margin, runs } = evidence;
  const byRun = unit === 'run';
  if (bands.length === 0) {
    return null;
  }
  const limit = deltaLimit(bands);
  return h(
    'section.card',
    h('h2', 'By band of sizes'),
    h(
      'p.muted',
      `Dot: change; bar: its ${byRun ? 99 : 95} % confidence interval, for all bands together; grey: ` +
        `changes below ${significant(100 * margin)} % count as none. `,
      paired ? 'Cases are interleaved and compared in pairs.' : '',
      byRun
        ? `Each run counts once. How runs scatter is known from ${plural(runs.base + runs.history, 'run')} ` +
            'like base.'
        : '',
    ),
    deltaTable('Bands', 'What', [limit, margin], byRun ? runs : cases, [['', bands]], (band) => [
      bandName(band),
      band,
      band.higher_is_better,
      answerPill(band.answer),
      band.why ? h('div.muted.why', band.why) : null,
      band.usual !== null ? h('div.muted', `usual: ±${significant(100 * band.usual)} %`) : null,
    ]),
  );
}

const bandName = (band) => [
  h('span', band.series),
  band.band ? h('div.muted', `${BANDS[band.band]}, ${plural(band.sizes, 'size')}`) : null,
];

/* Rows by group: what(item) is [name, change, isMoreBetter, ...answer]. counts: cases or
 * runs of the sides. */
function deltaTable(label, first, [limit, margin], counts, groups, what) {
  const columns = [
    first,
    deltaAxis(limit, margin),
    'Change, interval',
    `Base, n = ${counts.base}`,
    `Head, n = ${counts.head}`,
    'Answer',
  ];
  const hasAnswers = what(groups[0][1][0]).length > 3;
  const shown = hasAnswers ? columns : columns.slice(0, -1);
  return region(
    label,
    'scroll',
    h(
      'table.deltas',
      columnHeads(shown, (i) => i > 1 && i < 5),
      groups.map(([title, items]) =>
        h(
          'tbody',
          title ? h('tr.group', h('th', { colspan: shown.length, scope: 'rowgroup' }, title)) : null,
          items.map((item) => deltaLine(...what(item))),
        ),
      ),
    ),
  );

  function deltaLine(name, item, isMoreBetter, ...answer) {
    return h(
      'tr',
      h('th', { scope: 'row' }, name, h('div.muted', directionOf(item, isMoreBetter))),
      h('td.track', deltaRow(item, isMoreBetter, limit, margin)),
      h(
        'td.number',
        h('strong', formatChange(item.change)),
        h('div.muted', item.interval ? formatInterval(item.interval) : ''),
      ),
      h('td.number', figureInWords(item, item.base)),
      h('td.number', figureInWords(item, item.head)),
      answer.length ? h('td', answer) : null,
    );
  }
}

/* "busbw: more is better" */
const directionOf = ({ figure }, isMoreBetter) =>
  `${{ time_us: 'time', busbw_gbs: 'busbw' }[figure] ?? figure}: ` +
  `${isMoreBetter ? 'more' : 'less'} is better`;

function figureInWords({ figure, about }, value) {
  if (value === null) {
    return '–';
  }
  if (figure === 'time_us') {
    return formatTime(value);
  }
  return figure === 'busbw_gbs'
    ? `${formatBandwidth(value)} GB/s`
    : `${significant(value)} ${about?.unit ?? ''}`;
}

function differencesCard(differences) {
  if (differences.length === 0) {
    return h(
      'section.card',
      h('h2', 'Differences'),
      h('p.muted', 'No known differences: environment, versions, nodes and settings are the same.'),
    );
  }
  const cell = (value) => h('td', value === null ? '–' : shorten(inWords(value), 300));
  return h(
    'section.card',
    h('h2', 'Differences'),
    region(
      'Differences',
      'scroll',
      h(
        'table.list.differences',
        columnHeads(['What', 'Base', 'Head']),
        h(
          'tbody',
          differences.map((one) =>
            h(
              'tr',
              h('th', { scope: 'row' }, one.what, one.alike ? null : h('div.bad', '⚠ hardly comparable')),
              cell(one.base),
              cell(one.head),
            ),
          ),
        ),
      ),
    ),
  );
}

function inWords(value) {
  if (Array.isArray(value)) {
    return value.map(inWords).join(', ');
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/* A size's own interval is no verdict: it shows where a change comes from. */
function sizesCard({
  verdict: {
    evidence: { bands, cases, runs, unit, margin },
  },
  sizes,
  sizes_total: total,
}) {
  if (sizes.length === 0) {
    return null;
  }
  const isMoreBetter = new Map(bands.map((band) => [keyOf(band), band.higher_is_better]));
  const shown = sizes.slice(0, SIZES_SHOWN);
  const groups = new Map();
  for (const one of shown) {
    const name = groupName(one);
    groups.set(name, [...(groups.get(name) ?? []), one]);
  }
  const note = `${plural(total, 'size')}, each by itself: exploratory`;
  return fold(
    'Single sizes',
    h('span.muted', note),
    h(
      'p.muted',
      'Not corrected for multiple testing: expect 2 to 3 false positives in 50 sizes.',
      shown.length < total ? ` The first ${shown.length}; CSV has all.` : '',
    ),
    deltaTable(
      'Sizes',
      'Size',
      [deltaLimit(shown), margin],
      unit === 'run' ? runs : cases,
      [...groups],
      (one) => [one.size === null ? one.figure : formatSize(one.size), one, isMoreBetter.get(keyOf(one))],
    ),
  );
}
