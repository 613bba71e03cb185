/* run_head.mjs - the top of a run's page: what it is, how it goes, what can be done */
import {isEnded} from '../events.mjs';
import {h, setHidden, setText} from '../dom.mjs';
import {alertBox, ask, headline, labelChips, statePill, timeOf} from '../parts.mjs';
import {formatDuration, formatSize, plural, secondsBetween, shorten} from '../units.mjs';
import {whereInWords} from '../where.mjs';
import {runShare} from './run_share.mjs';
import {messagePlace} from './run_timeline.mjs';

const MESSAGES_SHOWN = 20;
const UNREAL = {
  simulated: 'simulated: no bytes moved',
  emulated: 'emulated: no GPU was there',
  imported: 'imported: not measured here'
};

export function runHead(app, id) {
  const parts = {
    name: h('h1'),
    pill: h('span'),
    labels: h('span.chips'),
    facts: h('p.run-facts'),
    progress: h('progress', {max: '1'}),
    progressText: h('span.muted'),
    alerts: h('div.alerts'),
    stop: h('button.danger', {hidden: true}, 'Stop'),
    again: h('a.button', {href: `/new?from=${encodeURIComponent(id)}`}, 'Run again'),
    share: runShare(app, id),
    remove: h('button.quiet', {hidden: true}, 'Delete')
  };
  parts.progress.setAttribute('aria-label', 'Rows measured');
  wireActions(parts, app, id);
  const actions =
    app.isReport ? null : [parts.stop, parts.share.element, parts.again, parts.remove];
  const element = h('section.run-head',
    h('p.crumbs', app.isReport ? 'Run ' : [h('a', {href: '/'}, 'Runs'), ' / '], id),
    h('div.title', parts.name, parts.pill, parts.labels, h('span.spring'), actions),
    parts.facts, h('div.progress-line', parts.progress, parts.progressText),
    parts.alerts);
  return {
    element,
    update: (source, state, book, unreal) =>
      update(parts, app, source, state, book, unreal),
    tick: (state, source) => drawFacts(parts, app, source, state),
    destroy: parts.share.destroy
  };
}

function wireActions(parts, app, id) {
  const fail = error =>
    parts.alerts.prepend(alertBox('bad', 'That did not work. ', error.message));
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
  parts.remove.addEventListener('click', async () => {
    const answer = await ask('Delete this run?',
      h('p', 'Its results, events and logs are removed from the server for good.'),
      h('button.quiet', {value: 'no'}, 'Keep it'),
      h('button.danger', {value: 'yes'}, 'Delete'));
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

function update(parts, app, source, state, book, unreal) {
  parts.unreal = unreal;
  const name = shorten(source.name(), 240);
  setText(parts.name, name);
  app.title(shorten(name, 60), unreal);
  parts.pill.replaceChildren(source.meta ? statePill(state.state) : '');
  for (const element of [parts.share.element, parts.again]) {
    setHidden(element, source.meta === null);
  }
  if (source.meta && !parts.labels.hasChildNodes()) {
    parts.labels.append(...labelChips(source.meta.labels));
  }
  /* What can be done follows from how it is now, not from the moment that is shown. */
  setHidden(parts.stop, isEnded(source.state) || source.meta === null);
  setHidden(parts.remove, !isEnded(source.state));
  drawProgress(parts, state, rowsDone(state, book));
  parts.headline = book.headline();
  drawFacts(parts, app, source, state);
  drawAlerts(parts, source, state, book.wrong);
}

/* Control series count as rows, one for each figure. */
function rowsDone(state, book) {
  return [...state.metrics.values()].reduce((sum, one) => sum + one.all.count, book.rows);
}

function drawProgress(parts, state, done) {
  const total = state.rowsTotal;
  const ended = isEnded(state);
  setHidden(parts.progress.parentElement, total === 0 || (ended && done >= total));
  if (total > 0) {
    parts.progress.value = Math.min(1, done / total);
    setText(parts.progressText, `${done} of ${plural(total, 'row')} measured`);
  }
}

/* "host · 2 nodes × 2 ranks · started 12:00:01 · took 3.2 s" */
function drawFacts(parts, app, source, state) {
  const ended = isEnded(state);
  const now =
    state === source.state ? new Date(app.api.now()).toISOString() : state.lastTime;
  const began = state.started ?? state.created;
  const took = secondsBetween(began, state.ended ?? now);
  const where = whereInWords(
    {backend: state.backend, nodes: state.nodes, world_size: state.worldSize});
  const left = ended ? '' : leftInWords(source, state);
  const sign = [
    parts.unreal, where, state.started, state.ended, ended ? '' : formatDuration(took),
    left, parts.headline?.size, parts.headline?.busbw_gbs
  ].join();
  if (sign === parts.factsDrawn || state.created === null) {
    return;
  }
  parts.factsDrawn = sign;
  parts.facts.replaceChildren(state.backend === null ? '' : h('span', where),
    h('span', state.started ? 'started ' : 'asked for ', timeOf(began)),
    h('span', `${howLong(state)} ${formatDuration(took)}`),
    left
      ? h('span', {title: 'A guess of the server, from what was measured so far'}, left)
      : '',
    parts.headline ? h('span', 'busbw ', headline(parts.headline)) : '');
  if (parts.unreal) {
    parts.facts.prepend(h('span.pill.warn', UNREAL[parts.unreal]));
  }
}

/* The server's guess, counted down from when it was asked. */
function leftInWords({meta, state: now}, state) {
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

function drawAlerts(parts, source, state, wrong) {
  /* What only says again why the run ended is left to "What happened". */
  const messages =
    state.messages.filter(({level, text}) => (level === 'warn' || level === 'error') &&
        !(state.reason && text.includes(state.reason)));
  const sign = JSON.stringify([
    source.error?.message, state.state, state.reason, wrong.total, messages.length,
    state.messagesDropped
  ]);
  if (sign === parts.alertsDrawn) {
    return;
  }
  parts.alertsDrawn = sign;
  parts.alerts.replaceChildren(...[source.error
      ? alertBox('bad', `This run can’t be shown${source.meta ? ' to its end' : ''}. `,
          source.error.message)
      : null,
    state.reason ? alertBox(state.state === 'failed' ? 'bad' : 'warn',
                     `${state.state.replaceAll('_', ' ')}: `, h('span', state.reason))
                 : null,
    wrong.total > 0 ? wrongAlert(wrong) : null,
    messages.length > 0 ? messagesAlert(messages) : null]
                                 .filter(Boolean));
}

function wrongAlert(wrong) {
  return alertBox('bad',
    `Wrong data: ${plural(wrong.total, 'element')} in ` +
      `${plural(wrong.rows, 'row')}.`,
    h('ul',
      wrong.named.map(
        error => h('li',
          `rank ${error.rank}, ${error.row.collective} of ${
            formatSize(error.row.size)} bytes ` +
            `(${error.row.in_place ? 'in place' : 'out of place'}), element ${
              error.index}: ` +
            'expected ',
          h('code', String(error.expected)), ', got ', h('code', String(error.got))))),
    wrong.total > wrong.named.length
      ? h('p',
          `The first ${wrong.named.length} are named here; rows marked ✕ below ` +
            'open to the others that the ranks reported.')
      : null);
}

function messagesAlert(messages) {
  const worst = messages.some(m => m.level === 'error') ? 'bad' : 'warn';
  return alertBox(worst, plural(messages.length, 'message'),
    h('ul',
      messages.slice(-MESSAGES_SHOWN)
        .reverse()
        .map(
          m => h('li', h('span.muted', timeOf(m.time), ` ${messagePlace(m)}`), m.text))));
}
