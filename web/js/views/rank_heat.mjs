/* rank_heat.mjs - a map of ranks by sizes: whose own times differ from the others' */
import {h, setHidden, setText} from '../dom.mjs';
import {deviation, heatBins, heatColour, heatOf, heatShade} from '../heat.mjs';
import {formatPercent, formatSize, formatTime, shorten} from '../units.mjs';

const LABELS_PX = 48;
const AXIS_PX = 20;
const ROW_PX = 15;
const ROWS_MAX = 32;
const TICK_PX = 64;
/* At most so often it is drawn: it is read, not watched. */
const PAUSE_MS = 400;

export function rankHeat() {
  const canvas = h('canvas', {'aria-hidden': 'true'});
  const box = h('div.heat-box', {
    tabindex: '0',
    role: 'group',
    'aria-label': 'Map of ranks by sizes. Arrow keys read out each cell, beginning with ' +
      'the one that differs most.'
  },
    canvas);
  const said = h('p.muted', {role: 'status'});
  const choice = h('select', {'aria-label': 'Series'});
  const empty = h('p.muted', 'There are no times of single ranks here: a row of the ' +
    'table has them when it is opened.');
  const key = h('p.muted.heat-key', h('span.heat-scale'),
    'shorter than the median of the ranks, or longer, by 1 to 100 %. Whom the others ' +
      'wait for has the shortest times: it waits for nobody.');
  const element = h('section.card', h('h2', 'Ranks by size'),
    h('div.controls', choice), empty, box, said, key);
  const map = new HeatMap(canvas, box, said);
  let timer = 0;
  let drawn = '';
  let now = () => {};
  choice.addEventListener('change', () => now());

  function draw(book, shownCase) {
    const lines = [...book.lines.values()];
    fillChoice(choice, lines);
    const line = lines.find(one => one.key === choice.value) ?? lines[0];
    const sign = [line?.key, line?.revision, book.epoch, lines.length, box.clientWidth,
      document.documentElement.dataset.theme].join();
    if (sign === drawn) {
      return;
    }
    drawn = sign;
    const heat = line ? heatOf(line, line.members) : {rows: [], members: []};
    const has = heat.rows.length > 0;
    setHidden(empty, has);
    [box, said, key, choice.parentElement].forEach(part => setHidden(part, !has));
    map.draw(heat, shownCase);
  }

  return {
    element,
    update(book, shownCase) {
      now = () => draw(book, shownCase);
      if (drawn === '') {
        now();
      }
      timer ||= setTimeout(() => {
        timer = 0;
        now();
      }, PAUSE_MS);
    },
    destroy: () => clearTimeout(timer)
  };
}

function fillChoice(choice, lines) {
  lines.slice(choice.options.length).forEach(line => choice.append(
    h('option', {value: line.key}, line.label + (line.inPlace ? ', in place' : ''))));
}

class HeatMap {
  constructor(canvas, box, said) {
    Object.assign(this, {canvas, box, said, at: null, heat: null});
    box.addEventListener('keydown', event => this.onKey(event));
    box.addEventListener('focus', () => this.go(this.at ?? this.worst()));
    canvas.addEventListener('pointermove', event => this.onPointer(event));
  }

  draw(heat, shownCase) {
    this.heat = heat;
    this.shownCase = shownCase;
    const width = Math.max(240, this.box.clientWidth);
    const ratio = window.devicePixelRatio || 1;
    const room = Math.floor(width - LABELS_PX);
    this.binned = heatBins(heat, room, ROWS_MAX);
    this.cell = Math.min(ROW_PX * 4, room / Math.max(1, this.binned.columns));
    const height = this.binned.lines * ROW_PX + AXIS_PX;
    Object.assign(this.canvas, {width: width * ratio, height: height * ratio});
    this.canvas.style.setProperty('width', `${width}px`);
    this.canvas.style.setProperty('height', `${height}px`);
    this.pen = this.canvas.getContext('2d');
    this.pen.scale(ratio, ratio);
    if (document.activeElement === this.box || this.at) {
      this.go(this.at ?? this.worst());
    } else {
      setText(this.said, `Furthest from the others: ${this.inWords(this.worst())}`);
      this.paint();
    }
  }

  paint() {
    const {pen, binned, heat} = this;
    const style = getComputedStyle(this.box);
    const [text, ground] = ['--muted', '--sunken'].map(name => style.getPropertyValue(name));
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    pen.fillStyle = ground;
    pen.fillRect(LABELS_PX, 0, binned.columns * this.cell, binned.lines * ROW_PX);
    for (const {x, y, cell} of binned.bins) {
      const shade = heatShade(cell.part);
      if (shade !== 0) {
        pen.fillStyle = heatColour(shade);
        pen.fillRect(LABELS_PX + x * this.cell, y * ROW_PX, Math.max(1, this.cell - 0.5),
          ROW_PX - 1);
      }
    }
    pen.fillStyle = text;
    pen.font = `11px ${style.fontFamily}`;
    pen.textBaseline = 'middle';
    for (let y = 0; y < binned.lines; y += 1) {
      pen.fillText(formatSize(heat.rows[y * binned.down].size), 0, (y + 0.5) * ROW_PX);
    }
    this.paintRanks(pen);
    this.paintCursor(pen, style.getPropertyValue('--text'));
  }

  paintRanks(pen) {
    const stride = Math.max(1, Math.ceil(TICK_PX / this.cell));
    for (let x = 0; x < this.binned.columns; x += stride) {
      const rank = this.heat.members[x * this.binned.across];
      pen.fillText(x === 0 ? `rank ${rank}` : rank, LABELS_PX + x * this.cell,
        this.binned.lines * ROW_PX + AXIS_PX / 2);
    }
  }

  paintCursor(pen, colour) {
    if (this.at) {
      pen.strokeStyle = colour;
      pen.lineWidth = 2;
      pen.strokeRect(LABELS_PX + Math.floor(this.at.rank / this.binned.across) * this.cell,
        Math.floor(this.at.row / this.binned.down) * ROW_PX, Math.max(3, this.cell), ROW_PX);
    }
  }

  worst() {
    const all = this.binned?.bins ?? [];
    return all.reduce((a, {cell}) => (a && Math.abs(a.part) >= Math.abs(cell.part) ? a : cell),
      null);
  }

  go(at) {
    const words = this.inWords(at);
    if (words) {
      this.at = {row: at.row, rank: at.rank};
      setText(this.said, words);
    }
    this.paint();
  }

  /* "" where there is no such cell. */
  inWords(at) {
    const row = this.heat?.rows[at?.row];
    const part = row ? deviation(row, at.rank) : null;
    if (part === null) {
      return '';
    }
    const rank = this.heat.members[at.rank];
    const node = this.shownCase?.ranks.get(rank)?.node;
    return `rank ${rank}${node ? ` on ${shorten(node, 60)}` : ''} at ${
      formatSize(row.size)}: ${formatTime(row.times[at.rank])}, ${
      formatPercent(Math.abs(part))} ${part < 0 ? 'shorter' : 'longer'} than the median ` +
      `of the ranks, ${formatTime(row.middle)}`;
  }

  onPointer({offsetX, offsetY}) {
    const x = Math.floor((offsetX - LABELS_PX) / this.cell);
    const y = Math.floor(offsetY / ROW_PX);
    this.go(this.binned.bins.find(bin => bin.x === x && bin.y === y)?.cell);
  }

  onKey(event) {
    const {row, rank} = this.at ?? this.worst() ?? {};
    const last = this.heat ? this.heat.members.length - 1 : 0;
    const to = {
      ArrowLeft: {row, rank: rank - 1},
      ArrowRight: {row, rank: rank + 1},
      ArrowUp: {row: row - 1, rank},
      ArrowDown: {row: row + 1, rank},
      PageUp: {row, rank: Math.max(0, rank - 10)},
      PageDown: {row, rank: Math.min(last, rank + 10)},
      Home: {row, rank: 0},
      End: {row, rank: last}
    }[event.key];
    if (to) {
      event.preventDefault();
      this.go(to);
    }
  }
}
