/* where.mjs - where a run ran, in words. No DOM. */
import {plural} from './units.mjs';

/* "host · 2 nodes × 4 ranks"; `emulated` is of results without GPUs. */
export function whereInWords(run) {
  const backend = run.backend === 'sim' ? 'simulated'
    : run.emulated                      ? `${run.backend}, emulated`
                                        : run.backend;
  if (!run.nodes?.length) {
    return backend ?? '–';
  }
  const ranks = new Set(run.nodes.map(node => node.ranks));
  const each = ranks.size === 1 ? ` × ${plural([...ranks][0], 'rank')}`
                                : `, ${plural(run.world_size, 'rank')}`;
  return `${backend} · ${plural(run.nodes.length, 'node')}${each}`;
}
