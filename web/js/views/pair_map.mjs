/* pair_map.mjs - a map of nodes by nodes: which pairs are slower than the others */
import {caseLabel} from '../case_name.mjs';
import {h, setHidden, setText} from '../dom.mjs';
import {heatShade} from '../heat.mjs';
import {HeatMap} from '../heat_map.mjs';
import {pairsOf} from '../pairs.mjs';
import {stateWord} from '../parts.mjs';
import {formatBandwidth, formatPercent, formatSize, shorten} from '../units.mjs';

const NAMES_PX = 110;
const CELL_PX = [3, 22];
const NAME_FROM_PX = 11;
/* Cases differ by a few per cent, as new processes do. */
const LEAST = 0.05;

/* `change({case})` shows one of them by itself. */
export function pairMap(change) {
  let latest = null;
  const about = h('span.muted.note');
  const map = new HeatMap(
    'Map of pairs of nodes. Arrow keys read out each pair, beginning with ' +
      'the slowest; Enter shows it by itself.',
    () => {
      const pairs = pairsOf(latest.state);
      setText(about, pairs.size === null ? '' : `busbw at ${formatSize(pairs.size)}, median ${
        formatBandwidth(pairs.middle)} GB/s`);
      return gridOf(pairs, new Set(latest.named), map.room, change);
    });
  const element = h('section.card', {'aria-label': 'Pairs'}, h('h2', 'Pairs of nodes', about),
    map.box, map.said,
    h('p.muted.heat-key', h('span.heat-scale.slower-left'),
      'slower than the median of all pairs, or faster, by 5 to 100 %. Columns are the rows’ nodes ' +
        'in the same order, the slowest first; ' +
        'hatched: failed; outlined: who is named above.'));
  return {
    element,
    /* `named`: the nodes that the server's verdict names. */
    update(state, named) {
      latest = {state, named};
      map.update(() => [state, state.epoch, state.rowList.length, state.cases.size, named.join()]);
    },
    show: is => setHidden(element, !is),
    destroy: () => map.destroy()
  };
}

function gridOf({names, cells}, named, room, change) {
  const count = Math.max(1, names.length);
  const side =
    Math.min(CELL_PX[1], Math.max(CELL_PX[0], Math.floor((room - NAMES_PX) / count)));
  const cellAt = at => (at ? cells.get(`${at.row},${at.column}`) : undefined);
  const placed = [...cells].map(([place, cell]) => {
    const [row, column] = place.split(',').map(Number);
    return {...cell, row, column};
  });
  const worst = placed.reduce(
    (a, one) => (one.part === null || a?.part <= one.part ? a : one), null);
  return {
    width: NAMES_PX + count * side + 2,
    left: NAMES_PX,
    foot: 2,
    cell: [side, side],
    gap: 1,
    font: Math.min(12, side),
    columns: names.length,
    rows: count,
    last: names.length - 1,
    /* Slower is what longer is in other maps. */
    cells: placed.map(({row, column, found, part}) => ({
      x: column,
      y: row,
      shade: part === null ? 0 : -heatShade(part, LEAST),
      isFailed: part === null && found.state === 'failed'
    })),
    names: names.map((name, y) => ({y, text: shorten(name, 16), isNamed: named.has(name)}))
             .filter(({isNamed}) => side >= NAME_FROM_PX || isNamed),
    first: 'Slowest',
    worst,
    words(at) {
      const [a, b] = [names[at?.row], names[at?.column]];
      return inWords(cellAt(at)) || (a && b ? (a === b ? a : `${a}, ${b}: not measured`) : '');
    },
    open(at) {
      const cell = cellAt(at);
      if (cell) {
        change({case: cell.found.case});
      }
    }
  };
}

function inWords(cell) {
  if (!cell) {
    return '';
  }
  const {found, figure, part} = cell;
  const off = formatPercent(Math.abs(part ?? 0));
  return `${caseLabel(found)}: ${figure === null
    ? `${stateWord(found.state)}${found.reason ? `, ${found.reason}` : ''}`
    : `${formatBandwidth(figure)} GB/s, ${off} ${part < 0 ? 'below' : 'above'} the median`}`;
}
