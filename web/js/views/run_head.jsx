/* SPDX-License-Identifier: Apache-2.0 */
/* run_head.jsx - the head of a run's page: name, state, verdicts, progress, actions and errors */
import { useEffect, useMemo, useReducer, useState } from 'preact/hooks';
import { blamedIn, isEnded } from '../events.mjs';
import { AnswerPill, Checks, Chips, NoisePill, StatePill, Table, Time } from '../parts.jsx';
import { Headline } from '../run_row.jsx';
import { idempotencyKey } from '../spec_text.mjs';
import { stateWord } from '../states.mjs';
import { placement } from '../stats.mjs';
import { Button, Alert, Question, useAccess } from '../ui.jsx';
import { formatBandwidth, formatDuration, formatSize, plural, secondsBetween, shorten } from '../units.mjs';
import { formatAddress } from '../url_state.mjs';
import { verdictLines } from '../verdicts.mjs';
import { whereInWords } from '../where.mjs';
import { RunEdit } from './run_edit.jsx';
import { messagePlace } from './run_timeline.jsx';
import { RunShare } from './share.jsx';

const MESSAGES_SHOWN = 20;
const UNREAL = {
  simulated: 'simulated: no bytes moved',
  emulated: 'emulated: no GPU was used',
  imported: 'imported: not measured here',
};

/* The part that stays visible while scrolling: name, state, headline and verdicts. */
export function RunBar({ app, source }) {
  const { id, meta, state } = source;
  const name = shorten(source.name(), 240);
  const { headline = null, noise = null } = meta?.summary ?? {};
  return (
    <header class="run-bar">
      <p class="crumbs">
        {app.isReport ? 'Run ' : <a href="/">Runs</a>}
        {!app.isReport && ' / '}
        {id}
      </p>
      <div class="title">
        <h1 title={name}>{name}</h1>
        {meta && <StatePill state={state.lastId > 0 ? state.state : meta.state} />}
        {headline && (
          <span class="headline">
            <Headline found={headline} />
            {headline.interval && <span class="muted"> ({intervalInWords(headline.interval)})</span>}
          </span>
        )}
        <NoisePill noise={noise} />
        {noise?.sentence && <span class="muted noise">{noise.sentence}</span>}
      </div>
      <div class="run-verdicts">
        {verdictLines(source.verdicts(), state.reason).map((line) => (
          <VerdictLine key={line.sentence} {...line} />
        ))}
      </div>
    </header>
  );
}

const intervalInWords = (ends) => ends.map(formatBandwidth).join(' to ');

/* A verdict's sentence, which opens to show its checks. */
function VerdictLine({ answer, sentence, checks, ways }) {
  const against = checks.find(({ check }) => check === 'baseline')?.sentence ?? '';
  const words = sentence.includes(against) ? sentence : `${sentence}; baseline: ${against}`;
  const isSaid = checks.length === 1 && words.includes(checks[0].sentence);
  return (
    <details class="run-verdict">
      <summary>
        <AnswerPill answer={answer} />{' '}
        <span class="verdict-text" title={words}>
          {words}
        </span>
      </summary>
      <Checks checks={isSaid ? [{ ...checks[0], sentence: null }] : checks} />
      {ways.length > 0 && <WaysTable ways={ways} />}
    </details>
  );
}

/* Addresses at which nodes could not reach each other. */
const WaysTable = ({ ways }) => (
  <Table
    label="Unreachable addresses"
    name="lanes"
    columns={['From', 'Interface', 'To', 'Address', 'Interface of the address', 'Reason']}
    rows={ways.map(({ from, via, to, address, interface: device, reason }) =>
      [from, via || '?', to, address, device || '?', reason].map((text) => shorten(text, 80)),
    )}
  />
);

/* Labels, facts, actions, progress and errors. */
export function RunHead({ app, source, book, unreal }) {
  const { meta, state } = source;
  const [failure, setFailure] = useState('');
  const { rowsTotal: total, results: done } = state;
  const isMeasuring = total > 0 && !(isEnded(state) && done >= total);
  const { labels, notes = '' } = meta ?? {};
  return (
    <section class="run-head">
      <div class="title">
        <span class="chips">
          <Chips labels={labels} path={app.isReport ? null : '/'} />
        </span>
        <RunFacts app={app} source={source} unreal={unreal} />
        <span class="spring" />
        {!app.isReport && meta && <Actions app={app} source={source} fail={setFailure} />}
      </div>
      {notes && <p class="run-notes">{notes}</p>}
      {isMeasuring && (
        <div class="progress-line">
          <progress max={1} value={Math.min(1, done / total)} aria-label="Rows measured" />
          <span class="muted">
            {done} of {plural(total, 'row')} measured
          </span>
        </div>
      )}
      <div class="alerts">
        {failure && (
          <Alert tone="bad" title="The request failed. ">
            {failure}
          </Alert>
        )}
        <RunAlerts source={source} wrong={book.wrong} />
      </div>
    </section>
  );
}

function Actions({ app, source, fail }) {
  const { id, meta, state } = source;
  const [asks, setAsks] = useState('');
  const [busy, setBusy] = useState('');
  const key = useMemo(idempotencyKey, []);
  const { operator, reason } = useAccess(app);
  /* A failure that names a rank or node needs no search, unless a node was also slow. */
  const offer = blamedIn(state).length > 0 && !meta.follow_up?.why ? null : meta.follow_up;
  const attempt = async (name, act) => {
    setBusy(name);
    fail('');
    try {
      await act();
    } catch (error) {
      setBusy('');
      fail(error.message);
    }
  };
  /* Without the right to start, stop or delete runs, the title gives the reason. */
  const refused = (name, title) => ({
    disabled: !operator || busy === name,
    title: operator ? title : reason,
  });
  return (
    <>
      {!isEnded(state) && (
        <Button class="danger" {...refused('stop')} onClick={() => attempt('stop', () => app.api.cancel(id))}>
          {busy === 'stop' ? 'Stopping…' : 'Stop'}
        </Button>
      )}
      {offer && (
        <Button
          class={offer.why === null ? undefined : 'primary'}
          {...refused('follow', offer.why ?? 'Measures the same nodes in groups and compares the groups')}
          onClick={() =>
            attempt('follow', async () => app.go({ view: 'run', id: (await app.api.followUp(id, key)).id }))
          }
        >
          {offer.title}
        </Button>
      )}
      <RunShare app={app} id={id} />
      <a class="button" href={`/new?from=${encodeURIComponent(id)}`}>
        Run again
      </a>
      <Button class="quiet" {...refused('edit')} onClick={() => setAsks('edit')}>
        Edit
      </Button>
      {isEnded(state) && (
        <Button class="quiet" {...refused('delete')} onClick={() => setAsks('delete')}>
          Delete
        </Button>
      )}
      {asks === 'edit' && (
        <RunEdit
          api={app.api}
          run={meta}
          onSave={(edited) => source.edited(edited)}
          onClose={() => setAsks('')}
        />
      )}
      {asks === 'delete' && (
        <Question
          title="Delete this run?"
          no="Keep it"
          yes={
            <button type="submit" class="danger">
              Delete
            </button>
          }
          act={() =>
            attempt('delete', async () => {
              await app.api.remove(id);
              app.go('/');
            })
          }
          onClose={() => setAsks('')}
        >
          <p>Its results, events and logs are permanently removed from the server.</p>
        </Question>
      )}
    </>
  );
}

/* "host · 2 nodes × 2 ranks · started 12:00:01 · took 3.2 s" */
function RunFacts({ app, source, unreal }) {
  const { meta, state } = source;
  const ended = isEnded(state);
  const [, tick] = useReducer((count) => count + 1, 0);
  useEffect(() => {
    const clock = ended ? 0 : setInterval(() => document.hidden || tick(0), 1000);
    return () => clearInterval(clock);
  }, [ended]);
  const began = state.started ?? state.created ?? meta?.created;
  if (!began) {
    return null;
  }
  const took = secondsBetween(began, state.ended ?? new Date(app.api.now()).toISOString());
  const word = ended ? 'took' : state.started ? 'running for' : 'waiting for';
  const left = ended ? '' : leftInWords(meta);
  return (
    <p class="run-facts">
      {unreal && <span class="pill warn">{UNREAL[unreal]}</span>}
      {state.backend && (
        <span>
          {whereInWords({ backend: state.backend, nodes: state.nodes, world_size: state.worldSize })}
        </span>
      )}
      <span>
        {state.started ? 'started ' : 'requested '}
        <Time text={began} />
      </span>
      <span>
        {word} {formatDuration(took)}
      </span>
      {left && <span title="The server's estimate, from what was measured so far">{left}</span>}
    </p>
  );
}

/* Remaining time as estimated by the server, counted down since the request. */
function leftInWords(meta) {
  if (!Number.isFinite(meta?.eta_s)) {
    return '';
  }
  const left = Math.max(0, meta.eta_s - (meta.asked ? (Date.now() - meta.asked) / 1000 : 0));
  return left < 1 ? 'nearly done' : `about ${formatDuration(Math.round(left))} left`;
}

/* True if a message repeats the run's reason, also as "stopping case 0: REASON". */
const saysReason = (text, reason) =>
  Boolean(reason) && (text.includes(reason) || reason.startsWith(text.replace(/^stopping case \d+: /, '')));

function RunAlerts({ source, wrong }) {
  const { meta, state, error, waits } = source;
  useEffect(() => {
    source.nameWrong(wrong);
  });
  /* Messages that repeat the run's reason are listed only in the timeline. */
  const messages = state.messages.filter(
    ({ level, text }) => (level === 'warn' || level === 'error') && !saysReason(text, state.reason),
  );
  return (
    <>
      {error && <ReadError error={error} id={source.id} meta={meta} />}
      {meta === null && waits && (
        <Alert tone="warn" title="Waiting for the server. ">
          The run appears as soon as the server answers.
        </Alert>
      )}
      {(state.reason || wrong.total > 0) && <EndAlert {...{ state, wrong, named: source.wrong.named }} />}
      {messages.length > 0 && <MessagesAlert messages={messages} cases={state.cases} />}
    </>
  );
}

const ReadError = ({ error, id, meta }) =>
  error.status === 404 && !meta ? (
    <Alert tone="bad" title={`Run ${id} not found. `}>
      It may have been deleted. See <a href="/">all runs</a> or{' '}
      <a href={formatAddress({ view: 'runs', query: { q: id } })}>search for it</a>.
    </Alert>
  ) : (
    <Alert tone="bad" title={`The run could not be read${meta ? ' to its end' : ''}. `}>
      {error.message} <a href="/">All runs</a>
    </Alert>
  );

/* The reason of the end, and the wrong elements. */
function EndAlert({ state, wrong, named }) {
  const { reason } = state;
  const isBad = state.state === 'failed' || wrong.total > 0;
  const found = `${plural(wrong.total, 'wrong element')} in ${plural(wrong.points.length, 'row')}`;
  return (
    <Alert tone={isBad ? 'bad' : 'warn'} title={reason ? `${stateWord(state.state)}: ` : `${found}.`}>
      {reason && (
        <span class="why" title={reason}>
          {reason}
        </span>
      )}
      {wrong.total > 0 && (
        <details class="elements" open={!reason}>
          <summary>{reason ? found : 'Where'}</summary>
          <ul>
            {named.map((one, i) => (
              <WrongElement key={i} state={state} {...one} />
            ))}
          </ul>
          {wrong.total > named.length && (
            <p>
              Only the first {named.length} are listed. For others that the ranks reported, open the rows
              marked ✕ in the table.
            </p>
          )}
        </details>
      )}
    </Alert>
  );
}

function WrongElement({ state, rank, row, index, expected, got }) {
  const node = state.cases.get(row.case)?.ranks.get(rank)?.node;
  return (
    <li>
      rank {rank}
      {node && ` on ${shorten(node, 60)}`}, {row.collective} of {formatSize(row.size)} bytes ({placement(row)}
      ), element {index}: expected <code>{String(expected)}</code>, got <code>{String(got)}</code>
    </li>
  );
}

/* The last message, which opens to show earlier messages. */
function MessagesAlert({ messages, cases }) {
  const shown = messages.slice(-MESSAGES_SHOWN).reverse();
  const item = (one) => (
    <>
      <span class="muted">
        <Time text={one.time} /> {messagePlace(one, cases)}
      </span>
      {one.text}
    </>
  );
  const first = <span class="why">{item(shown[0])}</span>;
  return (
    <Alert tone={messages.some(({ level }) => level === 'error') ? 'bad' : 'warn'}>
      {messages.length === 1 ? (
        first
      ) : (
        <details class="messages">
          <summary>
            <strong>{plural(messages.length, 'message')}</strong> {first}
          </summary>
          <ul>
            {shown.map((one) => (
              <li key={one.id}>{item(one)}</li>
            ))}
          </ul>
        </details>
      )}
    </Alert>
  );
}
