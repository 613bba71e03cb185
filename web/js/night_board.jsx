/* SPDX-License-Identifier: Apache-2.0 */
/* night_board.jsx - gate results and failures by day, with a row for each run name */
import { DAYS, nightsOf } from './nights.mjs';
import { Region } from './parts.jsx';
import { stateLook } from './states.mjs';
import { shorten } from './units.mjs';
import { ANSWERS, badVerdict, verdictOf } from './verdicts.mjs';

export function NightBoard({ runs, now }) {
  const { days, rows } = nightsOf(runs, now);
  return (
    rows.length > 0 && (
      <Region label={`Nights of the last ${DAYS} days`} name="scroll card">
        <table class="list nights">
          <thead>
            <tr>
              <th scope="col">Nights</th>
              {days.map((day) => (
                <th key={day} scope="col" title={day}>
                  {day.slice(8)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, nights }) => (
              <tr key={name}>
                <th scope="row">
                  <a class="cut" href={`/?${new URLSearchParams({ q: name })}`} title={name}>
                    {shorten(name, 80)}
                  </a>
                </th>
                {nights.map((run, i) => (
                  <td key={days[i]}>{run ? <Night run={run} name={name} day={days[i]} /> : '·'}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Region>
    )
  );
}

function Night({ run, name, day }) {
  const verdict = badVerdict(run) ?? verdictOf(run, 'gate');
  const { answer, sentence } =
    run.state === 'failed' || !verdict ? { answer: run.state, sentence: run.reason } : verdict;
  const [sign, tone] = ANSWERS[answer]?.split(' ') ?? stateLook(answer);
  return (
    <a
      class={`pill ${tone}`}
      href={`/runs/${run.id}`}
      title={`${day}: ${sentence ?? answer}`}
      aria-label={`${name}, ${day}: ${answer.replaceAll('_', ' ')}`}
    >
      {sign}
    </a>
  );
}
