/* SPDX-License-Identifier: Apache-2.0 */
/* first_steps.jsx - shown in place of an empty list of runs */
import { useState } from 'preact/hooks';
import { CopyBlock } from '../parts.jsx';
import { curlLine, idempotencyKey } from '../spec_text.mjs';
import { Button, useAccess } from '../ui.jsx';
import { usableBackend } from '../validation.mjs';

/* Two nodes form a single pair, which cannot show which of its nodes is slow. */
const SEARCH_MIN = 3;
/* The page opens the last demo run. */
const DEMO_RUNS = [
  { name: 'demo: all nodes', sizes: { min: '8', max: '256M' } },
  { name: 'demo: which node is slow?', pattern: 'pairs', sizes: ['64M'] },
];
const DEMO_ENV = { SIM_SLEEP_FRACTION: '0.1' };

/* Search the idle nodes for a slow one, in pairs (docs/reference/patterns.md). */
async function search({ api }) {
  const backend = (await usableBackend(api)) || 'auto';
  const spec = { name: 'slow node', backend, pattern: 'pairs', sizes: ['64M'], in_place: false };
  return api.create(spec, idempotencyKey());
}

/* Start the demo runs on simulated nodes, one of which is slow. */
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
          Measures all {idle} idle nodes in pairs and compares the pairs.
        </Offer>
      )}
      {access.demo && (
        <Offer app={app} act={demo} title="Load demo data">
          No nodes yet? The server simulates 16 nodes and finds the slow one among them in seconds. All
          results are marked as simulated.
        </Offer>
      )}
      <Lines app={app} />
    </section>
  );
}

/* A button that starts runs and opens the last of them. */
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
      <Button class={look} disabled={isBusy || refused !== null} title={refused} onClick={start}>
        {title}
      </Button>
      <p class="muted" role="status">
        {failure || children}
      </p>
    </div>
  );
}

/* Three steps to a first result. If the page uses a token, the commands include a token file. */
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
      'The agent connects to the server and needs no SSH or MPI. Without nodes, use ringbench-sim with ' +
        'the same options. It simulates nodes for runs with "backend": "sim".',
    ],
    [
      'Start a run',
      curlLine({}, origin, hasToken),
      'Or use “New run” above. Results appear here and in the terminal.',
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
