/* SPDX-License-Identifier: Apache-2.0 */
/* scaling.jsx - bandwidth and time of a scaling run over node counts, and the server's projection
 * to more nodes */
import { useRef, useState } from 'preact/hooks';
import { Panels } from '../panels.jsx';
import { scalingPanels, sizeLabel } from '../scaling.mjs';
import { markOf } from '../shown.mjs';
import { Alert, flipped, Select, useAnswer } from '../ui.jsx';
import { useTheme } from '../theme.jsx';
import { ViewShare } from './share.jsx';

const isProjected = ({ verdict }) => verdict.answer === 'projected';

/* The projection to `nodes` nodes. Requested again after each completed case. */
const useProjection = (app, id, done, nodes) =>
  useAnswer(() => (done > 0 ? app.api.projection(id, nodes) : null), [done, nodes]);

/* `run` is a result of runOnChart(). `cases` are the run's cases. `change(set)` updates the address
 * state: `nodes` is the projected number of nodes, `of` the size. */
export function Scaling({ app, run, cases, view, change }) {
  const theme = useTheme();
  const [hide, setHide] = useState([]);
  const input = useRef(null);
  const done = cases.filter(({ state }) => state === 'completed');
  const nodes = view.nodes ?? 2 * Math.max(0, ...done.map((one) => one.nodes?.length ?? 0));
  const { answer, error } = useProjection(app, run.id, done.length, nodes);
  if (done.length === 0) {
    return null;
  }
  const sizes = answer?.sizes ?? [];
  const chosen = sizes.find((size) => sizeLabel(size) === view.of);
  const found = chosen ?? sizes.findLast(isProjected) ?? sizes.at(-1);
  const panels = found ? scalingPanels(found, answer.nodes, hide, theme) : [];
  const shown = { runs: [{ ...run, verdicts: answer ? [answer.verdict] : [] }], panels, spread: true };
  const submit = (event) => {
    event.preventDefault();
    change({ nodes: Number(input.current.value) });
  };
  return (
    <section class="card chart-card" aria-label="Scaling">
      <h2>Scaling</h2>
      <div class="chart-top">
        <form class="controls" onSubmit={submit}>
          <label for="scaling-size">Size</label>
          <Select
            id="scaling-size"
            value={found && sizeLabel(found)}
            options={sizes.map((size) => [
              sizeLabel(size),
              sizeLabel(size) + (isProjected(size) ? '' : ' (not projected)'),
            ])}
            onChange={(of) => change({ of })}
          />
          <label for="scaling-nodes">Project to nodes</label>
          <input
            id="scaling-nodes"
            ref={input}
            type="text"
            inputmode="numeric"
            pattern="[1-9][0-9]{0,5}"
            required
            size={6}
            defaultValue={String(nodes)}
            key={nodes}
          />
          <button type="submit">Project</button>
        </form>
        <ViewShare app={app} shown={shown} />
      </div>
      {error && (
        <Alert tone="bad" title="The request failed. ">
          {error.message}
        </Alert>
      )}
      <p role="status">{(chosen ?? answer)?.verdict.sentence}</p>
      <Panels
        panels={panels}
        spread
        mark={markOf([run])}
        name="Measured and projected"
        onToggle={(key) => setHide(flipped(hide, key))}
      />
    </section>
  );
}
