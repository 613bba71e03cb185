/* SPDX-License-Identifier: Apache-2.0 */
/* run_table.jsx - the run's figures as a table, updated live. A row opens to show its details. */
import { Fragment } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { paced } from '../timing.mjs';
import { Later, Region } from '../parts.jsx';
import { doubtInWords, doubtOf, sortPivot, waysInWords } from '../stats.mjs';
import { Button, flipped } from '../ui.jsx';
import { formatBandwidth, formatMicros, formatSize, plural } from '../units.mjs';

const COLUMNS = [
  ['size', 'size', 'bytes'],
  ['count', 'count', 'elements'],
  ['type', 'type', 'collective · data type · reduction'],
  ['way', 'NCCL', 'algorithm, protocol'],
  ['out_time', 'time', 'µs'],
  ['out_algbw', 'algbw', 'GB/s'],
  ['out_busbw', 'busbw', 'GB/s'],
  ['out_wrong', 'wrong', 'elements'],
  ['in_time', 'time', 'µs'],
  ['in_algbw', 'algbw', 'GB/s'],
  ['in_busbw', 'busbw', 'GB/s'],
  ['in_wrong', 'wrong', 'elements'],
];

/* A table with more rows scrolls in its own box. */
const PAGE_UP_TO = 100;
/* A longer table draws only the rows near the visible part. */
const ALL_UP_TO = 400;
const NEAR_PX = 600;
/* Height of a row, as set in run.css. */
const ROW_PX = 30;

/* `onPaper` draws the first ALL_UP_TO rows, because paper cannot scroll. */
export function RunTable({ app, id, book, sort, cases, onSort, onPaper = false }) {
  const [open, setOpen] = useState([]);
  const [, setScrolled] = useState(0);
  const body = useRef(/** @type {any} */ (null));
  const [range, setRange] = useState([0, ALL_UP_TO]);
  const entries = sortPivot(book.table, sort);
  const facts = factsOf(entries);
  const isMany = entries.length > ALL_UP_TO;
  const scrolled = useMemo(() => paced(() => setScrolled((count) => count + 1)), []);
  useEffect(() => {
    const options = { capture: true, passive: true };
    window.addEventListener('scroll', scrolled, options);
    window.addEventListener('resize', scrolled);
    return () => {
      scrolled.cancel();
      window.removeEventListener('scroll', scrolled, options);
      window.removeEventListener('resize', scrolled);
    };
  }, []);
  useLayoutEffect(() => {
    if (isMany && body.current) {
      const next = inSight(body.current, entries);
      setRange((old) => (old.join() === next.join() ? old : next));
    }
  });
  const [first, end] = !isMany ? [0, entries.length] : onPaper ? [0, ALL_UP_TO] : range;
  const span = COLUMNS.length - (facts.hasWay ? 0 : 1);
  const note = [
    facts.common.join(' · '),
    unrealInWords(book),
    thinnedInWords(book),
    repeatsInWords(facts.repeats),
    facts.isNoisy && '~: less certain than required',
  ];
  const names = [facts.types.size < 2 && 'one-type', !facts.hasWay && 'no-way', isMany && 'many'];
  return (
    <section class="card">
      <h2>
        Figures<span class="muted note">{note.filter(Boolean).join('; ')}</span>
      </h2>
      {entries.length === 0 ? (
        <p class="muted">No figures yet.</p>
      ) : (
        <Region label="Results" name={entries.length > PAGE_UP_TO ? 'scroll tall' : 'scroll'}>
          <table class={['figures', ...names].filter(Boolean).join(' ')} aria-rowcount={entries.length + 2}>
            <caption class="visually-hidden">Results: one row per size</caption>
            <thead>
              <tr class="places">
                <td colSpan={2} />
                <td class="type" />
                <td class="way" />
                <th scope="colgroup" colSpan={4}>
                  out of place
                </th>
                <th scope="colgroup" colSpan={4}>
                  in place
                </th>
              </tr>
              <tr>
                {COLUMNS.map(([key, text, unit]) => (
                  <SortCell key={key} {...{ name: key, text, unit, sort, onSort }} />
                ))}
              </tr>
            </thead>
            <tbody ref={body}>
              <Gap rows={first} span={span} />
              {entries.slice(first, end).map((entry, i) => (
                <Fragment key={entry.key}>
                  <EntryRow
                    entry={entry}
                    common={facts.common}
                    index={first + i}
                    isOpen={open.includes(entry.key)}
                    onTurn={() => setOpen(flipped(open, entry.key))}
                  />
                  {open.includes(entry.key) && (
                    <tr class="detail">
                      <td colSpan={span}>
                        <Later app={app} name="RowDetail" props={{ app, id, entry, cases }} />
                      </td>
                    </tr>
                  )}
                </Fragment>
              ))}
              <Gap rows={entries.length - end} span={span} />
            </tbody>
          </table>
        </Region>
      )}
    </section>
  );
}

/* Facts about the whole table, such as words that all rows share. */
function factsOf(entries) {
  const facts = { types: new Set(), common: [], repeats: 0, hasWay: false, isNoisy: false };
  for (const entry of entries) {
    facts.types.add(entry.type);
    facts.repeats = Math.max(facts.repeats, entry.out?.repeats ?? 0, entry.in?.repeats ?? 0);
    facts.hasWay ||= wayOfEntry(entry) !== '';
    facts.isNoisy ||= (entry.out?.noisy ?? 0) + (entry.in?.noisy ?? 0) > 0;
  }
  const [type = '', ...others] = facts.types;
  facts.common = wordsOf(
    type,
    (word) => others.length > 0 && others.every((one) => wordsOf(one).includes(word)),
  );
  return facts;
}

const wordsOf = (type, isWanted = (_word) => true) => type.split(' · ').filter(isWanted);

/* Returns the indexes of the first and last row near the visible part. Heights of open details
 * widen the range. */
function inSight(body, entries) {
  const from = body.getBoundingClientRect().top;
  const box = body.closest('.scroll').getBoundingClientRect();
  const details = [...body.querySelectorAll('tr.detail')].reduce((sum, row) => sum + row.offsetHeight, 0);
  const top = Math.max(0, box.top) - from - NEAR_PX - details;
  const bottom = Math.max(window.innerHeight, box.bottom) - from + NEAR_PX;
  const at = (y) => Math.min(entries.length, Math.max(0, Math.round(y / ROW_PX)));
  return [at(top), at(bottom)];
}

function unrealInWords({ unreal }) {
  return unreal && (unreal === 'imported' ? 'imported: not measured here' : `${unreal}: not measured`);
}

function thinnedInWords({ thinned }) {
  return thinned ? `${plural(thinned, 'size')} in between not shown; the run’s CSV file contains all` : '';
}

function repeatsInWords(most) {
  return most > 1 ? `medians of ${most} repeats; open a row to see each` : '';
}

function SortCell({ name, text, unit, sort, onSort }) {
  const direction = sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : 'none';
  const next = { none: name, ascending: `-${name}`, descending: '' }[direction];
  return (
    <th scope="col" class={name === 'type' || name === 'way' ? name : 'number'} aria-sort={direction}>
      <Button class="sort" onClick={() => onSort(next)}>
        {text}
        <span class="arrow" aria-hidden="true" />
        <span class="unit">{unit}</span>
      </Button>
    </th>
  );
}

/* Placeholder with the height of the rows that are not drawn. */
const Gap = ({ rows, span }) =>
  rows > 0 && (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a table's row takes no focus
    <tr class="gap" aria-hidden="true" style={{ height: `${rows * ROW_PX}px` }}>
      <td colSpan={span} />
    </tr>
  );

function EntryRow({ entry, common, index, isOpen, onTurn }) {
  const wrong = (entry.out?.wrong ?? 0) + (entry.in?.wrong ?? 0) > 0;
  const way = wayOfEntry(entry);
  return (
    <tr class={wrong ? 'wrong' : undefined} aria-rowindex={index + 3}>
      <th scope="row" class="number" title={`${entry.size} bytes`}>
        <Button
          class="opener"
          aria-expanded={String(isOpen)}
          aria-label={`${formatSize(entry.size)} bytes, details`}
          onClick={onTurn}
        >
          {formatSize(entry.size)}
        </Button>
      </th>
      <td class="number">{entry.count ?? '–'}</td>
      <td class="type">{wordsOf(entry.type, (word) => !common.includes(word)).join(' · ')}</td>
      <td class="way" title={way || undefined}>
        {way}
      </td>
      <SideCells side={entry.out} />
      <SideCells side={entry.in} />
    </tr>
  );
}

const wayOfEntry = ({ out, in: inside }) => waysInWords((out ?? inside)?.ways);

function SideCells({ side }) {
  if (!side) {
    return [1, 2, 3, 4].map((key) => (
      <td key={key} class="number muted">
        –
      </td>
    ));
  }
  if (side.skipped !== undefined) {
    return (
      <td class="skipped" colSpan={4} title={side.skipped}>
        <strong>skipped: </strong>
        {side.skipped}
      </td>
    );
  }
  const { wrong } = side;
  return (
    <>
      <TimeCell side={side} />
      <td class="number">{formatBandwidth(side.algbw_gbs)}</td>
      <td class="number strong">{formatBandwidth(side.busbw_gbs)}</td>
      {wrong ? (
        <td class="number bad">
          <strong>✕ {wrong}</strong>
        </td>
      ) : (
        <td class="number muted" title={wrong === null ? 'not checked' : undefined}>
          {wrong ?? '–'}
        </td>
      )}
    </>
  );
}

/* The time and its uncertainty. */
function TimeCell({ side }) {
  const doubt = doubtOf(side);
  const title = [
    doubt &&
      `${formatMicros(doubt.lo)} to ${formatMicros(doubt.hi)} µs` +
        (side.repeats > 1
          ? `, over ${side.repeats} repeats and their 95 % intervals`
          : ': the 95 % interval of the median'),
    side.noisy > 0 && 'noisy: less certain than required',
  ];
  return (
    <td class="number" title={title.filter(Boolean).join('; ') || undefined}>
      {side.noisy > 0 && <span class="noisy">~</span>}
      {formatMicros(side.time_us)}
      {doubt && <span class="doubt">{doubtInWords(doubt)}</span>}
    </td>
  );
}
