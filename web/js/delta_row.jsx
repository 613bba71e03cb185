/* SPDX-License-Identifier: Apache-2.0 */
/* delta_row.jsx - draws a change with its interval on an axis with better to the right. A grey zone
 * marks changes that count as none. Positions are percentages, so that a drawing fits any width. */
import { formatInterval, isToldChange } from './stats.mjs';
import { formatChange } from './units.mjs';

const LIMITS = [0.04, 0.08, 0.2, 0.4, 0.8];
const HALF = 47;

/* Half the range of the axis, chosen from a fixed list. Larger changes are cut off at the end of
 * the axis. */
export function deltaLimit(items) {
  const ends = items
    .filter(isToldChange)
    .flatMap(({ change, interval }) => interval ?? [change])
    .map(Math.abs);
  const reach = Math.max(0, ...ends);
  return LIMITS.find((limit) => reach <= limit) ?? LIMITS[LIMITS.length - 1];
}

const percent = (value) => `${value.toFixed(2)}%`;

/* Returns the position of a change in percent. A higher bandwidth is better, a higher time
 * worse. */
const placer = (limit, isMoreBetter) => (change) =>
  50 + HALF * Math.max(-1, Math.min(1, change / limit)) * (isMoreBetter ? 1 : -1);

/* Background of a row: the zone of changes within the margin, and the zero line. */
function Ground({ limit, margin }) {
  const half = (HALF * Math.min(margin, limit)) / limit;
  return (
    <>
      <rect class="zone" x={percent(50 - half)} width={percent(2 * half)} height="100%" />
      <line class="zero" x1="50%" x2="50%" y1="0" y2="100%" />
    </>
  );
}

export function DeltaAxis({ limit, margin }) {
  const at = placer(limit, true);
  const text = (x, anchor, words) => (
    <text x={x} y="13" text-anchor={anchor}>
      {words}
    </text>
  );
  return (
    <svg
      class="delta axis"
      role="img"
      aria-label={`Change up to ${limit * 100} % either way; better lies to the right`}
    >
      <Ground limit={limit} margin={margin} />
      {text('0', 'start', '◂ worse')}
      {text('50%', 'middle', '0')}
      {[-limit / 2, limit / 2].map((tick) => text(percent(at(tick)), 'middle', `${Math.abs(tick) * 100} %`))}
      {text('100%', 'end', 'better ▸')}
    </svg>
  );
}

/* One change. `answer` selects the colour; single sizes have no answer. */
export function DeltaRow({ item, isMoreBetter, limit, margin }) {
  const { change, interval, answer } = item;
  const at = placer(limit, isMoreBetter);
  const isKnown = isToldChange(item);
  const words = [formatChange(change), interval && formatInterval(interval)].filter(Boolean).join(', ');
  return (
    <svg class={`delta ${answer ?? 'plain'}`} role="img" aria-label={isKnown ? words : 'change unknown'}>
      <Ground limit={limit} margin={margin} />
      {isKnown && <Bar ends={interval ?? [change, change]} at={at} limit={limit} />}
      {isKnown && Math.abs(change) <= limit && (
        <circle class={interval ? 'mark' : 'mark hollow'} cx={percent(at(change))} cy="14" r="5" />
      )}
    </svg>
  );
}

/* The interval. An end outside the axis is drawn as an arrow. */
function Bar({ ends, at, limit }) {
  const [x1, x2] = ends.map((end) => percent(at(end)));
  return (
    <>
      <line class="bar" x1={x1} x2={x2} y1="14" y2="14" />
      {ends.map((end, i) => {
        const x = percent(at(end));
        return Math.abs(end) <= limit ? (
          <line key={i} class="bar" x1={x} x2={x} y1="9" y2="19" />
        ) : (
          <svg key={i} x={x} overflow="visible">
            <path class="cut" d={at(end) < 50 ? 'M-4 14l12 -7v14z' : 'M4 14l-12 -7v14z'} />
          </svg>
        );
      })}
    </>
  );
}
