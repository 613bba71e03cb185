/* validation.mjs - the server's answer to "what would this run cost", in words. No DOM. */
import {formatDuration, formatMemory, plural} from './units.mjs';

const OUTCOMES = {
  busy: 'It would wait in the queue',
  unknown: 'It would wait for nodes',
  impossible: 'It would fail'
};

/* [tone, text] each: how much, where, how long. */
export function costLines({cases, rows, sizes, placement, memory, time}) {
  const lines = [];
  const much = [
    cases && plural(cases, 'case'),
    sizes && `${plural(sizes.count, 'size')} up to ${formatMemory(sizes.max)}`,
    rows && plural(rows, 'row')
  ].filter(Boolean);
  if (much.length) {
    lines.push(['', `${much.join(', ')}.`]);
  }
  if (memory) {
    const where = memory.where === 'host' ? '' : ` of ${memory.where} memory`;
    lines.push(['', `${formatMemory(memory.per_rank_bytes)}${where} in each rank.`]);
  }
  if (placement) {
    lines.push(placementLine(placement));
  }
  if (Number.isFinite(time?.seconds)) {
    lines.push([
      '',
      `Roughly ${formatDuration(time.seconds)}${time.detail ? `: ${time.detail}` : ''}.`
    ]);
  }
  return lines;
}

function placementLine({outcome, reason, backend, nodes, world_size: ranks}) {
  if (outcome === 'ready') {
    const where = `${plural(nodes.length, 'node')}, ${plural(ranks, 'rank')}`;
    return ['', `Starts at once: ${backend}, ${where}.`];
  }
  const text = `${OUTCOMES[outcome] ?? outcome}${reason ? `: ${reason}` : ''}`;
  return [outcome === 'impossible' ? 'bad' : '', text];
}
