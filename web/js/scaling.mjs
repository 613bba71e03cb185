/* SPDX-License-Identifier: Apache-2.0 */
/* scaling.mjs - converts the projection of a scaling run to chart panels (chart_model.mjs). No
 * DOM. */
import { niceCeil, niceFloor } from './chart_model.mjs';
import { lookOf } from './palette.mjs';
import { formatSize } from './units.mjs';

/* Returns a text such as "all_reduce float32 sum, 64M, in place". */
export const sizeLabel = ({ collective, dtype, redop, root, size, in_place: inPlace }) =>
  [
    [collective, dtype, redop, root > 0 && `root ${root}`].filter(Boolean).join(' '),
    formatSize(size),
    inPlace && 'in place',
  ]
    .filter(Boolean)
    .join(', ');

/* [value, low, high] of a point. The low bandwidth follows from the high time, and vice versa. */
const VALUES = {
  busbw: {
    axis: 'busbw, GB/s by nodes',
    unit: 'GB/s',
    of: (point) => [
      point.busbw_gbs,
      (point.busbw_gbs * point.time_us) / point.time_high_us,
      (point.busbw_gbs * point.time_us) / point.time_low_us,
    ],
  },
  time: {
    axis: 'time per call, µs by nodes',
    unit: 'µs',
    of: (point) => [point.time_us, point.time_low_us, point.time_high_us],
  },
};

/* Panels of bandwidth and time for a size: measured points with the range of their cases, and the
 * projected point with its interval. */
export function scalingPanels(found, nodes, hide, theme) {
  const { at } = found.verdict.evidence;
  const projected = at ? [found.measured.at(-1), at] : [];
  const places = [...found.measured, ...projected].map((point) => point.nodes);
  const x = [Math.min(...places) / Math.SQRT2, Math.max(...places) * Math.SQRT2];
  return Object.entries(VALUES).map(([key, { axis, unit, of }]) => {
    const lines = [
      lineOf('measured', 'measured', found.measured, of, lookOf(0, false, theme)),
      lineOf('projected', `projected to ${nodes} nodes`, projected, of, lookOf(1, true, theme)),
    ]
      .filter(({ points }) => points.length > 0)
      .map((line) => ({ ...line, hidden: hide.includes(line.key) }));
    return {
      key,
      title: sizeLabel(found),
      axis,
      unit,
      place: 'nodes',
      values: ['median', 'low', 'high', 'cases'],
      isSize: true,
      isLog: true,
      x,
      y: rangeOf(lines.flatMap(({ points }) => points)),
      lines,
      references: [],
    };
  });
}

function lineOf(key, label, points, of, look) {
  return {
    key,
    run: 0,
    series: label,
    label,
    inPlace: false,
    offered: true,
    points: points.map((point) => {
      const [y, lo, hi] = of(point);
      const bar = point.cases === 1 ? null : [lo, hi];
      return { x: point.nodes, y, lo, hi, bar, point: { count: point.cases || '' } };
    }),
    ...look,
  };
}

function rangeOf(points) {
  const values = points
    .flatMap(({ y, lo, hi }) => [y, lo, hi])
    .filter((value) => Number.isFinite(value) && value > 0);
  return values.length > 0
    ? [niceFloor(Math.min(...values) * 0.98), niceCeil(Math.max(...values) * 1.04)]
    : [0.1, 10];
}
