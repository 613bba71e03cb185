/* SPDX-License-Identifier: Apache-2.0 */
/* run_logs.jsx - log lines of the ranks, with a filter by rank and a search */
import { useMemo, useReducer, useState } from 'preact/hooks';
import { caseName } from '../case_name.mjs';
import { isEnded } from '../events.mjs';
import { LogReader } from '../log_reader.mjs';
import { Region, Time } from '../parts.jsx';
import { Button, Select, usePoll } from '../ui.jsx';
import { plural } from '../units.mjs';

const REFRESH_MS = 2000;

/* Polls while visible, until the run has ended and all lines are read. */
export function RunLogs({ app, id, state, view, change }) {
  const { rank, case: wanted, log: text } = view;
  const reader = useMemo(() => new LogReader(app.api, id, { rank, case: wanted }), [rank, wanted]);
  const [{ of, note }, setRead] = useState(/** @type {any} */ ({}));
  const [, redraw] = useReducer((count) => count + 1, 0);
  const hasRead = of === reader;
  const read = async () => {
    try {
      await reader.read();
      const { lines, dropped } = reader;
      const left = dropped ? `, the oldest ${dropped} left out` : '';
      setRead({ of: reader, note: plural(lines.length, 'line') + left });
    } catch (error) {
      setRead({ of: null, note: error.status ? error.message : 'waiting for the server' });
    }
    redraw();
  };
  usePoll(() => (hasRead && isEnded(state) && !reader.hasMore) || read(), REFRESH_MS, [reader]);
  const lines = reader.find(text);
  const count = Math.max(state.worldSize, rank === null ? 0 : rank + 1);
  return (
    <section class="card">
      <h2>
        Logs
        <span class="muted note" role="status">
          {note}
        </span>
      </h2>
      <div class="controls">
        <Select
          aria-label="Rank"
          value={rank === null ? '' : String(rank)}
          options={[['', 'all ranks'], ...Array.from({ length: count }, (_, i) => [String(i), `rank ${i}`])]}
          onChange={(value) => change({ rank: value === '' ? null : Number(value) })}
        />
        <input
          type="search"
          placeholder="search the lines"
          aria-label="Search the log lines"
          value={text}
          onInput={({ currentTarget: { value } }) => change({ log: value })}
        />
      </div>
      <Region label="Log lines" name="scroll log-box">
        <ol class="log-lines">
          {lines.map((line) => (
            <Line key={line.seq} line={line} cases={state.cases} />
          ))}
          {hasRead && lines.length === 0 && (
            <li class="muted">{text ? 'No line matches.' : 'No log lines.'}</li>
          )}
        </ol>
      </Region>
      {reader.hasMore && (
        <Button class="quiet" onClick={read}>
          Load more lines
        </Button>
      )}
    </section>
  );
}

function Line({ line, cases }) {
  const found = cases.size > 1 ? cases.get(line.case) : null;
  const place = found ? `${caseName(found)} ` : '';
  return (
    <li class={line.stream === 'stderr' ? 'stderr' : undefined}>
      <span class="muted">
        <Time text={line.time} hasMs /> {`${place}rank ${line.rank} `}
      </span>
      {line.text}
    </li>
  );
}
