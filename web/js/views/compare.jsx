/* SPDX-License-Identifier: Apache-2.0 */
/* compare.jsx - the view that compares runs, or cases of a run. All of its content comes from one
 * answer of the server. */
import { useEffect, useState } from 'preact/hooks';
import { copyText, download } from '../download.mjs';
import { Button, Alert, Question } from '../ui.jsx';
import { compareQuery } from '../url_state.mjs';
import { CompareForm } from './compare_form.jsx';
import { Comparison, headline } from './compare_result.jsx';

const BUSY_RETRY_MS = 1000;
const LAST_RUNS = 5;

const isWhole = ({ base, head, base_env: baseEnv, head_env: headEnv }) =>
  base.length > 0 && (head.length > 0 || baseEnv.length + headEnv.length > 0);

const wait = (ms) =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/* {answer, error, isBusy, baseline, operator}. Retries while the server is busy or unreachable. */
function useComparison(app, query) {
  const [found, setFound] = useState(/** @type {any} */ ({}));
  const asked = isWhole(query) ? compareQuery(query) : null;
  useEffect(() => {
    let isCurrent = true;
    const load = async () => {
      setFound({ isBusy: true });
      while (isCurrent) {
        try {
          const answer = await app.api.compare(asked);
          if (!isCurrent) {
            return;
          }
          app.title(headline(answer));
          setFound({ answer });
          const baseline = await baselineOf(app, query, answer);
          const { operator } = await app.api.access().catch(() => ({ operator: false }));
          if (isCurrent) {
            setFound({ answer, baseline, operator });
          }
          return;
        } catch (error) {
          const isBusy = !error.status || error.status === 503;
          if (isCurrent) {
            setFound({ error, isBusy });
          }
          if (!isBusy) {
            return;
          }
          await wait(BUSY_RETRY_MS);
        }
      }
    };
    if (asked) {
      load();
    } else {
      app.title('Compare');
      setFound({});
    }
    return () => {
      isCurrent = false;
    };
  }, [asked]);
  return { ...found, asked };
}

/* The baseline entry of the base run: who accepted it, and why. */
async function baselineOf(app, query, { base }) {
  if (query.base[0] !== 'baseline' || query.last) {
    return null;
  }
  const { baselines } = await app.api
    .baselines({ run: base.runs[0].id, limit: 1 })
    .catch(() => ({ baselines: [] }));
  return baselines[0] ?? null;
}

export default function Compare({ app, query }) {
  const { asked, answer, error, isBusy, baseline = null, operator } = useComparison(app, query);
  const [note, setNote] = useState(null);
  const [isAccepting, setAccepting] = useState(false);
  useEffect(() => setNote(null), [asked]);
  const attempt = (act) => async () => {
    try {
      setNote(await act());
    } catch (failure) {
      setNote(
        <Alert tone="bad" title="The request failed. ">
          {failure.message}
        </Alert>,
      );
    }
  };
  const file = (format) => app.api.blob(`/api/v1/compare?${compareQuery(query, { format })}`);
  const actions = answer && [
    operator &&
      answer.head.runs.length === 1 &&
      answer.head.unfinished === 0 && [
        'Accept as baseline…',
        'Use the head run as the reference for comparable runs',
        () => setAccepting(true),
      ],
    [
      'Copy Markdown',
      'For an issue tracker',
      async () => {
        await copyText(await (await file('markdown')).text());
        return <p class="muted">Copied as Markdown.</p>;
      },
    ],
    [
      'CSV',
      'Bands and sizes for a spreadsheet',
      async () => download(await file('csv'), `${fileName(answer)}.csv`),
    ],
  ];
  return (
    <>
      <div class="title">
        <h1>Compare</h1>
        <span class="spring" />
        <div class="actions">
          {(actions || []).filter(Boolean).map(([name, title, act]) => (
            <Button key={name} title={title} onClick={attempt(act)}>
              {name}
            </Button>
          ))}
        </div>
      </div>
      <CompareForm
        key={asked}
        app={app}
        query={query}
        submit={(set) => app.go({ view: 'compare', query: set })}
      />
      <div class="alerts" role="status">
        {note}
        {asked && !answer && isBusy && <p class="muted">{busyInWords(error)}</p>}
        {error && !isBusy && (
          <Alert tone="bad" title="The comparison failed. ">
            {error.message}
            <OtherBase error={error} query={query} />
          </Alert>
        )}
      </div>
      {answer && (
        <div class="stack">
          <Comparison answer={answer} baseline={baseline} />
        </div>
      )}
      {!asked && <Empty />}
      {isAccepting && (
        <Accept
          app={app}
          id={answer.head.runs[0].id}
          onAccept={(accept) =>
            attempt(async () => {
              const { run } = await accept();
              return (
                <Alert tone="good" title="Accepted. ">
                  Run {run} is now a baseline.
                </Alert>
              );
            })()
          }
          onClose={() => setAccepting(false)}
        />
      )}
    </>
  );
}

function busyInWords(error) {
  if (!error) {
    return 'Comparing…';
  }
  return error.status ? 'Waiting: the server is busy with other comparisons.' : 'Waiting for the server.';
}

/* Without a baseline, offer the last comparable runs as base. */
function OtherBase({ error, query }) {
  if (error.status !== 404 || query.base[0] !== 'baseline' || query.last) {
    return null;
  }
  return (
    <p>
      <a href={`/compare?${compareQuery({ ...query, last: LAST_RUNS })}`}>
        Compare with the last {LAST_RUNS} comparable runs
      </a>
    </p>
  );
}

/* Dialog that accepts a run as the baseline of later comparable runs. */
function Accept({ app, id, onAccept, onClose }) {
  const [given, setGiven] = useState({ by: '', why: '', like: 'nodes' });
  const set = ({ currentTarget: { id: name, value } }) => setGiven((old) => ({ ...old, [name]: value }));
  const line = (name, label, maxLength) => (
    <div class="field">
      <label for={name}>{label}</label>
      <input id={name} type="text" required maxLength={maxLength} value={given[name]} onInput={set} />
    </div>
  );
  return (
    <Question
      title={`Accept run ${id} as a baseline?`}
      yes={
        <button type="submit" class="primary">
          Accept
        </button>
      }
      act={() => onAccept(() => app.api.acceptBaseline({ run: id, ...given }))}
      onClose={onClose}
    >
      <p>Later comparable runs are compared with this run. Name, time and reason are stored.</p>
      {line('by', 'Accepted by', 200)}
      {line('why', 'Reason', 1000)}
      <div class="field">
        <label for="like">For runs on</label>
        <select id="like" value={given.like} onChange={set}>
          <option value="nodes">the same nodes</option>
          <option value="hardware">the same hardware</option>
        </select>
      </div>
    </Question>
  );
}

const fileName = ({ base, head }) => `ringbench-${base.runs[0]?.id ?? 'none'}-${head.runs[0]?.id ?? 'none'}`;

const Empty = () => (
  <section class="empty">
    <h2>Select two sides to compare</h2>
    <ul class="steps">
      <li>
        <strong>Two runs</strong>
        <p>
          Enter their ids above, the earlier one as base; or select them in the <a href="/">list of runs</a>.
        </p>
      </li>
      <li>
        <strong>Two settings</strong>
        <p>
          Start one run with a matrix, such as NCCL_ALGO with Ring and Tree, and at least 5 repeats. Its cases
          are interleaved, so drift cancels out. The run's page links to the comparisons of its settings.
        </p>
      </li>
      <li>
        <strong>A run and the baseline</strong>
        <p>
          Enter "baseline" as base: the newest accepted run that is comparable to head. To accept a run,
          compare it as head and use the button above the comparison.
        </p>
      </li>
    </ul>
    <p class="muted">A verdict needs at least 3 cases per side. Detecting a change of 3 % takes 5 to 10.</p>
  </section>
);
