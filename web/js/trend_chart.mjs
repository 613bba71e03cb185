/* trend_chart.mjs - one band over time: a column per run, intervals as a band, lines where
 * versions changed, marks where the server found a change. The pointer or the arrow keys
 * read a run out; a click or Enter chooses it. */
import { h, svg } from './dom.mjs';
import { valueRange, valueTicks } from './trend_model.mjs';
import { formatChange, shorten, significant } from './units.mjs';

const HEIGHT = 230;
const LEFT = 52;
const RIGHT = 14;
const TOP = 12;
const NAMES_ROOM = 22;
const NAME_MAX = 20;
const BOTTOM = 26;
const CHANGE_ROOM = 70;
const DATE_ROOM = 90;
const DATE_HALF = 34;
const LETTER = 6;

const HINT = 'Point at a run to read it out; a click compares it with the last good one.';

/* `box` is the chart, `said` the line below it, so that nothing covers a point. */
export class TrendChart {
  constructor(label, { readOut, choose }) {
    this.label = label;
    this.readOut = readOut;
    this.choose = choose;
    this.at = null;
    this.said = h('p.trend-readout', { role: 'status' }, HINT);
    this.box = h('div.chart-box.trend', {
      tabindex: '0',
      role: 'group',
      on: {
        keydown: (event) => this.onKey(event),
        blur: () => this.point(null),
        pointermove: (event) => this.onPointer(event),
        pointerleave: () => this.point(null),
        click: (event) => this.onPointer(event) && this.pick(),
      },
    });
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.box);
  }

  update(panel, columns) {
    this.panel = panel;
    this.columns = columns;
    this.points = panel.points;
    this.point(null);
    this.box.setAttribute(
      'aria-label',
      `${this.label}, ${columns.length} runs. Arrow keys ` +
        'read out each run, Enter compares it; the table below has all values.',
    );
    this.draw();
  }

  draw() {
    const width = this.box.clientWidth;
    if (!this.panel || width === 0 || this.points.length === 0) {
      return;
    }
    this.width = Math.max(240, width);
    const [low, high] = valueRange(this.points);
    this.top = TOP + (this.panel.versions.length ? NAMES_ROOM : 0);
    const step = (this.width - LEFT - RIGHT) / this.columns.length;
    this.x = (column) => LEFT + step * (column + 0.5);
    this.y = (value) => this.top + (HEIGHT - this.top - BOTTOM) * (1 - (value - low) / (high - low));
    this.cross = svg('line', { class: 'cross', y1: this.top, y2: HEIGHT - BOTTOM });
    this.box.replaceChildren(
      svg(
        'svg',
        { width: this.width, height: HEIGHT, 'aria-hidden': 'true' },
        this.grid([low, high]),
        this.dates(),
        this.versionLines(step),
        this.intervals(),
        this.line(),
        this.marks(step),
        this.cross,
      ),
    );
    this.place();
  }

  grid(range) {
    return valueTicks(range).map((value) => [
      svg('line', { class: 'grid', x1: LEFT, x2: this.width - RIGHT, y1: this.y(value), y2: this.y(value) }),
      svg(
        'text',
        { x: LEFT - 8, y: this.y(value) + 4, 'text-anchor': 'end' },
        significant(value)
          .replace(/(\.\d*?)0+$/, '$1')
          .replace(/\.$/, ''),
      ),
    ]);
  }

  /* Days where there are several, else times; as many as there is room for. */
  dates() {
    const days = new Set(this.columns.map(({ created }) => created.slice(0, 10)));
    const text = ({ created }) => {
      const time = new Date(created);
      return days.size > 1 ? time.toLocaleDateString('sv') : time.toLocaleTimeString([], { hour12: false });
    };
    let last = -Infinity;
    return this.columns.map((column, i) => {
      const x = this.x(i);
      const isFit = x - last >= DATE_ROOM && x + DATE_HALF <= this.width;
      last = isFit ? x : last;
      return isFit
        ? svg('text', { x: Math.max(x, LEFT), y: HEIGHT - 7, 'text-anchor': 'middle' }, text(column))
        : null;
    });
  }

  versionLines(step) {
    let last = -Infinity;
    return this.panel.versions.map(({ x, text }) => {
      const at = this.x(x) - step / 2;
      const name = shorten(text, NAME_MAX);
      const width = name.length * LETTER + 8;
      const anchor = this.anchor(at, width);
      const from = anchor.side > 0 ? at : at - width;
      const hasRoom = from > last;
      last = hasRoom ? from + width : last;
      return [
        svg(
          'line',
          { class: 'version', x1: at, x2: at, y1: 14, y2: HEIGHT - BOTTOM },
          svg('title', {}, text),
        ),
        hasRoom ? svg('text', { x: at + 4 * anchor.side, y: 22, 'text-anchor': anchor.name }, name) : null,
      ];
    });
  }

  /* Words beside a line at x, on the side where there is room. */
  anchor(x, width) {
    return x + width > this.width ? { name: 'end', side: -1 } : { name: 'start', side: 1 };
  }

  intervals() {
    const known = this.points.filter(({ low }) => low !== null);
    const corner = (end) => (point) => `${this.x(point.x)},${this.y(point[end])}`;
    const outline = [...known.map(corner('high')), ...known.map(corner('low')).reverse()];
    return [
      svg('polygon', { class: 'within', points: outline.join(' ') }),
      known.map(({ x, low, high }) =>
        svg('line', { class: 'ends', x1: this.x(x), x2: this.x(x), y1: this.y(low), y2: this.y(high) }),
      ),
    ];
  }

  line() {
    const at = this.points.map((point) => [this.x(point.x), this.y(point.value)]);
    return [
      svg('polyline', { points: at.join(' ') }),
      at.map(([cx, cy]) => svg('circle', { cx, cy, r: 3.6 })),
    ];
  }

  /* Between the last run before and the first since. */
  marks(step) {
    const answers = new Map(
      this.panel.changes.map((one) => [`${one.series} ${one.run}`, one.verdict.answer]),
    );
    return this.points
      .filter(({ change }) => change !== null)
      .map((point) => {
        const at = this.x(point.x) - step / 2;
        const answer = answers.get(`${point.series} ${point.run}`);
        const anchor = this.anchor(at, CHANGE_ROOM);
        return svg(
          'g',
          { class: `change ${answer}` },
          svg('line', { x1: at, x2: at, y1: this.top, y2: HEIGHT - BOTTOM }),
          svg(
            'text',
            { x: at + 5 * anchor.side, y: HEIGHT - BOTTOM - 6, 'text-anchor': anchor.name },
            `${answer === 'better' ? '▲' : '▼'} ${formatChange(point.change)}`,
          ),
        );
      });
  }

  /* The point that is nearest; true where there is one. */
  onPointer(event) {
    const { left } = this.box.getBoundingClientRect();
    const far = ({ x }) => Math.abs(this.x(x) - (event.clientX - left));
    let nearest = null;
    this.points.forEach((point, i) => {
      if (nearest === null || far(point) < far(this.points[nearest])) {
        nearest = i;
      }
    });
    this.point(nearest);
    return nearest !== null;
  }

  onKey(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const last = this.points.length - 1;
    if (event.key === 'Escape') {
      this.point(null);
    } else if (event.key === 'Enter' && this.at !== null) {
      this.pick();
    } else if (step && last >= 0) {
      event.preventDefault();
      this.point(this.at === null ? (step > 0 ? 0 : last) : Math.min(last, Math.max(0, this.at + step)));
    }
  }

  pick() {
    this.choose(this.points[this.at]);
  }

  point(index) {
    if (index === this.at) {
      return;
    }
    this.at = index;
    this.said.replaceChildren(...(index === null ? [HINT] : this.readOut(this.points[index])));
    this.place();
  }

  place() {
    if (this.cross) {
      const x = this.at === null ? 0 : this.x(this.points[this.at].x);
      this.cross.setAttribute('visibility', this.at === null ? 'hidden' : 'visible');
      this.cross.setAttribute('x1', x);
      this.cross.setAttribute('x2', x);
    }
  }

  destroy() {
    this.observer.disconnect();
  }
}
