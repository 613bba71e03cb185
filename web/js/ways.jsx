/* ways.jsx - where along the sizes NCCL took which algorithm: a strip under a chart */
import { useMemo } from 'preact/hooks';
import { waysInWords } from './stats.mjs';
import { formatSize } from './units.mjs';

const STRIPS_MAX = 4;

/* [{way, from, x}] of a line: from which place on, and at which point first; the change is
 * midway between two points. [] where it never changes, or nobody knows. */
function partsOf({ points }) {
  const parts = [];
  points.forEach(({ x, point }, i) => {
    const way = waysInWords(point.ways);
    if (parts.at(-1)?.way !== way) {
      parts.push({ way, x, from: i ? Math.sqrt(points[i - 1].x * x) : 0 });
    }
  });
  return parts.length > 1 ? parts : [];
}

/* One strip for all lines that change alike. */
function stripsOf(panel) {
  const strips = new Map();
  for (const line of panel.isSize ? panel.lines.filter(({ hidden }) => !hidden) : []) {
    const parts = partsOf(line);
    const key = JSON.stringify(parts);
    if (parts.length > 0) {
      strips.set(key, { parts, labels: [...(strips.get(key)?.labels ?? []), line.label] });
    }
  }
  return [...strips.values()].slice(0, STRIPS_MAX);
}

function Strip({ parts, labels, x: [low, high] }) {
  const at = (x) => (100 * Math.log(x / low)) / Math.log(high / low);
  const words = ({ way, x }) => `${way || 'not known'} from ${formatSize(x)}`;
  return (
    <div class="way-strip" role="img" aria-label={`${labels.join(', ')}: ${parts.map(words).join('; ')}`}>
      {parts.map((part, i) => (
        <span
          key={part.x}
          title={words(part)}
          style={{ width: `${at(parts[i + 1]?.from ?? high) - at(Math.max(low, part.from))}%` }}
        >
          {part.way}
        </span>
      ))}
    </div>
  );
}

export function WayStrips({ panel }) {
  const strips = useMemo(() => stripsOf(panel), [panel]);
  return (
    strips.length > 0 && (
      <div class="way-strips">
        {strips.map((strip) => (
          <Strip key={strip.labels.join()} {...strip} x={panel.x} />
        ))}
      </div>
    )
  );
}
