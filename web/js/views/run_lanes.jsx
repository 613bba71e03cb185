/* SPDX-License-Identifier: Apache-2.0 */
/* run_lanes.jsx - progress of a case's ranks, a row per node: states, failures and transports */
import { useState } from 'preact/hooks';
import {
  conditionLines,
  evidenceOf,
  isBlamed,
  isVictim,
  lanes,
  RANK_STATES,
  rankStage,
  transports,
} from '../events.mjs';
import { caseName } from '../case_name.mjs';
import { groupBy } from '../lists.mjs';
import { nodeAddress } from '../node_list.mjs';
import { Facts, Head, Region, Table } from '../parts.jsx';
import { stateWord } from '../states.mjs';
import {
  formatDuration,
  formatMemory,
  formatTime,
  listInWords,
  plural,
  secondsBetween,
  shorten,
} from '../units.mjs';
import { Button } from '../ui.jsx';

/* The states shown as columns. "assigned" is omitted, because every rank reaches it. */
const STEPS = ['spawned', 'joined', 'connected', 'running', 'done'];
const RANKS_SHOWN = 64;
const PORTS_SHOWN = 16;

/* Up to this many nodes, each node has a row. With more nodes, nodes with equal states share a
 * row. */
const FEW = 8;
const ALIKE_MIN = 4;
const BAD_MAX = 32;

/* Groups of items with equal `of(item)`: [[value, items]]. */
const groupsOf = (items, of) =>
  [...groupBy(items, (item) => JSON.stringify(of(item)))].map(([key, own]) => [JSON.parse(key), own]);

/* `found` is the case that is shown, or null. */
export function RunLanes({ run, found, isReport }) {
  const [isWhole, setWhole] = useState(false);
  const nodes = lanes(found);
  const ranks = nodes.flatMap((lane) => lane.ranks);
  const groups = groupsOf(nodes, (lane) => lookOfLane(lane, found));
  const isMany = nodes.length > FEW;
  const rows = isMany && !isWhole ? alikeTogether(groups) : nodes;
  const began = found?.started ?? run.started;
  return (
    <section class="card">
      <h2>
        Ranks
        <span class="muted note">
          {found && run.cases.size > 1 && `${caseName(found)}: `}
          {isMany ? groupsInWords(groups) : ranksInWords(run, found)}
        </span>
      </h2>
      <Whys ranks={ranks} found={found} />
      <ul class="whys">
        {conditionLines(nodes).map(([tone, text]) => (
          <li key={text} class={tone}>
            {text}
          </li>
        ))}
      </ul>
      {nodes.length > 0 && (
        <Region label="Ranks">
          <table class="lanes">
            <caption class="visually-hidden">Progress of the ranks, by node</caption>
            <Head columns={['Node', 'Ranks', ...STEPS]} />
            <tbody>
              {rows
                .sort((a, b) => howFar(a, found) - howFar(b, found))
                .map((lane) => (
                  <LaneRow key={lane.node ?? `alike ${lane.look}`} {...{ lane, began, found, isReport }} />
                ))}
            </tbody>
          </table>
        </Region>
      )}
      {isMany && (
        <Button class="quiet" onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Show only nodes that differ' : `Show all ${nodes.length} nodes`}
        </Button>
      )}
      <Ways transports={found?.transports} />
      <Ports nodes={nodes} />
      <div class="links">
        {groupsOf(ranks, linksOf)
          .filter(([facts]) => facts.length > 0)
          .map(([facts, own]) => (
            <section key={own[0].rank}>
              <h3>NCCL on {namesOf(own)}</h3>
              <Facts rows={[...initOf(own), ...facts]} />
            </section>
          ))}
      </div>
    </section>
  );
}

/* Reasons why ranks ended. */
function Whys({ ranks, found }) {
  const ended = ranks.filter((rank) => isFailed(rank) || isBlamed(rank, found.blamed));
  const groups = groupsOf(ended, (rank) => whyOf(rank, found));
  return (
    <ul class="whys">
      {groups
        .sort(([[a]], [[b]]) => (a < b ? -1 : a > b ? 1 : 0))
        .map(([[tone, text], own]) => (
          <li key={text} class={tone}>
            {namesOf(own)}: {text}
          </li>
        ))}
    </ul>
  );
}

/* Returns the displayed state of a rank: its state, or how it ended. */
const lookOfRank = (rank, blamed) =>
  isCulprit(rank, blamed) ? 'failed' : isFailed(rank) ? 'stopped' : rank.state;

/* Returns the states of a node's ranks, such as "failed, running". */
const lookOfLane = (lane, { blamed }) =>
  [...new Set(lane.ranks.map((rank) => lookOfRank(rank, blamed)))].sort().join(', ');

/* Returns a text such as "31 nodes running; gpu-17 failed". */
const groupsInWords = (groups) =>
  [...groups]
    .sort((a, b) => b[1].length - a[1].length)
    .map(
      ([look, nodes]) =>
        `${nodes.length === 1 ? shorten(nodes[0].node, 60) : plural(nodes.length, 'node')} ${look}`,
    )
    .join('; ');

/* Equal nodes share a row from ALIKE_MIN nodes on. Failed nodes share one only from
 * BAD_MAX. */
const alikeTogether = (groups) =>
  groups.flatMap(([look, nodes]) =>
    nodes.length >= (look.includes('failed') ? BAD_MAX : ALIKE_MIN)
      ? [{ node: null, look, count: nodes.length, ranks: nodes.flatMap((lane) => lane.ranks) }]
      : nodes,
  );

const isFailed = (rank) => rank.state === 'failed';
const isCulprit = (rank, blamed) => isBlamed(rank, blamed) || (isFailed(rank) && !isVictim(rank));

/* Returns a text such as "rank 1 on node-1" or "ranks 0–7". */
function namesOf(ranks) {
  const numbers = ranks.map((rank) => rank.rank).sort((a, b) => a - b);
  return ranks.length === 1
    ? `rank ${numbers} on ${shorten(ranks[0].node, 60)}`
    : `ranks ${listInWords(numbers)}`;
}

/* Returns [tone, text] for the end of a rank. Ranks that ended because of another one are muted. */
function whyOf(rank, { blamed }) {
  const text = rank.reason ?? 'failed';
  const named = evidenceOf(rank, blamed);
  if (named && !isFailed(rank)) {
    return ['bad', [blamed.kind.replaceAll('_', ' '), named.text].filter(Boolean).join(': ')];
  }
  if (named) {
    return ['bad', isVictim(rank) ? 'caused the failure' : text];
  }
  return isVictim(rank)
    ? ['muted', text.replace(/^cancelled: /, '').replace('stopped on request', 'stopped by the server')]
    : ['bad', text];
}

/* Connections between ranks, and the server's findings about them. */
const Ways = ({ transports: said }) =>
  said && (
    <div class="ways">
      <h3>{said.by === 'host' ? 'How ranks connected' : 'How NCCL connected'}</h3>
      <ul class="whys">
        {said.verdicts.map(({ answer, sentence }) => (
          <li key={sentence} class={answer === 'finding' ? 'warn' : 'muted'}>
            {sentence}
          </li>
        ))}
      </ul>
      {said.ways.length > 0 && (
        <Table
          label="Transports"
          name="lanes"
          columns={['Transport', 'Between']}
          rows={said.ways.map(({ text, between }) => [text, between])}
        />
      )}
    </div>
  );

/* Bytes on the nodes' network ports during the case, summed by port name. */
function Ports({ nodes }) {
  const ports = nodes.flatMap(({ conditions }) => conditions?.ports ?? []);
  const sum = (own, key) => own.reduce((all, port) => all + port[key], 0);
  const rows = groupsOf(ports, ({ kind, name }) => [name, kind])
    .map(([names, own]) => [...names, own.length, sum(own, 'sent_bytes'), sum(own, 'received_bytes')])
    .sort((a, b) => b[3] + b[4] - a[3] - a[4])
    .slice(0, PORTS_SHOWN)
    .map(([name, kind, count, ...bytes]) => [name, kind, count, ...bytes.map(formatMemory)]);
  return (
    rows.length > 0 && (
      <div class="ways">
        <h3>Traffic on network ports</h3>
        <Table
          label="Network ports"
          name="lanes"
          columns={['Port', 'Kind', 'Nodes', 'Sent', 'Received']}
          rows={rows}
        />
      </div>
    )
  );
}

/* Returns memory, channels and transports reported by a rank and NCCL's log: [name, text]. */
function linksOf({ memory, log }) {
  const bytes = Object.entries(memory)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => [key.replace(/_bytes$/, ''), formatMemory(value)]);
  const facts = bytes.length ? [['GPU memory', Object.fromEntries(bytes)]] : [];
  return [...facts, ...Object.entries(log ?? {})].map(([name, value]) => [
    name.replaceAll('_', ' '),
    inWords(value),
  ]);
}

/* Returns a text such as "collective 16, point to point 32". */
function inWords(value) {
  if (value === null || typeof value !== 'object') {
    return String(value);
  }
  return Array.isArray(value)
    ? value.map(inWords).join(', ')
    : Object.entries(value)
        .map(([key, part]) => `${key.replace(/_(?=[a-z])/g, ' ')} ${inWords(part)}`)
        .join(', ');
}

function initOf(ranks) {
  const times = ranks.map((rank) => rank.initSeconds).filter((s) => s !== null);
  const ends = [Math.min(...times), Math.max(...times)].map((s) => formatTime(s * 1e6));
  return times.length ? [['init', [...new Set(ends)].join(' to ')]] : [];
}

/* Returns a text such as "3 of 4 ranks joined" during start, else the common state. */
export function ranksInWords(run, found) {
  const ranks = [...(found?.ranks.values() ?? [])];
  const total = found?.nodes ? ranks.length : run.worldSize || ranks.length;
  if (total === 0) {
    return found ? stateWord(found.state) : '';
  }
  const failed = ranks.filter((rank) => isCulprit(rank, found.blamed));
  const ended = ranks.filter(isFailed);
  if (failed.length > 0) {
    return `${failed.length} of ${total} failed`;
  }
  if (ended.length > 0) {
    return `${ended.length} of ${total} stopped`;
  }
  const reached = (state) => ranks.filter((rank) => rankStage(rank) >= RANK_STATES.indexOf(state)).length;
  for (const state of ['done', 'running', 'connected', 'joined']) {
    if (reached(state) === total) {
      return `all ${total} ${state}`;
    }
  }
  return `${reached('joined')} of ${plural(total, 'rank')} joined`;
}

/* Returns a sort key: failed ranks first, then the least advanced. The sort is stable. */
const howFar = (lane, { blamed }) =>
  Math.min(
    ...lane.ranks.map((rank) => (isCulprit(rank, blamed) ? -2 : isFailed(rank) ? -1 : rankStage(rank))),
  );

function LaneRow({ lane, began, found: { blamed }, isReport }) {
  const isAlike = lane.node === null;
  const name = isAlike ? `${plural(lane.count, 'node')} ${lane.look}` : shorten(lane.node, 60);
  return (
    <tr class={lane.ranks.some(isFailed) ? 'failed' : undefined}>
      <th scope="row">{isReport || isAlike ? name : <a href={nodeAddress(lane.node)}>{name}</a>}</th>
      <td>{isAlike ? plural(lane.ranks.length, 'rank') : <RankDots lane={lane} blamed={blamed} />}</td>
      {STEPS.map((step) => (
        <StepCell key={step} {...{ lane, step, began }} />
      ))}
    </tr>
  );
}

const RankDots = ({ lane: { ranks, conditions }, blamed }) => (
  <div class="rank-dots">
    {ranks.slice(0, RANKS_SHOWN).map((rank, i) => {
      const look = lookOfRank(rank, blamed);
      const cpus = conditions?.bind?.cpus?.[i];
      const text = [`rank ${rank.rank}: ${look}`, rank.reason, cpus && `on CPU ${cpus}`]
        .filter(Boolean)
        .join(', ');
      return (
        <span key={rank.rank} class={`rank-dot ${look}`} title={text}>
          <span aria-hidden="true">{rank.rank}</span>
          <span class="visually-hidden">{text}</span>
        </span>
      );
    })}
    {ranks.length > RANKS_SHOWN && ` +${ranks.length - RANKS_SHOWN}`}
  </div>
);

/* Number of ranks that reached a state, and the time of the last one since the start of the
 * case. */
function StepCell({ lane, step, began }) {
  const passed = lane.ranks.filter((rank) => rankStage(rank) >= RANK_STATES.indexOf(step));
  const share = passed.length / lane.ranks.length;
  const times = lane.ranks.map((rank) => rank.times[step]).filter(Boolean);
  const after = times.length ? secondsBetween(began, times.sort().at(-1)) : null;
  const words = step === 'connected' ? transports(lane.ranks) : '';
  return (
    <td class={share > 0 && share < 1 ? 'step some' : 'step'}>
      <div class="step-bar" style={{ '--share': String(share) }} />
      <span class="step-text">
        {stepText(passed.length, lane.ranks.length, after)}
        {words && ` (${words})`}
      </span>
    </td>
  );
}

function stepText(passed, total, after) {
  if (passed < total) {
    return passed === 0 ? '–' : `${passed} of ${total}`;
  }
  return after === null || after < 0 ? '✓' : `✓ ${formatDuration(after)}`;
}
