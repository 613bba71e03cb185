/* SPDX-License-Identifier: Apache-2.0 */
/* plot_box.jsx - an interactive plot. The pointer or arrow keys show a tooltip. Dragging, or Shift
 * with arrow keys, selects a range. */
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { placeTip, tipRoom } from './chart_model.mjs';
import { TypedInput } from './parts.jsx';
import { MARGIN, Plot, scalesOf } from './plot.jsx';
import { Button } from './ui.jsx';

/* A shorter drag counts as a click. */
const DRAG_PX = 6;
const WIDTH_MIN = 240;
const TONE = { text: 'var(--muted)', grid: 'var(--grid)', surface: 'var(--surface)' };

/* [width, height] of an element, updated on each change. The height is null unless full screen. */
export function useSize(ref) {
  const [size, setSize] = useState(/** @type {any[]} */ ([0, null]));
  useLayoutEffect(() => {
    const measure = () => {
      const { clientWidth, clientHeight } = ref.current;
      const isFull = document.fullscreenElement?.contains(ref.current);
      setSize([Math.max(WIDTH_MIN, clientWidth), isFull ? clientHeight : null]);
    };
    const observer = new ResizeObserver(measure);
    measure();
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return size;
}

/* Enter or leave full screen. Resolves to true if `element` now fills the screen. A browser may
 * refuse, for example inside a frame. */
export const toggleFull = (element) =>
  document.fullscreenElement
    ? document.exitFullscreen().then(() => false)
    : element.requestFullscreen().then(
        () => true,
        () => false,
      );

const RANGE = '\\s*(\\d+(?:\\.\\d+)?)\\s*(?:to|-)\\s*(\\d+(?:\\.\\d+)?)\\s*';

/* Returns [10, 50] for "10 to 50", or null. */
function rangeOf(text) {
  const [low, high] = (new RegExp(`^${RANGE}$`).exec(text) ?? []).slice(1).map(Number);
  return low < high ? [low, high] : null;
}

/* Tools beside a plot's title: an input for the y range, and the full-screen button. `onRange` gets
 * [low, high], or null for automatic. */
export const PlotTools = ({ label, range = null, onRange = null, onFull }) => (
  <span class="plot-tools">
    {onRange && (
      <TypedInput
        type="text"
        aria-label={`Range of values: ${label}`}
        title="Lowest and highest value of the y axis, for example: 10 to 50"
        placeholder="y range"
        pattern={RANGE}
        autocomplete="off"
        value={range?.join(' to ') ?? ''}
        onType={(text) => (text.trim() === '' || rangeOf(text)) && onRange(rangeOf(text))}
      />
    )}
    {document.fullscreenEnabled && (
      <Button
        class="quiet"
        aria-label={`Full screen: ${label}`}
        title="Full screen; Escape leaves it"
        onClick={onFull}
      >
        ⤢
      </Button>
    )}
  </span>
);

/* `cursor` is the x of another panel's crosshair, or null. `tip(x)` renders the tooltip.
 * `onCursor(x)` gets the x under the pointer, or null. `onZoom([low, high])` gets the selected
 * range, or null for all. `onPick(x)` is called on a click. */
export function PlotBox({
  panel,
  height: usualHeight,
  spread = true,
  label,
  cursor = null,
  tip,
  onCursor = () => {},
  onZoom = null,
  onPick = null,
}) {
  const box = useRef(null);
  const [width, fullHeight] = useSize(box);
  const height = fullHeight ?? usualHeight;
  const [at, setAt] = useState(null);
  const [range, setRange] = useState(null);
  const press = useRef(null);
  const scales = useMemo(() => scalesOf(panel, width, height), [panel, width, height]);
  const places = useMemo(() => placesOf(panel), [panel]);
  const plot = useMemo(
    () => <Plot panel={panel} width={width} height={height} spread={spread} tone={TONE} />,
    [panel, width, height, spread],
  );

  const point = (x) => {
    if (x !== at) {
      setAt(x);
      onCursor(x);
    }
  };
  const leave = () => {
    setRange(null);
    point(null);
  };
  const pixelOf = (event) => event.clientX - box.current.getBoundingClientRect().left;
  const nearest = (pixel) =>
    places.reduce(
      (best, x) =>
        best === null || Math.abs(scales.x(x) - pixel) < Math.abs(scales.x(best) - pixel) ? x : best,
      null,
    );

  /* Zoom to the points between a and b. A single point is no range. */
  const choose = (a, b) => {
    const low = Math.min(a, b) * (1 - 1e-9);
    const high = Math.max(a, b) * (1 + 1e-9);
    const inside = places.filter((x) => x >= low && x <= high);
    setRange(null);
    if (inside.length > 1) {
      leave();
      onZoom([inside[0], inside.at(-1)]);
    }
  };

  const onPointerMove = (event) => {
    const pixel = pixelOf(event);
    if (press.current !== null && Math.abs(pixel - press.current) >= DRAG_PX) {
      setRange([press.current, pixel].map((one) => scales.x.invert(one)));
    }
    point(nearest(pixel));
  };
  const onPointerUp = () => {
    if (press.current !== null && range) {
      choose(...range);
    }
    press.current = null;
  };

  const step = (by, isSelecting) => {
    if (places.length === 0) {
      return;
    }
    const now = places.indexOf(at);
    const next = now < 0 && by < 0 ? places.length - 1 : now + by;
    const x = places[Math.min(places.length - 1, Math.max(0, next))];
    setRange(isSelecting && onZoom ? [range ? range[0] : places[Math.max(0, now)], x] : null);
    point(x);
  };
  const onKeyDown = (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by) {
      event.preventDefault();
      step(by, event.shiftKey);
    } else if (event.key === 'Escape') {
      leave();
    } else if (event.key === 'Enter' && range) {
      choose(...range);
    } else if (event.key === 'Enter' && at !== null) {
      onPick?.(at);
    } else if (event.key === '0') {
      onZoom?.(null);
    }
  };

  const shown = places.includes(at) ? at : null;
  const crossed = shown ?? (places.includes(cursor) ? cursor : null);
  const edges = range?.map((x) => scales.x(x)).sort((a, b) => a - b);
  return (
    <div
      ref={box}
      class={onPick ? 'chart-box pick' : 'chart-box'}
      tabIndex={0}
      role="group"
      aria-label={label}
      style={{ height: `${usualHeight}px` }}
      onKeyDown={onKeyDown}
      onBlur={leave}
      onPointerMove={onPointerMove}
      onPointerDown={(event) => {
        press.current = onZoom && event.button === 0 ? pixelOf(event) : null;
      }}
      onPointerUp={onPointerUp}
      onPointerLeave={() => {
        press.current = null;
        leave();
      }}
      onDblClick={() => onZoom?.(null)}
      onClick={(event) => onPick && places.length > 0 && onPick(nearest(pixelOf(event)))}
    >
      {width > 0 && (
        <svg width={width} height={height} aria-hidden="true">
          {plot}
          {edges && (
            <rect
              class="selected"
              x={edges[0]}
              width={edges[1] - edges[0]}
              y={MARGIN.top}
              height={height - MARGIN.top - MARGIN.bottom}
            />
          )}
          {crossed !== null && (
            <path class="cross" d={`M${scales.x(crossed)} ${MARGIN.top}V${height - MARGIN.bottom}`} />
          )}
          <rect
            class="plot-area"
            x={MARGIN.left}
            y={MARGIN.top}
            width={width - MARGIN.left - MARGIN.right}
            height={height - MARGIN.top - MARGIN.bottom}
          />
        </svg>
      )}
      {shown !== null && (
        <Tip panel={panel} scales={scales} x={shown} width={width} height={height}>
          {tip(shown)}
        </Tip>
      )}
    </div>
  );
}

const placesOf = ({ lines }) =>
  [...new Set(lines.filter(({ hidden }) => !hidden).flatMap(({ points }) => points.map(({ x }) => x)))].sort(
    (a, b) => a - b,
  );

/* Placed beside the crosshair, where it covers the fewest points. */
function Tip({ panel, scales, x, width, height, children }) {
  const ref = useRef(null);
  const left = scales.x(x);
  useLayoutEffect(() => {
    const { style, offsetWidth, offsetHeight } = ref.current;
    const points = panel.lines
      .filter(({ hidden }) => !hidden)
      .flatMap((line) => line.points.map((p) => [scales.x(p.x), scales.y(p.y)]));
    const box = { width, top: MARGIN.top, bottom: height - MARGIN.bottom };
    const place = placeTip({ width: offsetWidth, height: offsetHeight }, left, points, box);
    style.setProperty('transform', `translate(${Math.round(place.left)}px, ${Math.round(place.top)}px)`);
  });
  return (
    <div ref={ref} class="readout" role="status" style={{ maxWidth: `${tipRoom(left, width)}px` }}>
      {children}
    </div>
  );
}
