/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.jsx - shows jobs requested from engines: active jobs with a stop button, and ended jobs */
import { useState } from 'preact/hooks';
import { StatePill, Time } from '../parts.jsx';
import { Button, Question, useAccess, usePoll } from '../ui.jsx';
import { formatAgo, plural } from '../units.mjs';

const JOBS_MS = 5000;
const ENDED_SHOWN = 20;

/* Hidden without jobs. A server with no launcher and no active job is polled only once. */
export function Jobs({ app }) {
  const [{ launchers, jobs }, setFound] = useState(/** @type {any} */ ({ launchers: null, jobs: [] }));
  const [note, setNote] = useState('');
  const access = useAccess(app);
  const [ended, alive] = [true, false].map((is) => jobs.filter((job) => (job.state === 'ended') === is));
  const isIdle = launchers?.length === 0 && alive.length === 0;
  const refresh = async () => {
    try {
      setFound({
        launchers: launchers ?? (await app.api.json('/api/v1/launchers')).launchers,
        jobs: (await app.api.json('/api/v1/jobs')).jobs,
      });
      setNote('');
    } catch (error) {
      setNote(`The jobs could not be loaded. ${error.status ? error.message : 'Waiting for the server.'}`);
    }
  };
  usePoll(() => isIdle || refresh(), JOBS_MS, []);
  const row = (job) => <Job key={job.id} app={app} job={job} access={access} again={refresh} />;
  return (
    (jobs.length > 0 || note) && (
      <section class="card" aria-label="Jobs">
        <h2>Jobs</h2>
        {note && (
          <p class="muted" role="status">
            {note}
          </p>
        )}
        <ul class="jobs">{alive.map(row)}</ul>
        {ended.length > 0 && (
          <details class="fold">
            <summary>
              {plural(ended.length, 'job')} {ended.length === 1 ? 'has' : 'have'} ended
              {ended.length > ENDED_SHOWN && `, the last ${ENDED_SHOWN}:`}
            </summary>
            <ul class="jobs">{ended.slice(0, ENDED_SHOWN).map(row)}</ul>
          </details>
        )}
      </section>
    )
  );
}

function Job({ app, job, access, again }) {
  const [failed, setFailed] = useState('');
  const [isAsking, setAsking] = useState(false);
  const word = job.state === 'stopping' ? 'Stop again' : 'Stop';
  const [title, text] = question(job);
  const stop = async () => {
    try {
      await app.api.json(`/api/v1/jobs/${job.id}`, { method: 'DELETE' });
      setFailed('');
    } catch (error) {
      setFailed(error.message);
    }
    again();
  };
  return (
    <li>
      <span class="title">
        <StatePill state={job.state} />
        <strong>{nameOf(job)}</strong>
        <span class="run-facts">
          <span>
            <JobNodes job={job} />
          </span>
          <span>
            requested by <a href={`/runs/${job.run}`}>{job.run}</a>
          </span>
          <span>{ageOf(job, app.api.now())}</span>
          {job.follow_up_until && (
            <span>
              kept for a follow-up run until <Time text={job.follow_up_until} />
            </span>
          )}
        </span>
      </span>
      {job.state !== 'ended' && (
        <Button
          class="quiet"
          aria-label={`${word}: ${nameOf(job)}`}
          disabled={!access.operator}
          title={access.reason}
          onClick={() => setAsking(true)}
        >
          {word}
        </Button>
      )}
      {isAsking && (
        <Question
          title={title}
          no="Keep it"
          yes={
            <button type="submit" class="danger">
              {word}
            </button>
          }
          act={stop}
          onClose={() => setAsking(false)}
        >
          <p>{text}</p>
        </Question>
      )}
      {job.reason && <p class="reason">{job.reason}</p>}
      {failed && (
        <p class="field-error" role="status">
          {failed}
        </p>
      )}
    </li>
  );
}

const nameOf = ({ job, id, launcher }) => `${launcher} ${job ?? id}`;

const question = (job) =>
  job.state === 'stopping'
    ? [
        'Send the stop request again?',
        'If the engine cannot be reached, the server gives up the job, and the job may keep running there.',
      ]
    : [`Stop ${nameOf(job)}?`, `The job releases ${plural(job.nodes, 'node')}. Runs on them fail.`];

/* While the job is active, its nodes are in the node list. */
const JobNodes = ({ job: { state, group, nodes } }) =>
  state === 'ended' ? (
    plural(nodes, 'node')
  ) : (
    <a href={`/nodes?${new URLSearchParams({ q: group })}`}>{plural(nodes, 'node')}</a>
  );

/* Age of the job's current state: "started 3 min ago". */
function ageOf({ state, created, started, ended }, now) {
  const [word, since] = { running: ['started ', started], ended: ['ended ', ended] }[state] ?? ['', created];
  return word + formatAgo((now - Date.parse(since)) / 1000);
}
