/* run_charts.mjs - the panels of a run, their switches, legend and export */
import {Chart, colours} from '../chart.mjs';
import {buildPanels, yScale} from '../chart_model.mjs';
import {panelsToSvg, svgToPng} from '../chart_svg.mjs';
import {download, h, setHidden, syncChildren} from '../dom.mjs';
import {metricPanels} from '../figures.mjs';
import {switcher} from '../parts.mjs';
import {glyph} from '../readout.mjs';
import {onTheme, theme} from '../theme.mjs';

const SPREADS =
  'Shaded: fastest to slowest rank. Bars: how far a figure may be off, by the 95 % ' +
  'interval of its median, and over repeats';
const HEIGHT = 380;
const HEIGHT_OF_SEVERAL = 280;

/* Of measured rows, or of the `figures` of programs and control series. `change(set)` asks
 * for another address state; `redraw()` for a drawing of the same. */
export function runCharts(change, redraw, figures = false) {
  const controls = chartControls(change, figures);
  const legend = h('ul.legend', {'aria-label': 'Series'});
  const panels = h('div.panels');
  const spreads = h('p.muted.spreads', `${SPREADS}.`);
  const empty = h('p.chart-empty', 'Points appear here as they are measured.');
  const charts = new Map();
  let shown = {panels: [], view: null, title: 'run'};
  const stopTheme = onTheme(redraw);
  const exports = exportButtons(() => shown);
  const build = figures ? metricPanels : buildPanels;
  const element =
    h('section.card.chart-card', {'aria-label': figures ? 'Chart of figures' : 'Chart'},
      h('div.chart-top', controls.element, exports), panels, empty, legend, spreads);

  return {
    element,
    update(sources, view, title, unreal) {
      const built = build(sources, view, theme());
      shown = {panels: built, view, title};
      setHidden(element, figures && built.length === 0);
      /* The style writes it across the charts. */
      element.classList.toggle('unreal', Boolean(unreal));
      element.dataset.unreal = unreal || '';
      controls.set(view);
      setHidden(empty, built.length > 0);
      setHidden(spreads, figures || !view.band || built.length === 0);
      drawPanels(charts, panels, built, view);
      drawLegend(legend, built, view, change);
    },
    destroy() {
      stopTheme();
      charts.forEach(({chart}) => chart.destroy());
    }
  };
}

function chartControls(change, figures) {
  const metric = switcher('What is drawn',
    [
      ['busbw', 'busbw', 'What the busiest link carries: comparable between collectives'],
      ['algbw', 'algbw', 'Size over time'], ['time', 'time', 'Time per call, all sizes'],
      ['latency', 'latency', 'Time per call of the small sizes']
    ],
    value => change({metric: value, y: 'auto'}));
  const scale = switcher('Vertical scale', [['linear', 'linear'], ['log', 'log']],
    value => change({y: value}));
  const place =
    switcher('Placement', [['both', 'both'], ['out', 'out of place'], ['in', 'in place']],
      value => change({place: value}));
  const id = figures ? 'figures-band' : 'band';
  const band = h('input', {type: 'checkbox', id});
  band.addEventListener('change', () => change({band: band.checked}));
  return {
    element: h('div.controls', figures ? null : metric.group, scale.group,
      figures ? null : place.group,
      h('label',
        {
        for: id,
        title: figures ? 'Lowest to highest, over ranks and repeats'
                         : SPREADS
        },
        band, ' spread')),
    set(view) {
      metric.set(view.metric);
      scale.set(yScale(view, figures ? {kind: 'figure', y: [1]} : {}));
      place.set(view.place);
      band.checked = view.band;
    }
  };
}

function drawPanels(charts, root, panels, view) {
  const wanted = new Set(panels.map(panel => panel.collective));
  for (const [name, {chart, box}] of charts) {
    if (!wanted.has(name)) {
      chart.destroy();
      box.remove();
      charts.delete(name);
    }
  }
  for (const panel of panels) {
    let entry = charts.get(panel.collective);
    if (!entry) {
      const box = h('figure',
        h('figcaption', h('strong', panel.collective), h('span.muted.axis-name')));
      root.append(box);
      entry = {box, chart: new Chart(box)};
      charts.set(panel.collective, entry);
    }
    entry.box.querySelector('.axis-name').textContent = ` ${panel.axis}`;
    entry.chart.update(panel, view, panels.length > 1 ? HEIGHT_OF_SEVERAL : HEIGHT);
  }
  root.classList.toggle('several', panels.length > 1);
}

/* A button per line shows or hides it. */
function drawLegend(root, panels, view, change) {
  const offered = panels.flatMap(panel => panel.lines).filter(line => line.offered);
  const lines = [...new Map(offered.map(line => [line.key, line])).values()];
  syncChildren(root, lines, {
    key: line => line.key,
    signature: line => JSON.stringify([line.label, line.colour, line.hidden, view.hide]),
    render: line => h('li',
      h('button.legend-item', {
        'aria-pressed': String(!line.hidden),
        on: {
          click: () => {
            const hide = view.hide.includes(line.key)
              ? view.hide.filter(key => key !== line.key)
              : [...view.hide, line.key];
            change({hide});
            [...root.querySelectorAll('button')]
              .find(button => button.dataset.key === line.key)
              ?.focus();
          }
        },
        'data-key': line.key
      },
        glyph(line), line.label))
  });
}

function exportButtons(shown) {
  const image = () => {
    const {panels, view, title} = shown();
    return panelsToSvg(panels, view, {title, ...colours(), theme: theme()});
  };
  const name = () =>
    `ringbench-${shown().title.replace(/[^A-Za-z0-9._-]+/g, '-')}`.slice(0, 80);
  const button = (text, title, click) => h('button.quiet', {title, on: {click}}, text);
  return h('div.exports',
    button('SVG', 'The chart as a vector drawing',
      () => download(new Blob([image().text], {type: 'image/svg+xml'}), `${name()}.svg`)),
    button('PNG', 'The chart as a picture',
      async () => download(await svgToPng(image()), `${name()}.png`)));
}
