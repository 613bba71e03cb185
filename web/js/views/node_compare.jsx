/* SPDX-License-Identifier: Apache-2.0 */
/* node_compare.jsx - differences between a node's inventory in a run and that of another node, or
 * of the same node in another run */
import { useState } from 'preact/hooks';
import { Fold, Table } from '../parts.jsx';
import { Select, useAnswer } from '../ui.jsx';
import { plural, shorten, timeInWords } from '../units.mjs';

const WORDS = 300;

const inWords = (value) =>
  value === null ? '–' : shorten(typeof value === 'string' ? value : JSON.stringify(value), WORDS);

const runInWords = ({ id, name, created }) => `${name || id}, ${timeInWords(created)}`;

const Choice = ({ label, text, ...select }) => (
  <label>
    <span>{text} </span>
    <Select aria-label={label} {...select} />
  </label>
);

/* `runs` are the runs on this node, newest first. */
export function NodeCompare({ app, node, runs }) {
  const [isOpen, setOpen] = useState(false);
  const [chosen, setChosen] = useState(/** @type {any} */ ({}));
  const started = runs.filter((run) => run.started);
  const run = started.find(({ id }) => id === chosen.run) ?? started[0];
  /* Options of the request: another node of the run (base_node), or another run (base). */
  const others = [
    ...(run?.nodes ?? [])
      .filter(({ name }) => name !== node)
      .map(({ name }) => [`base_node=${encodeURIComponent(name)}`, name]),
    ...started.filter((one) => one !== run).map((one) => [`base=${one.id}`, runInWords(one)]),
  ];
  const against = (others.find(([value]) => value === chosen.against) ?? others[0])?.[0];
  const path =
    run &&
    `/api/v1/runs/${encodeURIComponent(run.id)}/nodes/${encodeURIComponent(node)}/differences?${against}`;
  const ask = async () => ({ path, ...(await app.api.json(path)) });
  const { answer, error } = useAnswer(() => (isOpen && against ? ask() : null), [path, isOpen]);
  return (
    run && (
      <Fold
        title="Compare inventories"
        note={<span class="muted">with another node of a run, or with this node in another run</span>}
        onToggle={setOpen}
      >
        <p class="row">
          <Choice
            label="Inventory as of run"
            text="As of run"
            options={started.map((one) => [one.id, runInWords(one)])}
            value={run.id}
            onChange={(id) => setChosen({ run: id })}
          />
          <Choice
            label="Compared with"
            text="compared with"
            options={others}
            value={against}
            onChange={(value) => setChosen({ run: run.id, against: value })}
          />
        </p>
        <div role="status">
          {error && (error.status ? error.message : 'The server does not answer.')}
          {against
            ? answer?.path === path && <Differences {...answer} />
            : 'No other node or run to compare with yet.'}
        </div>
      </Fold>
    )
  );
}

function Differences({ differences }) {
  if (differences.length === 0) {
    return <p class="muted">No differences.</p>;
  }
  return (
    <>
      <p>{plural(differences.length, 'difference')}</p>
      <Table
        label="Differences of inventories"
        name="list differences"
        columns={['Fact', 'Compared with', 'This']}
        rows={differences.map(({ what, base, head }) => [what, inWords(base), inWords(head)])}
      />
    </>
  );
}
