/* node_compare.mjs - in what a node, as a run found it, differs from another node of that run, or
 * from itself in another run */
import { h, region } from '../dom.mjs';
import { fold, head } from '../parts.mjs';
import { plural, shorten } from '../units.mjs';

const WORDS = 300; /* of a value */

const inWords = (value) =>
  value === null ? '–' : shorten(typeof value === 'string' ? value : JSON.stringify(value), WORDS);

const said = ({ id, name, created }) => `${name || id}, ${created.slice(0, 16).replace('T', ' ')}`;

export function nodeCompare(app, node) {
  const when = h('select', { 'aria-label': 'As the run found it', on: { change: offer } });
  const against = h('select', { 'aria-label': 'Compared with', on: { change: ask } });
  const inside = h('div', { role: 'status' });
  const element = fold(
    'Inventory compared',
    h('span.muted', 'with another node of a run, or with itself in another run'),
    h(
      'p.row',
      h('label', h('span', 'As found by '), when),
      h('label', h('span', ' compared with '), against),
    ),
    inside,
  );
  let runs = [],
    asked = 0;
  element.hidden = true;

  /* What the run of choice can be held against; `base` and `base_node` of the request. */
  function offer() {
    const one = runs.find((run) => run.id === when.value);
    const others = one.nodes.map((found) => found.name).filter((name) => name !== node);
    against.replaceChildren(
      ...others.map((name) => h('option', { value: new URLSearchParams({ base_node: name }) }, name)),
      ...runs
        .filter((run) => run !== one)
        .map((run) => h('option', { value: new URLSearchParams({ base: run.id }) }, said(run))),
    );
    ask();
  }

  async function ask() {
    const number = ++asked;
    if (!element.open || !against.value) {
      inside.replaceChildren(against.value ? '' : 'There is nothing else to hold it against yet.');
      return;
    }
    let parts;
    try {
      parts = tableOf(
        await app.api.json(
          `/api/v1/runs/${encodeURIComponent(when.value)}/nodes/${encodeURIComponent(
            node,
          )}/differences?${against.value}`,
        ),
      );
    } catch (error) {
      parts = [error.status ? error.message : 'The server does not answer.'];
    }
    if (number === asked) {
      inside.replaceChildren(...parts);
    }
  }

  element.addEventListener('toggle', ask);
  return {
    element,
    /* Runs that the node took part in, newest first. */
    update(list) {
      const found = list.filter((run) => run.started);
      if (found.map((run) => run.id).join() !== runs.map((run) => run.id).join()) {
        const chosen = when.value;
        runs = found;
        when.replaceChildren(...runs.map((run) => h('option', { value: run.id }, said(run))));
        when.value = runs.some((run) => run.id === chosen) ? chosen : runs[0]?.id;
        element.hidden = runs.length === 0;
        if (runs.length) {
          offer();
        }
      }
    },
  };
}

function tableOf({ differences }) {
  if (differences.length === 0) {
    return [h('p.muted', 'In nothing that is known of them.')];
  }
  return [
    h('p', plural(differences.length, 'difference')),
    region(
      'Differences of inventories',
      'scroll',
      h(
        'table.list.differences',
        head(['Fact', 'Compared with', 'This']),
        h(
          'tbody',
          differences.map(({ what, base, head: own }) =>
            h('tr', h('th', { scope: 'row' }, what), h('td', inWords(base)), h('td', inWords(own))),
          ),
        ),
      ),
    ),
  ];
}
