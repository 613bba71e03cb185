/* run_timeline.mjs - what happened, in order: states and messages; and for a run that is
 * over, a slider back to any moment of it */
import { caseName } from '../case_name.mjs';
import { isEnded } from '../events.mjs';
import { h, region, setHidden, setText, syncChildren } from '../dom.mjs';
import { stateWord } from '../parts.mjs';
import { formatDuration, plural, secondsBetween } from '../units.mjs';

const SHOWN = 200;
/* A replay takes about this long, however long the run was. */
const REPLAY_MS = 12000;
const STEP_MS = 60;

export function runTimeline() {
  const note = h('span.muted.note');
  const list = h('ol.timeline');
  return {
    element: h(
      'section.card',
      h('h2', 'What happened', note),
      region('What happened', 'scroll timeline-box', list),
    ),
    update(state) {
      const items = timeline(state);
      setText(note, plural(items.length, 'entry', 'entries'));
      syncChildren(list, items.slice(-SHOWN), {
        key: (item) => item.key,
        signature: (item) => item.text + item.after,
        render: (item) =>
          h('li', { class: item.tone }, h('span.number.muted', item.after), h('span', item.text)),
      });
    },
  };
}

/* States and messages by time, each with how long after the first it came. */
function timeline(state) {
  const states = state.history.map((entry, i) => ({
    key: `s${i}`,
    time: entry.time,
    tone: entry.state === 'failed' ? 'bad' : null,
    text: stateWord(entry.state) + (entry.reason ? `: ${entry.reason}` : ''),
  }));
  const messages = state.messages.map((message) => ({
    key: `m${message.id}`,
    time: message.time,
    tone: message.level === 'error' ? 'bad' : null,
    text: messagePlace(message, state.cases) + message.text,
  }));
  const all = [...states, ...messages].sort((a, b) => Date.parse(a.time) - Date.parse(b.time));
  return all.map((item) => ({
    ...item,
    after: `+${formatDuration(secondsBetween(all[0].time, item.time))}`,
  }));
}

/* "node-2, rank 2, repeat 2: " */
export function messagePlace({ node, rank, case: at }, cases) {
  const found = cases.size > 1 ? cases.get(at) : null;
  const place = [node, rank !== undefined && `rank ${rank}`, found && caseName(found)];
  return place.some(Boolean) ? `${place.filter(Boolean).join(', ')}: ` : '';
}

/* `seek(at)` asks for the page as it was after `at` events; null is the end. `load()` gets
 * the events that a page drawn from a summary has not. */
export function runReplay(seek, load) {
  const slider = h('input', { type: 'range', min: '1', 'aria-label': 'Moment of the run' });
  const play = h('button.quiet', 'Replay');
  const text = h('span.muted.number', { role: 'status' });
  const fetchAll = h('button.quiet', { hidden: true });
  const element = h('div.replay', { hidden: true }, fetchAll, play, slider, text);
  const player = { timer: null, total: 0, at: null };

  const go = (at) => seek(at >= player.total ? null : at);
  const stop = () => {
    clearInterval(player.timer);
    player.timer = null;
    setText(play, 'Replay');
  };
  slider.addEventListener('input', () => {
    stop();
    go(Number(slider.value));
  });
  play.addEventListener('click', () => {
    if (player.timer) {
      stop();
      return;
    }
    setText(play, 'Pause');
    let at = player.at ?? 1;
    const step = Math.max(1, Math.round((player.total * STEP_MS) / REPLAY_MS));
    player.timer = setInterval(() => {
      at += step;
      go(at);
      if (at >= player.total) {
        stop();
      }
    }, STEP_MS);
  });

  fetchAll.addEventListener('click', async () => {
    fetchAll.disabled = true;
    try {
      await load();
    } catch (error) {
      setText(text, error.message);
    }
    fetchAll.disabled = false;
  });

  return {
    element,
    destroy: stop,
    /* `shown` is the state that the page shows. */
    update(source, shown, at) {
      const { state } = source;
      const total = state.lastId;
      setHidden(element, !isEnded(state) || total < 2 || !(source.isWhole() || source.canLoadLog()));
      setHidden(fetchAll, source.isWhole());
      [play, slider].forEach((control) => setHidden(control, !source.isWhole()));
      setText(fetchAll, 'Load the events to replay');
      player.total = total;
      player.at = at;
      slider.max = String(total);
      slider.value = String(at ?? total);
      const after = formatDuration(secondsBetween(shown.created, shown.lastTime));
      setText(text, `+${after}, event ${at ?? total} of ${total}`);
      slider.setAttribute('aria-valuetext', `after ${after}`);
    },
  };
}
