/* SPDX-License-Identifier: Apache-2.0 */
/* trends.jsx - the view of results over time, with a chart for each band of sizes */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { limitedTo, limitsWith } from '../chart_model.mjs';
import { download } from '../download.mjs';
import { AnswerPill, Fold, Table, Time, TypedInput } from '../parts.jsx';
import { PlotBox, PlotTools, toggleFull } from '../plot_box.jsx';
import {
  buildTrends,
  changeAddress,
  changeBefore,
  compareAddress,
  trendPanel,
  VERSIONS,
} from '../trend_model.mjs';
import { Sparkline } from '../run_row.jsx';
import { Button, Alert, Select, useAnswer, usePoll } from '../ui.jsx';
import { BANDS, formatChange, plural, shorten, significant, TIME_ZONE } from '../units.mjs';
import { POINTS_SHOWN, trendsQuery } from '../url_state.mjs';
import { isBad } from '../verdicts.mjs';

const NAMES = Object.keys(BANDS);
/* Number of lines that are open at first. */
const LINES_OPEN = 4;
const REFRESH_MS = 30000;
const HEIGHT = 230;
const COLUMNS = [
  'Run',
  `Created, ${TIME_ZONE}`,
  'Value',
  '95 % interval',
  'Range',
  'Cases',
  'Change',
  'Versions',
  'Compare',
];

export default function Trends({ app, query }) {
  const [answers, setAnswers] = useState(null);
  const [error, setError] = useState(null);
  useEffect(() => app.title('Trends'), []);
  usePoll(
    async (isCurrent) => {
      try {
        const found = await Promise.all(
          NAMES.map((band) => app.api.trends(trendsQuery(query, { band, requests: NAMES.length }))),
        );
        if (!isCurrent()) {
          return;
        }
        /* Keep the old object for an equal answer, so that the page does not change. */
        setAnswers((old) => (old && signOf(old) === signOf(found) ? old : found));
        setError(null);
      } catch (failure) {
        setError(failure);
      }
    },
    REFRESH_MS,
    [JSON.stringify(query)],
  );
  const lines = useMemo(() => buildTrends(answers ?? []), [answers]);
  const isRefused = Boolean(error?.status);
  const isEmpty = answers?.every(({ points }) => points.length === 0) && !error;
  return (
    <>
      <h1>Trends</h1>
      <Filters app={app} query={query} />
      <div class="alerts" role="status">
        {isRefused && (
          <Alert tone="bad" title="No trends. ">
            {error.message}
          </Alert>
        )}
        {error && !isRefused && <p class="muted">Waiting for the server.</p>}
      </div>
      {isEmpty && <Empty {...query} />}
      {answers && !isEmpty && !isRefused && (
        <div class="stack">
          <SaveButtons app={app} query={query} onError={setError} />
          {lines.map((line, i) => (
            <Line key={line.label} app={app} isOpen={i < LINES_OPEN} {...line} />
          ))}
        </div>
      )}
    </>
  );
}

/* Returns a text that identifies the content of the answers. */
const signOf = (answers) =>
  answers
    .map(({ points, changes, next }) =>
      [
        next,
        JSON.stringify(changes),
        ...points.map(({ run, name, value }) => `${run} ${name} ${value}`),
      ].join(),
    )
    .join();

const Empty = ({ collective, dtype }) => (
  <section class="empty">
    <h2>No runs to show yet</h2>
    <p>
      {`A trend shows completed runs that measured ${collective} of ${dtype} with these settings. Change the ` +
        'selection above, or '}
      <a href="/new">start a run</a>. Repeat it each night with the same spec: comparable runs become a line.
      Detecting a change takes at least 6 runs.
    </p>
  </section>
);

/* Downloads of the server's CSV, one per band. */
function SaveButtons({ app, query, onError }) {
  const { collective, dtype } = query;
  const save = async (band) => {
    try {
      const asked = trendsQuery(query, { band, format: 'csv', requests: NAMES.length });
      download(
        await app.api.blob(`/api/v1/trends?${asked}`),
        `ringbench-trends-${collective}-${dtype}-${band}.csv`,
      );
    } catch (error) {
      onError(error);
    }
  };
  return (
    <div class="actions">
      <span class="muted">Each point is a run. Error bars: 95 % confidence interval of the median.</span>
      <span class="spring" />
      {NAMES.map((band) => (
        <Button key={band} onClick={() => save(band)}>
          CSV of {band}
        </Button>
      ))}
    </div>
  );
}

/* A line of comparable runs: verdict, sparkline, and a chart per band. */
function Line({ app, label, columns, dates, panels, isOpen: isFirst }) {
  const [isOpen, setOpen] = useState(isFirst);
  const drawn = panels.filter(({ points }) => points.length > 0);
  const verdicts = drawn.flatMap(({ changes }) => changes.map(({ verdict }) => verdict));
  const worst = verdicts.find(isBad) ?? verdicts.find(({ answer }) => answer === 'better') ?? verdicts[0];
  /* The server judges more runs than the chart shows. */
  const all = Math.max(columns.length, ...verdicts.map(({ evidence }) => evidence?.runs ?? 0));
  return (
    <details
      class="card fold trend-line"
      aria-label={label}
      open={isFirst}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        <h2>{shorten(label, 240)}</h2>
        {worst && <AnswerPill answer={worst.answer} title={worst.sentence} />}
        <Sparkline points={drawn.at(-1).points.map(({ x, value }) => [x, value])} />
        <span class="muted">
          {all > columns.length ? `last ${columns.length} of ${all} runs` : plural(columns.length, 'run')}
        </span>
      </summary>
      {isOpen && (
        <div class="trends">
          {panels.map(
            (panel, i) =>
              panel.points.length > 0 && (
                <Band key={NAMES[i]} app={app} band={NAMES[i]} {...{ panel, label, dates }} />
              ),
          )}
        </div>
      )}
    </details>
  );
}

/* Drawing thousands of runs is slow, so each chart is drawn in its own task. */
function useNextTask() {
  const [isDue, setDue] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setDue(true));
    return () => clearTimeout(timer);
  }, []);
  return isDue;
}

const Band = (props) => (useNextTask() ? <DrawnBand {...props} /> : <Reserved />);

const Reserved = () => (
  <section class="card trend-card">
    <div class="chart-box" style={{ height: `${HEIGHT}px` }} />
  </section>
);

function DrawnBand({ app, band, panel, label, dates }) {
  const isTime = panel.figure.name === 'time_us';
  const title = `${isTime ? 'Time per call' : 'Bus bandwidth'} ${BANDS[band]}, ${isTime ? 'µs' : 'GB/s'}`;
  const name = `${title}, ${label}`;
  const [limits, setLimits] = useState([]);
  const plotted = useMemo(() => limitedTo(trendPanel(panel, title, dates), limits), [panel, limits]);
  const pointAt = (x) => panel.points.find((point) => point.x === x);
  return (
    <section class="card trend-card" aria-label={name}>
      <h3 class="title">
        {title}
        <PlotTools
          label={title}
          range={plotted.isLimited ? plotted.y : null}
          onRange={(range) => setLimits(limitsWith([], plotted, range))}
          onFull={({ currentTarget }) => toggleFull(currentTarget.closest('section'))}
        />
      </h3>
      <ul class="trend-says">
        {panel.changes.map((one) => (
          <Sentence key={`${one.series} ${one.run}`} change={one} points={panel.points} />
        ))}
      </ul>
      <PlotBox
        panel={plotted}
        height={HEIGHT}
        label={
          `${name}, ${plural(dates.length, 'run')}. Left and right arrow keys read out each run, Enter ` +
          'compares it; the table below lists all values.'
        }
        tip={(x) => <ReadOut point={pointAt(x)} panel={panel} />}
        onPick={(x) => app.go(compareAddress(pointAt(x), panel.changes))}
      />
      <p class="muted">Hover for values; click to compare with the last good run.</p>
      <Fold title="Table">
        <Values name={name} panel={panel} />
      </Fold>
    </section>
  );
}

/* The server's sentence, with a link to the comparison if there is a change. */
function Sentence({ change, points }) {
  const { answer, sentence } = change.verdict;
  return (
    <li>
      <AnswerPill answer={answer} />
      <p>
        {change.run && (
          <>
            <Time text={change.created} hasDay />:{' '}
          </>
        )}
        {sentence} {change.run && <a href={changeAddress(change, points)}>Compare before / after</a>}
      </p>
    </li>
  );
}

const inUnit = (value, { unit }) => `${significant(value)} ${unit === 'us' ? 'µs' : unit}`;
const span = (from, to, figure) => (from === null ? '–' : `${significant(from)} to ${inUnit(to, figure)}`);
const nameOf = ({ name, run }) => shorten(name || run, 60);

function ReadOut({ point, panel: { figure, versions, changes } }) {
  const step = versions.find(({ x }) => x === point.x);
  return (
    <>
      <p class="readout-size">{nameOf(point)}</p>
      <p>
        <Time text={point.created} hasDay />
      </p>
      <p>
        <strong>{inUnit(point.value, figure)}</strong>{' '}
        {point.low === null ? `(${plural(point.cases, 'case')})` : `(${span(point.low, point.high, figure)})`}
      </p>
      {step && <p>Changed: {step.text}</p>}
      <p class="muted">
        Click or Enter: compare with{' '}
        {changeBefore(point, changes) ? 'the last run before the change' : 'the baseline'}
      </p>
    </>
  );
}

const Values = ({ name, panel: { figure, points, changes, hasMore } }) => (
  <>
    <Table
      label={`Values: ${name}`}
      columns={COLUMNS}
      isNumber={(i) => i > 1 && i < 7}
      rows={[...points].reverse().map((point) => [
        <a href={`/runs/${point.run}`}>{nameOf(point)}</a>,
        <span class="when">
          <Time text={point.created} isCell />
        </span>,
        inUnit(point.value, figure),
        span(point.low, point.high, figure),
        span(point.least, point.most, figure),
        point.cases,
        point.change === null ? '' : formatChange(point.change),
        versionsInWords(point.versions),
        <a href={compareAddress(point, changes)}>compare</a>,
      ])}
    />
    {hasMore && <p class="muted">There are older runs. Increase “Runs per line”, or set a date.</p>}
  </>
);

const versionsInWords = (versions) =>
  VERSIONS.filter((name) => versions?.[name])
    .map((name) => `${name} ${versions[name]}`)
    .join(', ');

/* [query, label, options [value, text] or the name of a list from the server or null, hint,
 * type] */
const FILTERS = [
  ['collective', 'Collective', 'collectives'],
  ['dtype', 'Data type', 'dtypes'],
  [
    'in_place',
    'Placement',
    [
      ['0', 'out of place'],
      ['1', 'in place'],
    ],
  ],
  ['backend', 'Backend', [['', 'any'], ...['nccl', 'host', 'sim', 'mpi'].map((name) => [name, name])]],
  ['nodes', 'Nodes', null, 'exactly these: A,B'],
  ['run', 'Comparable to run', null, 'a run’s id'],
  [
    'like',
    'Group by',
    [
      ['', 'node set'],
      ['hardware', 'hardware'],
    ],
  ],
  ['per_line', 'Runs per line', ['', '200', '500'].map((count) => [count, count || String(POINTS_SHOWN)])],
  ['since', 'Created from', null, '', 'date'],
  ['until', 'Created until', null, '', 'date'],
];

function Filters({ app, query }) {
  const { answer: known = { collectives: [], dtypes: [] } } = useAnswer(() => app.api.collectives(), []);
  const change = (name) => (value) =>
    app.go(
      {
        view: 'trends',
        query: { ...query, [name]: name === 'per_line' ? Number(value) || null : value },
      },
      { replace: true },
    );
  return (
    <form class="card trend-filters" onSubmit={(event) => event.preventDefault()}>
      {FILTERS.map(([name, label, options, hint, type = 'text']) => {
        const value = String(query[name] ?? '');
        return (
          <label key={name}>
            <span>{label}</span>
            {options === null ? (
              <TypedInput
                {...{ name, value, type }}
                placeholder={hint}
                autocomplete="off"
                onType={change(name)}
              />
            ) : (
              <Select
                {...{ name, value }}
                options={optionsOf(options, known, value)}
                onChange={change(name)}
              />
            )}
          </label>
        );
      })}
    </form>
  );
}

/* The current value is always an option. */
function optionsOf(names, known, value) {
  const options = typeof names === 'string' ? known[names].map(({ name }) => [name, name]) : names;
  return options.some(([one]) => one === value) ? options : [...options, [value, value]];
}
