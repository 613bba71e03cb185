/* SPDX-License-Identifier: Apache-2.0 */
/* compare_result.jsx - the result of a comparison: verdict, changes by size, bands, differences and
 * single sizes. All numbers and sentences come from the server. */
import { useState } from 'preact/hooks';
import { changePanel, groupName, keyOf } from '../change_model.mjs';
import { DeltaAxis, DeltaRow, deltaLimit } from '../delta_row.jsx';
import { groupBy } from '../lists.mjs';
import { AnswerPill, Fold, Region, Table, Time } from '../parts.jsx';
import { Panels } from '../panels.jsx';
import { formatInterval, isToldChange } from '../stats.mjs';
import { useTheme } from '../theme.jsx';
import { Alert, flipped } from '../ui.jsx';
import {
  BANDS,
  formatBandwidth,
  formatChange,
  formatSize,
  formatTime,
  plural,
  shorten,
  significant,
} from '../units.mjs';
import { unrealOf } from '../where.mjs';

const SIZES_SHOWN = 500;

/* Title of the window. */
export const headline = ({ base, head }) => `${namesOf(head)} compared with ${namesOf(base)}`;

const namesOf = ({ runs }) =>
  runs
    .slice(0, 2)
    .map((run) => shorten(run.name || run.id, 40) + (unrealOf(run) ? ` (${unrealOf(run)})` : ''))
    .join(', ') + (runs.length > 2 ? ` and ${runs.length - 2} more` : '');

/* `baseline` is the accepted baseline that serves as base, or null. */
export function Comparison({ answer, baseline }) {
  const { verdict } = answer;
  const { warnings, differences } = verdict.evidence;
  return (
    <>
      {warnings.length > 0 && (
        <Alert tone="warn" title={plural(warnings.length, 'warning')}>
          <ul>
            {warnings.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </Alert>
      )}
      <section class={`verdict ${verdict.answer}`}>
        <AnswerPill answer={verdict.answer} />
        <p role="status">{verdict.sentence}</p>
      </section>
      <div class="sides">
        <Side title="Base" {...answer.base}>
          {baseline && (
            <p>
              Baseline accepted by {baseline.by} <Time text={baseline.accepted} />: {baseline.why}
            </p>
          )}
        </Side>
        <Side title="Head" {...answer.head} />
      </div>
      <ChangePlot answer={answer} />
      <Bands {...verdict.evidence} />
      <Differences differences={differences} />
      <Sizes {...answer} />
    </>
  );
}

function Side({ title, runs, cases, children }) {
  const sets = new Set(cases.map(({ env }) => envInWords(env)));
  return (
    <section class="card">
      <h2>
        {title}
        <span class="note">{plural(cases.length, 'case')}</span>
      </h2>
      <ul>
        {runs.map((run) => (
          <li key={run.id}>
            <a href={`/runs/${encodeURIComponent(run.id)}`}>{shorten(run.name || run.id, 80)}</a>{' '}
            {unrealOf(run) && <span class="pill warn">{unrealOf(run)}</span>}{' '}
            <span class="muted">
              {run.name ? `${run.id}, ` : ''}
              <Time text={run.created} />
            </span>
          </li>
        ))}
      </ul>
      {sets.size === 1 && !sets.has('') && <p class="muted">{[...sets][0]}</p>}
      {children}
    </section>
  );
}

const envInWords = (env) =>
  Object.entries(env)
    .map(([name, value]) => (value === null ? `${name} unset` : `${name}=${value}`))
    .join(' ');

/* The chart of changes by size, which shows where one setting overtakes the other. */
function ChangePlot({ answer }) {
  const theme = useTheme();
  const [keys, setKeys] = useState([]);
  const panel = changePanel(answer, keys, theme);
  return (
    panel && (
      <section class="card chart-card" aria-label="Change by size">
        <Panels
          panels={[panel]}
          spread
          mark=""
          name="Changes"
          onToggle={(key) => setKeys(flipped(keys, key))}
        />
        <p class="muted">
          Error bars: 95 % confidence interval of each single size, not corrected for multiple testing.
        </p>
      </section>
    )
  );
}

function Bands({ bands, cases, paired, unit, margin, runs }) {
  const byRun = unit === 'run';
  if (bands.length === 0) {
    return null;
  }
  return (
    <section class="card">
      <h2>By band of sizes</h2>
      <p class="muted">
        {`Dot: change. Bar: ${byRun ? 99 : 95} % confidence interval, for all bands together. Grey: ` +
          `changes below ${100 * margin} % count as none. `}
        {paired && 'Cases are interleaved and compared in pairs. '}
        {byRun &&
          `Each run counts once. The scatter between runs is from ` +
            `${plural(runs.base + runs.history, 'run')} comparable to base.`}
      </p>
      <Deltas
        label="Bands"
        first="Band"
        limit={deltaLimit(bands)}
        margin={margin}
        counts={byRun ? runs : cases}
        hasAnswers
        groups={[['', bands]]}
        nameOf={(band) => (
          <>
            <span>{band.series}</span>
            {band.band && <div class="muted">{`${BANDS[band.band]}, ${plural(band.sizes, 'size')}`}</div>}
          </>
        )}
        isMoreBetter={(band) => band.higher_is_better}
      />
    </section>
  );
}

/* Rows by group: [title, items]. `counts` are the numbers of cases or runs per side. */
function Deltas({ label, first, limit, margin, counts, groups, nameOf, isMoreBetter, hasAnswers = false }) {
  const numbers = ['Change, interval', `Base, n = ${counts.base}`, `Head, n = ${counts.head}`];
  return (
    <Region label={label}>
      <table class="deltas">
        <thead>
          <tr>
            <th scope="col">{first}</th>
            <th scope="col">
              <DeltaAxis limit={limit} margin={margin} />
            </th>
            {numbers.map((text) => (
              <th key={text} scope="col" class="number">
                {text}
              </th>
            ))}
            {hasAnswers && <th scope="col">Answer</th>}
          </tr>
        </thead>
        {groups.map(([title, items]) => (
          <tbody key={title}>
            {title && (
              <tr class="group">
                <th colSpan={hasAnswers ? 6 : 5} scope="rowgroup">
                  {title}
                </th>
              </tr>
            )}
            {items.map((item, i) => (
              <tr key={i}>
                <th scope="row">
                  {nameOf(item)}
                  <div class="muted">{directionOf(item, isMoreBetter(item))}</div>
                </th>
                <td class="track">
                  <DeltaRow item={item} isMoreBetter={isMoreBetter(item)} limit={limit} margin={margin} />
                </td>
                <td class="number">
                  <strong>{isToldChange(item) ? formatChange(item.change) : '–'}</strong>
                  <div class="muted">{item.interval ? formatInterval(item.interval) : ''}</div>
                </td>
                <td class="number">{figureInWords(item, item.base)}</td>
                <td class="number">{figureInWords(item, item.head)}</td>
                {hasAnswers && (
                  <td>
                    <AnswerPill answer={item.answer} />
                    {item.why && <div class="muted why">{item.why}</div>}
                    {item.usual !== null && (
                      <div class="muted">{`usual scatter: ±${significant(100 * item.usual)} %`}</div>
                    )}
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </Region>
  );
}

/* "busbw: more is better" */
const directionOf = ({ figure }, isMoreBetter) =>
  `${{ time_us: 'time', busbw_gbs: 'busbw' }[figure] ?? figure}: ` +
  `${isMoreBetter ? 'more' : 'less'} is better`;

function figureInWords({ figure, about }, value) {
  if (value === null) {
    return '–';
  }
  if (figure === 'time_us') {
    return formatTime(value);
  }
  return figure === 'busbw_gbs'
    ? `${formatBandwidth(value)} GB/s`
    : `${significant(value)} ${about?.unit ?? ''}`;
}

const Differences = ({ differences }) => (
  <section class="card">
    <h2>Differences</h2>
    {differences.length === 0 ? (
      <p class="muted">No known differences: environment, versions, nodes and settings are the same.</p>
    ) : (
      <Table
        label="Differences"
        name="list differences"
        columns={['Fact', 'Base', 'Head']}
        rows={differences.map(({ what, alike, base, head }) => [
          <>
            {what}
            {!alike && <div class="bad">⚠ hardly comparable</div>}
          </>,
          ...[base, head].map((value) => (value === null ? '–' : shorten(inWords(value), 300))),
        ])}
      />
    )}
  </section>
);

function inWords(value) {
  if (Array.isArray(value)) {
    return value.map(inWords).join(', ');
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/* Lists intervals of single sizes. They are not a verdict, but show where a change comes from. */
function Sizes({ verdict, sizes, sizes_total: total }) {
  const { bands, cases, runs, unit, margin } = verdict.evidence;
  if (sizes.length === 0) {
    return null;
  }
  const isMoreBetter = new Map(bands.map((band) => [keyOf(band), band.higher_is_better]));
  const shown = sizes.slice(0, SIZES_SHOWN);
  return (
    <Fold title="Single sizes" note={<span class="muted">{`${plural(total, 'size')}: exploratory`}</span>}>
      <p class="muted">
        Not corrected for multiple testing: expect 2 to 3 false positives in 50 sizes.
        {shown.length < total && ` Only the first ${shown.length} are listed; the CSV file contains all.`}
      </p>
      <Deltas
        label="Sizes"
        first="Size"
        limit={deltaLimit(shown)}
        margin={margin}
        counts={unit === 'run' ? runs : cases}
        groups={[...groupBy(shown, groupName)]}
        nameOf={(one) => (one.size === null ? one.figure : formatSize(one.size))}
        isMoreBetter={(one) => isMoreBetter.get(keyOf(one))}
      />
    </Fold>
  );
}
