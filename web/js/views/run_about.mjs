/* run_about.mjs - what was asked for, and what the numbers mean */
import { h } from '../dom.mjs';
import { copyBlock, fold, head } from '../parts.mjs';
import { curlLine, prettyJson, shortSpec } from '../spec_text.mjs';
import { busFactor } from '../stats.mjs';
import { significant } from '../units.mjs';

export function runSpec(app) {
  const json = copyBlock('', 'the spec');
  const curl = copyBlock('', 'the curl line');
  const env = h('div');
  const element = h(
    'section.card.spec',
    h('h2', 'Spec and environment'),
    h('h3', 'The same run from a shell'),
    curl.block,
    h('h3', 'Effective spec'),
    json.block,
    h('h3', 'Environment of the ranks'),
    env,
  );
  let drawn = null;
  return {
    element,
    update(meta) {
      if (meta === null || meta === drawn) {
        return;
      }
      drawn = meta;
      json.set(prettyJson(meta.spec ?? {}));
      curl.set(curlLine(shortSpec(meta.spec ?? {}), app.origin ?? location.origin, app.api.token() !== null));
      const pairs = Object.entries(meta.spec?.env ?? {});
      env.replaceChildren(
        pairs.length === 0
          ? h('p.muted', 'The run sets no variables; each agent’s own ' + 'environment applies.')
          : h(
              'table.env',
              h(
                'tbody',
                pairs.map(([name, value]) => h('tr', h('th', { scope: 'row' }, name), h('td', value))),
              ),
            ),
      );
    },
  };
}

const MEANINGS = [
  [
    'time',
    `How long one call takes: the wall time of the timed calls over their number,
    averaged over the ranks. The spread in the chart runs from the fastest to the
    slowest rank, over all repeats.`,
  ],
  [
    'algbw',
    `Algorithm bandwidth: the size over the time. It says how long your data
    takes, and falls as ranks are added.`,
  ],
  [
    'busbw',
    `Bus bandwidth: algbw times the factor below, as nccl-tests defines it. It
    estimates what the busiest link carries, so it can be compared with the link
    speed, and between collectives and rank counts.`,
  ],
  [
    'size',
    `Bytes of the larger of the send and the receive buffer of a rank, after
    rounding to whole elements for each rank.`,
  ],
  [
    'in place',
    `The result overwrites the input. Out of place, it goes to a buffer of
    its own.`,
  ],
  [
    'wrong',
    `Elements that differ from what they must be, over all ranks, checked
    outside of the timed calls. A dash: not checked.`,
  ],
  [
    'skipped',
    `Not run, and why: too large for the memory, or too small for one element
    for each rank. Never timed and never counted as zero.`,
  ],
  [
    'GB/s',
    `1,000,000,000 bytes in a second. Sizes are in powers of 1024: 1M is
    1,048,576 bytes.`,
  ],
];

export function runMeaning(app) {
  const body = h('tbody');
  const details = fold(
    'What the numbers mean',
    null,
    h(
      'dl.meanings',
      MEANINGS.flatMap(([name, text]) => [h('dt', name), h('dd', text)]),
    ),
    h('h3', 'Factor from algbw to busbw'),
    h('table.env', head(['collective', 'factor', 'here']), body),
  );
  let facts = null;
  let ranks = 0;
  const draw = () =>
    body.replaceChildren(
      ...facts.map((fact) =>
        h(
          'tr',
          h('th', { scope: 'row' }, fact.name),
          h('td', fact.bus_factor.formula),
          h('td', ranks > 0 ? `${significant(busFactor(fact, ranks))} (n = ${ranks})` : '–'),
        ),
      ),
    );
  /* Only who reads it asks for it. */
  details.addEventListener('toggle', async () => {
    if (!details.open || facts !== null) {
      return;
    }
    try {
      ({ collectives: facts } = await app.api.collectives());
      draw();
    } catch (error) {
      body.replaceChildren(h('tr', h('td.bad', { colspan: 3 }, error.message)));
    }
  });
  return {
    element: details,
    update(worldSize) {
      if (worldSize !== ranks) {
        ranks = worldSize;
        if (facts !== null) {
          draw();
        }
      }
    },
  };
}
