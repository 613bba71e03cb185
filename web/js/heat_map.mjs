/* heat_map.mjs - cells on a canvas, coloured by how far they are off, that the pointer and
 * the arrow keys read out */
import { h, setText } from './dom.mjs';
import { heatColour } from './heat.mjs';

/* At most so often it is drawn: it is read, not watched. */
const PAUSE_MS = 400;

/* `label` says what the map is of; `gridOf()` gives what is on it:
 *   width, left, foot         of the canvas, and what names and ticks take of it, in px
 *   cell: [w, h], gap, font   of a cell, in px
 *   columns, rows             how many cells are drawn
 *   across, down              how many places a cell stands for, each way; 1 if not given
 *   cells                     [{x, y, shade, isFailed, at}]: `shade` as heatColour() has it,
 *                             `at` the place read out, the cell's first if not given
 *   isSolid                   where there is no cell it looks as if there were one that is not off
 *   names                     [{y, text, isNamed}] of rows, who is named outlined
 *   ticks                     [{x, text}] below the columns
 *   last                      the last place in a row
 *   first, worst              where the keys begin, and what is said before of that place
 *   words(at)                 of a place {row, column}; '' where there is none
 *   open(at)                  what a click or Enter does */
export class HeatMap {
  constructor(label, gridOf) {
    this.canvas = h('canvas', { 'aria-hidden': 'true' });
    this.box = h('div.heat-box', { tabindex: '0', role: 'group', 'aria-label': label }, this.canvas);
    this.said = h('p.muted', { role: 'status' });
    Object.assign(this, { gridOf, at: null, drawn: null, timer: 0 });
    this.box.addEventListener('keydown', (event) => this.onKey(event));
    this.box.addEventListener('focus', () => this.go(this.at ?? this.grid?.worst));
    this.canvas.addEventListener('pointermove', (event) => this.go(this.placeOf(event)));
    this.canvas.addEventListener('click', (event) => this.grid.open?.(this.placeOf(event)));
  }

  /* At once the first time, then soon; `signOf` gives what it is drawn anew for. */
  update(signOf) {
    this.signOf = signOf;
    if (this.drawn === null) {
      this.refresh();
    }
    this.timer ||= setTimeout(() => {
      this.timer = 0;
      this.refresh();
    }, PAUSE_MS);
  }

  refresh() {
    const sign = [this.box.clientWidth, document.documentElement.dataset.theme, ...this.signOf()];
    if (sign.length !== this.drawn?.length || sign.some((one, i) => one !== this.drawn[i])) {
      this.drawn = sign;
      this.draw();
    }
  }

  /* How wide a map may be. */
  get room() {
    return Math.max(240, this.box.clientWidth);
  }

  /* Of the theme that is on. */
  get tone() {
    const style = getComputedStyle(this.box);
    const [text, muted, ground, blank, bad, surface] = [
      'text',
      'muted',
      'border',
      'surface',
      'bad',
      'surface',
    ].map((name) => style.getPropertyValue(`--${name}`).trim());
    return { text, muted, ground, blank, bad, surface };
  }

  destroy() {
    clearTimeout(this.timer);
  }

  draw() {
    this.grid = { across: 1, down: 1, ticks: [], ...this.gridOf() };
    this.places = new Map(this.grid.cells.filter(({ at }) => at).map(({ x, y, at }) => [`${x},${y}`, at]));
    const { width, foot, rows, first, worst, cell } = this.grid;
    const height = rows * cell[1] + foot;
    const ratio = window.devicePixelRatio || 1;
    Object.assign(this.canvas, { width: width * ratio, height: height * ratio });
    this.canvas.style.setProperty('width', `${width}px`);
    this.canvas.style.setProperty('height', `${height}px`);
    this.pen = this.canvas.getContext('2d');
    this.pen.scale(ratio, ratio);
    this.paintAll();
    /* The pointer changes no more than the outline. */
    this.still = h('canvas', { width: width * ratio, height: height * ratio });
    this.still.getContext('2d').drawImage(this.canvas, 0, 0);
    if (document.activeElement === this.box || this.at) {
      this.go(this.at ?? worst);
    } else {
      setText(this.said, `${first}: ${this.grid.words(worst)}`);
    }
  }

  paintAll() {
    const { pen, grid } = this;
    const {
      left,
      cell: [w, h],
      columns,
      rows,
      font,
    } = grid;
    const { text, muted, ground, blank, bad } = this.tone;
    pen.fillStyle = grid.isSolid ? ground : blank;
    pen.fillRect(left, 0, columns * w, rows * h);
    grid.cells.forEach((cell) => this.paintCell(cell, ground, bad));
    pen.font = `${font}px ${getComputedStyle(this.box).fontFamily}`;
    pen.textBaseline = 'middle';
    for (const { y, text: name, isNamed } of grid.names) {
      pen.fillStyle = isNamed ? text : muted;
      pen.fillText(name, 0, (y + 0.5) * h, left - 6);
      if (isNamed) {
        this.outline(text, left + 1, y * h, columns * w);
      }
    }
    pen.fillStyle = muted;
    grid.ticks.forEach((tick) => pen.fillText(tick.text, left + tick.x * w, rows * h + grid.foot / 2));
  }

  paint() {
    const {
      pen,
      still,
      grid: {
        left,
        cell: [w, h],
        across,
        down,
      },
    } = this;
    const { a: ratio } = pen.getTransform();
    pen.clearRect(0, 0, still.width, still.height);
    pen.drawImage(still, 0, 0, still.width / ratio, still.height / ratio);
    if (this.at) {
      this.outline(
        this.tone.text,
        left + Math.floor(this.at.column / across) * w,
        Math.floor(this.at.row / down) * h,
        Math.max(3, w),
      );
    }
  }

  outline(colour, x, y, width) {
    this.pen.strokeStyle = colour;
    this.pen.lineWidth = 2;
    this.pen.strokeRect(x, y, width, this.grid.cell[1]);
  }

  paintCell({ x, y, shade, isFailed }, ground, bad) {
    const {
      pen,
      grid: {
        left,
        cell: [w, h],
        gap,
        isSolid,
      },
    } = this;
    const [from, top] = [left + x * w, y * h];
    const [width, height] = [Math.max(1, w - gap), Math.max(1, h - 1)];
    if (!isSolid) {
      pen.fillStyle = ground;
      pen.fillRect(from, top, width, height);
    }
    if (shade) {
      pen.fillStyle = heatColour(shade);
      pen.fillRect(from, top, width, height);
    } else if (isFailed) {
      pen.strokeStyle = bad;
      pen.lineWidth = 1;
      pen.beginPath();
      for (let off = 0; off < height; off += 4) {
        pen.moveTo(from + off, top + height);
        pen.lineTo(from + width, top + off);
      }
      pen.stroke();
    }
  }

  go(at) {
    const words = this.grid?.words(at);
    if (words) {
      this.at = { row: at.row, column: at.column };
      setText(this.said, words);
    }
    if (this.grid) {
      this.paint();
    }
  }

  placeOf({ offsetX, offsetY }) {
    const {
      left,
      cell: [w, h],
      across,
      down,
    } = this.grid;
    const x = Math.floor((offsetX - left) / w);
    const y = Math.floor(offsetY / h);
    return this.places.get(`${x},${y}`) ?? { row: y * down, column: x * across };
  }

  onKey(event) {
    const { last = 0, worst, open } = this.grid ?? {};
    const { row, column } = this.at ?? worst ?? { row: 0, column: 0 };
    const to = {
      ArrowLeft: { row, column: column - 1 },
      ArrowRight: { row, column: column + 1 },
      ArrowUp: { row: row - 1, column },
      ArrowDown: { row: row + 1, column },
      PageUp: { row, column: Math.max(0, column - 10) },
      PageDown: { row, column: Math.min(last, column + 10) },
      Home: { row, column: 0 },
      End: { row, column: last },
    }[event.key];
    if (to) {
      event.preventDefault();
      this.go(to);
    } else if (event.key === 'Enter') {
      open?.(this.at);
    }
  }
}
