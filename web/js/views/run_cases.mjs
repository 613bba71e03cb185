/* run_cases.mjs - the cases of a run, combinations by repeats: how each ended, what it
 * measured; one of them may be looked at by itself */
import { caseLabel, caseName, variantOf } from '../case_name.mjs';
import { headlineOfCases } from '../book.mjs';
import { h, setHidden, syncChildren } from '../dom.mjs';
import { stateLook, statePill, stateWord } from '../parts.mjs';
import { formatBandwidth, formatSize, plural, shorten } from '../units.mjs';

/* Above the chart, while one case is looked at by itself. */
export function caseNote(change) {
  const text = h('span');
  const element = h(
    'p.case-note',
    { hidden: true },
    text,
    h('button.quiet', { on: { click: () => change({ case: null }) } }, 'All together'),
  );
  return {
    element,
    update(state, wanted) {
      const found = state.cases.get(wanted);
      setHidden(element, !found);
      text.replaceChildren(
        ...(found ? ['Only ', h('strong', caseName(found)), ' ', statePill(found.state)] : []),
      );
    },
  };
}

export function caseGrid(change) {
  const rows = h('div.stack');
  const unit = h('span.muted.note');
  const element = h('section.card', h('h2', 'Cases', unit), rows);
  return {
    element,
    inWords: (state) => (state.cases.size > 1 ? endedInWords(state) : ''),
    update(state, wanted) {
      const figures = headlineOfCases(state);
      const [first] = figures.values();
      unit.textContent = first
        ? `busbw in GB/s, the median at ${formatSize(first.size)} where it was measured`
        : '';
      syncChildren(rows, combinations(state), {
        key: ({ cases: [one] }) => one.case,
        signature: ({ cases }) =>
          JSON.stringify(
            cases.map((one) => [
              one.state,
              one.reason,
              one.attempt,
              figures.get(one.case),
              wanted === one.case,
            ]),
          ),
        render: ({ label, nameOf, cases }) =>
          h(
            'section',
            label ? h('h3', label) : null,
            h(
              'ul',
              { class: nameOf === repeatOf ? 'case-grid' : 'case-grid named' },
              cases.map((one) => h('li', caseCell(one, nameOf(one), figures.get(one.case), wanted, change))),
            ),
          ),
      });
    },
  };
}

function endedInWords({ cases }) {
  const left = [...cases.values()].filter((one) => !one.ended).length;
  const failed = [...cases.values()].filter((one) => one.state === 'failed').length;
  return [
    left ? `${cases.size - left} of ${cases.size}` : String(cases.size),
    failed ? `${failed} failed` : '',
  ]
    .filter(Boolean)
    .join(', ');
}

const repeatOf = (found) => String(found.repeat + 1);
const labelOf = (found) => shorten(caseLabel(found), 40);

/* [{label, cases, nameOf}], the cases in the order of repeats; where there are none of
 * these, all combinations are together, and `nameOf` tells them apart. */
function combinations({ cases }) {
  const found = new Map();
  for (const one of cases.values()) {
    const { label, key } = variantOf(one);
    const known = found.get(key) ?? { label, cases: [], nameOf: repeatOf };
    known.cases.push(one);
    found.set(key, known);
  }
  return found.size > 1 && found.size === cases.size
    ? [{ label: '', cases: [...cases.values()], nameOf: labelOf }]
    : [...found.values()];
}

function caseCell(found, name, figure, wanted, change) {
  const [sign, tone] = stateLook(found.state);
  const again = found.attempt > 1 ? `, ${plural(found.attempt, 'attempt')}` : '';
  const value = figure ? formatBandwidth(figure.busbw_gbs) : '';
  const words = `${caseName(found)}${again}: ${stateWord(found.state)}${
    figure ? `, ${value} GB/s at ${formatSize(figure.size)}` : ''
  }${found.reason ? `: ${found.reason}` : ''}`;
  const isChosen = wanted === found.case;
  return h(
    'button',
    {
      class: `case-cell ${tone}`,
      'aria-pressed': String(isChosen),
      'aria-label': words,
      title: words,
      on: { click: () => change({ case: isChosen ? null : found.case }) },
    },
    h('span.muted', name),
    h('span.sign', sign),
    value,
  );
}
