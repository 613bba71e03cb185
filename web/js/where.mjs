/* SPDX-License-Identifier: Apache-2.0 */
/* where.mjs - where a run ran, in words. No DOM. */
import { plural } from './units.mjs';

/* What a run is that was not measured here, or null. */
export function unrealOf({ backend, emulated, imported }) {
  if (backend === 'sim') {
    return 'simulated';
  }
  return emulated ? 'emulated' : imported ? 'imported' : null;
}

/* "host · 2 nodes × 4 ranks"; `emulated` is of results without GPUs. */
export function whereInWords(run) {
  const backend =
    run.backend === 'sim' ? 'simulated' : run.emulated ? `${run.backend}, emulated` : run.backend;
  if (!run.nodes?.length) {
    return backend ?? '–';
  }
  const ranks = new Set(run.nodes.map((node) => node.ranks));
  const each =
    ranks.size === 1 ? ` × ${plural([...ranks][0], 'rank')}` : `, ${plural(run.world_size, 'rank')}`;
  return `${backend} · ${plural(run.nodes.length, 'node')}${each}`;
}
