/* run_overlay.mjs - other runs on the same chart */
import { findBaseline } from '../baseline.mjs';
import { bookOf } from '../book.mjs';
import { h, setHidden, syncChildren } from '../dom.mjs';
import { isEnded } from '../events.mjs';
import { statePill } from '../parts.mjs';
import { RunSource } from '../run_source.mjs';
import { markOf, titleOf } from '../shown.mjs';
import { shorten } from '../units.mjs';

export function runOverlay(app, onChange, change) {
  const sources = new Map();
  const list = h('ul.case-list');
  const element = h(
    'section.card.cases',
    { hidden: true, 'aria-label': 'Overlaid runs' },
    h('h2', 'On one chart'),
    list,
  );

  /* Follow the wanted runs and no other. */
  function follow(ids) {
    for (const [id, source] of sources) {
      if (!ids.includes(id)) {
        source.close();
        sources.delete(id);
      }
    }
    for (const id of ids) {
      if (!sources.has(id)) {
        sources.set(id, new RunSource(app.api, id, onChange));
      }
    }
  }

  /* What the page's own run is held against is kept with it, as `baseline`. */
  let isAsked = false;
  async function heedBaseline(main) {
    if (!isAsked && main.meta !== null && isEnded(main.meta)) {
      isAsked = true;
      main.baseline = await findBaseline(app.api, main.meta);
      onChange();
    }
  }

  return {
    element,
    /* The overlaid runs as the chart wants them. */
    update(main, ids) {
      const wanted = ids.filter((id) => id !== main.id);
      heedBaseline(main);
      follow(wanted);
      setHidden(element, wanted.length === 0);
      const all = [main, ...wanted.map((id) => sources.get(id))];
      syncChildren(list, all, {
        key: (source) => source.id,
        signature: (source) =>
          JSON.stringify([source.name(), source.state.state, source.error?.message, wanted]),
        render: (source) =>
          overlayItem(source, main, () => change({ with: wanted.filter((id) => id !== source.id) })),
      });
      const runs = all.map((source) => runOnChart(source, source.state, bookOf(source.state)));
      if (wanted.length > 0) {
        app.title(shorten(titleOf(runs), 100), markOf(runs));
      }
      return runs.slice(1);
    },
    destroy: () => follow([]),
  };
}

/* A run as charts and what is shared of them want it; of one case, if `book` is. */
export function runOnChart(source, state, book) {
  return {
    id: source.id,
    name: shorten(source.name(), 60),
    mark: state.backend === 'sim' ? 'simulated' : book.unreal,
    created: state.created,
    backend: state.backend,
    worldSize: state.worldSize,
    nodes: state.nodes,
    verdicts: source.verdictsAt(state),
    spec: source.meta?.spec,
    baseline: source.baseline ?? null,
    book,
    metrics: state.metrics,
  };
}

function overlayItem(source, main, remove) {
  const name = shorten(source.name(), 60);
  return h(
    'li',
    h('a', { href: `/runs/${encodeURIComponent(source.id)}` }, name),
    ' ',
    source.error ? h('span.bad', source.error.message) : statePill(source.state.state),
    source === main
      ? null
      : h('button.quiet', { 'aria-label': `Take ${name} off the chart`, on: { click: remove } }, 'Take off'),
  );
}
