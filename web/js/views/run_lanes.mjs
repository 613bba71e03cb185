/* run_lanes.mjs - how far the ranks of a case have come, a lane per node */
import {lanes, RANK_STATES, rankStage, transports} from '../events.mjs';
import {caseName} from '../case_name.mjs';
import {h, region, setText, syncChildren} from '../dom.mjs';
import {fold, head} from '../parts.mjs';
import {formatDuration, plural, secondsBetween, shorten} from '../units.mjs';
import {nodeAddress} from './nodes.mjs';

/* The steps that are shown: a rank that is assigned has merely a place. */
const STEPS = ['spawned', 'joined', 'connected', 'running', 'done'];
const RANKS_SHOWN = 64;

export function runLanes() {
  const summary = h('span', {class: 'muted'});
  const body = h('tbody');
  const table = h('table', {class: 'lanes'},
    h('caption', {class: 'visually-hidden'}, 'How far the ranks of each node have come'),
    head(['Node', 'Ranks', ...STEPS]), body);
  const details = fold('Ranks', summary, region('Ranks', 'scroll', table));
  let touched = false;
  details.querySelector('summary').addEventListener('click', () => { touched = true; });

  return {
    element: details,
    update(run, shownCase) {
      const all = lanes(shownCase).sort((a, b) => howFar(a) - howFar(b));
      setText(summary,
        (run.cases.size > 1 && shownCase ? `${caseName(shownCase)}: ` : '') +
          ranksInWords(run, shownCase));
      details.hidden = all.length === 0;
      if (!touched) {
        details.open = shownCase?.state !== 'completed';
      }
      const began = shownCase?.started ?? run.started;
      syncChildren(body, all, {
        key: lane => lane.node,
        signature: lane => JSON.stringify([lane, began]),
        render: lane => laneRow(lane, began)
      });
    }
  };
}

/* "3 of 4 ranks joined" while they gather, else what they do. */
export function ranksInWords(run, shownCase) {
  const ranks = [...(shownCase?.ranks.values() ?? [])];
  const total = run.worldSize || ranks.length;
  const failed = ranks.filter(rank => rank.state === 'failed').length;
  if (failed > 0) {
    return `${failed} of ${total} failed`;
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
const howFar = lane =>
  Math.min(...lane.ranks.map(rank => (rank.state === 'failed' ? -2 : rankStage(rank))));

function laneRow(lane, began) {
  const failed = lane.ranks.filter(rank => rank.state === 'failed');
  return h('tr', {class: failed.length ? 'failed' : null},
    h('th', {scope: 'row'},
      h('a', {href: nodeAddress(lane.node)}, shorten(lane.node, 60)),
      failed.slice(0, 4).map(rank => h('div', {class: 'bad'},
                               `rank ${rank.rank}: ${rank.reason ?? 'failed'}`))),
    h('td', {},
      h('div', {class: 'rank-dots'}, lane.ranks.slice(0, RANKS_SHOWN).map(rankDot),
        lane.ranks.length > RANKS_SHOWN ? ` +${lane.ranks.length - RANKS_SHOWN}` : null)),
    STEPS.map(step => stepCell(lane, step, began)));
}

function rankDot(rank) {
  const text = `rank ${rank.rank}: ${rank.state}${rank.reason ? `, ${rank.reason}` : ''}`;
  return h('span', {class: `rank-dot ${rank.state}`, title: text},
    h('span', {'aria-hidden': 'true'}, rank.rank),
    h('span', {class: 'visually-hidden'}, text));
}

/* How many have passed a step; when the last one did, counted from the case's start. */
function stepCell(lane, step, began) {
  const passed = lane.ranks.filter(rank => rankStage(rank) >= RANK_STATES.indexOf(step));
  const share = passed.length / lane.ranks.length;
  const times = lane.ranks.map(rank => rank.times[step]).filter(Boolean).sort();
  const after = times.length ? secondsBetween(began, times[times.length - 1]) : null;
  return h('td', {class: share > 0 && share < 1 ? 'step some' : 'step'},
    h('div', {class: 'step-bar', vars: {'--share': String(share)}}),
    h('span', {class: 'step-text'}, stepText(passed.length, lane.ranks.length, after),
      step === 'connected' ? connectedBy(lane) : null));
}

function connectedBy(lane) {
  const words = transports(lane.ranks);
  return words ? ` by ${words}` : null;
}

function stepText(passed, total, after) {
  if (passed < total) {
    return passed === 0 ? '–' : `${passed} of ${total}`;
  }
  return after === null || after < 0 ? '✓' : `✓ ${formatDuration(after)}`;
}
