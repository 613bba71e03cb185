/* SPDX-License-Identifier: Apache-2.0 */
/* preflight.jsx - configuration problems and their fixes, as a table of nodes by failed check.
 * Requested when opened. */
import { useState } from 'preact/hooks';
import { groupBy } from '../lists.mjs';
import { nodeAddress } from '../node_list.mjs';
import { AnswerPill, Checks, Fold, Head, Region } from '../parts.jsx';
import { shorten } from '../units.mjs';

/* Checks one node, or all live nodes (`name` is null). */
export function Preflight({ app, name }) {
  const [inside, setInside] = useState(null);
  const onToggle = async (isOpen) => {
    if (!isOpen) {
      return;
    }
    setInside('Loading…');
    try {
      setInside(<Findings {...(await app.api.preflight(name))} isOfAll={name === null} />);
    } catch (error) {
      setInside(error.status ? error.message : 'The server does not answer.');
    }
  };
  return (
    <Fold
      title="Preflight"
      note={<span class="muted">configuration problems that limit performance</span>}
      onToggle={onToggle}
    >
      <div class="stack" role="status">
        {inside}
      </div>
    </Fold>
  );
}

function Findings({ answer, sentence, evidence, isOfAll }) {
  const found = evidence.checks.filter((one) => one.answer === 'finding');
  const rest = evidence.checks.filter((one) => one.answer !== 'finding');
  return (
    <>
      <p>
        <AnswerPill answer={answer} /> {sentence}
      </p>
      {isOfAll && found.length > 0 && (
        <>
          <Matrix found={found} />
          <p class="muted">–: no finding, or the check could not run</p>
        </>
      )}
      <Checks checks={found} />
      <details class="fold">
        <summary>Other checks</summary>
        <Checks checks={rest} />
      </details>
    </>
  );
}

/* Nodes with equal findings share a row: [{nodes, found}], most findings first. */
function folded(found) {
  const names = [...new Set(found.flatMap(({ nodes }) => nodes))];
  const ownOf = (name) => found.filter(({ nodes }) => nodes.includes(name));
  const rows = groupBy(names, (name) =>
    ownOf(name)
      .map((one) => found.indexOf(one))
      .join(),
  );
  return [...rows.values()]
    .map((nodes) => ({ nodes, found: ownOf(nodes[0]) }))
    .sort((a, b) => b.found.length - a.found.length);
}

function Matrix({ found }) {
  const checks = [...new Set(found.map(({ check }) => check))];
  return (
    <Region label="Nodes by checks">
      <table class="list">
        <Head columns={['Node', ...checks]} />
        <tbody>
          {folded(found).map(({ nodes: [first, ...others], found: own }) => (
            <tr key={first}>
              <th scope="row">
                <a href={nodeAddress(first)} title={first}>
                  {shorten(first, 40)}
                </a>
                {others.length > 0 && (
                  <div class="second muted" title={others.join('\n')}>
                    and {others.length} more
                  </div>
                )}
              </th>
              {checks.map((check) => (
                <Cell key={check} found={own.filter((one) => one.check === check)} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Region>
  );
}

const Cell = ({ found: [first, ...more] }) => (
  <td title={first && [first, ...more].map(({ sentence }) => sentence).join('\n')}>
    {first ? (
      <span class={`pill ${first.severity === 'error' ? 'bad' : 'warn'}`}>{first.severity}</span>
    ) : (
      '–'
    )}
  </td>
);
