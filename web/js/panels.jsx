/* SPDX-License-Identifier: Apache-2.0 */
/* panels.jsx - chart panels side by side, with a shared crosshair, zoom and legend */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { isBytes, METRICS } from './chart_model.mjs';
import { REFERENCE_DASH } from './palette.mjs';
import { Region } from './parts.jsx';
import { Glyph } from './plot.jsx';
import { PlotBox, PlotTools, toggleFull } from './plot_box.jsx';
import { doubtInWords, doubtOf } from './stats.mjs';
import { formatBandwidth, formatMemory, formatSize, formatTime, significant } from './units.mjs';
import { Button } from './ui.jsx';

const HEIGHT = 340;
const HEIGHT_OF_MANY = 260;
const TIP_LINES = 12;

/* `mark` is a watermark for results that were not measured here, or ''. `onToggle(key)` shows or
 * hides a line. `onZoom([low, high])` selects an x range (null: all); without it there is no zoom.
 * `onLimit(panel, [low, high])` gets a typed y range. `name` labels the legend. */
export function Panels({
  panels: all,
  spread,
  mark,
  onToggle,
  onZoom = null,
  onLimit = null,
  name = 'Series',
}) {
  const root = useRef(null);
  const [at, setAt] = useState(null);
  const [full, setFull] = useState(null);
  useEffect(() => {
    const onChange = () => document.fullscreenElement ?? setFull(null);
    document.addEventListener('fullscreenchange', onChange);
    return () => document.removeEventListener('fullscreenchange', onChange);
  }, []);
  /* In full screen only one panel and the legend are shown. */
  const alone = all.filter(({ key }) => key === full);
  const panels = alone.length > 0 ? alone : all;
  const turn = async ({ key }) => (await toggleFull(root.current)) && setFull(key);
  const height = panels.length > 2 ? HEIGHT_OF_MANY : HEIGHT;
  const under = at && panels.find(({ key }) => key === at.key);
  if (panels.length === 0) {
    return null;
  }
  return (
    <div class="stack panels-box" ref={root}>
      <div class={panels.length === 1 ? 'panels one' : 'panels'}>
        {panels.map((panel) => (
          <figure key={panel.key} class={mark && 'unreal'} data-unreal={mark}>
            <figcaption>
              <strong>{panel.title}</strong> <span class="muted">{panel.axis}</span>
              <PlotTools
                label={`${panel.title}, ${panel.axis}`}
                range={panel.isLimited ? panel.y : null}
                onRange={onLimit && ((range) => onLimit(panel, range))}
                onFull={() => turn(panel)}
              />
            </figcaption>
            <PlotBox
              panel={panel}
              height={height}
              spread={spread}
              label={labelOf(panel, onZoom)}
              cursor={under && under !== panel && placesOf(panel) === placesOf(under) ? at.x : null}
              tip={(x) => <Tip panel={panel} x={x} />}
              onCursor={(x) => setAt(x === null ? null : { x, key: panel.key })}
              onZoom={onZoom}
            />
            {panel.good && <p class="muted good-for">{panel.good}</p>}
          </figure>
        ))}
      </div>
      <Legend panels={panels} panel={under || panels[0]} x={under ? at.x : null} {...{ onToggle, name }} />
      <References panels={panels} />
    </div>
  );
}

const placesOf = (panel) => (panel.isSize ? 'bytes' : panel.place);

const labelOf = (panel, onZoom) =>
  `Chart of ${panel.title}: ${panel.axis} over ${panel.isSize ? 'bytes' : panel.place}. Left and right ` +
  `arrow keys read out each point${onZoom ? '; with Shift they select a range, Enter zooms, 0 shows all' : ''}.`;

/* ---- Tooltip ---- */

const pointAt = ({ points }, x) => points.find((point) => point.x === x);

export function Tip({ panel, x }) {
  const found = panel.lines
    .filter((line) => !line.hidden)
    .map((line) => ({ line, point: pointAt(line, x) }))
    .filter(({ point }) => point);
  return (
    <>
      <p class="readout-size">{placeInWords(panel, x)}</p>
      <table>
        <tbody>
          {found.slice(0, TIP_LINES).map(({ line, point }) => (
            <tr key={line.key}>
              <th scope="row">
                <Glyph line={line} />
                <span>{line.label}</span>
              </th>
              <td>{valueInWords(panel, point)}</td>
              <td class="muted">{spanInWords(panel, point)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {found.length > TIP_LINES && <p>and {found.length - TIP_LINES} more</p>}
    </>
  );
}

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

/* ---- Legend ---- */

/* Heading and text of each column. Narrow screens show the first three. */
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

/* A row per line, with its figures at `x` in `panel`. Without `x`, at the last point. */
function Legend({ panels, panel, x, onToggle, name }) {
  const lines = useMemo(() => linesOf(panels), [panels]);
  const columns = columnsOf(panels[0]);
  const at = x ?? lastPlace(panel);
  const subject = panel.metric === undefined ? `${panel.title} ` : '';
  const figuresOf = (key) => {
    const line = panel.lines.find((one) => one.key === key);
    const point = !line || line.hidden ? null : pointAt(line, at);
    return columns.map(([heading, text]) => (
      <td key={heading} class="number">
        {(point && text(point)) || '–'}
      </td>
    ));
  };
  return (
    <Region label={name}>
      <table class="legend">
        <thead>
          <tr>
            <th scope="col">{at === null ? '' : `${subject}at ${placeInWords(panel, at)}`}</th>
            {columns.map(([text]) => (
              <th key={text} scope="col">
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <tr key={line.key}>
              <th scope="row">
                <Button
                  class="legend-item"
                  aria-pressed={String(!line.hidden)}
                  data-key={line.key}
                  onClick={() => onToggle(line.key)}
                >
                  <Glyph line={line} />
                  {line.label}
                </Button>
              </th>
              {figuresOf(line.key)}
            </tr>
          ))}
        </tbody>
      </table>
    </Region>
  );
}

const byKey = (items) => [...new Map(items.map((item) => [item.key, item])).values()];

const linesOf = (panels) => byKey(panels.flatMap(({ lines }) => lines).filter(({ offered }) => offered));

/* The largest x of visible points, or null without any. */
function lastPlace({ lines }) {
  const xs = lines.filter((line) => !line.hidden).flatMap(({ points }) => points.slice(-1));
  return xs.length > 0 ? Math.max(...xs.map(({ x }) => x)) : null;
}

/* Thresholds, ceilings and baselines, each listed once. */
const References = ({ panels }) => (
  <ul class="references" aria-label="References">
    {byKey(panels.flatMap(({ references }) => references)).map(({ key, label, colour, points }) => (
      <li key={key}>
        <Glyph line={{ colour, dash: REFERENCE_DASH, isBand: points[0].lo !== undefined }} />
        {label}
      </li>
    ))}
  </ul>
);
