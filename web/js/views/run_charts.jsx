/* SPDX-License-Identifier: Apache-2.0 */
/* run_charts.jsx - the charts of one or more runs, with their controls */
import { buildPanels, limitedTo, limitsWith, METRICS } from '../chart_model.mjs';
import { metricPanels } from '../figures.mjs';
import { Panels } from '../panels.jsx';
import { markOf, unlikeInWords } from '../shown.mjs';
import { Button, Alert, flipped, Switcher } from '../ui.jsx';
import { useTheme } from '../theme.jsx';
import { formatSize } from '../units.mjs';
import { Ranking } from './ranking.jsx';
import { ViewShare } from './share.jsx';

/* More lines than this cannot be distinguished, and thousands take minutes to draw. */
const LINES_MAX = 200;
const SPREADS =
  'Shaded: fastest to slowest rank. Error bars: 95 % confidence interval of the median, across repeats';
const EMPTY = 'Points appear here as they are measured.';

/* Charts of measured rows, or of figures reported by programs (`figures`). `runs` are results of
 * runOnChart(), the page's run first. `change(set)` updates the address state. */
export function RunCharts({ app, runs, view, change, figures = false }) {
  const theme = useTheme();
  const lines = figures ? 0 : runs.reduce((sum, { book }) => sum + book.lines.size, 0);
  const build = figures ? metricPanels : buildPanels;
  const panels = (lines > LINES_MAX ? [] : build(runs, view, theme)).map((panel) =>
    limitedTo(panel, view.limits),
  );
  const unlike = unlikeInWords(runs);
  const shown = { runs, panels, spread: view.band };
  if (figures && panels.length === 0) {
    return null;
  }
  return (
    <section class="card chart-card" aria-label={figures ? 'Chart of figures' : 'Chart'}>
      <div class="chart-top">
        <Controls view={view} change={change} figures={figures} />
        <ViewShare app={app} shown={shown} />
      </div>
      {unlike && (
        <Alert tone="warn" title="Not comparable. ">
          {unlike}
        </Alert>
      )}
      {panels.length === 0 && (
        <p class="chart-empty">
          {lines > LINES_MAX
            ? `${lines} lines are too many for a chart. Select one case in the tab “Cases”.`
            : EMPTY}
        </p>
      )}
      <Panels
        panels={panels}
        spread={view.band}
        mark={markOf(runs)}
        onToggle={(key) => change({ hide: flipped(view.hide, key) })}
        onZoom={figures ? null : (zoom) => change({ zoom })}
        onLimit={(panel, range) => change({ limits: limitsWith(view.limits, panel, range) })}
      />
      {!figures && runs.length === 1 && <Ranking run={runs[0]} />}
      {!figures && view.band && panels.length > 0 && <p class="muted spreads">{SPREADS}.</p>}
    </section>
  );
}

function Controls({ view, change, figures }) {
  return (
    <div class="controls">
      {!figures && (
        <Switcher
          label="Bandwidth"
          options={['busbw', 'algbw'].map((name) => [name, name, METRICS[name].good])}
          value={view.metric}
          onChange={(metric) => change({ metric })}
        />
      )}
      <Switcher
        label={figures ? 'Vertical scale' : 'Scale of the bandwidth'}
        options={['linear', 'log'].map((name) => [name, name])}
        value={view.y}
        onChange={(y) => change({ y })}
      />
      {!figures && (
        <Switcher
          label="Placement"
          options={[
            ['out', 'out of place'],
            ['in', 'in place'],
            ['both', 'both'],
          ]}
          value={view.place}
          onChange={(place) => change({ place })}
        />
      )}
      <label title={figures ? 'Lowest to highest, over ranks and repeats' : SPREADS}>
        <input
          type="checkbox"
          checked={view.band}
          onChange={(event) => change({ band: event.currentTarget.checked })}
        />{' '}
        spread
      </label>
      {!figures && view.zoom === null && <span class="muted">Drag to zoom</span>}
      {!figures && view.zoom !== null && (
        <Button class="quiet" onClick={() => change({ zoom: null })}>
          {`${view.zoom.map(formatSize).join(' to ')}: show all`}
        </Button>
      )}
      {!figures && (
        <Button class="quiet" onClick={() => openMeanings(change)}>
          About these numbers
        </Button>
      )}
    </div>
  );
}

/* Open the explanations in the table's tab, once that tab is drawn. */
function openMeanings(change) {
  change({ tab: 'table' });
  setTimeout(() => {
    const fold = document.querySelector('.meanings')?.closest('details');
    if (fold) {
      fold.open = true;
      fold.scrollIntoView();
      fold.querySelector('summary').focus();
    }
  });
}
