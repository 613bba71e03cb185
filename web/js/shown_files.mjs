/* SPDX-License-Identifier: Apache-2.0 */
/* shown_files.mjs - exports the charts' figures as CSV and Markdown. No DOM. Runs are as in
 * shown.mjs. */
import { isBytes, METRICS } from './chart_model.mjs';
import { markOf, titleOf, unlikeInWords } from './shown.mjs';
import { doubtInWords, doubtOf, waysInWords } from './stats.mjs';
import { formatSize, formatTime, plural, shorten, significant } from './units.mjs';
import { verdictLines } from './verdicts.mjs';

const NODES_NAMED = 4;

export function runInWords({ id, created, backend, worldSize, nodes, mark }) {
  const names = nodes.slice(0, NODES_NAMED).map(({ name }) => shorten(name, 40));
  const more = nodes.length - names.length;
  return [
    id,
    created && `${created.slice(0, 16).replace('T', ' ')} UTC`,
    mark || backend,
    worldSize > 0 && plural(worldSize, 'rank'),
    names.join(', ') + (more > 0 ? ` and ${more} more nodes` : ''),
  ]
    .filter(Boolean)
    .join(' · ');
}

/* ---- Figures ---- */

/* A bandwidth panel's points contain all figures, so the time panel of the same collective is
 * skipped. */
const isWhole = (panel) => panel.metric !== 'time';

const shownLines = (panels) =>
  panels
    .filter(isWhole)
    .flatMap((panel) => panel.lines.filter((line) => !line.hidden).map((line) => ({ panel, line })));

/* Returns a row for each visible point. */
export function rowsShown(runs, panels) {
  return shownLines(panels).flatMap(({ panel, line }) =>
    line.points.map((point) => ({
      run: runs[line.run].id,
      name: runs[line.run].name,
      mark: runs[line.run].mark,
      ...(panel.metric ? measured(line, point) : reported(panel, line, point)),
    })),
  );
}

function measured({ series, inPlace }, { x, point }) {
  const doubt = doubtOf(point);
  return {
    series: series.label,
    in_place: inPlace,
    size: x,
    time_us: point.time_us,
    time_low_us: doubt?.lo,
    time_high_us: doubt?.hi,
    algbw_gbs: point.algbw_gbs,
    busbw_gbs: point.busbw_gbs,
    fastest_rank_us: point.rank_spread.time_us[0],
    slowest_rank_us: point.rank_spread.time_us[1],
    repeats: point.repeats,
    wrong: point.wrong,
    ...(point.ways?.length > 0 && { nccl: waysInWords(point.ways) }),
  };
}

const MEANS = ['mean', 'min', 'max', 'count'];

function reported({ title, unit, place, values = MEANS }, line, { x, y, lo, hi, point }) {
  const [middle, low, high, count] = values;
  return {
    metric: title,
    unit,
    series: line.series,
    [place]: x,
    [middle]: y,
    [low]: lo,
    [high]: hi,
    [count]: point.count,
  };
}

export function toCsv(rows) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return [columns, ...rows.map((row) => columns.map((name) => row[name] ?? ''))]
    .map((cells) => `${cells.map(csvField).join(',')}\r\n`)
    .join('');
}

/* Returns the text quoted as in the server's CSV (docs/reference/api.md). A leading "'" stops
 * spreadsheets from evaluating a name as a formula. */
function csvField(value) {
  const isFormula =
    typeof value === 'string' && /^[=@+\-\t\r]/.test(value) && !Number.isFinite(Number(value));
  const text = (isFormula ? "'" : '') + value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/* ---- Markdown ---- */

const plain = (text) =>
  String(text)
    .replace(/[\\`*_{}[\]<>|#~]/g, '\\$&')
    .replace(/\s+/g, ' ');

const tableOf = ([head, ...rows]) =>
  [head, head.map((_, i) => (i === 0 ? '---' : '---:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |\n`)
    .join('');

/* For an issue tracker: runs, verdicts, a table per chart, and the address (null: none). */
export function toMarkdown(runs, panels, address) {
  const unlike = unlikeInWords(runs);
  const mark = markOf(runs);
  return [
    `### ${plain(titleOf(runs))}\n`,
    mark ? `**${mark}: not measured.**\n` : '',
    unlike ? `**Not comparable:** ${plain(unlike)}\n` : '',
    runs
      .map(
        (run) =>
          `- ${plain(run.name)}: ${plain(runInWords(run))}\n` +
          verdictLines(run.verdicts, null)
            .map(({ sentence }) => `  - ${plain(sentence)}\n`)
            .join(''),
      )
      .join(''),
    ...panels.filter(isWhole).map(panelTable),
    address && `[This view](<${address}>)\n`,
  ]
    .filter(Boolean)
    .join('\n');
}

function panelTable(panel) {
  const lines = panel.lines.filter((line) => !line.hidden && line.points.length > 0);
  const xs = [...new Set(lines.flatMap(({ points }) => points.map(({ x }) => x)))];
  const cells = panel.metric ? measuredCells : reportedCells;
  const head = lines.flatMap((line) => cells.head(panel).map((text) => `${plain(line.label)}: ${text}`));
  return (
    `**${plain(panel.title)}**, ${plain(panel.axis)}\n\n` +
    tableOf([
      [isBytes(panel) ? 'size' : panel.place, ...head],
      ...xs
        .sort((a, b) => a - b)
        .map((x) => [
          isBytes(panel) ? formatSize(x) : x,
          ...lines.flatMap((line) =>
            cells.of(
              panel,
              line.points.find((p) => p.x === x),
            ),
          ),
        ]),
    ])
  );
}

const measuredCells = {
  head: (panel) => [METRICS[panel.metric].axis, 'time'],
  of: (_panel, found) => {
    const doubt = found && doubtOf(found.point);
    return found
      ? [significant(found.y), `${formatTime(found.point.time_us)} ${doubtInWords(doubt)}`.trimEnd()]
      : ['', ''];
  },
};

const reportedCells = {
  head: ({ unit, values = MEANS }) => [`${values[0]}${unit ? `, ${unit}` : ''}`],
  of: (_panel, found) => [found ? significant(found.y) : ''],
};
