/* SPDX-License-Identifier: Apache-2.0 */
/* parts.jsx - small pieces that several views show */
import { Fragment } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { copyText } from './download.mjs';
import { stateLook, stateWord } from './states.mjs';
import { debounce } from './timing.mjs';
import { flipped } from './ui.jsx';
import { formatClock, formatDay, shorten, zoneOf } from './units.mjs';
import { ANSWERS, badVerdict } from './verdicts.mjs';

/* A word with a sign, so that its colour is never all there is. */
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

export const AnswerPill = ({ answer, title }) => (
  <SignPill look={(ANSWERS[answer] ?? '· calm').split(' ')} title={title}>
    {stateWord(answer)}
  </SignPill>
);

/* That figures are less certain than was asked, from the `noise` of a run's summary. */
export const NoisePill = ({ noise }) =>
  noise?.sentence ? (
    <SignPill look={['~', 'warn']} title={noise.sentence}>
      noisy
    </SignPill>
  ) : null;

/* What became of a run: the verdict that somebody should see, else its state. */
export function RunPill({ run }) {
  const verdict = badVerdict(run);
  if (run.state !== 'completed') {
    return <StatePill state={run.state} />;
  }
  return verdict ? (
    <AnswerPill answer={verdict.answer} title={verdict.sentence} />
  ) : run.summary?.noise?.sentence ? (
    <NoisePill noise={run.summary.noise} />
  ) : (
    <StatePill state={run.state} />
  );
}

/* A time of day with its zone, and with the date when it is another day, or always. `isCell`: in a
 * table, whose heading names the zone. */
export function Time({ text, hasDay = false, isCell = false }) {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) {
    return <span>–</span>;
  }
  const day = formatDay(time);
  const isToday = !hasDay && !isCell && formatDay(new Date()) === day;
  const clock = formatClock(time);
  const zone = zoneOf(time);
  return (
    <time dateTime={text} title={`${day} ${clock} ${zone} (${text})`}>
      {[isToday ? '' : day, clock, isCell ? '' : zone].filter(Boolean).join(' ')}
    </time>
  );
}

/* A verdict's checks. */
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

/* The names of a table's columns; numbers stand to the right. */
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

/* A card that opens; `onToggle` is told whether it is open. */
export const Fold = ({ title, note = null, onToggle = undefined, children }) => (
  <details class="card fold" onToggle={onToggle && (({ currentTarget }) => onToggle(currentTarget.open))}>
    <summary>
      <h2>{title}</h2>
      {note}
    </summary>
    {children}
  </details>
);

/* A scrolling box, focusable so that the keyboard can scroll it. */
export const Region = ({ label, name = 'scroll', children }) => (
  <section class={name} tabIndex={0} aria-label={label}>
    {children}
  </section>
);

/* A run's or node's labels; with the path of a list they lead to all that have them. */
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

/* The headings of a list's columns, [text, sort key or null]. Numbers are aligned to the right.
 * `onSort` gets the query after a click; a second click on a column reverses its order. */
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
            <button type="button" class="sort" onClick={() => onSort(sorted(query, sort, first))}>
              {text} <span class="arrow" aria-hidden="true" />
            </button>
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

/* Some of a few: buttons that stay down. `options` are [value, text]; `onChange` gets those that are. */
export const Toggles = ({ label, options, chosen, onChange }) => (
  <div class="switcher toggles" role="group" aria-label={label}>
    {options.map(([value, text]) => (
      <button
        type="button"
        key={value}
        aria-pressed={String(chosen.includes(value))}
        onClick={() => onChange(flipped(chosen, value))}
      >
        {text}
      </button>
    ))}
  </div>
);

/* A button that copies what `text()` gives. */
export function CopyButton({ label, text }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(text());
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <button type="button" class="quiet copy" aria-label={`Copy ${label}`} onClick={copy}>
      {isCopied ? 'Copied' : 'Copy'}
    </button>
  );
}

/* Text to copy, with its button. */
export const CopyBlock = ({ label, text }) => (
  <div class="copy-block">
    <pre tabIndex={0} role="region" aria-label={label}>
      <code>{text}</code>
    </pre>
    <CopyButton label={label} text={() => text} />
  </div>
);

/* An input whose text is asked for a while after it was typed; another `value` replaces it. */
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

/* A component whose module comes when it is first shown. */
export function Later({ app, name, props }) {
  const [views, setViews] = useState(/** @type {any} */ (null));
  useEffect(() => {
    app.later().then(setViews, () => setViews({}));
  }, []);
  const Component = views?.[name];
  return Component ? <Component {...props} /> : views && 'This could not be loaded. Reload the page.';
}
