/* SPDX-License-Identifier: Apache-2.0 */
/* validation.mjs - writes the server's validation of a request as text: cost, placement and
 * duration. No DOM. */
import { formatDuration, formatMemory, plural } from './units.mjs';

const OUTCOMES = {
  busy: 'The run would wait in the queue',
  unknown: 'The run would wait for nodes',
  missing: 'No suitable nodes are online',
  impossible: 'The run would fail',
};

/* 'sim' if only the simulated backend can run here, else '' (the server's choice). */
export async function usableBackend(api) {
  const can = async (spec) => ['ready', 'busy'].includes((await api.validate(spec)).placement?.outcome);
  return (await can({})) || !(await can({ backend: 'sim' })) ? '' : 'sim';
}

/* Returns the placement's outcome. Without a wait time or a launcher, nodes that are offline
 * count as missing. */
const outcomeOf = ({ placement }, asked) =>
  placement?.outcome === 'unknown' && asked.nodes?.wait_s === undefined && !asked.launch
    ? 'missing'
    : placement?.outcome;

/* True if the run could never start. */
export const isHopeless = (answer, asked) => ['missing', 'impossible'].includes(outcomeOf(answer, asked));

/* Returns lines [tone, text]: amount, memory, placement, duration. `asked` is the request. */
export function costLines(answer, asked = {}) {
  const { cases, rows, sizes, placement, memory, time } = answer;
  const lines = [];
  const much = [
    cases && plural(cases, 'case'),
    sizes && `${plural(sizes.count, 'size')} up to ${formatMemory(sizes.max)}`,
    rows && plural(rows, 'row'),
  ].filter(Boolean);
  if (much.length) {
    lines.push(['', `${much.join(', ')}.`]);
  }
  if (memory && memory.where !== 'none') {
    const where = memory.where === 'host' ? '' : ` of ${memory.where} memory`;
    lines.push(['', `${formatMemory(memory.per_rank_bytes)}${where} per rank.`]);
  }
  if (placement) {
    lines.push(placementLine(placement, outcomeOf(answer, asked)));
  }
  if (Number.isFinite(time?.seconds)) {
    lines.push(['', `It took ${formatDuration(time.seconds)}${time.detail ? ` in ${time.detail}` : ''}.`]);
  }
  return lines;
}

function placementLine({ reason, backend, nodes, world_size: ranks }, outcome) {
  if (outcome === 'ready') {
    const where = `${plural(nodes.length, 'node')}, ${plural(ranks, 'rank')}`;
    return ['', `Starts at once: ${backend}, ${where}.`];
  }
  const text = `${OUTCOMES[outcome] ?? outcome}${reason ? `: ${reason}` : ''}`;
  return outcome === 'missing'
    ? ['bad', `${text}. Set a wait time to queue the run.`]
    : [outcome === 'impossible' ? 'bad' : '', text];
}
