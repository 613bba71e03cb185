/* SPDX-License-Identifier: Apache-2.0 */
/* run_cases.jsx - the cases of a run by combination and repeat, with state and figure. A case can
 * be selected. */
import { caseLabel, caseName, variantOf } from '../case_name.mjs';
import { headlineOfCases } from '../book.mjs';
import { groupBy } from '../lists.mjs';
import { StatePill } from '../parts.jsx';
import { stateLook, stateWord } from '../states.mjs';
import { formatBandwidth, formatSize, plural, shorten } from '../units.mjs';
import { Button } from '../ui.jsx';

/* Shown above the chart while a single case is selected. */
export const CaseNote = ({ found, change }) =>
  found && (
    <p class="case-note">
      <span>
        Only <strong>{caseName(found)}</strong> <StatePill state={found.state} />
      </span>
      <Button class="quiet" onClick={() => change({ case: null })}>
        Show all cases
      </Button>
    </p>
  );

export function casesInWords({ cases }) {
  const left = [...cases.values()].filter((one) => !one.ended).length;
  const failed = [...cases.values()].filter((one) => one.state === 'failed').length;
  return cases.size < 2
    ? ''
    : (left ? `${cases.size - left} of ${cases.size}` : cases.size) + (failed ? `, ${failed} failed` : '');
}

export function CaseGrid({ state, wanted, change }) {
  const figures = headlineOfCases(state);
  const [first] = figures.values();
  return (
    <section class="card">
      <h2>
        Cases
        {first && (
          <span class="muted note">
            busbw in GB/s, the median at {formatSize(first.size)} where it was measured
          </span>
        )}
      </h2>
      <div class="stack">
        {combinations(state).map(({ label, nameOf, cases }) => (
          <section key={cases[0].case}>
            {label && <h3>{label}</h3>}
            <ul class={nameOf === repeatOf ? 'case-grid' : 'case-grid named'}>
              {cases.map((one) => (
                <li key={one.case}>
                  <CaseCell
                    found={one}
                    name={nameOf(one)}
                    figure={figures.get(one.case)}
                    isChosen={wanted === one.case}
                    change={change}
                  />
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </section>
  );
}

const repeatOf = (found) => String(found.repeat + 1);
const labelOf = (found) => shorten(caseLabel(found), 40);

/* [{label, cases, nameOf}] per combination, with cases in order of repeats. Without repeats, all
 * combinations share one group, and `nameOf` returns the combination. */
function combinations({ cases }) {
  const found = groupBy(cases.values(), (one) => variantOf(one).key);
  return found.size > 1 && found.size === cases.size
    ? [{ label: '', cases: [...cases.values()], nameOf: labelOf }]
    : [...found.values()].map((own) => ({ label: variantOf(own[0]).label, cases: own, nameOf: repeatOf }));
}

function CaseCell({ found, name, figure, isChosen, change }) {
  const [sign, tone] = stateLook(found.state);
  const again = found.attempt > 1 ? `, ${plural(found.attempt, 'attempt')}` : '';
  const value = figure ? formatBandwidth(figure.busbw_gbs) : '';
  const words = `${caseName(found)}${again}: ${stateWord(found.state)}${
    figure ? `, ${value} GB/s at ${formatSize(figure.size)}` : ''
  }${found.reason ? `: ${found.reason}` : ''}`;
  return (
    <Button
      class={`case-cell ${tone}`}
      aria-pressed={String(isChosen)}
      aria-label={words}
      title={words}
      onClick={() => change({ case: isChosen ? null : found.case })}
    >
      <span class="muted">{name}</span>
      <span class="sign">{sign}</span>
      {value}
    </Button>
  );
}
