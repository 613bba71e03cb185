/* topology.jsx - the topology that NCCL detected on a run's nodes: a list for each kind of node */
import { useEffect, useState } from 'preact/hooks';
import { AnswerPill } from '../parts.jsx';
import { treeOf } from '../topology.mjs';
import { plural } from '../units.mjs';

const NAMES = 8; /* of nodes that a heading has */

const wordsOf = (part) =>
  [part.link && `PCIe ${part.link}`, part.speed, part.nvlinks && `NVLinks ${part.nvlinks}`, part.bus]
    .filter(Boolean)
    .join(', ');

const Parts = ({ parts }) => (
  <ul class="parts">
    {parts.map((part) => (
      <li key={part.bus || part.name}>
        {part.name} <span class="muted">{wordsOf(part)}</span>
        {part.parts?.length > 0 && <Parts parts={part.parts} />}
      </li>
    ))}
  </ul>
);

/* `number`: of the case, null: of each node its first. */
export function Topology({ app, id, number }) {
  const [{ answer, error }, setFound] = useState(/** @type {any} */ ({}));
  useEffect(() => {
    let isCurrent = true;
    app.api.json(`/api/v1/runs/${id}/topology${number === null ? '' : `?case=${number}`}`).then(
      (found) => isCurrent && setFound({ answer: found }),
      (failure) => isCurrent && setFound({ error: failure.message }),
    );
    return () => {
      isCurrent = false;
    };
  }, [number]);
  if (!answer) {
    return <p class="muted">{error}</p>;
  }
  const { verdict, kinds, unread } = answer;
  return (
    <div class="stack">
      <p>
        <AnswerPill answer={verdict.answer} /> {verdict.sentence}
      </p>
      {kinds.map(({ nodes, xml }) => (
        <section key={nodes[0]}>
          <h3>
            {plural(nodes.length, 'node')}: {nodes.slice(0, NAMES).join(', ')}
            {nodes.length > NAMES && ` and ${nodes.length - NAMES} more`}
          </h3>
          <Parts parts={treeOf(xml).parts} />
        </section>
      ))}
      {unread.map(({ node, why }) => (
        <p class="muted" key={node}>
          The file from {node} can’t be read: {why}
        </p>
      ))}
    </div>
  );
}
