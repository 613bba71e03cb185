/* chart.mjs - one panel on uPlot: log2 sizes, shaped points, bounds as a band, a readout
 * that follows the pointer or the arrow keys */
import uPlot from '../vendor/uPlot.esm.js';
import {
  alignLines,
  BAR_HALF,
  barStrokes,
  countTicks,
  logTicks,
  sizeTicks,
  yScale
} from './chart_model.mjs';
import {h} from './dom.mjs';
import {shapeCorners} from './palette.mjs';
import {readout} from './readout.mjs';
import {formatSize, significant} from './units.mjs';

const POINT_RADIUS = 3.4;
const CROWDED_PX = 6;

export class Chart {
  constructor(root) {
    this.height = 300;
    this.plot = null;
    this.made = '';
    this.panel = null;
    this.view = null;
    this.tip = h('div.readout', {hidden: true, role: 'status'});
    this.box = h('div.chart-box', {
      tabindex: '0',
      role: 'group',
      on: {keydown: event => this.onKey(event), blur: () => this.leave()}
    });
    this.box.append(this.tip);
    root.append(this.box);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.box);
  }

  update(panel, view, height = this.height) {
    this.panel = panel;
    this.view = view;
    this.box.setAttribute('aria-label',
      `Chart of ${panel.collective}: ${panel.axis} over ` +
        `${panel.isSize ? 'bytes' : panel.place}. Left and right arrow keys read ` +
        'out each point; the table below has all figures.');
    this.height = height;
    const made = JSON.stringify([
      height, panel.lines.map(l => [l.key, l.hidden, l.colour]), yScale(view, panel),
      panel.isSize, view.metric, colours().text
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
    const tone = colours();
    const logY = yScale(this.view, this.panel) === 'log';
    return {
      width: this.width(),
      height: this.height,
      padding: [12, 16, 0, 0],
      legend: {show: false},
      cursor: {y: false, points: {show: false}, drag: {x: false, y: false}},
      scales: {
        x: {
          time: false,
          distr: this.panel.isSize ? 3 : 1,
          log: 2,
          range: () => this.panel.x
        },
        y: {distr: logY ? 3 : 1, log: 10, range: () => this.panel.y}
      },
      axes: [placeAxis(tone, this.panel.isSize), valueAxis(tone, logY)],
      series: [
        {}, ...this.panel.lines.map(line => ({
          show: !line.hidden,
          stroke: line.colour,
          width: 2,
          dash: line.dash,
          spanGaps: true,
          points: {show: false}
        }))
      ],
      hooks: {
        drawAxes: [u => this.drawBands(u)],
        draw: [u => this.drawPoints(u)],
        setCursor: [u => this.onCursor(u)]
      }
    };
  }

  drawBands(u) {
    if (!this.view.band) {
      return;
    }
    const lines = this.panel.lines.filter(line => !line.hidden && line.points.length > 1);
    lines.forEach(line => fillBand(u, line, lines.length > 2 ? 0.08 : 0.14));
  }

  drawPoints(u) {
    const crowded = this.data[0].length * CROWDED_PX * devicePixelRatio > u.bbox.width;
    for (const line of this.panel.lines) {
      if (!line.hidden && !(crowded && line.points.length > 1)) {
        if (this.view.band) {
          drawBars(u, line);
        }
        drawShapes(u, line, colours().surface);
      }
    }
  }

  onCursor(u) {
    const index = u.cursor.idx;
    const x = index == null || u.cursor.left < 0 ? null : this.data[0][index];
    if (x == null) {
      this.tip.hidden = true;
      return;
    }
    this.tip.replaceChildren(readout(this.panel, x, this.view));
    this.tip.hidden = false;
    placeTip(this.tip, u, x, this.box);
  }

  onKey(event) {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    const xs = this.data?.[0] ?? [];
    if (event.key === 'Escape') {
      this.leave();
    }
    if (!step || xs.length === 0) {
      return;
    }
    event.preventDefault();
    const now = this.tip.hidden ? -1 : this.plot.cursor.idx;
    const next = now < 0 && step < 0 ? xs.length - 1 : now + step;
    const index = Math.min(xs.length - 1, Math.max(0, next));
    this.plot.setCursor({left: this.plot.valToPos(xs[index], 'x'), top: 10});
  }

  leave() {
    this.tip.hidden = true;
    this.plot?.setCursor({left: -10, top: -10}, false);
  }

  resize() {
    if (this.plot && Math.abs(this.plot.width - this.width()) > 1) {
      this.plot.setSize({width: this.width(), height: this.height});
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
  const read = name => style.getPropertyValue(name).trim();
  return {
    text: read('--muted'),
    grid: read('--grid'),
    surface: read('--surface'),
    font: `12px ${read('--sans')}`
  };
}

const axis = tone => ({
  stroke: tone.text,
  font: tone.font,
  grid: {stroke: tone.grid, width: 1},
  filter: (u, splits) => splits
});

function placeAxis(tone, isSize) {
  return {
    ...axis(tone),
    ticks: {stroke: tone.grid, width: 1, size: 4},
    size: 34,
    splits: (u, axis, low, high) =>
      (isSize ? sizeTicks : countTicks)([low, high], u.bbox.width / devicePixelRatio, 44),
    values: (u, splits) => splits.map(isSize ? formatSize : String)
  };
}

function valueAxis(tone, logY) {
  return {
    ...axis(tone),
    ticks: {show: false},
    size: 52,
    splits: logY ? (u, axis, low, high) => logTicks([low, high]) : undefined,
    values: (u, splits) => splits.map(v => (v === 0 ? '0' : trimZeros(significant(v))))
  };
}

const trimZeros = text => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);

function fillBand(u, line, alpha) {
  const clamp = y => Math.max(y, u.scales.y.min);
  const at = (x, y) => [u.valToPos(x, 'x', true), u.valToPos(clamp(y), 'y', true)];
  const upper = line.points.map(p => at(p.x, p.hi));
  const lower = line.points.map(p => at(p.x, p.lo)).reverse();
  u.ctx.save();
  clipToPlot(u);
  u.ctx.globalAlpha = alpha;
  u.ctx.fillStyle = line.colour;
  trace(u.ctx, [...upper, ...lower]);
  u.ctx.fill();
  u.ctx.restore();
}

/* How far each point may be off: a bar with ends, unlike the ranks' band. */
function drawBars(u, line) {
  const ratio = devicePixelRatio;
  u.ctx.save();
  clipToPlot(u, 6 * ratio);
  u.ctx.setLineDash([]);
  u.ctx.lineWidth = 1.4 * ratio;
  u.ctx.strokeStyle = line.colour;
  u.ctx.beginPath();
  for (const point of line.points.filter(({bar}) => bar)) {
    const x = u.valToPos(point.x, 'x', true);
    const ends = point.bar.map(y => u.valToPos(Math.max(y, u.scales.y.min), 'y', true));
    for (const [from, to] of barStrokes(x, ends, BAR_HALF * ratio)) {
      u.ctx.moveTo(...from);
      u.ctx.lineTo(...to);
    }
  }
  u.ctx.stroke();
  u.ctx.restore();
}

function drawShapes(u, line, surface) {
  const ratio = devicePixelRatio;
  u.ctx.save();
  clipToPlot(u, 6 * ratio);
  u.ctx.setLineDash([]);
  u.ctx.lineWidth = 1.8 * ratio;
  u.ctx.strokeStyle = line.colour;
  u.ctx.fillStyle = line.hollow ? surface : line.colour;
  for (const point of line.points) {
    const x = u.valToPos(point.x, 'x', true);
    const y = u.valToPos(point.y, 'y', true);
    const corners = shapeCorners(line.shape, x, y, POINT_RADIUS * ratio);
    if (corners) {
      trace(u.ctx, corners);
    } else {
      u.ctx.beginPath();
      u.ctx.arc(x, y, POINT_RADIUS * ratio, 0, 2 * Math.PI);
    }
    u.ctx.fill();
    u.ctx.stroke();
  }
  u.ctx.restore();
}

function clipToPlot(u, slack = 0) {
  const {left, top, width, height} = u.bbox;
  u.ctx.beginPath();
  u.ctx.rect(left - slack, top - slack, width + 2 * slack, height + 2 * slack);
  u.ctx.clip();
}

function trace(ctx, corners) {
  ctx.beginPath();
  corners.forEach(([x, y], index) => (index ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
  ctx.closePath();
}

/* Beside the line at x, on the side where there is room. */
function placeTip(tip, u, x, box) {
  const left = u.over.offsetLeft + u.valToPos(x, 'x');
  const width = tip.offsetWidth;
  const fits = left + 14 + width <= box.clientWidth;
  const at = fits ? left + 14 : Math.max(0, left - 14 - width);
  tip.style.setProperty('left', `${Math.round(at)}px`);
  tip.style.setProperty('top', '14px');
}
