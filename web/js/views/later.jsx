/* SPDX-License-Identifier: Apache-2.0 */
/* later.jsx - rarely used views and components, bundled into one file */
export { panelsToSvg, svgToPng, tonesOf } from '../plot_file.jsx';
export { rowsShown, toCsv, toMarkdown } from '../shown_files.mjs';
export { default as Compare } from './compare.jsx';
export { FirstSteps } from './first_steps.jsx';
export { Keys } from './keys.jsx';
export { default as NewRun } from './new_run.jsx';
export { default as Node } from './node.jsx';
export { default as Nodes } from './nodes.jsx';
export { PairMap } from './pair_map.jsx';
export { RowDetail } from './row_detail.jsx';
export { Scaling } from './scaling.jsx';
export { default as Trends } from './trends.jsx';
export { default as Watches } from './watches.jsx';
