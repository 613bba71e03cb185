/* rank_heat.mjs - a map of ranks by sizes: whose own times differ from the others' */
import { h, setHidden } from '../dom.mjs';
import { deviation, heatBins, heatOf, heatShade } from '../heat.mjs';
import { HeatMap } from '../heat_map.mjs';
import { formatPercent, formatSize, formatTime, shorten } from '../units.mjs';

const LABELS_PX = 48;
const AXIS_PX = 20;
const ROW_PX = 15;
const ROWS_MAX = 32;
const TICK_PX = 64;

/* Rows that are read of a series, and how often while a run goes on. */
const ROWS_READ = 2000;
const REFRESH_MS = 4000;

export function rankHeat(app, id) {
  let lines = [];
  let shownCase = null;
  let wantedCase = null;
  /* The rows of a line, as they were when its book was of that epoch. */
  let read = { key: '', epoch: -1, at: 0, rows: /** @type {any[]} */ ([]), isReading: false };
  const choice = h('select', { 'aria-label': 'Series' });
  const empty = h('p.muted', 'There are no times of single ranks here.');
  const key = h(
    'p.muted.heat-key',
    h('span.heat-scale'),
    'shorter than the median of the ranks, or longer, by 1 to 100 %. Whom the others ' +
      'wait for has the shortest times: it waits for nobody.',
  );
  const chosen = () => lines.find((one) => one.key === choice.value) ?? lines[0];
  const ask = async (line, epoch) => {
    const key = `${line.key}/${wantedCase}`;
    const isKnown = read.key === key && (read.epoch === epoch || Date.now() < read.at + REFRESH_MS);
    if (isKnown || read.isReading) {
      return;
    }
    const rows = read.key === key ? read.rows : [];
    read = { key, epoch, at: Date.now(), rows, isReading: true };
    const query = new URLSearchParams({ series: line.series, limit: String(ROWS_READ) });
    if (wantedCase !== null) {
      query.set('case', wantedCase);
    }
    try {
      const all = (await app.api.rows(id, query)).rows;
      read.rows = all.filter((row) => line.cases.length === 0 || line.cases.includes(row.case));
    } catch {
      /* the map says that there are none */
    }
    read.isReading = false;
    map.refresh();
  };
  const map = new HeatMap(
    'Map of ranks by sizes. Arrow keys read out each cell, beginning with ' + 'the one that differs most.',
    () => {
      const line = chosen();
      const heat = line ? heatOf(read.rows, line.members) : { rows: [], members: [] };
      const has = heat.rows.length > 0;
      setHidden(empty, has);
      [map.box, map.said, key, choice.parentElement].forEach((part) => setHidden(part, !has));
      return gridOf(heat, shownCase, map.room);
    },
  );
  const element = h(
    'section.card',
    h('h2', 'Ranks by size'),
    h('div.controls', choice),
    empty,
    map.box,
    map.said,
    key,
  );
  choice.addEventListener('change', () => {
    read.at = 0;
    ask(chosen(), read.epoch);
    map.refresh();
  });

  return {
    element,
    update(book, itsCase, onlyCase) {
      setHidden(element, book.lines.size === 0);
      map.update(() => {
        lines = [...book.lines.values()];
        shownCase = itsCase;
        fillChoice(choice, lines);
        wantedCase = onlyCase;
        const line = chosen();
        if (line) {
          ask(line, book.epoch);
        }
        return [line?.key, read.at, read.isReading, lines.length];
      });
    },
    destroy: () => map.destroy(),
  };
}

function fillChoice(choice, lines) {
  lines
    .slice(choice.options.length)
    .forEach((line) =>
      choice.append(h('option', { value: line.key }, line.label + (line.inPlace ? ', in place' : ''))),
    );
}

function gridOf(heat, shownCase, width) {
  const room = Math.floor(width - LABELS_PX);
  const { across, down, bins, columns, lines } = heatBins(heat, room, ROWS_MAX);
  const side = Math.min(ROW_PX * 4, room / Math.max(1, columns));
  const stride = Math.max(1, Math.ceil(TICK_PX / side));
  const cells = bins.map(({ x, y, cell: { row, rank, part } }) => ({
    x,
    y,
    part,
    shade: heatShade(part),
    at: { row, column: rank },
  }));
  return {
    width,
    left: LABELS_PX,
    foot: AXIS_PX,
    cell: [side, ROW_PX],
    gap: 0.5,
    font: 11,
    columns,
    rows: lines,
    across,
    down,
    last: heat.members.length - 1,
    cells,
    isSolid: true,
    names: Array.from({ length: lines }, (_, y) => ({ y, text: formatSize(heat.rows[y * down].size) })),
    ticks: Array.from({ length: Math.ceil(columns / stride) }, (_, i) => {
      const rank = heat.members[i * stride * across];
      return { x: i * stride, text: i === 0 ? `rank ${rank}` : rank };
    }),
    first: 'Furthest from the others',
    worst: cells.reduce((a, one) => (a && Math.abs(a.part) >= Math.abs(one.part) ? a : one), null)?.at,
    words: (at) => inWords(heat, shownCase, at),
  };
}

/* "" where there is no such cell. */
function inWords(heat, shownCase, at) {
  const row = heat.rows[at?.row];
  const part = row ? deviation(row, at.column) : null;
  if (part === null) {
    return '';
  }
  const rank = heat.members[at.column];
  const node = shownCase?.ranks.get(rank)?.node;
  return (
    `rank ${rank}${node ? ` on ${shorten(node, 60)}` : ''} at ${formatSize(
      row.size,
    )}: ${formatTime(row.times[at.column])}, ${formatPercent(
      Math.abs(part),
    )} ${part < 0 ? 'shorter' : 'longer'} than the median ` + `of the ranks, ${formatTime(row.middle)}`
  );
}
