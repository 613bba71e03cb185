/* chart.mjs - one panel (chart_model.mjs) on uPlot: shaped points, bounds as a band, what it
 * is held against, a tooltip that follows the pointer or the arrow keys, a range to choose */
import uPlot from 'uplot';
import {
  alignLines,
  BAR_HALF,
  barStrokes,
  placeLabel,
  placeTicks,
  placeTip,
  tipRoom,
  valueLabel,
  valueTicks,
} from './chart_model.mjs';
import { h } from './dom.mjs';
import { REFERENCE_DASH, shapeCorners } from './palette.mjs';
import { tipOf } from './readout.mjs';

const POINT_RADIUS = 3.4;
const CROWDED_PX = 6;
/* A drag that is shorter is a click. */
const DRAG_PX = 6;

export class Chart {
  /* `onCursor(x)` is told of the place under the cursor, null when it left; `onZoom([low,
   * high])` of the range that was chosen, null for all of it. Without onZoom none can be. */
  constructor(root, { onCursor = () => {}, onZoom = null } = {}) {
    this.onCursor = onCursor;
    this.onZoom = onZoom;
    this.plot = null;
    this.made = '';
    this.anchor = null;
    this.isPointedAt = false;
    this.tip = h('div.readout', { hidden: true, role: 'status' });
    this.box = h('div.chart-box', {
      tabindex: '0',
      role: 'group',
      on: { keydown: (event) => this.onKey(event), blur: () => this.leave() },
    });
    this.box.append(this.tip);
    root.append(this.box);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.box);
  }

  /* `spread`: whether bands and bars are drawn. */
  update(panel, { height = 300, spread = true } = {}) {
    this.panel = panel;
    this.spread = spread;
    this.height = height;
    this.box.setAttribute(
      'aria-label',
      `Chart of ${panel.title}: ${panel.axis} over ` +
        `${panel.isSize ? 'bytes' : panel.place}. Left and right arrow keys read out each ` +
        `point${this.onZoom ? '; with Shift they choose a range, Enter shows it, 0 all' : ''}.`,
    );
    this.tone = colours();
    const made = JSON.stringify([
      height,
      panel.lines.map((line) => [line.key, line.hidden, line.colour]),
      panel.isLog,
      panel.isSize,
      this.tone,
    ]);
    this.data = alignLines(panel.lines);
    if (made !== this.made || !this.plot) {
      this.made = made;
      this.build();
    } else {
      this.plot.setData(this.data);
    }
  }

  build() {
    this.plot?.destroy();
    this.plot = new uPlot(this.options(), this.data, this.box);
  }

  width() {
    return Math.max(240, this.box.clientWidth);
  }

  options() {
    const { tone } = this;
    return {
      width: this.width(),
      height: this.height,
      padding: [12, 16, 0, 0],
      legend: { show: false },
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: this.onZoom !== null, y: false, setScale: false, dist: DRAG_PX },
        move: nearestPlace,
        bind: { dblclick: () => () => this.onZoom?.(null) },
      },
      scales: {
        x: {
          time: false,
          distr: this.panel.isSize ? 3 : 1,
          log: 2,
          range: () => this.panel.x,
        },
        y: { distr: this.panel.isLog ? 3 : 1, log: 10, range: () => this.panel.y },
      },
      axes: [placeAxis(tone, this), valueAxis(tone, this)],
      series: [
        {},
        ...this.panel.lines.map((line) => ({
          show: !line.hidden,
          stroke: line.colour,
          width: 2,
          dash: line.dash,
          spanGaps: true,
          points: { show: false },
        })),
      ],
      hooks: {
        drawAxes: [(u) => this.drawUnder(u)],
        draw: [(u) => this.drawPoints(u)],
        setCursor: [(u) => this.atCursor(u)],
        setSelect: [
          (u) => this.choose(u.posToVal(u.select.left, 'x'), u.posToVal(u.select.left + u.select.width, 'x')),
        ],
      },
    };
  }

  /* What lies under the lines. */
  drawUnder(u) {
    this.panel.references.forEach((reference) => drawReference(u, reference));
    if (this.spread) {
      const lines = this.lines().filter((line) => line.points.length > 1);
      lines.forEach((line) => fillBand(u, line, lines.length > 2 ? 0.08 : 0.14));
    }
  }

  drawPoints(u) {
    const crowded = this.data[0].length * CROWDED_PX * devicePixelRatio > u.bbox.width;
    for (const line of this.lines().filter(({ points }) => !crowded || points.length === 1)) {
      if (this.spread) {
        drawBars(u, line);
      }
      drawShapes(u, line, this.tone.surface);
    }
  }

  lines() {
    return this.panel.lines.filter((line) => !line.hidden);
  }

  /* ---- The cursor ---- */

  atCursor(u) {
    if (this.isPointedAt) {
      return;
    }
    const index = u.cursor.left < 0 ? null : u.cursor.idx;
    const x = this.data[0][index] ?? null;
    this.tip.hidden = x === null;
    if (x !== null) {
      this.tip.replaceChildren(tipOf(this.panel, x));
      this.placeTip(u, x);
    }
    this.onCursor(x);
  }

  placeTip(u, x) {
    const { offsetLeft, offsetTop, clientHeight } = u.over;
    const at = (px, py) => [offsetLeft + u.valToPos(px, 'x'), offsetTop + u.valToPos(py, 'y')];
    const [left] = at(x, this.panel.y[1]);
    const points = this.lines().flatMap((line) => line.points.map((p) => at(p.x, p.y)));
    const width = this.box.clientWidth;
    this.tip.style.setProperty('max-width', `${tipRoom(left, width)}px`);
    this.tip.style.setProperty('left', '0');
    const size = { width: this.tip.offsetWidth, height: this.tip.offsetHeight };
    const box = { width, top: offsetTop, bottom: offsetTop + clientHeight };
    const place = placeTip(size, left, points, box);
    this.tip.style.setProperty('left', `${Math.round(place.left)}px`);
    this.tip.style.setProperty('top', `${Math.round(place.top)}px`);
  }

  /* Show where x is, without a tooltip and telling nobody; null: nowhere. */
  point(x) {
    this.isPointedAt = x !== null;
    this.plot?.setCursor(
      x === null ? { left: -10, top: -10 } : { left: this.plot.valToPos(x, 'x'), top: 10 },
      false,
    );
  }

  leave() {
    this.unselect();
    this.plot?.setCursor({ left: -10, top: -10 });
  }

  onKey(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) {
      event.preventDefault();
      this.step(step, event.shiftKey);
    } else if (event.key === 'Escape') {
      this.leave();
    } else if (event.key === 'Enter' && this.anchor !== null) {
      this.choose(this.anchor, this.data[0][this.plot.cursor.idx]);
    } else if (event.key === '0') {
      this.onZoom?.(null);
    }
  }

  /* To the next point; choosing, from where the first step began. */
  step(step, choosing) {
    const [xs] = this.data;
    if (xs.length === 0) {
      return;
    }
    this.isPointedAt = false;
    const now = this.tip.hidden ? -1 : this.plot.cursor.idx;
    const next = now < 0 && step < 0 ? xs.length - 1 : now + step;
    const at = xs[Math.min(xs.length - 1, Math.max(0, next))];
    this.plot.setCursor({ left: this.plot.valToPos(at, 'x'), top: 10 });
    if (!choosing || !this.onZoom) {
      this.unselect();
      return;
    }
    this.anchor ??= xs[Math.max(0, now)];
    const [left, right] = [this.anchor, at].map((x) => this.plot.valToPos(x, 'x')).sort((a, b) => a - b);
    const height = this.plot.over.clientHeight;
    this.plot.setSelect({ left, width: right - left, top: 0, height }, false);
  }

  unselect() {
    this.anchor = null;
    this.plot?.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
  }

  /* From the first to the last point between; a single one is no range. */
  choose(a, b) {
    const low = Math.min(a, b) * (1 - 1e-9);
    const high = Math.max(a, b) * (1 + 1e-9);
    const xs = this.data[0].filter((x) => x >= low && x <= high);
    this.unselect();
    if (xs.length > 1) {
      this.leave();
      this.onZoom([xs[0], xs[xs.length - 1]]);
    }
  }

  resize() {
    if (this.plot && Math.abs(this.plot.width - this.width()) > 1) {
      this.plot.setSize({ width: this.width(), height: this.height });
    }
  }

  destroy() {
    this.observer.disconnect();
    this.plot?.destroy();
    this.box.remove();
  }
}

/* The theme's colours, which a canvas does not inherit. */
export function colours() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(name).trim();
  return {
    text: read('--muted'),
    grid: read('--grid'),
    surface: read('--surface'),
    font: `12px ${read('--sans')}`,
  };
}

/* The cursor goes from point to point. */
function nearestPlace(u, left, top) {
  const x = left < 0 ? undefined : u.data[0][u.posToIdx(left)];
  return [x === undefined ? left : u.valToPos(x, 'x'), top];
}

const axis = (tone) => ({
  stroke: tone.text,
  font: tone.font,
  grid: { stroke: tone.grid, width: 1 },
  filter: (_u, splits) => splits,
});

function placeAxis(tone, chart) {
  return {
    ...axis(tone),
    ticks: { stroke: tone.grid, width: 1, size: 4 },
    size: 34,
    splits: (u) => placeTicks(chart.panel, u.bbox.width / devicePixelRatio),
    values: (_u, splits) => splits.map((at) => placeLabel(chart.panel, at)),
  };
}

function valueAxis(tone, chart) {
  return {
    ...axis(tone),
    ticks: { show: false },
    size: 52,
    splits: () => valueTicks(chart.panel),
    values: (_u, splits) => splits.map(valueLabel),
  };
}

/* A place and a value on the canvas; the axis' end stands for what lies below it. */
const on = (u, x, y) => [u.valToPos(x, 'x', true), u.valToPos(Math.max(y, u.scales.y.min), 'y', true)];

/* Draw within the plot, and up to `slack` pixels beyond; what draws needs no clean-up. */
function drawIn(u, slack, draw) {
  const { left, top, width, height } = u.bbox;
  const more = slack * devicePixelRatio;
  u.ctx.save();
  u.ctx.beginPath();
  u.ctx.rect(left - more, top - more, width + 2 * more, height + 2 * more);
  u.ctx.clip();
  u.ctx.setLineDash([]);
  draw(u.ctx, devicePixelRatio);
  u.ctx.restore();
}

function fillBand(u, { points, colour }, alpha) {
  const upper = points.map((p) => on(u, p.x, p.hi));
  const lower = points.map((p) => on(u, p.x, p.lo)).reverse();
  drawIn(u, 0, (ctx) => {
    ctx.globalAlpha = alpha;
    ctx.fillStyle = colour;
    trace(ctx, [...upper, ...lower]);
    ctx.fill();
  });
}

/* What lines are held against: a band, and a line through it with its name. */
function drawReference(u, reference) {
  const band = reference.points.filter(({ lo }) => lo !== undefined);
  if (band.length > 1) {
    fillBand(u, { ...reference, points: band }, 0.2);
  }
  const through = reference.points.filter(({ y }) => y !== undefined).map((p) => on(u, p.x, p.y));
  if (through.length < 2) {
    return;
  }
  drawIn(u, 0, (ctx, ratio) => {
    ctx.strokeStyle = ctx.fillStyle = reference.colour;
    ctx.lineWidth = 1.5 * ratio;
    ctx.setLineDash(REFERENCE_DASH.map((length) => length * ratio));
    ctx.beginPath();
    through.forEach(([x, y], i) => (i ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
    ctx.stroke();
  });
}

/* How far each point may be off: a bar with ends, unlike the ranks' band. */
function drawBars(u, line) {
  drawIn(u, 6, (ctx, ratio) => {
    ctx.lineWidth = 1.4 * ratio;
    ctx.strokeStyle = line.colour;
    ctx.beginPath();
    for (const { x, bar } of line.points.filter((point) => point.bar)) {
      const [[across, low], [, high]] = bar.map((y) => on(u, x, y));
      for (const [from, to] of barStrokes(across, [low, high], BAR_HALF * ratio)) {
        ctx.moveTo(...from);
        ctx.lineTo(...to);
      }
    }
    ctx.stroke();
  });
}

function drawShapes(u, line, surface) {
  drawIn(u, 6, (ctx, ratio) => {
    ctx.lineWidth = 1.8 * ratio;
    ctx.strokeStyle = line.colour;
    ctx.fillStyle = line.hollow ? surface : line.colour;
    for (const point of line.points) {
      const [x, y] = on(u, point.x, point.y);
      const corners = shapeCorners(line.shape, x, y, POINT_RADIUS * ratio);
      if (corners) {
        trace(ctx, corners);
      } else {
        ctx.beginPath();
        ctx.arc(x, y, POINT_RADIUS * ratio, 0, 2 * Math.PI);
      }
      ctx.fill();
      ctx.stroke();
    }
  });
}

function trace(ctx, corners) {
  ctx.beginPath();
  corners.forEach(([x, y], index) => (index ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
  ctx.closePath();
}
