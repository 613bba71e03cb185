/* SPDX-License-Identifier: Apache-2.0 */
/* run_row.jsx - draws parts of a run's row in lists */
import { AnswerPill, Head, RunPill, Time } from './parts.jsx';
import { formatBandwidth, formatSize, shorten, TIME_ZONE } from './units.mjs';
import { badVerdict, verdictOf } from './verdicts.mjs';
import { whereInWords } from './where.mjs';

const HEADLINE_TITLE = 'Median bus bandwidth at the largest size of the first series';

/* A run's headline figure (docs/explanation/method.md): "46.5 GB/s at 256M". */
export function Headline({ found }) {
  if (!found) {
    return '–';
  }
  const text = found.text ?? `${formatBandwidth(found.busbw_gbs)} GB/s at ${formatSize(found.size)}`;
  const [number] = text.split(' ');
  return (
    <span title={found.metric ? `${found.metric}: the median` : HEADLINE_TITLE}>
      <strong>{number}</strong>
      {text.slice(number.length)}
    </span>
  );
}

/* The result beside the pill: a passed search for slow nodes, else the headline. */
export function Outcome({ run }) {
  const culprit = verdictOf(run, 'culprit');
  return culprit && badVerdict(run) !== culprit ? (
    <AnswerPill answer={culprit.answer} title={culprit.sentence} />
  ) : (
    <Headline found={run.summary?.headline} />
  );
}

export function WhatCell({ run }) {
  const where = whereInWords(run);
  const nodes = (run.nodes ?? []).map((node) => node.name).join(' ');
  return (
    <td>
      <div class="cut">{run.program ?? seriesInWords(run)}</div>
      <div class="cut muted" title={`${where}\n${shorten(nodes, 1000)}`}>
        {where}
      </div>
    </td>
  );
}

/* The first two collectives, and the number of others. */
function seriesInWords({ collectives }) {
  const names = collectives ?? [];
  const shown = names.slice(0, 2).join(', ');
  const more = names.length - 2;
  return more > 0 ? `${shown} and ${more} more` : shown;
}

/* A curve of [[x, y], …] as small as a word. y starts at 0. */
export function Sparkline({ points }) {
  if (points.length < 2) {
    return <span class="muted">–</span>;
  }
  const xs = points.map(([x]) => x);
  const low = Math.min(...xs);
  const span = Math.max(...xs) - low || 1;
  const top = Math.max(...points.map(([, y]) => y)) || 1;
  const at = points.map(
    ([x, y]) => `${(2 + (84 * (x - low)) / span).toFixed(1)},${(22 - (19 * y) / top).toFixed(1)}`,
  );
  return (
    <svg class="spark" viewBox="0 0 88 24" aria-hidden="true">
      <polyline points={at.join(' ')} />
    </svg>
  );
}

/* A run's bandwidth curve, [[size, busbw], …], with a logarithmic x axis. */
export const Curve = ({ curve }) => (
  <Sparkline
    points={(curve ?? [])
      .filter(([size, value]) => size > 0 && value >= 0)
      .sort((a, b) => a[0] - b[0])
      .map(([size, value]) => [Math.log2(size), value])}
  />
);

/* The list of runs on a node's page. */
export const NodeRuns = ({ runs }) => (
  <table class="list">
    <Head
      columns={['State', 'Run', `Created, ${TIME_ZONE}`, 'Workload', 'Result']}
      isNumber={(column) => column === 4}
    />
    <tbody>
      {runs.map((run) => {
        const verdict = badVerdict(run) ?? verdictOf(run, 'culprit');
        return (
          <tr key={run.id}>
            <td>
              <RunPill run={run} />
            </td>
            <th scope="row">
              <a href={`/runs/${run.id}`}>{shorten(run.name || run.id, 80)}</a>
              {verdict && <div class="second muted">{verdict.sentence}</div>}
            </th>
            <td class="when">
              <Time text={run.created} isCell />
            </td>
            <WhatCell run={run} />
            <td class="number">
              <Outcome run={run} />
            </td>
          </tr>
        );
      })}
    </tbody>
  </table>
);
