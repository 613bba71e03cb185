/* run_charts.mjs - the charts of a run, or of several, with their switches */
import { colours } from '../chart.mjs';
import { buildPanels, METRICS } from '../chart_model.mjs';
import { chartPanels } from '../chart_panels.mjs';
import { h, setHidden, setText } from '../dom.mjs';
import { metricPanels } from '../figures.mjs';
import { alertBox, switcher } from '../parts.mjs';
import { markOf, unlikeInWords } from '../shown.mjs';
import { onTheme, theme } from '../theme.mjs';
import { formatSize } from '../units.mjs';
import { viewShare } from './run_share.mjs';

/* More of them nobody tells apart, and thousands take a browser minutes. */
const LINES_MAX = 200;

const SPREADS =
  'Shaded: fastest to slowest rank. Bars: how far a figure may be off, by the 95 % ' +
  'interval of its median, and over repeats';

/* Of measured rows, or of the `figures` of programs. `change(set)` asks
 * for another address state; `redraw()` for a drawing of the same. `later`: the app's. */
export function runCharts(change, redraw, later, figures = false) {
  const controls = chartControls(change, figures);
  const charts = chartPanels({
    onToggle: (key) => change({ hide: toggled(shown.hide, key) }),
    onZoom: figures ? null : (zoom) => change({ zoom }),
    later,
  });
  const warning = h('span');
  const unlike = alertBox('warn', 'Not alike. ', warning);
  const spreads = h('p.muted.spreads', `${SPREADS}.`);
  const empty = h('p.chart-empty');
  let shown = { runs: [], panels: [], hide: [] };
  const share = viewShare(() => ({ ...shown, tone: { ...colours(), theme: theme() } }), later);
  const stopTheme = onTheme(redraw);
  const build = figures ? metricPanels : buildPanels;
  const element = h(
    'section.card.chart-card',
    { 'aria-label': figures ? 'Chart of figures' : 'Chart' },
    h('div.chart-top', controls.element, share.element),
    unlike,
    empty,
    charts.element,
    spreads,
  );

  return {
    element,
    /* The runs are what runOnChart() makes of them, the run of the page first. */
    update(runs, view) {
      const lines = figures ? 0 : runs.reduce((sum, { book }) => sum + book.lines.size, 0);
      const panels = lines > LINES_MAX ? [] : build(runs, view, theme());
      setText(
        empty,
        lines > LINES_MAX
          ? `${lines} lines are too many to tell apart: choose one of the cases, in its tab.`
          : 'Points appear here as they are measured.',
      );
      shown = { runs, panels, spread: view.band, hide: view.hide };
      setHidden(element, figures && panels.length === 0);
      setText(warning, unlikeInWords(runs));
      setHidden(unlike, warning.textContent === '');
      controls.set(view);
      setHidden(empty, panels.length > 0);
      setHidden(spreads, figures || !view.band || panels.length === 0);
      charts.update(panels, { spread: view.band, mark: markOf(runs) });
    },
    destroy() {
      stopTheme();
      share.destroy();
      charts.destroy();
    },
  };
}

const toggled = (keys, key) => (keys.includes(key) ? keys.filter((one) => one !== key) : [...keys, key]);

function chartControls(change, figures) {
  const metric = switcher(
    'Bandwidth',
    ['busbw', 'algbw'].map((name) => [name, name, METRICS[name].good]),
    (value) => change({ metric: value }),
  );
  const scale = switcher(
    figures ? 'Vertical scale' : 'Scale of the bandwidth',
    [
      ['linear', 'linear'],
      ['log', 'log'],
    ],
    (value) => change({ y: value }),
  );
  const place = switcher(
    'Placement',
    [
      ['both', 'both'],
      ['out', 'out of place'],
      ['in', 'in place'],
    ],
    (value) => change({ place: value }),
  );
  const id = figures ? 'figures-band' : 'band';
  const band = h('input', { type: 'checkbox', id });
  band.addEventListener('change', () => change({ band: band.checked }));
  const reset = h('button.quiet', { on: { click: () => change({ zoom: null }) } });
  const hint = h('span.muted', 'Drag for a range of sizes');
  const explain = h('button.quiet', { on: { click: () => openMeanings(change) } }, 'More on these figures');
  return {
    element: h(
      'div.controls',
      figures ? null : metric.group,
      scale.group,
      figures ? null : place.group,
      h(
        'label',
        {
          for: id,
          title: figures ? 'Lowest to highest, over ranks and repeats' : SPREADS,
        },
        band,
        ' spread',
      ),
      figures ? null : [hint, reset, explain],
    ),
    set(view) {
      metric.set(view.metric);
      scale.set(view.y);
      place.set(view.place);
      band.checked = view.band;
      setHidden(hint, view.zoom !== null);
      setHidden(reset, view.zoom === null);
      setText(reset, view.zoom ? `${view.zoom.map(formatSize).join(' to ')}: show all` : '');
    },
  };
}

/* They stand in a tab of their own page. */
function openMeanings(change) {
  change({ tab: 'table' });
  const fold = document.querySelector('.meanings')?.closest('details');
  if (fold) {
    fold.open = true;
    fold.scrollIntoView();
    fold.querySelector('summary').focus();
  }
}
