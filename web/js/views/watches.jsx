/* SPDX-License-Identifier: Apache-2.0 */
/* watches.jsx - the view of watches: their last nights, and the nodes that they named */
import { useEffect, useState } from 'preact/hooks';
import { nodeAddress } from '../node_list.mjs';
import { AnswerPill, SignPill, StatePill, Time } from '../parts.jsx';
import { Button, useAccess, usePolled } from '../ui.jsx';
import { plural, shorten } from '../units.mjs';
import { unrealOf } from '../where.mjs';
import { NIGHTS, nightsOf, readWatches, runsAddress } from '../watches.mjs';

const WATCHES_MS = 5000;
const NAMES_SHOWN = 8;

export default function Watches({ app }) {
  const [watches, setWatches] = useState(/** @type {Schema.Watch[] | null} */ (null));
  const [known] = useState(() => new Map());
  const access = useAccess(app);
  useEffect(() => app.title('Watches'), []);
  const [note, refresh] = usePolled(
    async () => setWatches(await readWatches(app.api, known)),
    WATCHES_MS,
    [],
  );
  return (
    <>
      <div class="title">
        <h1>Watches</h1>
        <p class="muted" role="status">
          {note || plural(watches.length, 'watch', 'watches')}
        </p>
      </div>
      {watches?.length === 0 && (
        <p class="empty">
          No watches yet. A watch repeatedly measures idle nodes, for example every night, and names nodes
          that became slow. The server’s documentation shows how to create one.
        </p>
      )}
      <ul class="watches">
        {watches?.map((watch) => (
          <Watch key={watch.id} app={app} watch={watch} access={access} again={refresh} />
        ))}
      </ul>
    </>
  );
}

function Watch({ app, watch, access, again }) {
  const [failed, setFailed] = useState('');
  const { id, name, state, last, stale } = watch;
  const nights = nightsOf(watch);
  const verb = state === 'paused' ? 'resume' : 'pause';
  const act = async () => {
    try {
      await app.api.json(`/api/v1/watches/${id}/${verb}`, { method: 'POST' });
      setFailed('');
    } catch (error) {
      setFailed(error.message);
    }
    again();
  };
  return (
    <li class="card watch">
      <div class="title">
        <h2>
          <a href={runsAddress(id)}>{shorten(name, 80)}</a>
        </h2>
        <StatePill state={state} />
        <Facts watch={watch} night={nights.at(-1)} />
      </div>
      <Button
        class="quiet"
        aria-label={`${verb} ${name}`}
        disabled={!access.operator}
        title={access.reason}
        onClick={act}
      >
        {verb === 'pause' ? 'Pause' : 'Resume'}
      </Button>
      <Strip name={name} nights={nights} />
      <div class="found">
        {last ? (
          <p>
            <SignPill look={[nights.at(-1).sign, nights.at(-1).tone]}>{nights.at(-1).word}</SignPill>{' '}
            {last.sentence}
          </p>
        ) : (
          <p class="muted">Nothing has been measured yet.</p>
        )}
        {last?.evidence.named.map(({ answer, nodes, run }) => (
          <p key={run}>
            <AnswerPill answer={answer} /> <NodeLinks names={nodes} />,{' '}
            <a href={`/runs/${run}`}>map of pairs {run}</a>
          </p>
        ))}
        {stale.length > 0 && (
          <p>
            <SignPill look={['!', 'warn']}>stale</SignPill> <NodeLinks names={stale} />
          </p>
        )}
      </div>
      {failed && (
        <p class="field-error" role="status">
          {failed}
        </p>
      )}
    </li>
  );
}

/* Schedule and coverage of a watch. */
const Facts = ({ watch: { mode, spec, next, run, coverage, sweeps }, night }) => (
  <span class="run-facts">
    {unrealOf(spec) && <span>{unrealOf(spec)}</span>}
    <span>{mode === 'act' ? 'runs hooks' : 'observes'}</span>
    <span>
      {run ? (
        <>
          running <a href={`/runs/${run}`}>{run}</a>
        </>
      ) : (
        <>next run {next ? <Time text={next} /> : '–'}</>
      )}
    </span>
    <span>
      last run{' '}
      {night?.address ? (
        <a href={night.address}>
          <Time text={sweeps[0].ended} />
        </a>
      ) : (
        '–'
      )}
    </span>
    <span>{coverage.sentence}</span>
  </span>
);

/* A square per night. Missing nights are padded, so that columns align. */
const Strip = ({ name, nights }) => (
  <ol class="night-strip" aria-label={`${shorten(name, 80)}: the last ${NIGHTS} nights`}>
    {Array.from({ length: NIGHTS - nights.length }, (_, i) => (
      <li key={i} class="muted" aria-hidden="true">
        ·
      </li>
    ))}
    {nights.map((night, i) => (
      <li key={NIGHTS - nights.length + i}>
        <Night {...night} />
      </li>
    ))}
  </ol>
);

function Night({ word, sign, tone, sentence, address, begun }) {
  const when = begun ? new Date(begun).toLocaleString('sv').slice(0, 16) : '';
  const title = `${[when, word].filter(Boolean).join(' ')}: ${sentence}`;
  return address ? (
    <a class={`pill ${tone}`} href={address} title={title} aria-label={title}>
      {sign}
    </a>
  ) : (
    <span class={`pill ${tone}`} role="img" title={title} aria-label={title}>
      {sign}
    </span>
  );
}

const NodeLinks = ({ names }) => (
  <>
    {names.slice(0, NAMES_SHOWN).map((name, i) => (
      <span key={name}>
        {i > 0 && ', '}
        <a href={nodeAddress(name)}>{name}</a>
      </span>
    ))}
    {names.length > NAMES_SHOWN && ` and ${names.length - NAMES_SHOWN} more`}
  </>
);
