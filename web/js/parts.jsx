/* SPDX-License-Identifier: Apache-2.0 */
/* parts.jsx - small components that several views share */
import { Fragment } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { copyText } from './download.mjs';
import { stateLook, stateWord } from './states.mjs';
import { debounce } from './timing.mjs';
import { Button, flipped, LOADING, useAnswer } from './ui.jsx';
import { formatClock, formatDay, shorten, zoneOf } from './units.mjs';
import { ANSWERS, badVerdict } from './verdicts.mjs';

/* A word with a sign, so that the meaning does not depend on colour alone. */
export const SignPill = ({ look, title, children }) => {
  const [sign, tone] = look;
  return (
    <span class={`pill ${tone}`} title={title}>
      <span class="sign" aria-hidden="true">
        {sign}
      </span>
      {children}
    </span>
  );
};

export const StatePill = ({ state }) => <SignPill look={stateLook(state)}>{stateWord(state)}</SignPill>;

export const AnswerPill = ({ answer, title, named = '' }) => (
  <SignPill look={(ANSWERS[answer] ?? '· calm').split(' ')} title={title}>
    {stateWord(answer)} {named}
  </SignPill>
);

/* Shown if a run's figures are less certain than required. `noise` is from the run's summary. */
export const NoisePill = ({ noise }) =>
  noise?.sentence ? (
    <SignPill look={['~', 'warn']} title={noise.sentence}>
      noisy
    </SignPill>
  ) : null;

/* Returns "sim-22", or "sim-22 and 2 more", for a slow node. */
function slowNodes({ answer, nodes = [] }) {
  const [first, ...others] = answer === 'slow_node' ? nodes : [''];
  return shorten(first ?? '', 24) + (others.length > 0 ? ` and ${others.length} more` : '');
}

/* The verdict that needs attention, else the run's state. */
export function RunPill({ run }) {
  const verdict = badVerdict(run);
  if (run.state !== 'completed') {
    return <StatePill state={run.state} />;
  }
  return verdict ? (
    <AnswerPill answer={verdict.answer} title={verdict.sentence} named={slowNodes(verdict)} />
  ) : run.summary?.noise?.sentence ? (
    <NoisePill noise={run.summary.noise} />
  ) : (
    <StatePill state={run.state} />
  );
}

/* Says that the last request for verdicts failed, and when the shown verdicts were read. `note` comes from
 * usePolled(). `at` is the time in ms, or 0 if no verdicts were read. */
export const OldVerdicts = ({ note, at }) =>
  note !== '' &&
  note !== LOADING && (
    <span class="bad" role="status">
      {at ? (
        <>
          Verdicts as of <Time text={new Date(at).toISOString()} />
        </>
      ) : (
        'Verdicts are missing'
      )}
      : {note}
    </span>
  );

/* A time with its zone. The date is added if it is not today, or always with `hasDay`. `isCell`:
 * the table's heading names the zone. `hasMs`: with milliseconds. */
export function Time({ text, hasDay = false, isCell = false, hasMs = false }) {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) {
    return <span>–</span>;
  }
  const day = formatDay(time);
  const isToday = !hasDay && !isCell && formatDay(new Date()) === day;
  const clock = formatClock(time) + (hasMs ? `.${String(time.getMilliseconds()).padStart(3, '0')}` : '');
  const zone = zoneOf(time);
  return (
    <time dateTime={text} title={`${day} ${clock} ${zone} (${text})`}>
      {[isToday ? '' : day, clock, isCell ? '' : zone].filter(Boolean).join(' ')}
    </time>
  );
}

/* The checks of a verdict. */
export const Checks = ({ checks }) => (
  <ul class="checks">
    {checks.map((one, i) => (
      <li key={i}>
        <AnswerPill answer={one.answer} /> {one.check}
        {one.sentence && `: ${one.sentence}`} {one.command && <code>{one.command}</code>}
      </li>
    ))}
  </ul>
);

/* Headings of a table. Columns of numbers are aligned to the right. */
export const Head = ({ columns, isNumber = () => false }) => (
  <thead>
    <tr>
      {columns.map((text, i) => (
        <th key={text} scope="col" class={isNumber(i) ? 'number' : undefined}>
          {text}
        </th>
      ))}
    </tr>
  </thead>
);

/* A table in a scrolling box. Rows are arrays of cells, the first of which is the row's heading. */
export const Table = ({ label, name = 'list', columns, isNumber = (_column) => false, rows }) => (
  <Region label={label}>
    <table class={name}>
      <Head columns={columns} isNumber={isNumber} />
      <tbody>
        {rows.map(([first, ...cells], i) => (
          <tr key={i}>
            <th scope="row">{first}</th>
            {cells.map((cell, at) => (
              <td key={columns[at + 1]} class={isNumber(at + 1) ? 'number' : undefined}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </Region>
);

/* A card that can be expanded. `onToggle` gets true when it opens. */
export const Fold = ({ title, note = null, onToggle = undefined, children }) => (
  <details class="card fold" onToggle={onToggle && (({ currentTarget }) => onToggle(currentTarget.open))}>
    <summary>
      <h2>{title}</h2>
      {note}
    </summary>
    {children}
  </details>
);

/* A scrolling box. The box takes the focus, so that the keyboard can scroll it. */
export const Region = ({ label, name = 'scroll', children }) => (
  <section class={name} tabIndex={0} aria-label={label}>
    {children}
  </section>
);

/* Labels of a run or node. With `path`, each links to the list of all with the label. */
export const Chips = ({ labels, path = null }) => (
  <>
    {Object.entries(labels ?? {}).map(([key, value]) => {
      const text = value === '' ? key : `${key}=${value}`;
      const search = new URLSearchParams({ label: `${key}=${value}` });
      return path ? (
        <a key={key} class="chip" href={`${path}?${search}`} title={text}>
          {text}
        </a>
      ) : (
        <span key={key} class="chip">
          {text}
        </span>
      );
    })}
  </>
);

export const Lines = ({ value }) =>
  Array.isArray(value) ? value.map((one) => <div key={one}>{shorten(one, 200)}</div>) : value;

/* A list of names and values. */
export const Facts = ({ rows, name = 'facts' }) => (
  <dl class={name}>
    {rows.map(([title, value]) => (
      <Fragment key={title}>
        <dt>{title}</dt>
        <dd>
          <Lines value={value} />
        </dd>
      </Fragment>
    ))}
  </dl>
);

const DIRECTIONS = { asc: 'ascending', desc: 'descending' };

/* Headings of a sortable list: [text, sort key or null]. `onSort` gets the new sort and order. A
 * second click reverses the order. */
export const SortHead = ({ columns, numbers, query, onSort, first = 'desc' }) => (
  <thead>
    <tr>
      {columns.map(([text, sort]) => (
        <th
          key={text}
          scope="col"
          class={numbers.has(text) ? 'number' : undefined}
          aria-sort={sort ? (sort === query.sort ? DIRECTIONS[query.order] : 'none') : undefined}
        >
          {sort ? (
            <Button class="sort" onClick={() => onSort(sorted(query, sort, first))}>
              {text} <span class="arrow" aria-hidden="true" />
            </Button>
          ) : (
            text
          )}
        </th>
      ))}
    </tr>
  </thead>
);

const sorted = (query, sort, first) => ({
  sort,
  order: query.sort === sort ? (query.order === 'asc' ? 'desc' : 'asc') : first,
});

/* Buttons of which several can be on. `options` are [value, text]. `onChange` gets the selected
 * values. */
export const Toggles = ({ label, options, chosen, onChange }) => (
  <div class="switcher toggles" role="group" aria-label={label}>
    {options.map(([value, text]) => (
      <Button
        key={value}
        aria-pressed={String(chosen.includes(value))}
        onClick={() => onChange(flipped(chosen, value))}
      >
        {text}
      </Button>
    ))}
  </div>
);

/* A button that copies the result of `text()`. */
export function CopyButton({ label, text }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(text());
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <Button class="quiet copy" aria-label={`Copy ${label}`} onClick={copy}>
      {isCopied ? 'Copied' : 'Copy'}
    </Button>
  );
}

/* Text with a copy button. */
export const CopyBlock = ({ label, text }) => (
  <div class="copy-block">
    <pre tabIndex={0} role="region" aria-label={label}>
      <code>{text}</code>
    </pre>
    <CopyButton label={label} text={() => text} />
  </div>
);

/* An input that reports its text after a pause in typing. A new `value` replaces the text. */
export function TypedInput({ value, onType, inputRef = undefined, ms = 250, ...attributes }) {
  const [typed, setTyped] = useState(null);
  const latest = useRef(onType);
  latest.current = onType;
  const later = useMemo(() => debounce((text) => latest.current(text), ms), []);
  useEffect(() => {
    later.cancel();
    setTyped(null);
  }, [value]);
  useEffect(() => later.cancel, []);
  return (
    <input
      ref={inputRef}
      {...attributes}
      value={typed ?? value}
      onInput={({ currentTarget }) => {
        setTyped(currentTarget.value);
        later(currentTarget.value);
      }}
    />
  );
}

/* A component whose module is loaded on first use. */
export function Later({ app, name, props }) {
  const { answer: views, error } = useAnswer(() => app.later(), []);
  const Component = views?.[name];
  return Component ? (
    <Component {...props} />
  ) : (
    error && 'This part of the page could not be loaded. Reload the page.'
  );
}
