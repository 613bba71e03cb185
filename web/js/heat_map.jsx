/* SPDX-License-Identifier: Apache-2.0 */
/* heat_map.jsx - a canvas of cells, coloured by deviation. The pointer and arrow keys read out a
 * cell. */
import { useLayoutEffect, useState } from 'preact/hooks';
import { heatColour } from './heat.mjs';
import { useTheme } from './theme.jsx';

/* `label` describes the map to screen readers. `canvas` is a ref to its canvas. Members of `grid`:
 *   width, left, foot         canvas width, and room for row names and column ticks, in px
 *   cell: [w, h], gap, font   size of a cell, gap and font size, in px
 *   columns, rows             number of drawn cells
 *   across, down              values merged into a cell in each direction; default 1
 *   cells                     [{x, y, shade, isFailed, at}]. `shade` as in heatColour().
 *                             `at` is the value that is read out; default: the cell's first
 *   isSolid                   fill missing cells with the colour of no deviation
 *   names                     [{y, text, isNamed}] of rows; isNamed outlines the row
 *   ticks                     [{x, text}] below the columns
 *   last                      index of the last value in a row
 *   first, worst              label and place of the first readout; keys start there
 *   words(at)                 text for a place {row, column}; '' without a value
 *   open(at)                  called on click or Enter */
export function HeatMap({ label, grid, canvas }) {
  const [wanted, setAt] = useState(null);
  const theme = useTheme();
  const { left, cell, across = 1, down = 1, last, first, worst, words, open } = grid;
  const [w, h] = cell;
  useLayoutEffect(() => paint(canvas.current, grid), [grid, theme]);
  const at = wanted && words(wanted) ? wanted : null;
  const go = (to) => to && words(to) && setAt({ row: to.row, column: to.column });
  const placeOf = ({ offsetX, offsetY }) => {
    const x = Math.floor((offsetX - left) / w);
    const y = Math.floor(offsetY / h);
    const found = down * across > 1 && grid.cells.find((one) => one.x === x && one.y === y);
    return found ? found.at : { row: y * down, column: x * across };
  };
  const onKeyDown = (event) => {
    const { row, column } = at ?? worst ?? { row: 0, column: 0 };
    const to = {
      ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1],
      ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column],
      PageUp: [row, Math.max(0, column - 10)],
      PageDown: [row, Math.min(last, column + 10)],
      Home: [row, 0],
      End: [row, last],
    }[event.key];
    if (to) {
      event.preventDefault();
      go({ row: to[0], column: to[1] });
    } else if (event.key === 'Enter' && at) {
      open?.(at);
    }
  };
  const box = at && {
    left: `${left + Math.floor(at.column / across) * w}px`,
    top: `${Math.floor(at.row / down) * h}px`,
    width: `${Math.max(3, w)}px`,
    height: `${h}px`,
  };
  return (
    <>
      <div
        class="heat-box"
        tabIndex={0}
        role="group"
        aria-label={label}
        onKeyDown={onKeyDown}
        onFocus={() => at ?? go(worst)}
      >
        <canvas
          ref={canvas}
          onPointerMove={(event) => go(placeOf(event))}
          onClick={(event) => open?.(placeOf(event))}
        />
        {at && <div class="heat-at" style={box} />}
      </div>
      <p class="muted" role="status">
        {at ? words(at) : `${first}: ${words(worst)}`}
      </p>
    </>
  );
}

function paint(canvas, { width, left, foot, rows, columns, cell: [w, h], gap, font, ...grid }) {
  const height = rows * h + foot;
  const ratio = window.devicePixelRatio || 1;
  Object.assign(canvas, { width: width * ratio, height: height * ratio });
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  const style = getComputedStyle(canvas);
  const [text, muted, ground, blank, bad] = ['text', 'muted', 'border', 'surface', 'bad'].map((name) =>
    style.getPropertyValue(`--${name}`).trim(),
  );
  const pen = canvas.getContext('2d');
  pen.scale(ratio, ratio);
  pen.fillStyle = grid.isSolid ? ground : blank;
  pen.fillRect(left, 0, columns * w, rows * h);
  for (const { x, y, shade, isFailed } of grid.cells) {
    const box = [left + x * w, y * h, Math.max(1, w - gap), Math.max(1, h - 1)];
    if (!grid.isSolid) {
      pen.fillStyle = ground;
      pen.fillRect(...box);
    }
    if (shade) {
      pen.fillStyle = heatColour(shade);
      pen.fillRect(...box);
    } else if (isFailed) {
      hatch(pen, bad, ...box);
    }
  }
  pen.font = `${font}px ${style.fontFamily}`;
  pen.textBaseline = 'middle';
  for (const { y, text: name, isNamed } of grid.names) {
    pen.fillStyle = isNamed ? text : muted;
    pen.fillText(name, 0, (y + 0.5) * h, left - 6);
    if (isNamed) {
      pen.strokeStyle = text;
      pen.lineWidth = 2;
      pen.strokeRect(left + 1, y * h, columns * w, h);
    }
  }
  pen.fillStyle = muted;
  grid.ticks?.forEach((tick) => pen.fillText(tick.text, left + tick.x * w, rows * h + foot / 2));
}

function hatch(pen, colour, x, y, width, height) {
  pen.strokeStyle = colour;
  pen.lineWidth = 1;
  pen.beginPath();
  for (let off = 0; off < height; off += 4) {
    pen.moveTo(x + off, y + height);
    pen.lineTo(x + width, y + off);
  }
  pen.stroke();
}
