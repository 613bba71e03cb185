/* SPDX-License-Identifier: Apache-2.0 */
/* first_steps.jsx - what stands in the place of the list of runs while there is none */
import { useState } from 'preact/hooks';
import { CopyBlock } from '../parts.jsx';
import { curlLine, idempotencyKey } from '../spec_text.mjs';
import { useAccess } from '../ui.jsx';
import { usableBackend } from '../validation.mjs';

/* Nodes: fewer do not tell a node from a link. */
const SEARCH_MIN = 3;
/* The last is what the demo shows. */
const DEMO_RUNS = [
  { name: 'demo: all nodes', sizes: { min: '8', max: '256M' } },
  { name: 'demo: which node is slow?', pattern: 'pairs', sizes: ['64M'] },
];
const DEMO_ENV = { SIM_SLEEP_FRACTION: '0.1' };

/* Which of the idle nodes is slow, by pairs (docs/reference/patterns.md). */
async function search({ api }) {
  const backend = (await usableBackend(api)) || 'auto';
  const spec = { name: 'slow node', backend, pattern: 'pairs', sizes: ['64M'], in_place: false };
  return api.create(spec, idempotencyKey());
}

/* For who has no nodes: a search for the slow one among simulated ones. */
async function demo({ api }) {
  const { nodes } = await api.startDemo();
  let run;
  for (const what of DEMO_RUNS) {
    const spec = { ...what, backend: 'sim', nodes: { count: nodes }, env: DEMO_ENV };
    run = await api.create(spec, idempotencyKey());
  }
  return run;
}

export function FirstSteps({ app, nodes }) {
  const access = useAccess(app);
  const idle = nodes.filter((node) => node.state === 'idle').length;
  return (
    <section class="empty">
      <h2>No runs yet</h2>
      {idle >= SEARCH_MIN && (
        <Offer
          app={app}
          act={search}
          title="Find the slow node"
          look="primary"
          refused={access.operator ? null : access.reason}
        >
          All {idle} idle nodes measure in pairs, which are compared with one another.
        </Offer>
      )}
      {access.demo && (
        <Offer app={app} act={demo} title="Load demo data">
          No nodes at hand? The server simulates 16 nodes, one of them slow, and finds it in seconds. All of
          it is marked simulated.
        </Offer>
      )}
      <Lines app={app} />
    </section>
  );
}

/* A button that starts runs and leads to the last of them. */
function Offer({ app, act, title, look = undefined, refused = null, children }) {
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState('');
  const start = async () => {
    setBusy(true);
    try {
      app.go({ view: 'run', id: (await act(app)).id });
    } catch (error) {
      setBusy(false);
      setFailure(error.message);
    }
  };
  return (
    <div class="actions search-offer">
      <button
        type="button"
        class={look}
        disabled={isBusy || refused !== null}
        title={refused}
        onClick={start}
      >
        {title}
      </button>
      <p class="muted" role="status">
        {failure || children}
      </p>
    </div>
  );
}

/* The three lines that lead to a first result, with a token where one is asked for. */
function Lines({ app }) {
  const { origin, host } = location;
  const hasToken = app.api.token() !== null;
  const file = hasToken ? ' --token-file' : '';
  const steps = [
    [
      'Start the server',
      `ringbench-server --listen ${host}${file && `${file} tokens`}`,
      'Running. You are looking at it.',
    ],
    [
      'Start an agent on each node',
      `ringbench-agent --server ${origin}${file && `${file} agent.token`}`,
      'It dials out to the server: no SSH, no MPI. Without nodes at hand, ringbench-sim with the same ' +
        'options simulates some, for runs with "backend": "sim".',
    ],
    [
      'Start a run',
      curlLine({}, origin, hasToken),
      'Or with “New run” above. The results show here and in the terminal.',
    ],
  ];
  return (
    <ol class="steps">
      {steps.map(([title, line, note]) => (
        <li key={title}>
          <h3>{title}</h3>
          <CopyBlock label={title} text={line} />
          <p class="muted">{note}</p>
        </li>
      ))}
    </ol>
  );
}
