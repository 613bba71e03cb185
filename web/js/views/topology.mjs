/* topology.mjs - the topology that NCCL detected on a run's nodes: for each kind of node a
 * tree, drawn and as a list */
import { h, region, svg } from '../dom.mjs';
import { answerPill } from '../parts.mjs';
import { treeOf } from '../topology.mjs';
import { plural, shorten } from '../units.mjs';

const ROW = 30;
const BOX = { width: 92, height: 22 };
const STEP = 188; /* of a level: its boxes, and the links to the next one */
const MORE = 80; /* of what stands behind the last boxes */
const NAMES = 8; /* of nodes that a heading has */

const wordsOf = (part) =>
  [part.link && `PCIe ${part.link}`, part.speed, part.nvlinks && `NVLinks ${part.nvlinks}`, part.bus]
    .filter(Boolean)
    .join(', ');

/* [{part, level, y, above}] of all parts below the node: a leaf has a row of its own, what
 * is above it stands in the middle of its parts. */
function placed(tree) {
  const all = [];
  let rows = 0;
  const place = (part, level, above) => {
    const one = { part, level, above };
    all.push(one);
    const inner = (part.parts ?? []).map((below) => place(below, level + 1, one));
    one.y = inner.length ? (inner[0].y + inner.at(-1).y) / 2 : rows++ * ROW + ROW / 2;
    return one;
  };
  (tree.parts ?? []).forEach((part) => place(part, 0, null));
  return { all, rows, levels: Math.max(...all.map((one) => one.level)) + 1 };
}

function linkTo({ part, level, y, above }) {
  const [from, to] = [(level - 1) * STEP + BOX.width, level * STEP];
  return [
    svg('path', { d: `M${from} ${above.y}H${from + 14}V${y}H${to}` }),
    part.link ? svg('text', { x: to - 4, y: y - 4, 'text-anchor': 'end' }, part.link) : null,
  ];
}

function boxOf({ part, level, y }) {
  const x = level * STEP;
  const more = part.speed || (part.nvlinks && `NVLinks ${part.nvlinks}`);
  return svg(
    'g',
    { class: part.kind },
    svg('title', {}, `${part.name}: ${wordsOf(part)}`),
    svg('rect', { x, y: y - BOX.height / 2, width: BOX.width, height: BOX.height, rx: 4 }),
    svg('text', { x: x + 7, y: y + 4 }, shorten(part.name, 12)),
    more ? svg('text', { class: 'more', x: x + BOX.width + 6, y: y + 4 }, more) : null,
  );
}

function drawing(tree, label) {
  const { all, rows, levels } = placed(tree);
  const [width, height] = [levels * STEP + MORE, rows * ROW];
  return region(
    label,
    'scroll',
    svg(
      'svg',
      {
        class: 'topology',
        role: 'img',
        'aria-label': label,
        width,
        height,
        viewBox: `0 0 ${width} ${height}`,
      },
      all.filter((one) => one.above).map(linkTo),
      all.map(boxOf),
    ),
  );
}

const listOf = (part) =>
  h(
    'li',
    part.name,
    wordsOf(part) ? h('span.muted', ` ${wordsOf(part)}`) : null,
    part.parts?.length ? h('ul', part.parts.map(listOf)) : null,
  );

function kindOf({ nodes, xml }) {
  const tree = treeOf(xml);
  const names =
    nodes.slice(0, NAMES).join(', ') + (nodes.length > NAMES ? ` and ${nodes.length - NAMES} more` : '');
  return h(
    'section',
    h('h3', `${plural(nodes.length, 'node')}: ${names}`),
    drawing(tree, `Topology of ${names}`),
    h('details', h('summary', 'As a list'), h('ul.parts', tree.parts.map(listOf))),
  );
}

export function topology(app, id) {
  const element = h('div.stack');
  let shown; /* the case, once one was asked for */
  const draw = ({ verdict, kinds, unread }) =>
    element.replaceChildren(
      h('p', answerPill(verdict.answer), ` ${verdict.sentence}`),
      ...kinds.map(kindOf),
      ...unread.map(({ node, why }) => h('p.muted', `What ${node} sent can’t be read: ${why}`)),
    );
  return {
    element,
    /* `number`: of the case, null: of each node its first. */
    async update(number) {
      if (shown === number) {
        return;
      }
      shown = number;
      try {
        const answer = await app.api.json(
          `/api/v1/runs/${id}/topology${number === null ? '' : `?case=${number}`}`,
        );
        if (shown === number) {
          draw(answer);
        }
      } catch (error) {
        shown = undefined;
        element.replaceChildren(h('p.muted', error.message));
      }
    },
  };
}
