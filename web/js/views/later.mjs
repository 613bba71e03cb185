/* later.mjs - the views that few visits need, one file of the bundle */
export { panelsToSvg, svgToPng, tonesOf } from '../plot_file.jsx';
export { rowsShown, toCsv, toJson, toMarkdown } from '../shown_files.mjs';
export { default as budget } from './budget.mjs';
export { default as compare } from './compare.jsx';
export { default as firstSteps } from './first_steps.mjs';
export { default as newRun } from './new_run.mjs';
export { default as node } from './node.jsx';
export { default as nodes } from './nodes.jsx';
export { pairMap } from './pair_map.mjs';
export { editRun } from './run_edit.mjs';
export { RowDetail } from './row_detail.jsx';
export { Scaling } from './scaling.jsx';
export { topology } from './topology.mjs';
export { default as trends } from './trends.jsx';
