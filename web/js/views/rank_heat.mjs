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

export function rankHeat() {
  let lines = [];
  let shownCase = null;
  const choice = h('select', { 'aria-label': 'Series' });
  const empty = h(
    'p.muted',
    'There are no times of single ranks here: a row of the ' + 'table has them when it is opened.',
  );
  const key = h(
    'p.muted.heat-key',
    h('span.heat-scale'),
    'shorter than the median of the ranks, or longer, by 1 to 100 %. Whom the others ' +
      'wait for has the shortest times: it waits for nobody.',
  );
  const chosen = () => lines.find((one) => one.key === choice.value) ?? lines[0];
  const map = new HeatMap(
    'Map of ranks by sizes. Arrow keys read out each cell, beginning with ' + 'the one that differs most.',
    () => {
      const line = chosen();
      const heat = line ? heatOf(line, line.members) : { rows: [], members: [] };
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
  choice.addEventListener('change', () => map.refresh());

  return {
    element,
    update(book, itsCase) {
      setHidden(element, book.lines.size === 0);
      map.update(() => {
        lines = [...book.lines.values()];
        shownCase = itsCase;
        fillChoice(choice, lines);
        const line = chosen();
        return [line?.key, line?.revision, book.epoch, lines.length];
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
