/* SPDX-License-Identifier: Apache-2.0 */
/* run_timeline.jsx - states and messages of a run in order of time */
import { caseName } from '../case_name.mjs';
import { Region } from '../parts.jsx';
import { stateWord } from '../states.mjs';
import { formatDuration, plural, secondsBetween } from '../units.mjs';

const SHOWN = 200;

export function RunTimeline({ state }) {
  const items = timeline(state);
  return (
    <section class="card">
      <h2>
        Timeline<span class="muted note">{plural(items.length, 'entry', 'entries')}</span>
      </h2>
      <Region label="Timeline" name="scroll timeline-box">
        <ol class="timeline">
          {items.slice(-SHOWN).map(({ key, isBad, after, text }) => (
            <li key={key} class={isBad ? 'bad' : undefined}>
              <span class="number muted">{after}</span>
              <span>{text}</span>
            </li>
          ))}
        </ol>
      </Region>
    </section>
  );
}

/* States and messages by time, each with its offset from the first. */
function timeline({ history, messages, cases }) {
  const all = [
    ...history.map(({ state, reason, time }, i) => ({
      key: `s${i}`,
      time,
      isBad: state === 'failed',
      text: stateWord(state) + (reason ? `: ${reason}` : ''),
    })),
    ...messages.map((message) => ({
      key: `m${message.id}`,
      time: message.time,
      isBad: message.level === 'error',
      text: messagePlace(message, cases) + message.text,
    })),
  ].sort((a, b) => Date.parse(a.time) - Date.parse(b.time));
  return all.map((item) => ({
    ...item,
    after: `+${formatDuration(secondsBetween(all[0].time, item.time))}`,
  }));
}

/* Returns a text such as "node-2, rank 2, repeat 2: ". */
export function messagePlace({ node, rank, case: at }, cases) {
  const found = cases.size > 1 ? cases.get(at) : null;
  const place = [node, rank !== undefined && `rank ${rank}`, found && caseName(found)].filter(Boolean);
  return place.length > 0 ? `${place.join(', ')}: ` : '';
}
