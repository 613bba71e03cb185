/* pair_map.mjs - a map of nodes by nodes: which pairs are slower than the others */
import { caseLabel } from '../case_name.mjs';
import { download, h, setHidden, setText } from '../dom.mjs';
import { heatShade } from '../heat.mjs';
import { HeatMap } from '../heat_map.mjs';
import { heatToSvg } from '../heat_svg.mjs';
import { groupOf, groupTitle, usualGrouping } from '../node_list.mjs';
import { pairsOf } from '../pairs.mjs';
import { stateWord } from '../parts.mjs';
import { toCsv } from '../shown_files.mjs';
import { formatBandwidth, formatPercent, formatSize, plural, shorten } from '../units.mjs';

const NAMES_PX = 110;
const CELL_PX = [3, 22];
const NAME_FROM_PX = 11;
/* Cases differ by a few per cent, as new processes do. */
const LEAST = 0.05;

/* More nodes are racks first, where a label says which. */
const NODES_MAX = 64;

/* `change({case})` shows one of them by itself, `change({racks})` the nodes of two racks. */
export function pairMap(change) {
  let latest = null;
  let grid = null;
  const about = h('span.muted.note');
  const back = h('button.quiet', { hidden: true, on: { click: () => change({ racks: [] }) } }, 'All racks');
  const map = new HeatMap(
    'Map of pairs of nodes. Arrow keys read out each pair, beginning with ' +
      'the slowest; Enter shows it by itself.',
    () => {
      const shown = pairsShown(latest);
      const { pairs, by } = shown;
      setText(
        about,
        pairs.size === null
          ? ''
          : `busbw at ${formatSize(pairs.size)}, median ${formatBandwidth(
              pairs.middle,
            )} GB/s${by ? `; each cell the slowest of two ${by}s’ pairs` : ''}`,
      );
      setHidden(back, latest.racks.length === 0);
      grid = gridOf(shown, map.room, change);
      return grid;
    },
  );
  const save = (ending, blob) => blob && download(blob, `ringbench-pairs.${ending}`);
  const element = h(
    'section.card',
    { 'aria-label': 'Pairs' },
    h('h2', 'Pairs of nodes', about),
    h(
      'p.actions',
      back,
      h(
        'button.quiet',
        {
          on: {
            click: () => save('csv', new Blob([toCsv(rowsOf(pairsShown(latest)))], { type: 'text/csv' })),
          },
        },
        'CSV',
      ),
      h(
        'button.quiet',
        {
          on: {
            click: () =>
              save(
                'svg',
                new Blob([heatToSvg(`Pairs of nodes, ${about.textContent}`, grid, map.tone)], {
                  type: 'image/svg+xml',
                }),
              ),
          },
        },
        'SVG',
      ),
      h('button.quiet', { on: { click: () => map.canvas.toBlob((blob) => save('png', blob)) } }, 'PNG'),
    ),
    map.box,
    map.said,
    h(
      'p.muted.heat-key',
      '100 % slower',
      h('span.heat-scale.slower-left'),
      '100 % faster than the median of all pairs. Same order in rows and columns, slowest first. ' +
        'Hollow: not measured. Hatched: failed. Outlined: named in the verdict.',
    ),
  );
  return {
    element,
    /* `named`: the nodes that the server's verdict names; `nodes`: all, with their labels;
     * `racks`: whose nodes are shown, or none. */
    update(state, named, nodes = [], racks = []) {
      latest = { state, named, nodes, racks };
      map.update(() => [state, state.epoch, state.cases.size, named.join(), nodes.length, racks.join()]);
    },
    destroy: () => map.destroy(),
  };
}

/* {pairs, named, by}: of racks where there are many nodes, `by` being what they are called. */
function pairsShown({ state, named, nodes, racks }) {
  const grouping = nodes.length > NODES_MAX ? usualGrouping(nodes) : '';
  const places = new Map(
    nodes.map((node) => [node.name, grouping && groupTitle(String(groupOf(node, grouping)), grouping)]),
  );
  const rackOf = (name) => places.get(name) ?? '';
  if (grouping === '') {
    return { pairs: pairsOf(state), named: new Set(named), by: '' };
  }
  if (racks.length > 0) {
    const only = (name) => racks.includes(rackOf(name));
    return { pairs: pairsOf(state, { only }), named: new Set(named), by: '' };
  }
  return {
    pairs: pairsOf(state, { rackOf }),
    named: new Set(named.map(rackOf)),
    by: grouping.replace(/^label\./, ''),
  };
}

const rowsOf = ({ pairs: { names, cells }, by }) =>
  [...cells].flatMap(([place, { found, figure, part, of }]) => {
    const [row, column] = place.split(',').map(Number);
    return row > column
      ? []
      : [
          {
            a: names[row],
            b: names[column],
            busbw_gbs: figure ?? '',
            off_median: part ?? '',
            ...(by ? { pairs: of } : { case: found.case, state: found.state }),
          },
        ];
  });

function gridOf({ pairs: { names, cells }, named, by }, room, change) {
  const count = Math.max(1, names.length);
  const side = Math.min(CELL_PX[1], Math.max(CELL_PX[0], Math.floor((room - NAMES_PX) / count)));
  const cellAt = (at) => (at ? cells.get(`${at.row},${at.column}`) : undefined);
  const placed = [...cells].map(([place, cell]) => {
    const [row, column] = place.split(',').map(Number);
    return { ...cell, row, column };
  });
  const worst = placed.reduce((a, one) => (one.part === null || a?.part <= one.part ? a : one), null);
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
    cells: placed.map(({ row, column, part, failed }) => ({
      x: column,
      y: row,
      shade: part === null ? 0 : -heatShade(part, LEAST),
      isFailed: part === null && failed > 0,
    })),
    names: names
      .map((name, y) => ({ y, text: shorten(name, 16), isNamed: named.has(name) }))
      .filter(({ isNamed }) => side >= NAME_FROM_PX || isNamed),
    first: 'Slowest',
    worst,
    words(at) {
      const [a, b] = [names[at?.row], names[at?.column]];
      const cell = cellAt(at);
      const title = a === b ? a : `${a}, ${b}`;
      if (cell && by) {
        return `${title}: ${ofRacks(cell)}`;
      }
      return cell ? inWords(cell) : a && b ? (a === b ? a : `${title}: not measured`) : '';
    },
    open(at) {
      const cell = cellAt(at);
      if (cell) {
        change(by ? { racks: [...new Set([names[at.row], names[at.column]])] } : { case: cell.found.case });
      }
    },
  };
}

const offInWords = (part) => `${formatPercent(Math.abs(part))} ${part < 0 ? 'below' : 'above'} the median`;

function ofRacks({ figure, part, of, failed }) {
  const lost = failed ? `, ${failed} failed` : '';
  return figure === null
    ? `no pair was measured${lost}`
    : `${formatBandwidth(figure)} GB/s, the slowest of ${plural(of, 'pair')}${lost}, ${offInWords(part)}`;
}

function inWords({ found, figure, part }) {
  return `${caseLabel(found)}: ${
    figure === null
      ? `${stateWord(found.state)}${found.reason ? `, ${found.reason}` : ''}`
      : `${formatBandwidth(figure)} GB/s, ${offInWords(part)}`
  }`;
}
