/* chart_panels.mjs - charts beside one another, with one cross-hair, one range and one legend */
import { Chart } from './chart.mjs';
import { h, setText } from './dom.mjs';
import { chartLegend, referenceList } from './readout.mjs';

const HEIGHT = 340;
const HEIGHT_OF_MANY = 260;

/* `onToggle(key)` asks to show a line or to hide it; `onZoom([low, high])` for a range of
 * places, null for all; without it none can be chosen. `name`: of the legend, where a page has
 * several; `later` loads what few need. */
export function chartPanels({ onToggle, onZoom = null, name = 'Series', later = null }) {
  const grid = h('div.panels');
  const legend = chartLegend(onToggle, name);
  const references = referenceList();
  const charts = new Map();

  function point(from, x) {
    for (const entry of charts.values()) {
      if (entry !== from && placesOf(entry.panel) === placesOf(from.panel)) {
        entry.chart.point(x);
      }
    }
    legend.show(x, from.panel.key);
  }

  function add(panel) {
    const entry = {
      title: h('strong'),
      axis: h('span.muted'),
      good: h('p.muted.good-for'),
      ways: h('div.way-strips'),
    };
    entry.box = h('figure', h('figcaption', entry.title, ' ', entry.axis));
    entry.chart = new Chart(entry.box, { onCursor: (x) => point(entry, x), onZoom });
    entry.box.append(entry.ways, entry.good);
    grid.append(entry.box);
    charts.set(panel.key, entry);
    return entry;
  }

  function drop(key) {
    const { chart, box } = charts.get(key);
    chart.destroy();
    box.remove();
    charts.delete(key);
  }

  /* How NCCL did the calls: few runs say it. */
  async function showWays(panels) {
    if (
      panels.some(({ lines }) =>
        lines.some(({ points }) => points.some(({ point }) => point?.ways?.length > 0)),
      )
    ) {
      const { fillWays } = await later();
      charts.forEach(({ ways, panel }) => fillWays(ways, panel));
    }
  }

  return {
    element: h('div.stack', grid, legend.element, references.element),
    /* `mark`: what is no measurement, which the style writes across each chart; or ''. */
    update(panels, { spread, mark }) {
      const wanted = new Set(panels.map(({ key }) => key));
      [...charts.keys()].filter((key) => !wanted.has(key)).forEach(drop);
      grid.classList.toggle('one', panels.length === 1);
      for (const panel of panels) {
        const entry = charts.get(panel.key) ?? add(panel);
        entry.panel = panel;
        entry.box.classList.toggle('unreal', mark !== '');
        entry.box.dataset.unreal = mark;
        setText(entry.title, panel.title);
        setText(entry.axis, panel.axis);
        setText(entry.good, panel.good ?? '');
        const height = panels.length > 2 ? HEIGHT_OF_MANY : HEIGHT;
        entry.chart.update(panel, { height, spread });
      }
      legend.update(panels);
      references.update(panels);
      if (later) {
        showWays(panels).catch(() => {}); /* the next update asks again */
      }
    },
    destroy() {
      [...charts.keys()].forEach(drop);
    },
  };
}

const placesOf = (panel) => (panel.isSize ? 'bytes' : panel.place);
