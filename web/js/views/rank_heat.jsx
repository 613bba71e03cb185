/* SPDX-License-Identifier: Apache-2.0 */
/* rank_heat.jsx - heat map of each rank's time by size, relative to the median of the ranks */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { deviation, heatBins, heatOf, heatShade } from '../heat.mjs';
import { HeatMap } from '../heat_map.jsx';
import { useSize } from '../plot_box.jsx';
import { Select } from '../ui.jsx';
import { formatPercent, formatSize, formatTime, shorten } from '../units.mjs';

const LABELS_PX = 48;
const AXIS_PX = 20;
const ROW_PX = 15;
const ROWS_MAX = 32;
const TICK_PX = 64;

/* Rows read per series, and the shortest interval between reads of a live run. */
const ROWS_READ = 2000;
const REFRESH_MS = 4000;

/* The rows of a series. Read again after new results, at most every REFRESH_MS. */
function useRows(app, id, line, epoch, onlyCase) {
  const [found, setFound] = useState({ of: '', at: 0, rows: /** @type {any[]} */ ([]) });
  const of = line ? `${line.key}/${onlyCase}` : '';
  useEffect(() => {
    if (!line) {
      return undefined;
    }
    const ask = async () => {
      const query = new URLSearchParams({ series: line.series, limit: String(ROWS_READ) });
      if (onlyCase !== null) {
        query.set('case', onlyCase);
      }
      /* After a failed request, the map reports missing times. */
      const { rows } = await app.api.rows(id, query).catch(() => ({ rows: [] }));
      const own = rows.filter((row) => line.cases.length === 0 || line.cases.includes(row.case));
      setFound({ of, at: Date.now(), rows: own });
    };
    const timer = setTimeout(ask, found.of === of ? Math.max(0, found.at + REFRESH_MS - Date.now()) : 0);
    return () => clearTimeout(timer);
  }, [of, epoch]);
  return found.of === of ? found.rows : [];
}

export function RankHeat({ app, id, book, found, onlyCase }) {
  const [chosen, choose] = useState('');
  const canvas = useRef(null);
  const card = useRef(null);
  const [width] = useSize(card);
  const lines = [...book.lines.values()];
  const line = lines.find(({ key }) => key === chosen) ?? lines[0];
  const rows = useRows(app, id, line, book.epoch, onlyCase);
  const grid = useMemo(
    () => line && gridOf(heatOf(rows, line.members), found, width),
    [rows, width, line?.key],
  );
  return (
    <section class="card" hidden={lines.length === 0}>
      <h2>Ranks by size</h2>
      <div ref={card}>
        {grid?.worst ? (
          <>
            <div class="controls">
              <Select
                aria-label="Series"
                value={line.key}
                options={lines.map(({ key, label, inPlace }) => [key, label + (inPlace ? ', in place' : '')])}
                onChange={choose}
              />
            </div>
            <HeatMap
              label="Heat map of ranks and sizes. Arrow keys move between cells, starting with the largest deviation."
              grid={grid}
              canvas={canvas}
            />
            <p class="muted heat-key">
              <span class="heat-scale" />
              Blue: shorter than the median of the ranks. Red: longer. Full colour: by 100 %. The rank that
              the others wait for has the shortest times, because it never waits.
            </p>
          </>
        ) : (
          <p class="muted">No times of single ranks.</p>
        )}
      </div>
    </section>
  );
}

function gridOf(heat, found, width) {
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
    first: 'Largest deviation',
    worst: cells.reduce((a, one) => (a && Math.abs(a.part) >= Math.abs(one.part) ? a : one), null)?.at,
    words: (at) => inWords(heat, found, at),
  };
}

/* Text for a cell, or "" without a value. */
function inWords(heat, found, at) {
  const row = heat.rows[at?.row];
  const part = row ? deviation(row, at.column) : null;
  if (part === null) {
    return '';
  }
  const rank = heat.members[at.column];
  const node = found?.ranks.get(rank)?.node;
  return (
    `rank ${rank}${node ? ` on ${shorten(node, 60)}` : ''} at ${formatSize(row.size)}: ` +
    `${formatTime(row.times[at.column])}, ${formatPercent(Math.abs(part))} ` +
    `${part < 0 ? 'shorter' : 'longer'} than the median of the ranks, ${formatTime(row.middle)}`
  );
}
