/* SPDX-License-Identifier: Apache-2.0 */
/* pair_map.jsx - heat map of the bandwidth between pairs of nodes, and a list of what is slow */
import { useMemo, useRef } from 'preact/hooks';
import { caseLabel } from '../case_name.mjs';
import { download } from '../download.mjs';
import { heatShade } from '../heat.mjs';
import { HeatMap } from '../heat_map.jsx';
import { groupOf, groupTitle, usualGrouping } from '../node_list.mjs';
import { pairsOf, slowPlaces } from '../pairs.mjs';
import { useSize } from '../plot_box.jsx';
import { toCsv } from '../shown_files.mjs';
import { stateWord } from '../states.mjs';
import { formatBandwidth, formatPercent, formatSize, plural, shorten } from '../units.mjs';
import { Button } from '../ui.jsx';

const NAMES_PX = 110;
const CELL_PX = [3, 22];
const NAME_FROM_PX = 11;
/* Deviations up to this fraction are normal, because each case starts new processes. */
const LEAST = 0.05;

/* More nodes than this are first shown by rack, if a label gives the rack. */
const NODES_MAX = 64;

/* `culprit` is the verdict, or null. `nodes` are all nodes, with labels. `racks` selects up to two
 * racks. `change({case})` shows a pair's case, `change({racks})` the nodes of
 * two racks. */
export function PairMap({ state, culprit, nodes = [], racks, change }) {
  const canvas = useRef(null);
  const box = useRef(null);
  const [width] = useSize(box);
  const named = culprit?.nodes ?? [];
  const shown = useMemo(
    () => pairsShown({ state, named, nodes, racks }),
    [state, state.epoch, state.cases.size, named.join(), nodes.length, racks.join()],
  );
  const grid = useMemo(() => gridOf(shown, width, change), [shown, width]);
  const { pairs, by } = shown;
  const save = (ending, blob) => download(blob, `ringbench-pairs.${ending}`);
  return (
    <section class="card" aria-label="Pairs">
      <h2>
        Pairs of nodes
        {pairs.size !== null && (
          <span class="muted note">
            busbw at {formatSize(pairs.size)}, median {formatBandwidth(pairs.middle)} GB/s
            {by && `; each cell the slowest of two ${by}s’ pairs`}
          </span>
        )}
      </h2>
      <ul class="slow-nodes">
        {slowPlaces(culprit).map(({ name, slow, of, figure, reference }) => (
          <li key={name}>
            <strong>{shorten(name, 60)}</strong>: {slow} of {of} slow, {formatBandwidth(figure)} of{' '}
            {formatBandwidth(reference)} GB/s
          </li>
        ))}
      </ul>
      <p class="actions">
        {racks.length > 0 && (
          <Button class="quiet" onClick={() => change({ racks: [] })}>
            All racks
          </Button>
        )}
        <Button
          class="quiet"
          onClick={() => save('csv', new Blob([toCsv(rowsOf(shown))], { type: 'text/csv' }))}
        >
          CSV
        </Button>
        <Button class="quiet" onClick={() => canvas.current.toBlob((blob) => save('png', blob))}>
          PNG
        </Button>
      </p>
      <div class="pair-map" ref={box}>
        <HeatMap
          label="Map of pairs of nodes. Arrow keys move between pairs, starting with the slowest. Enter opens a pair."
          grid={grid}
          canvas={canvas}
        />
        <p class="muted heat-key">
          100 % slower
          <span class="heat-scale slower-left" />
          100 % faster than the median of all pairs. Same order in rows and columns, slowest first. Hollow:
          not measured. Hatched: failed. Outlined: named in the verdict.
        </p>
      </div>
    </section>
  );
}

/* {pairs, named, by}. For racks, `by` is the label that gives the rack. */
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

const placed = ({ cells }) =>
  [...cells].map(([place, cell]) => {
    const [row, column] = place.split(',').map(Number);
    return { ...cell, row, column };
  });

const rowsOf = ({ pairs, by }) =>
  placed(pairs)
    .filter(({ row, column }) => row <= column)
    .map(({ row, column, found, figure, part, of }) => ({
      a: pairs.names[row],
      b: pairs.names[column],
      busbw_gbs: figure ?? '',
      off_median: part ?? '',
      ...(by ? { pairs: of } : { case: found.case, state: found.state }),
    }));

function gridOf({ pairs, named, by }, room, change) {
  const { names, cells } = pairs;
  const count = Math.max(1, names.length);
  const side = Math.min(CELL_PX[1], Math.max(CELL_PX[0], Math.floor((room - NAMES_PX) / count)));
  const cellAt = (at) => (at ? cells.get(`${at.row},${at.column}`) : undefined);
  const all = placed(pairs);
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
    /* Heat maps color longer times. Slower pairs have less bandwidth, so the sign is reversed. */
    cells: all.map(({ row, column, part, failed }) => ({
      x: column,
      y: row,
      shade: part === null ? 0 : -heatShade(part, LEAST),
      isFailed: part === null && failed > 0,
    })),
    names: names
      .map((name, y) => ({ y, text: shorten(name, 16), isNamed: named.has(name) }))
      .filter(({ isNamed }) => side >= NAME_FROM_PX || isNamed),
    first: 'Slowest',
    worst: all.reduce((a, one) => (one.part === null || a?.part <= one.part ? a : one), null),
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

const inWords = ({ found, figure, part }) =>
  `${caseLabel(found)}: ${
    figure === null
      ? `${stateWord(found.state)}${found.reason ? `, ${found.reason}` : ''}`
      : `${formatBandwidth(figure)} GB/s, ${offInWords(part)}`
  }`;
