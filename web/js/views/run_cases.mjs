/* run_cases.mjs - the cases of a run, each with its state: all together or one of them */
import {caseName} from '../case_name.mjs';
import {h, setHidden, syncChildren} from '../dom.mjs';
import {statePill} from '../parts.mjs';
import {plural} from '../units.mjs';

export function caseBar(change) {
  const all = h('button', {on: {click: () => change({case: null})}}, 'All together');
  const list = h('ul.case-list');
  const element = h(
    'nav.card.cases', {'aria-label': 'Cases', hidden: true}, h('h2', 'Cases'), all, list);
  return {
    element,
    update(state, wanted) {
      const cases = [...state.cases.values()];
      setHidden(element, cases.length < 2);
      all.setAttribute('aria-pressed', String(wanted === null));
      syncChildren(list, cases, {
        key: item => item.case,
        signature: item => JSON.stringify(
          [item.state, item.reason, item.attempt, item.env, wanted === item.case]),
        render: item => h('li',
          h('button', {
            'aria-pressed': String(wanted === item.case),
            title: item.reason,
            on: {click: () => change({case: item.case})}
          },
            nameWithAttempts(item), statePill(item.state)))
      });
    }
  };
}

function nameWithAttempts(item) {
  const again = item.attempt > 1 ? `, ${plural(item.attempt, 'attempt')}` : '';
  return `${caseName(item)}${again} `;
}
