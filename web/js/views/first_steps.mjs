/* first_steps.mjs - what stands in the place of the list of runs while there is none */
import { h, setHidden, setText } from '../dom.mjs';
import { copyBlock } from '../parts.mjs';
import { curlLine, idempotencyKey } from '../spec_text.mjs';
import { usableBackend } from '../validation.mjs';

/* Nodes: fewer do not tell a node from a link. */
const SEARCH_MIN = 3;
/* The last is what the demo shows. */
const DEMO_RUNS = [
  { name: 'demo: all nodes', sizes: { min: '8', max: '256M' } },
  { name: 'demo: which node is slow?', pattern: 'pairs', sizes: ['64M'] },
];
const DEMO_ENV = { SIM_SLEEP_FRACTION: '0.1' };

/* Fills `root`; update(nodes) draws what depends on them. */
export default function firstSteps(root, app) {
  const search = searchOffer(app);
  root.append(h('h2', 'No runs yet'), search.element, launchOffer(app), demoOffer(app), lines(app));
  return search;
}

/* Which of the idle nodes is slow, with one click: by pairs (docs/patterns.md). */
function searchOffer(app) {
  const said = h('p.muted', { role: 'status' });
  const button = h('button.primary', 'Find the slow node');
  const element = h('div.actions.search-offer', { hidden: true }, button, said);
  let count = 0;
  const ask = async () => {
    const backend = (await usableBackend(app.api)) || 'auto';
    const spec = { name: 'slow node', backend, pattern: 'pairs', sizes: ['64M'], in_place: false };
    return app.api.create(spec, idempotencyKey());
  };
  button.addEventListener('click', async () => {
    button.disabled = true;
    try {
      app.go({ view: 'run', id: (await ask()).id });
    } catch (error) {
      button.disabled = false;
      setText(said, error.message);
    }
  });
  app.api.access().then(
    ({ operator, reason }) => {
      button.disabled = !operator;
      button.title = reason ?? '';
    },
    () => {},
  );
  return {
    element,
    update(nodes) {
      const idle = nodes.filter((node) => node.state === 'idle').length;
      setHidden(element, idle < SEARCH_MIN);
      if (idle !== count) {
        count = idle;
        setText(said, `All ${idle} idle nodes measure in pairs, which are compared with one another.`);
      }
    },
  };
}

/* Where an engine can be asked for nodes, no agent need be started by hand. */
function launchOffer(app) {
  const offer = h('p', { hidden: true });
  app.api.json('/api/v1/launchers').then(
    ({ launchers }) => {
      setHidden(offer, launchers.length === 0);
      offer.append(
        h('a', { href: '/new' }, 'New run'),
        ` can get nodes from an engine: ${launchers.map(({ name }) => name).join(', ')}.`,
      );
    },
    () => {},
  );
  return offer;
}

/* The three lines that lead to a first result, with a token where one is asked for. */
function lines(app) {
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
      'It dials out to the server: no SSH, no MPI. Without nodes at hand, ringbench-sim ' +
        'with the same options simulates some, for runs with "backend": "sim".',
    ],
    [
      'Start a run',
      curlLine({}, origin, hasToken),
      'Or with “New run” above. The results show here and in the terminal.',
    ],
  ];
  return h(
    'ol.steps',
    steps.map(([title, line, note]) =>
      h('li', h('h3', title), copyBlock(line, title).block, h('p.muted', note)),
    ),
  );
}

/* For who has no nodes: a search for the slow one among simulated ones. */
function demoOffer(app) {
  const button = h('button', 'Load demo data');
  const note = h(
    'p.muted',
    { role: 'status' },
    'No nodes at hand? The server simulates 16 nodes, one of them slow, and finds it in seconds. ' +
      'All of it is marked simulated.',
  );
  const offer = h('div.actions.search-offer', { hidden: true }, button, note);
  app.api.access().then(
    ({ demo }) => setHidden(offer, !demo),
    () => {},
  );
  button.addEventListener('click', async () => {
    button.disabled = true;
    try {
      const { nodes } = await app.api.startDemo();
      let run;
      for (const what of DEMO_RUNS) {
        const spec = { ...what, backend: 'sim', nodes: { count: nodes }, env: DEMO_ENV };
        run = await app.api.create(spec, idempotencyKey());
      }
      app.go({ view: 'run', id: run.id });
    } catch (error) {
      setText(note, error.message);
    }
  });
  return offer;
}
