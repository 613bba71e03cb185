/* jobs.mjs - the jobs that engines were asked for, while there are any, each to be stopped */
import {h, setHidden, syncChildren} from '../dom.mjs';
import {plural} from '../units.mjs';

/* {element, refresh}: hidden where no job is under way. */
export function jobList(app) {
  const list = h('ul.jobs');
  const element = h('section.card', {hidden: true, 'aria-label': 'Jobs'}, h('h2', 'Jobs'), list);
  let isOperator = false;
  app.api.access().then(({operator}) => { isOperator = operator; }).catch(() => {});

  async function refresh() {
    const {jobs} = await app.api.json('/api/v1/jobs').catch(() => ({jobs: []}));
    const alive = jobs.filter(job => job.state !== 'ended');
    setHidden(element, alive.length === 0);
    syncChildren(list, alive, {
      key: job => job.id,
      signature: job => JSON.stringify([job, isOperator]),
      render: job => item(job)
    });
  }

  function item(job) {
    const note = h('span.muted', {role: 'status'});
    const stop = h('button', {type: 'button', on: {click: async () => {
      if (stop.textContent === 'Stop') {
        stop.textContent = 'Really stop it?';
        return;
      }
      stop.disabled = true;
      try {
        await app.api.json(`/api/v1/jobs/${job.id}`, {method: 'DELETE'});
        refresh();
      } catch (error) {
        note.textContent = ` ${error.message}`;
        stop.disabled = false;
      }
    }}}, 'Stop');
    const waits = job.idle_since ? `, kept for ${plural(job.keep_s, 'second')}` : '';
    return h('li', h('span', `${job.sentence}; ${plural(job.nodes, 'node')} for `,
      h('a', {href: `/runs/${job.run}`}, job.run), waits, ' '),
      isOperator && job.state !== 'stopping' ? stop : null, note);
  }

  return {element, refresh};
}
