/* pair_map.mjs - a map of nodes by nodes: which pairs are slower than the others */
import {caseLabel} from '../case_name.mjs';
import {h, setHidden, setText} from '../dom.mjs';
import {heatColour, heatShade} from '../heat.mjs';
import {pairsOf} from '../pairs.mjs';
import {stateWord} from '../parts.mjs';
import {formatBandwidth, formatPercent, formatSize, shorten} from '../units.mjs';

const NAMES_PX = 110;
const CELL_PX = [3, 22];
const NAME_FROM_PX = 11;
const PAUSE_MS = 400;
/* Cases differ by a few per cent, as new processes do. */
const LEAST = 0.05;

/* `change({case})` shows one of them by itself. */
export function pairMap(change) {
  const canvas = h('canvas', {'aria-hidden': 'true'});
  const box = h('div.heat-box', {
    tabindex: '0',
    role: 'group',
    'aria-label': 'Map of pairs of nodes. Arrow keys read out each pair, beginning with ' +
      'the slowest; Enter shows it by itself.'
  },
    canvas);
  const said = h('p.muted', {role: 'status'});
  const about = h('span.muted.note');
  const element = h('section.card', {'aria-label': 'Pairs'}, h('h2', 'Pairs of nodes', about),
    box, said,
    h('p.muted.heat-key', h('span.heat-scale.slower-left'),
      'slower than the median of all pairs, or faster, by 5 to 100 %. Columns are the rows’ nodes ' +
        'in the same order, the slowest first; ' +
        'hatched: failed; outlined: who is named above.'));
  const map = new PairMap(canvas, box, said, change);
  let timer = 0;
  let latest = null;

  function draw() {
    const pairs = pairsOf(latest.state);
    setText(about, pairs.size === null ? '' : `busbw at ${formatSize(pairs.size)}, median ${
      formatBandwidth(pairs.middle)} GB/s`);
    map.draw(pairs, new Set(latest.named));
  }

  return {
    element,
    /* `named`: the nodes that the server's verdict names. */
    update(state, named) {
      const sign = [state.epoch, state.rowList.length, state.cases.size, box.clientWidth,
        document.documentElement.dataset.theme, named.join()].join();
      if (latest?.sign === sign && latest.state === state) {
        return;
      }
      const isFirst = latest === null;
      latest = {state, named, sign};
      if (isFirst) {
        draw();
      }
      timer ||= setTimeout(() => {
        timer = 0;
        draw();
      }, PAUSE_MS);
    },
    show: is => setHidden(element, !is),
    destroy: () => clearTimeout(timer)
  };
}

class PairMap {
  constructor(canvas, box, said, change) {
    Object.assign(this, {canvas, box, said, change, at: null});
    box.addEventListener('keydown', event => this.onKey(event));
    box.addEventListener('focus', () => this.go(this.at ?? this.worst()));
    canvas.addEventListener('pointermove', event => this.go(this.placeOf(event)));
    canvas.addEventListener('click', event => this.open(this.placeOf(event)));
  }

  draw(pairs, named) {
    Object.assign(this, {pairs, named});
    const count = Math.max(1, pairs.names.length);
    const room = Math.max(240, this.box.clientWidth) - NAMES_PX;
    this.cell = Math.min(CELL_PX[1], Math.max(CELL_PX[0], Math.floor(room / count)));
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [NAMES_PX + count * this.cell + 2, count * this.cell + 2];
    Object.assign(this.canvas, {width: width * ratio, height: height * ratio});
    this.canvas.style.setProperty('width', `${width}px`);
    this.canvas.style.setProperty('height', `${height}px`);
    this.pen = this.canvas.getContext('2d');
    this.pen.scale(ratio, ratio);
    if (this.at) {
      this.go(this.at);
    } else {
      setText(this.said, `Slowest: ${this.inWords(this.worst())}`);
      this.paint();
    }
  }

  paint() {
    const {pen, pairs, cell} = this;
    const style = getComputedStyle(this.box);
    const [text, muted, ground, bad] = ['--text', '--muted', '--sunken', '--bad']
                                         .map(name => style.getPropertyValue(name));
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    for (const [place, one] of pairs.cells) {
      const [row, column] = place.split(',').map(Number);
      this.paintCell(one, NAMES_PX + column * cell, row * cell, {ground, bad});
    }
    pen.font = `${Math.min(12, cell)}px ${style.fontFamily}`;
    pen.textBaseline = 'middle';
    pairs.names.forEach((name, i) => {
      const isNamed = this.named.has(name);
      if (cell >= NAME_FROM_PX || isNamed) {
        pen.fillStyle = isNamed ? text : muted;
        pen.fillText(shorten(name, 16), 0, (i + 0.5) * cell, NAMES_PX - 6);
      }
      if (isNamed) {
        pen.strokeStyle = text;
        pen.lineWidth = 2;
        pen.strokeRect(NAMES_PX + 1, i * cell, pairs.names.length * cell, cell);
      }
    });
    if (this.at) {
      pen.strokeStyle = text;
      pen.lineWidth = 2;
      pen.strokeRect(NAMES_PX + this.at.column * cell, this.at.row * cell, cell, cell);
    }
  }

  paintCell({found, part}, x, y, {ground, bad}) {
    const {pen} = this;
    const side = Math.max(1, this.cell - 1);
    pen.fillStyle = ground;
    pen.fillRect(x, y, side, side);
    if (part !== null) {
      /* Slower is what longer is in other maps. */
      pen.fillStyle = heatColour(-heatShade(part, LEAST));
      pen.fillRect(x, y, side, side);
    } else if (found.state === 'failed') {
      pen.strokeStyle = bad;
      pen.lineWidth = 1;
      pen.beginPath();
      for (let from = 0; from < side; from += 4) {
        pen.moveTo(x + from, y + side);
        pen.lineTo(x + side, y + from);
      }
      pen.stroke();
    }
  }

  worst() {
    let worst = null;
    for (const [place, {part}] of this.pairs?.cells ?? []) {
      if (part !== null && !(worst?.part <= part)) {
        const [row, column] = place.split(',').map(Number);
        worst = {row, column, part};
      }
    }
    return worst;
  }

  cellAt(at) {
    return at ? this.pairs.cells.get(`${at.row},${at.column}`) : undefined;
  }

  inWords(at) {
    const cell = this.cellAt(at);
    if (!cell) {
      return '';
    }
    const {found, figure, part} = cell;
    const off = formatPercent(Math.abs(part ?? 0));
    return `${caseLabel(found)}: ${figure === null
      ? `${stateWord(found.state)}${found.reason ? `, ${found.reason}` : ''}`
      : `${formatBandwidth(figure)} GB/s, ${off} ${part < 0 ? 'below' : 'above'} the median`}`;
  }

  go(at) {
    const count = this.pairs?.names.length ?? 0;
    if (at && at.row >= 0 && at.column >= 0 && at.row < count && at.column < count) {
      this.at = {row: at.row, column: at.column};
      const {names} = this.pairs;
      setText(this.said, this.inWords(at) || (at.row === at.column
        ? names[at.row] : `${names[at.row]}, ${names[at.column]}: not measured`));
    }
    this.paint();
  }

  open(at) {
    const cell = this.cellAt(at);
    if (cell) {
      this.change({case: cell.found.case});
    }
  }

  placeOf({offsetX, offsetY}) {
    return {
      row: Math.floor(offsetY / this.cell),
      column: Math.floor((offsetX - NAMES_PX) / this.cell)
    };
  }

  onKey(event) {
    const {row = 0, column = 0} = this.at ?? {};
    const to = {
      ArrowLeft: {row, column: column - 1},
      ArrowRight: {row, column: column + 1},
      ArrowUp: {row: row - 1, column},
      ArrowDown: {row: row + 1, column}
    }[event.key];
    if (to) {
      event.preventDefault();
      this.go(to);
    } else if (event.key === 'Enter') {
      this.open(this.at);
    }
  }
}
