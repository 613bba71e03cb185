/* SPDX-License-Identifier: Apache-2.0 */
/* run_overlay.jsx - other runs on the same chart */
import { useEffect, useMemo, useReducer, useRef } from 'preact/hooks';
import { findBaseline } from '../baseline.mjs';
import { isEnded } from '../events.mjs';
import { StatePill } from '../parts.jsx';
import { RunSource } from '../run_source.mjs';
import { paced } from '../timing.mjs';
import { Button, useAnswer } from '../ui.jsx';
import { shorten } from '../units.mjs';

/* The run shown last. Returning to it shows its data immediately, even if the server is unreachable. */
let last = null;

/* A RunSource per id, the page's own run first. The component is redrawn when they change. */
export function useSources(app, ids) {
  const [, redraw] = useReducer((count) => count + 1, 0);
  const ask = useMemo(() => paced(redraw), []);
  const { current: known } = useRef(new Map());
  const keep = (wanted) => {
    for (const [id, source] of known) {
      if (!wanted.includes(id)) {
        source.close();
        known.delete(id);
      }
    }
  };
  useEffect(() => keep(ids), [ids.join()]);
  useEffect(
    () => () => {
      ask.cancel();
      keep([]);
    },
    [],
  );
  const sources = ids.map((id) => {
    if (!known.has(id)) {
      known.set(id, last?.id === id ? last.open(ask) : new RunSource(app.api, id, ask));
    }
    return known.get(id);
  });
  [last] = sources;
  return sources;
}

/* Returns the baseline of an ended run, for its chart. */
export function useBaseline(app, { meta }) {
  const isOver = !app.isReport && meta !== null && isEnded(meta);
  return useAnswer(() => (isOver ? findBaseline(app.api, meta) : null), [isOver]).answer ?? null;
}

/* Returns a run in the form used by charts and exports. `book` may be the book of a single case. */
export function runOnChart(source, book, baseline = null) {
  const { id, meta, state } = source;
  return {
    id,
    name: shorten(source.name(), 60),
    mark: state.backend === 'sim' ? 'simulated' : book.unreal,
    created: state.created,
    backend: state.backend,
    worldSize: state.worldSize,
    nodes: state.nodes,
    verdicts: source.verdicts(),
    spec: meta?.spec,
    baseline,
    book,
    metrics: state.metrics,
  };
}

export const RunOverlay = ({ sources, change }) => (
  <section class="card cases" aria-label="Overlaid runs">
    <h2>Overlaid runs</h2>
    <ul class="case-list">
      {sources.map((source, i) => {
        const name = shorten(source.name(), 60);
        const others = sources.slice(1).filter((one) => one !== source);
        return (
          <li key={source.id}>
            <a href={`/runs/${encodeURIComponent(source.id)}`}>{name}</a>{' '}
            {source.error ? (
              <span class="bad">{source.error.message}</span>
            ) : (
              <StatePill state={source.state.state} />
            )}
            {i > 0 && (
              <Button
                class="quiet"
                aria-label={`Remove ${name} from the chart`}
                onClick={() => change({ with: others.map(({ id }) => id) })}
              >
                Remove
              </Button>
            )}
          </li>
        );
      })}
    </ul>
  </section>
);
