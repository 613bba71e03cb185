/* SPDX-License-Identifier: Apache-2.0 */
/* node.jsx - the view of one node: verdicts that name it, its hardware and settings, and its
 * runs */
import { useEffect, useState } from 'preact/hooks';
import { suspectsOf } from '../node_groups.mjs';
import { AnswerPill, Chips, Facts, Region, StatePill, Time } from '../parts.jsx';
import { Headline, NodeRuns } from '../run_row.jsx';
import { usePolled } from '../ui.jsx';
import { formatBandwidth, formatMemory, plural, shorten } from '../units.mjs';
import { formatAddress } from '../url_state.mjs';
import { isBad } from '../verdicts.mjs';
import { whereInWords } from '../where.mjs';
import { NodeCompare } from './node_compare.jsx';
import { NodeDevices } from './node_devices.jsx';
import { Preflight } from './preflight.jsx';

const HISTORY_RUNS = 100;
const HISTORY_WORDS = {
  registered: 'registered',
  lost: 'lost: the agent stopped responding',
  left: 'left',
  returned: 'came back',
  replaced: 'replaced by another agent',
};

export default function Node({ app, id }) {
  const [found, setFound] = useState(/** @type {any} */ (null));
  useEffect(() => app.title(id), []);
  const listed = (query) => app.api.list(new URLSearchParams({ ...query, limit: HISTORY_RUNS }));
  const [note] = usePolled(
    async () => {
      const [node, { runs, next }, { runs: accusing }] = await Promise.all([
        app.api.node(id),
        listed({ node: id }),
        listed({ suspect: id }),
      ]);
      setFound({ node, runs, next, accusing });
    },
    3000,
    [],
  );
  const suspicion = found && suspectsOf(found.runs).get(id);
  return (
    <>
      <p class="crumbs">
        <a href="/nodes">Nodes</a>
      </p>
      <div class="title">
        <h1>{shorten(id, 200)}</h1>
        {found && <StatePill state={found.node.state} />}
        {suspicion && (
          <a href={`/runs/${suspicion.run}`}>
            <AnswerPill answer={suspicion.answer} title={suspicion.sentence} />
          </a>
        )}
      </div>
      <p class="muted">{note}</p>
      {found && <NodePage app={app} {...found} />}
    </>
  );
}

function NodePage({ app, node, runs, next, accusing }) {
  const id = node.name;
  const accusations = accusing.flatMap((run) =>
    run.verdicts.filter((one) => isBad(one) && one.nodes.includes(id)).map((one) => ({ run, ...one })),
  );
  return (
    <>
      {accusations.length > 0 && (
        <section class="card">
          <h2>Flagged in</h2>
          <ol class="timeline">
            {accusations.map(({ run, answer, sentence }) => (
              <li key={run.id + sentence}>
                <span class="number muted">
                  <Time text={run.created} hasDay />
                </span>
                <span>
                  <AnswerPill answer={answer} /> <a href={`/runs/${run.id}`}>{sentence}</a>
                </span>
              </li>
            ))}
          </ol>
        </section>
      )}
      <NodeSheet
        node={node}
        rows={[
          ['Current run', node.run ? <a href={`/runs/${node.run}`}>{node.run}</a> : 'none'],
          ...lastResult(runs),
        ]}
      />
      <Preflight app={app} name={id} />
      <NodeDevices inventory={node.inventory ?? {}} />
      <NodeCompare app={app} node={id} runs={runs} />
      <h2>Runs on this node</h2>
      <Region label="Runs on this node" name="scroll card">
        {runs.length > 0 ? <NodeRuns runs={runs} /> : <p class="muted">None.</p>}
      </Region>
      {next && (
        <p class="muted">
          These are the last {HISTORY_RUNS}. Older runs are in{' '}
          <a href={formatAddress({ view: 'runs', query: { node: id } })}>the list of runs</a>.
        </p>
      )}
      <p>
        <a href={formatAddress({ view: 'trends', query: { nodes: id } })}>Trends of runs on this node only</a>
      </p>
      {node.history?.length > 0 && (
        <section class="card">
          <h2>History</h2>
          <ol class="timeline">
            {node.history.map(({ time, state, detail }, i) => (
              <li key={i} class={state === 'lost' ? 'bad' : undefined}>
                <span class="number muted">
                  <Time text={time} />
                </span>
                <span>{[HISTORY_WORDS[state] ?? state, detail].filter(Boolean).join(', ')}</span>
              </li>
            ))}
          </ol>
        </section>
      )}
    </>
  );
}

/* The last result on this node, and the range of earlier comparable runs: same collective, size,
 * nodes and ranks. */
function lastResult(runs) {
  const alike = ({ summary: { headline }, ...run }) =>
    JSON.stringify([headline.collective, headline.size, headline.metric, whereInWords(run)]);
  const measured = runs.filter(({ summary }) => summary?.headline);
  const [last, ...before] = measured.filter((run) => alike(run) === alike(measured[0]));
  if (!last) {
    return [];
  }
  const values = before.map(({ summary }) => summary.headline.busbw_gbs).filter(Number.isFinite);
  const range = [...new Set([Math.min(...values), Math.max(...values)].map(formatBandwidth))].join(' to ');
  return [
    [
      'Last result',
      <>
        <a href={`/runs/${last.id}`}>
          <Headline found={last.summary.headline} />
        </a>
        {values.length > 0 && (
          <span class="muted">
            {' '}
            earlier: {range} in {plural(values.length, 'comparable run')}
          </span>
        )}
      </>,
    ],
  ];
}

/* Facts of a node, after `rows`. With `path`, its labels link to that list. */
export const NodeSheet = ({ node, rows = [], path = '/nodes' }) => (
  <div class="node-page">
    <Facts name="facts card" rows={[...rows, ...factRows(node, path)]} />
    <section class="stack">
      <h2>Backends</h2>
      <Backends node={node} />
    </section>
  </div>
);

function factRows(node, path) {
  const { inventory = {}, versions = {} } = node;
  /* Interfaces with a table of their own show their addresses there. */
  const addresses = inventory.net
    ? []
    : (inventory.addresses ?? []).map((a) => `${a.interface} ${a.address}`);
  const rows = [
    ['Group', node.group],
    ['Labels', Object.keys(node.labels ?? {}).length ? <Chips labels={node.labels} path={path} /> : null],
    ['Address', node.address],
    ['Host', inventory.host],
    ['System', [inventory.os, inventory.kernel].filter(Boolean).join(', ')],
    ['CPU', cpuInWords(inventory.cpu ?? {})],
    ['NUMA nodes', inventory.numa_nodes],
    ['Memory', inventory.memory_bytes ? formatMemory(inventory.memory_bytes) : null],
    ['Interfaces', addresses],
    ['Host id', inventory.hostid],
    ['Ranks offered', node.ranks],
    ['Agent', node.version],
    ['NCCL', versions.nccl],
    ['CUDA driver', versions.cuda_driver],
    ['CUDA runtime', versions.cuda_runtime],
    ['Registered', <Time text={node.registered} hasDay />],
    ['Last seen', <Time text={node.last_seen} hasDay />],
  ];
  return rows.filter(([, value]) => (value ?? '') !== '' && value.length !== 0);
}

function cpuInWords({ model, ...counts }) {
  const parts = ['socket', 'core', 'thread']
    .filter((word) => counts[`${word}s`])
    .map((word) => plural(counts[`${word}s`], word));
  return [model, ...parts].filter(Boolean).join(', ');
}

/* A card per backend: availability and devices. */
const Backends = ({ node }) => (
  <div class="cards">
    {Object.entries(node.inventory?.backends ?? {})
      .sort()
      .map(([name, probe]) => (
        <section key={name} class="card">
          <h3>
            {name}{' '}
            <span class={`pill ${probe?.available ? 'good' : 'calm'}`}>
              {probe?.available ? 'available' : 'not available'}
            </span>
          </h3>
          {probe?.reason && <p>{probe.reason}</p>}
          {probe?.devices?.length > 0 && (
            <ul>
              {probe.devices.map(({ index, name: device, memory_bytes: memory }) => (
                <li key={index}>
                  {index}: {device}
                  {memory ? ` (${formatMemory(memory)})` : ''}
                </li>
              ))}
            </ul>
          )}
        </section>
      ))}
  </div>
);
