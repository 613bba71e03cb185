/* run_lanes.mjs - how far the ranks of a case have come, a lane per node; which of them
 * failed, and what they said of NCCL */
import {
  conditionLines,
  isBlamed,
  isVictim,
  lanes,
  RANK_STATES,
  rankStage,
  transports
} from '../events.mjs';
import {caseName} from '../case_name.mjs';
import {h, region, setText, syncChildren} from '../dom.mjs';
import {fold, head} from '../parts.mjs';
import {
  formatDuration,
  formatMemory,
  formatTime,
  listInWords,
  plural,
  secondsBetween,
  shorten
} from '../units.mjs';
import {nodeAddress} from './nodes.mjs';

/* The steps that are shown: a rank that is assigned has merely a place. */
const STEPS = ['spawned', 'joined', 'connected', 'running', 'done'];
const RANKS_SHOWN = 64;

export function runLanes(app) {
  const summary = h('span.muted');
  const body = h('tbody');
  const table = h('table.lanes',
    h('caption.visually-hidden', 'How far the ranks of each node have come'),
    head(['Node', 'Ranks', ...STEPS]), body);
  const whys = h('ul.whys');
  const conditions = h('ul.whys');
  const links = h('div.links');
  const details = fold('Ranks', summary, whys, conditions, region('Ranks', 'scroll', table), links);
  let touched = false;
  details.querySelector('summary').addEventListener('click', () => { touched = true; });

  return {
    element: details,
    update(run, shownCase) {
      const all =
        lanes(shownCase).sort((a, b) => howFar(a, shownCase) - howFar(b, shownCase));
      const lines = conditionLines(all);
      const worth = lines.find(([tone]) => tone === 'warn');
      setText(summary,
        (run.cases.size > 1 && shownCase ? `${caseName(shownCase)}: ` : '') +
          ranksInWords(run, shownCase) + (worth ? ` · ${shorten(worth[1], 80)}` : ''));
      details.hidden = all.length === 0;
      if (!touched) {
        details.open = shownCase?.state !== 'completed';
      }
      const began = shownCase?.started ?? run.started;
      const ranks = all.flatMap(lane => lane.ranks);
      const ends = groupBy(ranks.filter(isFailed), rank => whyOf(rank, shownCase));
      drawGroups(whys,
        ends.sort(([[a]], [[b]]) => (a < b ? -1
                      : a > b              ? 1
                                           : 0)),
        ([[tone, text], ranks]) => h('li', {class: tone}, `${namesOf(ranks)}: ${text}`));
      syncChildren(conditions, lines, {
        key: ([, text]) => text,
        signature: ([tone]) => tone,
        render: ([tone, text]) => h('li', {class: tone}, text)
      });
      drawGroups(
        links, groupBy(ranks, linksOf).filter(([facts]) => facts.length), linkCard);
      syncChildren(body, all, {
        key: lane => lane.node,
        signature: lane => JSON.stringify([lane, began, shownCase.blamed]),
        render: lane => laneRow(lane, began, shownCase, app)
      });
    }
  };
}

const isFailed = rank => rank.state === 'failed';
const isCulprit = (rank, blamed) =>
  isBlamed(rank, blamed) || (isFailed(rank) && !isVictim(rank));

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

const drawGroups = (parent, groups, render) => syncChildren(parent, groups, {
  key: ([said]) => JSON.stringify(said),
  signature: ([, ranks]) => ranks.map(rank => [rank.rank, rank.initSeconds]).join(),
  render
});

/* "rank 1 on node-1", "ranks 0–7" */
function namesOf(ranks) {
  const numbers = ranks.map(rank => rank.rank).sort((a, b) => a - b);
  return ranks.length === 1 ? `rank ${numbers} on ${shorten(ranks[0].node, 60)}`
                            : `ranks ${listInWords(numbers)}`;
}

/* [tone, text]: why a rank ended; what went down with another one is no news. */
function whyOf(rank, {blamed}) {
  const text = rank.reason ?? 'failed';
  if (isBlamed(rank, blamed)) {
    return ['bad', isVictim(rank) ? 'named by the failure' : text];
  }
  return isVictim(rank) ? ['muted', text.replace(/^cancelled: /, '')] : ['bad', text];
}

/* What a rank and NCCL's log said of memory, channels and transports: [name, text]. */
function linksOf({memory, log}) {
  const {init_s: _, ...said} = log ?? {};
  const bytes =
    Object.entries(memory).filter(([, value]) => value !== null).map(([key,
      value]) => [key.replace(/_bytes$/, ''), formatMemory(value)]);
  const facts = bytes.length ? [['GPU memory', Object.fromEntries(bytes)]] : [];
  return [...facts, ...Object.entries(said)].map(
    ([name, value]) => [name.replaceAll('_', ' '), inWords(value)]);
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
  const times = ranks.map(rank => rank.initSeconds).filter(s => s !== null);
  const ends = [Math.min(...times), Math.max(...times)].map(s => formatTime(s * 1e6));
  const began = times.length ? [['init', [...new Set(ends)].join(' to ')]] : [];
  return h('section', h('h3', `NCCL on ${namesOf(ranks)}`),
    h('dl.facts',
      [...began, ...facts].flatMap(([name, text]) => [h('dt', name), h('dd', text)])));
}

/* "3 of 4 ranks joined" while they gather, else what they do. */
function ranksInWords(run, shownCase) {
  const ranks = [...(shownCase?.ranks.values() ?? [])];
  const total = run.worldSize || ranks.length;
  const ended = ranks.filter(isFailed);
  const failed = ended.filter(rank => isCulprit(rank, shownCase.blamed));
  if (ended.length > 0) {
    return failed.length ? `${failed.length} of ${total} failed`
                         : `${ended.length} of ${total} stopped`;
  }
  const reached = state =>
    ranks.filter(rank => rankStage(rank) >= RANK_STATES.indexOf(state)).length;
  for (const state of ['done', 'running', 'connected', 'joined']) {
    if (reached(state) === total && total > 0) {
      return `all ${total} ${state}`;
    }
  }
  return `${reached('joined')} of ${plural(total, 'rank')} joined`;
}

/* What failed or lags stands on top; the sort keeps the order of the others. */
const howFar = (lane, {blamed}) => Math.min(...lane.ranks.map(rank => {
  const ended = isFailed(rank) ? -1 : rankStage(rank);
  return isCulprit(rank, blamed) ? -2 : ended;
}));

function laneRow(lane, began, {blamed}, {isReport}) {
  const name = shorten(lane.node, 60);
  return h('tr', {class: lane.ranks.some(isFailed) ? 'failed' : null},
    h('th', {scope: 'row'},
      isReport ? name : h('a', {href: nodeAddress(lane.node)}, name)),
    h('td',
      h('div.rank-dots',
        lane.ranks.slice(0, RANKS_SHOWN)
          .map((rank, i) => rankDot(
            rank, isCulprit(rank, blamed), lane.conditions?.bind?.cpus?.[i])),
        lane.ranks.length > RANKS_SHOWN ? ` +${lane.ranks.length - RANKS_SHOWN}` : null)),
    STEPS.map(step => stepCell(lane, step, began)));
}

function rankDot(rank, isBad, cpus) {
  const state = isBad ? 'failed' : isFailed(rank) ? 'stopped' : rank.state;
  const text = `rank ${rank.rank}: ${state}${rank.reason ? `, ${rank.reason}` : ''}${
    cpus ? `, on CPU ${cpus}` : ''}`;
  return h('span', {class: `rank-dot ${state}`, title: text},
    h('span', {'aria-hidden': 'true'}, rank.rank), h('span.visually-hidden', text));
}

/* How many have passed a step; when the last one did, counted from the case's start. */
function stepCell(lane, step, began) {
  const passed = lane.ranks.filter(rank => rankStage(rank) >= RANK_STATES.indexOf(step));
  const share = passed.length / lane.ranks.length;
  const times = lane.ranks.map(rank => rank.times[step]).filter(Boolean).sort();
  const after = times.length ? secondsBetween(began, times[times.length - 1]) : null;
  const words = step === 'connected' ? transports(lane.ranks) : '';
  return h('td', {class: share > 0 && share < 1 ? 'step some' : 'step'},
    h('div.step-bar', {vars: {'--share': String(share)}}),
    h('span.step-text', stepText(passed.length, lane.ranks.length, after),
      words && ` by ${words}`));
}

function stepText(passed, total, after) {
  if (passed < total) {
    return passed === 0 ? '–' : `${passed} of ${total}`;
  }
  return after === null || after < 0 ? '✓' : `✓ ${formatDuration(after)}`;
}
