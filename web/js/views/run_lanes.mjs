/* run_lanes.mjs - how far the ranks of a case have come, a lane per node; which of them
 * failed, and what they said of NCCL */
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
import { h, region, setHidden, setText, syncChildren } from '../dom.mjs';
import { nodeAddress } from '../node_list.mjs';
import { head, stateWord } from '../parts.mjs';
import {
  formatDuration,
  formatMemory,
  formatTime,
  listInWords,
  plural,
  secondsBetween,
  shorten,
} from '../units.mjs';

/* The steps that are shown: a rank that is assigned has merely a place. */
const STEPS = ['spawned', 'joined', 'connected', 'running', 'done'];
const RANKS_SHOWN = 64;

/* Up to so many nodes each has a lane; of more only those that differ from the others. */
const FEW = 8;
const ALIKE_MIN = 4;
const BAD_MAX = 32;

export function runLanes(app) {
  const note = h('span.muted.note');
  const body = h('tbody');
  const table = h(
    'table.lanes',
    h('caption.visually-hidden', 'How far the ranks of each node have come'),
    head(['Node', 'Ranks', ...STEPS]),
    body,
  );
  const whys = h('ul.whys');
  const conditions = h('ul.whys');
  const links = h('div.links');
  const ways = h('div.ways');
  const all = h('button.quiet', { hidden: true });
  const scroll = region('Ranks', 'scroll', table);
  const element = h('section.card', h('h2', 'Ranks', note), whys, conditions, scroll, all, ways, links);
  let drawn = '';
  let isWhole = false;
  let again = () => {};
  all.addEventListener('click', () => {
    isWhole = !isWhole;
    again();
  });

  return {
    element,
    inWords: ranksInWords,
    update(run, shownCase) {
      again = () => this.update(run, shownCase);
      const sign = [
        run.epoch,
        shownCase?.case,
        shownCase?.attempt,
        shownCase?.revision,
        run.started,
        isWhole,
      ].join();
      if (sign === drawn) {
        return;
      }
      drawn = sign;
      const nodes = lanes(shownCase);
      const groups = groupBy(nodes, (lane) => lookOfLane(lane, shownCase));
      setText(
        note,
        [
          shownCase && run.cases.size > 1 ? `${caseName(shownCase)}: ` : '',
          nodes.length > FEW ? groupsInWords(groups) : ranksInWords(run, shownCase),
        ].join(''),
      );
      setHidden(scroll, nodes.length === 0);
      setHidden(all, nodes.length <= FEW);
      setText(all, isWhole ? 'Show those that differ' : `Show all ${nodes.length} nodes`);
      const began = shownCase?.started ?? run.started;
      drawWhys(whys, nodes, shownCase);
      syncChildren(conditions, conditionLines(nodes), {
        key: ([, text]) => text,
        signature: ([tone]) => tone,
        render: ([tone, text]) => h('li', { class: tone }, text),
      });
      drawGroups(
        links,
        groupBy(
          nodes.flatMap((lane) => lane.ranks),
          linksOf,
        ).filter(([facts]) => facts.length),
        linkCard,
      );
      ways.replaceChildren(...waysOf(shownCase?.transports), ...portsOf(nodes));
      const rows = nodes.length > FEW && !isWhole ? alikeTogether(groups) : nodes;
      syncChildren(
        body,
        rows.sort((a, b) => howFar(a, shownCase) - howFar(b, shownCase)),
        {
          key: (lane) => lane.node ?? `alike ${lane.look}`,
          signature: (lane) => JSON.stringify([lane, began, shownCase.blamed]),
          render: (lane) => laneRow(lane, began, shownCase, app),
        },
      );
    },
  };
}

function drawWhys(whys, nodes, shownCase) {
  const ended = nodes
    .flatMap((lane) => lane.ranks)
    .filter((rank) => isFailed(rank) || isBlamed(rank, shownCase.blamed));
  const groups = groupBy(ended, (rank) => whyOf(rank, shownCase));
  drawGroups(
    whys,
    groups.sort(([[a]], [[b]]) => (a < b ? -1 : a > b ? 1 : 0)),
    ([[tone, text], ranks]) => h('li', { class: tone }, `${namesOf(ranks)}: ${text}`),
  );
}

/* What is to be seen of a rank: its state, or how it ended. */
const lookOfRank = (rank, blamed) =>
  isCulprit(rank, blamed) ? 'failed' : isFailed(rank) ? 'stopped' : rank.state;

/* "failed, running": of a node's ranks together. */
const lookOfLane = (lane, { blamed }) =>
  [...new Set(lane.ranks.map((rank) => lookOfRank(rank, blamed)))].sort().join(', ');

/* "31 nodes running; gpu-17 failed" */
function groupsInWords(groups) {
  return [...groups]
    .sort((a, b) => b[1].length - a[1].length)
    .map(
      ([look, nodes]) =>
        `${nodes.length === 1 ? shorten(nodes[0].node, 60) : plural(nodes.length, 'node')} ${look}`,
    )
    .join('; ');
}

/* Nodes that do the same are one lane; few of them, and those that failed, have their own. */
const alikeTogether = (groups) =>
  groups.flatMap(([look, nodes]) =>
    nodes.length >= (look.includes('failed') ? BAD_MAX : ALIKE_MIN)
      ? [{ node: null, look, count: nodes.length, ranks: nodes.flatMap((lane) => lane.ranks) }]
      : nodes,
  );

const isFailed = (rank) => rank.state === 'failed';
const isCulprit = (rank, blamed) => isBlamed(rank, blamed) || (isFailed(rank) && !isVictim(rank));

/* [[what `of` says, ranks]], those that say the same together. */
function groupBy(ranks, of) {
  const groups = new Map();
  for (const rank of ranks) {
    const said = of(rank);
    const key = JSON.stringify(said);
    const group = groups.get(key) ?? [said, []];
    group[1].push(rank);
    groups.set(key, group);
  }
  return [...groups.values()];
}

const drawGroups = (parent, groups, render) =>
  syncChildren(parent, groups, {
    key: ([said]) => JSON.stringify(said),
    signature: ([, ranks]) => ranks.map((rank) => [rank.rank, rank.initSeconds]).join(),
    render,
  });

/* "rank 1 on node-1", "ranks 0–7" */
function namesOf(ranks) {
  const numbers = ranks.map((rank) => rank.rank).sort((a, b) => a - b);
  return ranks.length === 1
    ? `rank ${numbers} on ${shorten(ranks[0].node, 60)}`
    : `ranks ${listInWords(numbers)}`;
}

/* [tone, text]: why a rank ended; what went down with another one is no news. */
function whyOf(rank, { blamed }) {
  const text = rank.reason ?? 'failed';
  const named = evidenceOf(rank, blamed);
  if (named && !isFailed(rank)) {
    return ['bad', [blamed.kind.replaceAll('_', ' '), named.text].filter(Boolean).join(': ')];
  }
  if (named) {
    return ['bad', isVictim(rank) ? 'caused the failure' : text];
  }
  return isVictim(rank) ? ['muted', text.replace(/^cancelled: /, '')] : ['bad', text];
}

/* By which ways the bytes went, and what speaks against them, in the server's words. */
function waysOf(transports) {
  if (!transports) {
    return [];
  }
  const { by, ways, verdicts } = transports;
  const matrix = waysMatrix(transports);
  return [
    h('h3', by === 'host' ? 'How ranks connected' : 'How NCCL connected'),
    h(
      'ul.whys',
      verdicts.map(({ answer, sentence }) =>
        h('li', { class: answer === 'finding' ? 'warn' : 'muted' }, sentence),
      ),
    ),
    region(
      'Ways',
      'scroll',
      h(
        'table.lanes',
        head(['Way', 'Between']),
        h(
          'tbody',
          ways.map(({ text, between }, i) =>
            h('tr', h('td', matrix ? `${i + 1}: ${text}` : text), h('td', between)),
          ),
        ),
      ),
    ),
    matrix,
  ]
    .slice(0, ways.length ? 4 : 2)
    .filter(Boolean);
}

/* What the nodes' network ports carried during the case, those of one name together. */
const PORTS_SHOWN = 16;

function portsOf(nodes) {
  const sums = new Map();
  for (const { kind, name, ...bytes } of nodes.flatMap(({ conditions }) => conditions?.ports ?? [])) {
    const sum = sums.get(`${kind} ${name}`) ?? { kind, name, count: 0, sent: 0, received: 0 };
    sum.count += 1;
    sum.sent += bytes.sent_bytes;
    sum.received += bytes.received_bytes;
    sums.set(`${kind} ${name}`, sum);
  }
  const rows = [...sums.values()]
    .sort((a, b) => b.sent + b.received - a.sent - a.received)
    .slice(0, PORTS_SHOWN);
  return rows.length === 0
    ? []
    : [
        h('h3', 'What network ports carried'),
        region(
          'Network ports',
          'scroll',
          h(
            'table.lanes',
            head(['Port', 'Kind', 'Nodes', 'Sent', 'Received']),
            h(
              'tbody',
              rows.map(({ name, kind, count, sent, received }) =>
                h(
                  'tr',
                  ...[name, kind, count, formatMemory(sent), formatMemory(received)].map((x) => h('td', x)),
                ),
              ),
            ),
          ),
        ),
      ];
}

/* Node by node the numbers of their ways; null where there are too many nodes to be read. */
const NODES_IN_MATRIX = 32;

function waysMatrix({ nodes = [], ways }) {
  const numbers = new Map();
  ways.forEach(({ pairs = [] }, i) =>
    pairs.forEach(([a, b]) => {
      for (const key of new Set([`${a} ${b}`, `${b} ${a}`])) {
        numbers.set(key, [...(numbers.get(key) ?? []), i + 1]);
      }
    }),
  );
  if (nodes.length < 2 || nodes.length > NODES_IN_MATRIX || numbers.size === 0) {
    return null;
  }
  const cell = (found) =>
    h('td', { title: found.map((i) => ways[i - 1].text).join('\n') || null }, found.join(', ') || '–');
  return region(
    'Ways by nodes',
    'scroll',
    h(
      'table.lanes',
      head(['Node', ...nodes.map((name) => shorten(name, 20))]),
      h(
        'tbody',
        nodes.map((name, a) =>
          h(
            'tr',
            h('th', { scope: 'row' }, shorten(name, 40)),
            nodes.map((_, b) => cell(numbers.get(`${a} ${b}`) ?? [])),
          ),
        ),
      ),
    ),
  );
}

/* What a rank and NCCL's log said of memory, channels and transports: [name, text]. */
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

/* "collective 16, point to point 32" */
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

function linkCard([facts, ranks]) {
  const times = ranks.map((rank) => rank.initSeconds).filter((s) => s !== null);
  const ends = [Math.min(...times), Math.max(...times)].map((s) => formatTime(s * 1e6));
  const began = times.length ? [['init', [...new Set(ends)].join(' to ')]] : [];
  return h(
    'section',
    h('h3', `NCCL on ${namesOf(ranks)}`),
    h(
      'dl.facts',
      [...began, ...facts].flatMap(([name, text]) => [h('dt', name), h('dd', text)]),
    ),
  );
}

/* "3 of 4 ranks joined" while they gather, else what they do. */
function ranksInWords(run, shownCase) {
  const ranks = [...(shownCase?.ranks.values() ?? [])];
  const total = shownCase?.nodes ? ranks.length : run.worldSize || ranks.length;
  if (total === 0) {
    return shownCase ? stateWord(shownCase.state) : '';
  }
  const failed = ranks.filter((rank) => isCulprit(rank, shownCase.blamed));
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

/* What failed or lags stands on top; the sort keeps the order of the others. */
const howFar = (lane, { blamed }) =>
  Math.min(
    ...lane.ranks.map((rank) => {
      const ended = isFailed(rank) ? -1 : rankStage(rank);
      return isCulprit(rank, blamed) ? -2 : ended;
    }),
  );

function laneRow(lane, began, { blamed }, { isReport }) {
  const isAlike = lane.node === null;
  const name = isAlike ? `${plural(lane.count, 'node')} ${lane.look}` : shorten(lane.node, 60);
  return h(
    'tr',
    { class: lane.ranks.some(isFailed) ? 'failed' : null },
    h('th', { scope: 'row' }, isReport || isAlike ? name : h('a', { href: nodeAddress(lane.node) }, name)),
    h('td', isAlike ? plural(lane.ranks.length, 'rank') : rankDots(lane, blamed)),
    STEPS.map((step) => stepCell(lane, step, began)),
  );
}

function rankDots({ ranks, conditions }, blamed) {
  return h(
    'div.rank-dots',
    ranks
      .slice(0, RANKS_SHOWN)
      .map((rank, i) => rankDot(rank, lookOfRank(rank, blamed), conditions?.bind?.cpus?.[i])),
    ranks.length > RANKS_SHOWN ? ` +${ranks.length - RANKS_SHOWN}` : null,
  );
}

function rankDot(rank, look, cpus) {
  const text = `rank ${rank.rank}: ${look}${rank.reason ? `, ${rank.reason}` : ''}${
    cpus ? `, on CPU ${cpus}` : ''
  }`;
  return h(
    'span',
    { class: `rank-dot ${look}`, title: text },
    h('span', { 'aria-hidden': 'true' }, rank.rank),
    h('span.visually-hidden', text),
  );
}

/* How many have passed a step; when the last one did, counted from the case's start. */
function stepCell(lane, step, began) {
  const passed = lane.ranks.filter((rank) => rankStage(rank) >= RANK_STATES.indexOf(step));
  const share = passed.length / lane.ranks.length;
  const times = lane.ranks
    .map((rank) => rank.times[step])
    .filter(Boolean)
    .sort();
  const after = times.length ? secondsBetween(began, times[times.length - 1]) : null;
  const words = step === 'connected' ? transports(lane.ranks) : '';
  return h(
    'td',
    { class: share > 0 && share < 1 ? 'step some' : 'step' },
    h('div.step-bar', { vars: { '--share': String(share) } }),
    h('span.step-text', stepText(passed.length, lane.ranks.length, after), words && ` by ${words}`),
  );
}

function stepText(passed, total, after) {
  if (passed < total) {
    return passed === 0 ? '–' : `${passed} of ${total}`;
  }
  return after === null || after < 0 ? '✓' : `✓ ${formatDuration(after)}`;
}
