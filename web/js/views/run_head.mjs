/* run_head.mjs - the top of a run's page: what it is, how it goes, what can be done */
import { isEnded } from '../events.mjs';
import { h, region, seen, setHidden, setText } from '../dom.mjs';
import {
  alertBox,
  answerPill,
  ask,
  checkList,
  head,
  headline,
  labelChips,
  statePill,
  stateWord,
  timeOf,
} from '../parts.mjs';
import { idempotencyKey } from '../spec_text.mjs';
import { placement } from '../stats.mjs';
import { formatBandwidth, formatDuration, formatSize, plural, secondsBetween, shorten } from '../units.mjs';
import { asPart } from '../ui.jsx';
import { verdictLines } from '../verdicts.mjs';
import { whereInWords } from '../where.mjs';
import { RunShare } from './share.jsx';
import { messagePlace } from './run_timeline.mjs';

const MESSAGES_SHOWN = 20;
const UNREAL = {
  simulated: 'simulated: no bytes moved',
  emulated: 'emulated: no GPU was there',
  imported: 'imported: not measured here',
};

/* {bar, element}: the bar stays in sight, the rest stands below it. `change(set)` asks for
 * another address state. */
export function runHead(app, id, change) {
  const parts = {
    name: h('h1'),
    pill: h('span'),
    replay: h('span'),
    figure: h('span.headline'),
    verdicts: h('div.run-verdicts'),
    labels: h('span.chips'),
    notes: h('p.run-notes', { hidden: true }),
    facts: h('p.run-facts'),
    progress: h('progress', { max: '1' }),
    progressText: h('span.muted'),
    alerts: h('div.alerts'),
    edit: h('button.quiet', 'Edit'),
    stop: h('button.danger', { hidden: true }, 'Stop'),
    follow: h('button', { hidden: true }),
    again: h('a.button', { href: `/new?from=${encodeURIComponent(id)}` }, 'Run again'),
    share: asPart(RunShare),
    remove: h('button.quiet', { hidden: true }, 'Delete'),
  };
  parts.progress.setAttribute('aria-label', 'Rows measured');
  parts.share.update({ app, id });
  wireActions(parts, app, id);
  if (!app.isReport) {
    refuseViewers(parts, app);
  }
  const actions = app.isReport
    ? null
    : [parts.stop, parts.follow, parts.share.element, parts.again, parts.edit, parts.remove];
  const bar = h(
    'header.run-bar',
    h('p.crumbs', app.isReport ? 'Run ' : [h('a', { href: '/' }, 'Runs'), ' / '], id),
    h('div.title', parts.name, parts.pill, parts.replay, parts.figure),
    parts.verdicts,
  );
  const element = h(
    'section.run-head',
    h('div.title', parts.labels, parts.facts, h('span.spring'), actions),
    parts.notes,
    h('div.progress-line', parts.progress, parts.progressText),
    parts.alerts,
  );
  return {
    bar,
    element,
    update: (source, state, book, unreal) => update(parts, app, source, state, book, unreal, change),
    tick: (state, source) => drawFacts(parts, app, source, state),
    destroy: parts.share.destroy,
  };
}

function wireActions(parts, app, id) {
  const fail = (error) => parts.alerts.prepend(alertBox('bad', 'That did not work. ', error.message));
  parts.stop.addEventListener('click', async () => {
    parts.stop.disabled = true;
    try {
      await app.api.cancel(id);
      setText(parts.stop, 'Stopping…');
    } catch (error) {
      parts.stop.disabled = false;
      fail(error);
    }
  });
  parts.edit.addEventListener('click', async () => {
    const { editRun } = await app.later();
    const edited = await editRun(app.api, parts.source.meta);
    if (edited) {
      parts.source.meta = edited;
      drawLabels(parts, app, edited);
    }
  });
  const key = idempotencyKey();
  parts.follow.addEventListener('click', async () => {
    parts.follow.disabled = true;
    try {
      app.go({ view: 'run', id: (await app.api.followUp(id, key)).id });
    } catch (error) {
      parts.follow.disabled = false;
      fail(error);
    }
  });
  parts.remove.addEventListener('click', async () => {
    const answer = await ask(
      'Delete this run?',
      h('p', 'Its results, events and logs are removed from the server for good.'),
      h('button.quiet', { value: 'no' }, 'Keep it'),
      h('button.danger', { value: 'yes' }, 'Delete'),
    );
    if (answer !== 'yes') {
      return;
    }
    try {
      await app.api.remove(id);
      app.go('/');
    } catch (error) {
      fail(error);
    }
  });
}

/* Who may not start, stop or delete runs reads why. */
async function refuseViewers({ stop, follow, edit, remove }, app) {
  const { operator, reason } = await app.api.access().catch(() => ({ operator: true }));
  for (const button of operator ? [] : [stop, follow, edit, remove]) {
    button.disabled = true;
    button.title = reason;
  }
}

function update(parts, app, source, state, book, unreal, change) {
  parts.unreal = unreal;
  const name = seen(shorten(source.name(), 240));
  const sign = JSON.stringify([name, unreal, source.meta !== null, state.state]);
  if (sign !== parts.nameDrawn) {
    parts.nameDrawn = sign;
    setText(parts.name, name);
    app.title(shorten(name, 60), unreal);
    parts.name.title = name;
    parts.pill.replaceChildren(source.meta ? statePill(state.state) : '');
  }
  for (const element of [parts.share.element, parts.again, parts.edit]) {
    setHidden(element, source.meta === null);
  }
  parts.source = source;
  if (source.meta) {
    drawLabels(parts, app, source.meta);
  }
  /* What can be done follows from how it is now, not from the moment that is shown. */
  setHidden(parts.stop, isEnded(source.state) || source.meta === null);
  setHidden(parts.remove, !isEnded(source.state));
  drawFollowUp(parts, source.meta?.follow_up);
  drawProgress(parts, state, state.until === null);
  drawAnswer(parts, source, state, change);
  drawFacts(parts, app, source, state);
  drawAlerts(parts, source, state, book.wrong);
}

/* Of a report, which may be older, without notes. */
function drawLabels(parts, app, { labels, notes = '' }) {
  const sign = JSON.stringify([labels, notes]);
  if (sign !== parts.labelsDrawn) {
    parts.labelsDrawn = sign;
    parts.labels.replaceChildren(...labelChips(labels, app.isReport ? null : '/'));
    setText(parts.notes, notes);
    setHidden(parts.notes, notes === '');
  }
}

/* What the server offers to run next; it stands out where something is slow. */
function drawFollowUp({ follow }, offer) {
  setHidden(follow, !offer);
  if (offer) {
    setText(follow, offer.title);
    follow.classList.toggle('primary', offer.why !== null);
    follow.title ||= offer.why ?? 'The same nodes in groups, which are compared with each other';
  }
}

/* Beside the figure, where rows are less certain than the spec's noise_limit. */
function noiseNote({ interval }, noise) {
  if (!noise?.sentence) {
    return null;
  }
  const ends = interval ? interval.map((gbs) => formatBandwidth(gbs)).join(' to ') : 'unknown';
  const words = interval === undefined ? noise.sentence : `interval ${ends}; ${noise.sentence}`;
  return h('span.muted', ` (${words})`);
}

/* What the server says of the run: its figure, as it is now, and its verdicts. */
function drawAnswer(parts, source, state, change) {
  const isNow = state === source.state;
  const { summary } = (isNow && source.meta) || {};
  const found = summary?.headline ?? null;
  const noise = summary?.noise ?? null;
  const verdicts = verdictLines(source.verdictsAt(state), state.reason);
  const sign = JSON.stringify([isNow, found, noise, verdicts]);
  if (sign === parts.answerDrawn) {
    return;
  }
  parts.answerDrawn = sign;
  parts.figure.replaceChildren(...(found ? [headline(found), noiseNote(found, noise)].filter(Boolean) : []));
  parts.replay.replaceChildren(
    ...(isNow
      ? []
      : [
          h('span.pill.warn', 'replay'),
          ' ',
          h('button.quiet', { on: { click: () => change({ at: null }) } }, 'Show the end'),
        ]),
  );
  parts.verdicts.replaceChildren(...verdicts.map(verdictInWords));
}

/* A verdict in a line, which opens to its whole sentence and its checks. */
function verdictInWords({ answer, sentence, checks, ways }) {
  const against = checks.find(({ check }) => check === 'baseline')?.sentence ?? '';
  const words = sentence.includes(against) ? sentence : `${sentence}; baseline: ${against}`;
  return h(
    'details.run-verdict',
    h('summary', answerPill(answer), ' ', h('span.verdict-text', { title: words }, words)),
    checkList(
      checks.length === 1 && words.includes(checks[0].sentence) ? [{ ...checks[0], sentence: null }] : checks,
    ),
    waysTable(ways),
  );
}

/* Who could not reach whom. */
const waysTable = (ways) =>
  ways.length === 0
    ? null
    : region(
        'Unreachable addresses',
        'scroll',
        h(
          'table.lanes',
          head(['From', 'Interface', 'To', 'Address', 'Its interface', 'Why']),
          h(
            'tbody',
            ways.map(({ from, via, to, address, interface: device, reason }) =>
              h(
                'tr',
                [from, via || '?', to, address, device || '?', reason].map((text) =>
                  h('td', shorten(text, 80)),
                ),
              ),
            ),
          ),
        ),
      );

/* Of the past nobody knows it. */
function drawProgress(parts, state, isNow) {
  const { rowsTotal: total, results: done } = state;
  const ended = isEnded(state);
  setHidden(parts.progress.parentElement, total === 0 || (ended && done >= total) || !isNow);
  if (total > 0) {
    parts.progress.value = Math.min(1, done / total);
    setText(parts.progressText, `${done} of ${plural(total, 'row')} measured`);
  }
}

/* "host · 2 nodes × 2 ranks · started 12:00:01 · took 3.2 s" */
function drawFacts(parts, app, source, state) {
  const ended = isEnded(state);
  const now = state === source.state ? new Date(app.api.now()).toISOString() : state.lastTime;
  const began = state.started ?? state.created;
  const took = secondsBetween(began, state.ended ?? now);
  const where = whereInWords({ backend: state.backend, nodes: state.nodes, world_size: state.worldSize });
  const left = ended ? '' : leftInWords(source, state);
  const sign = [
    parts.unreal,
    where,
    state.started,
    state.ended,
    ended ? '' : formatDuration(took),
    left,
  ].join();
  if (sign === parts.factsDrawn || state.created === null) {
    return;
  }
  parts.factsDrawn = sign;
  parts.facts.replaceChildren(
    state.backend === null ? '' : h('span', where),
    h('span', state.started ? 'started ' : 'asked for ', timeOf(began)),
    h('span', `${howLong(state)} ${formatDuration(took)}`),
    left ? h('span', { title: 'A guess of the server, from what was measured so far' }, left) : '',
  );
  if (parts.unreal) {
    parts.facts.prepend(h('span.pill.warn', UNREAL[parts.unreal]));
  }
}

/* The server's guess, counted down from when it was asked. */
function leftInWords({ meta, state: now }, state) {
  if (meta?.eta_s === null || meta?.eta_s === undefined || state !== now) {
    return '';
  }
  const since = meta.asked ? (Date.now() - meta.asked) / 1000 : 0;
  const left = Math.max(0, meta.eta_s - since);
  return left < 1 ? 'nearly done' : `about ${formatDuration(Math.round(left))} left`;
}

function howLong(state) {
  if (isEnded(state)) {
    return 'took';
  }
  return state.started ? 'running for' : 'waiting for';
}

/* "stopping case 0: WHY", where that is how the reason begins, or has all of it. */
const saysReason = (text, reason) =>
  Boolean(reason) && (text.includes(reason) || reason.startsWith(text.replace(/^stopping case \d+: /, '')));

/* What a reader has opened stays open. */
function replaceKeepingOpen(place, children) {
  const opened = [...place.querySelectorAll('details[open]')].map((fold) => fold.className);
  place.replaceChildren(...children);
  for (const fold of place.querySelectorAll('details')) {
    fold.open ||= opened.includes(fold.className);
  }
}

function drawAlerts(parts, source, state, wrong) {
  /* What only says again why the run ended is left to "What happened". */
  const messages = state.messages.filter(
    ({ level, text }) => (level === 'warn' || level === 'error') && !saysReason(text, state.reason),
  );
  const outcome = source.state;
  const { named } = source.wrong;
  source.nameWrong(wrong);
  const sign = JSON.stringify([
    source.error?.message,
    source.meta === null && source.waits,
    state === outcome,
    outcome.state,
    outcome.reason,
    wrong.total,
    named.length,
    messages.length,
    state.messagesDropped,
  ]);
  if (sign === parts.alertsDrawn) {
    return;
  }
  parts.alertsDrawn = sign;
  replaceKeepingOpen(
    parts.alerts,
    [
      source.error
        ? alertBox(
            'bad',
            `Run not found or not readable${source.meta ? ' to its end' : ''}. `,
            source.error.message,
          )
        : null,
      source.meta === null && source.waits
        ? alertBox('warn', 'Waiting for the server. ', 'The run is shown here as soon as it answers.')
        : null,
      outcome.reason || wrong.total > 0 ? endAlert(state, outcome, wrong, named) : null,
      messages.length > 0 ? messagesAlert(messages, state.cases) : null,
    ].filter(Boolean),
  );
}

/* Why the run ended, and the wrong elements, in one box. */
function endAlert(state, outcome, wrong, named) {
  const isBad = outcome.state === 'failed' || wrong.total > 0;
  const later = state === outcome ? '' : 'Later: ';
  const found = `${plural(wrong.total, 'wrong element')} in ${plural(wrong.points.length, 'row')}`;
  return alertBox(
    isBad ? 'bad' : 'warn',
    outcome.reason ? `${later}${stateWord(outcome.state)}: ` : `${found}.`,
    outcome.reason ? h('span.why', { title: outcome.reason }, outcome.reason) : null,
    wrong.total > 0 ? wrongList(state, wrong, named, outcome.reason ? found : 'Where') : null,
  );
}

function wrongList(state, wrong, named, title) {
  return h(
    'details.elements',
    { open: title === 'Where' },
    h('summary', title),
    h(
      'ul',
      named.map((error) => h('li', ...wrongInWords(state, error))),
    ),
    wrong.total > named.length
      ? h(
          'p',
          `The first ${named.length} are named here; rows marked ✕ in the table ` +
            'open to the others that the ranks reported.',
        )
      : null,
  );
}

function wrongInWords(state, { rank, row, index, expected, got }) {
  const node = state.cases.get(row.case)?.ranks.get(rank)?.node;
  return [
    `rank ${rank}${node ? ` on ${shorten(node, 60)}` : ''}, ${row.collective} of ${formatSize(
      row.size,
    )} bytes (${placement(row)}), element ${index}: expected `,
    h('code', String(expected)),
    ', got ',
    h('code', String(got)),
  ];
}

/* The last one in a line, which opens to the others. */
function messagesAlert(messages, cases) {
  const worst = messages.some((m) => m.level === 'error') ? 'bad' : 'warn';
  const shown = messages.slice(-MESSAGES_SHOWN).reverse();
  const item = (m) => [h('span.muted', timeOf(m.time), ` ${messagePlace(m, cases)}`), m.text];
  if (messages.length === 1) {
    return alertBox(worst, '', h('span.why', item(messages[0])));
  }
  return alertBox(
    worst,
    '',
    h(
      'details.messages',
      h('summary', h('strong', plural(messages.length, 'message')), ' ', h('span.why', item(shown[0]))),
      h(
        'ul',
        shown.map((m) => h('li', item(m))),
      ),
    ),
  );
}
