/* jobs.mjs - the jobs that engines were asked for: those under way, each to be stopped, and
 * those that have ended */
import { h, setHidden, setText, syncChildren } from '../dom.mjs';
import { ask, statePill, timeOf } from '../parts.mjs';
import { poll } from '../poll.mjs';
import { formatAgo, plural } from '../units.mjs';

const JOBS_MS = 5000;
const ENDED_SHOWN = 20;

/* {element, stop}: hidden where the server knows of no job; where it has no launcher and no job
 * is under way it is asked once. */
export function jobList(app) {
  const note = h('p.muted', { role: 'status', hidden: true });
  const alive = rowList(app, again);
  const ended = rowList(app, again);
  const past = h('summary');
  const fold = h('details.fold', past, ended.list);
  const element = h(
    'section.card',
    { hidden: true, 'aria-label': 'Jobs' },
    h('h2', 'Jobs'),
    note,
    alive.list,
    fold,
  );
  let launchers = null;

  async function refresh() {
    try {
      launchers ??= (await app.api.json('/api/v1/launchers')).launchers;
      draw((await app.api.json('/api/v1/jobs')).jobs);
      setHidden(note, true);
    } catch (error) {
      setText(
        note,
        `The jobs are not known now. ${error.status ? error.message : 'Waiting for the server.'}`,
      );
      setHidden(note, false);
      setHidden(element, false);
    }
  }

  function draw(jobs) {
    const [over, under] = [true, false].map((is) => jobs.filter((job) => (job.state === 'ended') === is));
    setHidden(element, jobs.length === 0);
    alive.draw(under);
    ended.draw(over.slice(0, ENDED_SHOWN));
    setHidden(fold, over.length === 0);
    setText(
      past,
      `${plural(over.length, 'job')} ${over.length === 1 ? 'has' : 'have'} ended${
        over.length > ENDED_SHOWN ? `, the last ${ENDED_SHOWN}:` : ''
      }`,
    );
    if (launchers.length === 0 && under.length === 0) {
      polling.stop();
    }
  }

  function again() {
    return polling.again();
  }

  const polling = poll(refresh, JOBS_MS);
  return { element, stop: polling.stop };
}

/* Rows that stay while their job does, and with them the focus. */
function rowList(app, again) {
  const list = h('ul.jobs');
  const rows = new Map();
  return {
    list,
    draw(jobs) {
      syncChildren(list, jobs, {
        key: (job) => job.id,
        signature: () => '',
        render: (job) => rows.set(job.id, jobRow(app, again)).get(job.id).element,
      });
      jobs.forEach((job) => rows.get(job.id).update(job));
    },
  };
}

function jobRow(app, again) {
  const what = h('span.title');
  const reason = h('p.reason');
  const failed = h('p.field-error', { role: 'status', hidden: true });
  const button = h('button.quiet', { on: { click: stop } });
  let job = null;
  let drawn = '';
  app.api.access().then(
    ({ operator, reason: why }) => {
      button.disabled = !operator;
      button.title = why ?? '';
    },
    () => {},
  );

  async function stop() {
    if (
      (await ask(
        ...question(job),
        h('button.quiet', { value: 'no' }, 'Leave it'),
        h('button.danger', { value: 'yes' }, button.textContent),
      )) !== 'yes'
    ) {
      return;
    }
    try {
      await app.api.json(`/api/v1/jobs/${job.id}`, { method: 'DELETE' });
      setHidden(failed, true);
    } catch (error) {
      setText(failed, error.message);
      setHidden(failed, false);
    }
    again();
  }

  return {
    element: h('li', what, button, reason, failed),
    update(now) {
      job = now;
      const age = ageOf(job, app.api.now());
      const sign = JSON.stringify([job, age]);
      if (sign === drawn) {
        return;
      }
      drawn = sign;
      what.replaceChildren(...inWords(job, age));
      setText(reason, job.reason);
      setHidden(reason, job.reason === '');
      setHidden(button, job.state === 'ended');
      setText(button, job.state === 'stopping' ? 'Stop again' : 'Stop');
      button.setAttribute('aria-label', `${button.textContent}: ${nameOf(job)}`);
    },
  };
}

const nameOf = ({ job, id, launcher }) => `${launcher} ${job ?? id}`;

const question = (job) =>
  job.state === 'stopping'
    ? [
        'Tell the engine again?',
        h('p', 'Where it cannot be told, the job is given up here, and may go on there.'),
      ]
    : [
        `Stop ${nameOf(job)}?`,
        h('p', `${plural(job.nodes, 'node')} go back to the engine. What runs on them fails.`),
      ];

const inWords = (job, age) => [
  statePill(job.state),
  h('strong', nameOf(job)),
  h(
    'span.run-facts',
    h('span', nodesOf(job)),
    h('span', 'asked for by ', h('a', { href: `/runs/${job.run}` }, job.run)),
    h('span', age),
    job.follow_up_until ? h('span', 'waits for a follow-up until ', timeOf(job.follow_up_until)) : null,
  ),
];

/* They are in the list below while they are there. */
const nodesOf = ({ state, group, nodes }) =>
  state === 'ended'
    ? plural(nodes, 'node')
    : h('a', { href: `/nodes?${new URLSearchParams({ q: group })}` }, plural(nodes, 'node'));

/* "began 3 min ago": the last that it came to. */
function ageOf({ state, created, started, ended }, now) {
  const [word, since] = { running: ['began ', started], ended: ['ended ', ended] }[state] ?? ['', created];
  return word + formatAgo((now - Date.parse(since)) / 1000);
}
