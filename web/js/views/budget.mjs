/* budget.mjs - whether a run's network is enough for a model: what the communication of a
 * training step would take, as the server says */
import { h, region } from '../dom.mjs';
import { buildField } from '../fields.mjs';
import { answerPill, head } from '../parts.mjs';
import { formatMemory, formatTime } from '../units.mjs';

const number = (text) => Number(text);

/* Names are those of POST /api/v1/budget. */
const FIELDS = [
  { name: 'parameters', label: 'Parameters', kind: 'number', hint: '7e9', read: number },
  {
    name: 'dtype',
    label: 'Data type that is sent',
    kind: 'text',
    hint: 'bfloat16',
    read: (text) => text,
  },
  {
    name: 'zero',
    label: 'ZeRO stage',
    kind: 'choice',
    read: number,
    options: [
      ['0', 'none'],
      ['1', '1'],
      ['2', '2'],
      ['3', '3'],
    ],
  },
  {
    name: 'ranks',
    label: 'Data-parallel degree',
    kind: 'number',
    hint: 'that of the run',
    read: number,
  },
  { name: 'step_s', label: 'A step takes', unit: 's', kind: 'number', hint: '1.6', read: number },
];
export default function budgetForm(app, id) {
  const built = new Map(
    FIELDS.map((field) => [
      field.name,
      {
        ...field,
        ...buildField(
          {
            ...field,
            id: `budget-${field.name}`,
          },
          () => {},
        ),
      },
    ]),
  );
  const answer = h('div.stack', { role: 'status' });
  const element = h(
    'form.stack',
    h(
      'div.field-grid',
      [...built.values()].map((field) => field.element),
    ),
    h('div', h('button', { value: '' }, 'Estimate')),
    answer,
  );

  /* What is left empty is not said. */
  function question() {
    const given = [...built.values()]
      .filter((field) => field.read() !== '')
      .map((field) => [field.name, readOf(field)]);
    return { run: id, ...Object.fromEntries(given) };
  }

  element.addEventListener('submit', async (event) => {
    event.preventDefault();
    built.forEach((field) => field.error([]));
    try {
      answer.replaceChildren(
        ...inWords(
          await app.api.json('/api/v1/budget', { method: 'POST', body: JSON.stringify(question()) }),
        ),
      );
    } catch (error) {
      const problems = error.problem?.errors ?? [];
      const mine = problems.filter(({ pointer }) => built.has(pointer?.slice(1)));
      mine.forEach(({ pointer, detail }) => built.get(pointer.slice(1)).error([detail]));
      answer.replaceChildren(
        h(
          'p.bad',
          [error.message, ...problems.filter((one) => !mine.includes(one)).map(({ detail }) => detail)].join(
            ': ',
          ),
        ),
      );
    }
  });
  return { element };
}

function readOf({ name, read }) {
  const { read: convert } = FIELDS.find((field) => field.name === name);
  return convert ? convert(read()) : read();
}

function inWords({ verdict, parts, ranks }) {
  const cells = (part) => [
    part.collective,
    formatMemory(part.bytes),
    String(Math.ceil(part.calls)),
    ...['time_s', 'time_low_s', 'time_high_s'].map((name) => formatTime(part[name] * 1e6)),
    String(part.cases),
  ];
  return [
    h('p', answerPill(verdict.answer), ' ', verdict.sentence),
    region(
      'What it is made of',
      'scroll',
      h(
        'table.list',
        head(
          ['collective', 'bytes in a step', 'calls', 'time', 'fastest case', 'slowest case', 'cases'],
          (i) => i > 0,
        ),
        h(
          'tbody',
          parts.map((part) =>
            h(
              'tr',
              cells(part).map((text, i) => h(i === 0 ? 'td' : 'td.number', text)),
            ),
          ),
        ),
      ),
    ),
    h(
      'p.muted',
      `By the run’s own times on ${ranks} ranks, out of place, each call after the ` +
        'one before. Gradients go once a step; ZeRO’s stages 1 and 2 move as much, stage 3 half ' +
        'as much again (Rajbhandari et al., SC 2020).',
    ),
  ];
}
