/* SPDX-License-Identifier: Apache-2.0 */
/* compare_form.jsx - form for the runs of both sides, and the settings that select their cases */
import { useEffect, useState } from 'preact/hooks';
import { combinationsOf } from '../matrix.mjs';
import { Button, Select, useAnswer } from '../ui.jsx';
import { shorten } from '../units.mjs';

const OFFERED = 50;
const HINT = 'run id, RUN:CASE, or several';
const LOOK_MS = 200;

const idsOf = (text) => text.split(/[\s,]+/).filter(Boolean);

export function CompareForm({ app, query, submit }) {
  const [base, setBase] = useState({ text: query.base.join(' '), env: query.base_env });
  const [head, setHead] = useState({ text: query.head.join(' '), env: query.head_env });
  const recent = () => app.api.list(new URLSearchParams({ state: 'completed', limit: String(OFFERED) }));
  const known = useAnswer(recent, []).answer?.runs ?? [];
  const go = (left, right) =>
    submit({
      base: idsOf(left.text),
      base_env: left.env,
      head: idsOf(right.text),
      head_env: right.env,
      last: null,
      like: '',
    });
  return (
    <form
      class="card compare-form"
      onSubmit={(event) => {
        event.preventDefault();
        go(base, head);
      }}
    >
      <Side app={app} title="Base" hint={`${HINT}; or baseline`} side={base} onChange={setBase} />
      <Button class="quiet" title="Swap" onClick={() => go(head, base)}>
        ⇄ Swap
      </Button>
      <Side app={app} title="Head" hint={HINT} side={head} onChange={setHead} />
      <button type="submit" class="primary">
        Compare
      </button>
      <datalist id="known-runs">
        <option value="baseline">the accepted baseline</option>
        {known.map((run) => (
          <option key={run.id} value={run.id}>
            {shorten(run.name || 'unnamed', 60)}
          </option>
        ))}
      </datalist>
    </form>
  );
}

/* Combinations of the typed run, if exactly one is typed. Read after a pause in typing. */
function useCombinations(app, text) {
  const [found, setFound] = useState([]);
  useEffect(() => {
    const ids = idsOf(text);
    const isRun = ids.length === 1 && /^\w+$/.test(ids[0]) && ids[0] !== 'baseline';
    let isCurrent = true;
    setFound([]);
    const timer = setTimeout(async () => {
      const sets = isRun ? await matrixOf(app, ids[0]) : [];
      if (isCurrent) {
        setFound(sets);
      }
    }, LOOK_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [text]);
  return found;
}

async function matrixOf(app, id) {
  try {
    return combinationsOf((await app.api.run(id)).spec);
  } catch {
    return [];
  }
}

function Side({ app, title, hint, side: { text, env }, onChange }) {
  const id = `compare-${title.toLowerCase()}`;
  const found = useCombinations(app, text).map((set) => JSON.stringify(set));
  const value = JSON.stringify(env);
  const options = [...new Set(['[]', value, ...found])];
  return (
    <div class="field">
      <label for={id}>{title}</label>
      <input
        id={id}
        type="text"
        list="known-runs"
        autocomplete="off"
        spellcheck={false}
        placeholder={hint}
        value={text}
        onInput={(event) => onChange({ text: event.currentTarget.value, env: [] })}
      />
      {options.length > 1 && (
        <Select
          aria-label={`${title}: which cases`}
          value={value}
          options={options.map((one) => [one, shorten(inWords(JSON.parse(one)), 120)])}
          onChange={(chosen) => onChange({ text, env: JSON.parse(chosen) })}
        />
      )}
    </div>
  );
}

/* Returns a text such as "NAME=VALUE OTHER unset". A name without a value is an unset variable. */
const inWords = (set) =>
  set.map((one) => (one.includes('=') ? one : `${one} unset`)).join(' ') || 'all cases';
