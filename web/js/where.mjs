/* SPDX-License-Identifier: Apache-2.0 */
/* where.mjs - describes the backend and nodes of a run. No DOM. */
import { plural } from './units.mjs';

/* Returns the reason why a run is not a measurement of this cluster, or null. */
export function unrealOf({ backend, emulated, imported }) {
  if (backend === 'sim') {
    return 'simulated';
  }
  return emulated ? 'emulated' : imported ? 'imported' : null;
}

/* Returns a text such as "host · 2 nodes × 4 ranks". `emulated` marks results made without GPUs. */
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
