/* preflight.mjs - what keeps nodes from what they could do, asked of the server when it is opened:
 * a matrix of the nodes and the checks of which something is found, and what mends it */
import { h, region } from '../dom.mjs';
import { answerPill, checkList, fold } from '../parts.mjs';
import { nodeAddress } from '../node_list.mjs';
import { shorten } from '../units.mjs';

/* Of a node, or of all that are alive (null). */
export function preflight(app, name) {
  const inside = h('div.stack', { role: 'status' });
  const element = fold(
    'Preflight',
    h('span.muted', `what keeps ${name === null ? 'nodes from what they' : 'it from what it'} could do`),
    inside,
  );
  element.addEventListener('toggle', async () => {
    if (!element.open) {
      return;
    }
    inside.replaceChildren('Asking the server…');
    try {
      inside.replaceChildren(...verdictParts(await app.api.preflight(name), name));
    } catch (error) {
      inside.replaceChildren(error.status ? error.message : 'The server does not answer.');
    }
  });
  return element;
}

function verdictParts({ answer, sentence, evidence }, name) {
  const found = evidence.checks.filter((one) => one.answer === 'finding');
  const rest = evidence.checks.filter((one) => one.answer !== 'finding');
  return [
    h('p', answerPill(answer), ` ${sentence}`),
    name === null && found.length > 0
      ? [matrix(found), h('p.muted', "–: nothing is found there, or it can't be told")]
      : null,
    checkList(found),
    h('details.fold', h('summary', 'The other checks'), checkList(rest)),
  ]
    .flat()
    .filter(Boolean);
}

/* Nodes of which the same is found are one row: [{nodes, found}], those with most first. */
export function folded(found) {
  const rows = new Map();
  const names = [...new Set(found.flatMap(({ nodes }) => nodes))];
  for (const name of names) {
    const own = found.filter(({ nodes }) => nodes.includes(name));
    const key = own.map((one) => found.indexOf(one)).join();
    rows.get(key)?.nodes.push(name) ?? rows.set(key, { nodes: [name], found: own });
  }
  return [...rows.values()].sort((a, b) => b.found.length - a.found.length);
}

function matrix(found) {
  const checks = [...new Set(found.map(({ check }) => check))];
  return region(
    'Nodes by checks',
    'scroll',
    h(
      'table.list',
      h(
        'thead',
        h(
          'tr',
          h('th', { scope: 'col' }, 'Node'),
          checks.map((check) => h('th', { scope: 'col' }, check)),
        ),
      ),
      h(
        'tbody',
        folded(found).map((row) =>
          h(
            'tr',
            h('th', { scope: 'row' }, nodesCell(row.nodes)),
            checks.map((check) => cell(row.found.filter((one) => one.check === check))),
          ),
        ),
      ),
    ),
  );
}

const nodesCell = ([first, ...others]) => [
  h('a', { href: nodeAddress(first), title: first }, shorten(first, 40)),
  others.length ? h('div.second.muted', { title: others.join('\n') }, `and ${others.length} more`) : null,
];

const cell = (found) =>
  h(
    'td',
    { title: found.map(({ sentence }) => sentence).join('\n') || null },
    found.length ? h(`span.pill.${found[0].severity === 'error' ? 'bad' : 'warn'}`, found[0].severity) : '–',
  );
