/* SPDX-License-Identifier: Apache-2.0 */
/* plot.jsx - draws a panel (chart_model.mjs) as SVG, for the screen and for files (plot_file.jsx).
 * No hooks, no DOM. */
import { scaleLinear, scaleLog } from 'd3-scale';
import { isBytes } from './chart_model.mjs';
import { REFERENCE_DASH, SHAPES } from './palette.mjs';
import { formatSize, significant } from './units.mjs';

export const MARGIN = { left: 52, right: 16, top: 12, bottom: 34 };
const TICK_PX = 44;
const DATE_PX = 96;
const CROWDED_PX = 6;
const FAR = 1e6;
const BAR_HALF = 3.5;
/* With more lines than this, bands are fainter. */
const MANY_LINES = 2;

/* {x, y}: the panel's d3 scales, in px. */
export function scalesOf(panel, width, height) {
  const x = (panel.isSize ? scaleLog() : scaleLinear()).domain(panel.x);
  const y = (panel.isLog ? scaleLog() : scaleLinear())
    .domain(panel.y)
    .range([height - MARGIN.bottom, MARGIN.top]);
  /* log(0) is undefined, so values stop far below the axis. */
  const beyond = (value) => y(panel.isLog ? Math.max(value, panel.y[0] / FAR) : value);
  return {
    x: x.range([MARGIN.left, width - MARGIN.right]),
    y: panel.isLimited ? beyond : y.clamp(true),
  };
}

/* Clips its children to the plot area. */
const Inside = ({ width, height, children }) => {
  const [w, h] = [width - MARGIN.left - MARGIN.right, height - MARGIN.top - MARGIN.bottom];
  return (
    <svg
      x={MARGIN.left}
      y={MARGIN.top}
      width={w}
      height={h}
      viewBox={`${MARGIN.left} ${MARGIN.top} ${w} ${h}`}
    >
      {children}
    </svg>
  );
};

/* Powers of two, or whole numbers. The number of ticks depends on `width`. */
export function placeTicks({ isSize, x }, width) {
  const count = Math.max(2, width / TICK_PX);
  const whole = (domain) => scaleLinear().domain(domain).ticks(count).filter(Number.isInteger);
  const powers = isSize ? whole(x.map(Math.log2)).map((power) => 2 ** power) : [];
  return powers.length > 1 ? powers : whole(x);
}

/* Returns ticks at round values. On a logarithmic axis with too many ticks, keep those with the
 * leading digit 1, 2 or 5, or only 1. */
export function valueTicks({ isLog, y }) {
  if (!isLog || y[1] < 3 * y[0]) {
    return scaleLinear().domain(y).ticks(6);
  }
  const all = scaleLog().domain(y).ticks();
  const leading = (digits) => all.filter((tick) => digits.includes(tick.toExponential()[0]));
  return [all, leading('125')].find((ticks) => ticks.length <= 10) ?? leading('1');
}

const placeLabel = (panel, at) => (isBytes(panel) ? formatSize(at) : String(at));

export const valueLabel = (value) => {
  const text = value === 0 ? '0' : significant(value);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
};

const r = (value) => Math.round(value * 10) / 10;
const path = (corners) => `M${corners.map(([x, y]) => `${r(x)} ${r(y)}`).join('L')}`;

/* `tone` contains the colours of text, grid and surface. `spread` shows bands and error bars. */
export function Plot({ panel, width, height, spread, tone }) {
  const scales = scalesOf(panel, width, height);
  const lines = panel.lines.filter((line) => !line.hidden);
  const places = Math.max(0, ...lines.map(({ points }) => points.length));
  const isCrowded = places * CROWDED_PX > width - MARGIN.left - MARGIN.right;
  const data = (
    <>
      {panel.references.map((reference) => (
        <Reference key={reference.key} {...reference} scales={scales} />
      ))}
      {spread &&
        lines.map((line) => (
          <Band key={line.key} {...line} scales={scales} opacity={lines.length > MANY_LINES ? 0.08 : 0.14} />
        ))}
      {lines.map((line) => (
        <g key={line.key} stroke={line.colour} fill={line.hollow ? tone.surface : line.colour}>
          <path
            class="line"
            d={path(line.points.map((p) => [scales.x(p.x), scales.y(p.y)]))}
            fill="none"
            stroke-width="2"
            stroke-dasharray={line.dash.join(' ') || undefined}
          />
          {(!isCrowded || line.points.length === 1) && <Points {...line} spread={spread} scales={scales} />}
        </g>
      ))}
    </>
  );
  return (
    <g font-size="12" fill="none">
      <Axes panel={panel} scales={scales} width={width} height={height} tone={tone} />
      {panel.isLimited ? (
        <Inside width={width} height={height}>
          {data}
        </Inside>
      ) : (
        data
      )}
      {panel.marks?.map((mark) => (
        <Mark key={mark.key} {...mark} scales={scales} width={width} height={height} tone={tone} />
      ))}
    </g>
  );
}

function Axes({ panel, scales, width, height, tone }) {
  const bottom = height - MARGIN.bottom;
  const label = (x, y, anchor, text) => (
    <text x={r(x)} y={r(y)} text-anchor={anchor} fill={tone.text} stroke="none">
      {text}
    </text>
  );
  const columns = panel.dates ? datesOf(panel, scales) : placesOf(panel, scales, width);
  return (
    <g stroke={tone.grid}>
      {valueTicks(panel).map((value) => (
        <g key={`y${value}`}>
          <path d={`M${MARGIN.left} ${r(scales.y(value))}H${width - MARGIN.right}`} />
          {label(MARGIN.left - 8, scales.y(value) + 4, 'end', valueLabel(value))}
        </g>
      ))}
      {columns.map(({ at, text }) => (
        <g key={`x${at}`}>
          {!panel.dates && <path d={`M${r(at)} ${MARGIN.top}V${bottom + 4}`} />}
          {label(at, bottom + 18, 'middle', text)}
        </g>
      ))}
    </g>
  );
}

const placesOf = (panel, { x }, width) =>
  placeTicks(panel, width - MARGIN.left - MARGIN.right).map((at) => ({
    at: x(at),
    text: placeLabel(panel, at),
  }));

/* Labels of dates. Skips repeated dates, and dates too close to the previous label. */
function datesOf({ dates }, { x }) {
  const shown = [];
  dates.forEach((text, i) => {
    const at = Math.max(x(i), MARGIN.left + DATE_PX / 4);
    const last = shown.at(-1);
    if (!last || (at - last.at >= DATE_PX && text !== last.text)) {
      shown.push({ at, text });
    }
  });
  return shown;
}

function Band({ points, colour, scales, opacity }) {
  const corner = (end) => (p) => [scales.x(p.x), scales.y(p[end])];
  const outline = [...points.map(corner('hi')), ...points.map(corner('lo')).reverse()];
  return points.length > 1 && <path d={`${path(outline)}Z`} fill={colour} fill-opacity={opacity} />;
}

/* A reference: a dashed line, and a band if its points have one. */
function Reference({ points, colour, scales }) {
  const through = points.filter(({ y }) => y !== undefined);
  return (
    <>
      <Band
        points={points.filter(({ lo }) => lo !== undefined)}
        colour={colour}
        scales={scales}
        opacity={0.2}
      />
      {through.length > 1 && (
        <path
          d={path(through.map((p) => [scales.x(p.x), scales.y(p.y)]))}
          stroke={colour}
          stroke-width="1.5"
          stroke-dasharray={REFERENCE_DASH.join(' ')}
        />
      )}
    </>
  );
}

function Points({ points, shape, spread, scales }) {
  const bars = points
    .filter(({ bar }) => spread && bar)
    .map(({ x, bar }) => {
      const at = scales.x(x);
      const [low, high] = bar.map(scales.y);
      const ends = [low, high].map((y) => `M${r(at - BAR_HALF)} ${r(y)}h${2 * BAR_HALF}`);
      return `M${r(at)} ${r(low)}V${r(high)}${ends.join('')}`;
    })
    .join('');
  return (
    <>
      {bars && <path class="bars" d={bars} stroke-width="1.4" fill="none" />}
      <path
        stroke-width="1.6"
        d={points.map(({ x, y }) => `M${r(scales.x(x))} ${r(scales.y(y))}${SHAPES[shape]}`).join('')}
      />
    </>
  );
}

/* A vertical line, with a text on the side where it fits. */
function Mark({ x, text, colour, dash, isLow, scales, width, height, tone }) {
  const at = r(scales.x(x));
  const side = at > width / 2 ? -1 : 1;
  return (
    <g class="mark" stroke={colour ?? tone.text}>
      <path d={`M${at} ${MARGIN.top}V${height - MARGIN.bottom}`} stroke-width="1.5" stroke-dasharray={dash} />
      <text
        x={at + 5 * side}
        y={isLow ? height - MARGIN.bottom - 6 : MARGIN.top + 10}
        text-anchor={side < 0 ? 'end' : 'start'}
        fill={colour ?? tone.text}
        stroke="none"
        font-weight={isLow ? 640 : 400}
      >
        {text}
      </text>
    </g>
  );
}

/* A short piece of a line with its point, for legends. */
export const Glyph = ({ line }) => (
  <svg class="glyph" viewBox="0 0 28 14" aria-hidden="true">
    <GlyphPaths line={line} />
  </svg>
);

export const GlyphPaths = ({ line, surface = 'var(--surface)' }) => (
  <g stroke={line.colour}>
    {line.isBand && <path d="M0 0H28V14H0Z" fill={line.colour} opacity="0.25" stroke="none" />}
    <path d="M0 7H28" stroke-width="2" stroke-dasharray={line.dash.join(' ') || undefined} />
    {line.shape && (
      <path d={`M14 7${SHAPES[line.shape]}`} stroke-width="1.6" fill={line.hollow ? surface : line.colour} />
    )}
  </g>
);
