/* SPDX-License-Identifier: Apache-2.0 */
/* spec_fields.mjs - describes the fields of the new-run form. Kinds, values and defaults come from
 * the server's OpenAPI document. This file adds only titles and order. A request field without a
 * line here appears under "More". */

const bytes = {
  unit: 'bytes',
  kind: 'text',
};

/** @type {[title: string, lines: any[], closed?: string][]} */
const TITLES = [
  [
    'What to measure',
    [
      ['/collectives', 'Collectives', { help: 'If none is selected: all_reduce.' }],
      [
        '/sizes',
        'Sizes',
        {
          id: 'sizes_mode',
          kind: 'choice',
          options: [
            ['factor', 'from … to, times a factor'],
            ['step', 'from … to, plus a step'],
            ['list', 'a list'],
          ],
        },
      ],
      [
        '/sizes/min',
        'Smallest',
        {
          ...bytes,
          when: ['sizes_mode', ['factor', 'step']],
          help: 'K, M, G and T are powers of 1024: 64K, 1G.',
        },
      ],
      ['/sizes/max', 'Largest', { ...bytes, help: '', when: ['sizes_mode', ['factor', 'step']] }],
      ['/sizes/factor', 'Step factor', { when: ['sizes_mode', ['factor']], help: '' }],
      ['/sizes/step', 'Step', { ...bytes, hint: '1M', help: '', when: ['sizes_mode', ['step']] }],
      [
        '/sizes',
        'Sizes',
        {
          ...bytes,
          id: 'sizes_list',
          kind: 'list',
          help: '',
          hint: '8, 64K, 1M, 1G',
          when: ['sizes_mode', ['list']],
        },
      ],
      ['/in_place', 'Placement', { words: { true: 'in place', false: 'out of place' } }],
    ],
  ],
  ['Program', [['/program', 'Program', { kind: 'program' }]]],
  [
    'Where',
    [
      [
        '/backend',
        'Backend',
        {
          words: {
            auto: 'auto: GPUs if any, else host',
            nccl: 'nccl: GPU memory',
            host: 'host: CPU memory',
            sim: 'sim: simulated, no bytes move',
          },
        },
      ],
      [
        '/nodes',
        'Nodes',
        {
          id: 'nodes_mode',
          kind: 'choice',
          options: [
            ['', 'all idle nodes'],
            ['count', 'a number of nodes'],
            ['names', 'by name'],
            ['group', 'a group'],
            ['labels', 'by label'],
            ['launch', 'from a launcher'],
          ],
          later: ['launch'],
        },
      ],
      ['/nodes/count', 'How many', { unit: 'nodes', when: ['nodes_mode', ['count', 'group', 'labels']] }],
      ['/nodes/names', 'Node names', { kind: 'nodes', when: ['nodes_mode', ['names']] }],
      ['/nodes/group', 'Group', { hint: 'slurm-8123', when: ['nodes_mode', ['group']] }],
      ['/nodes/labels', 'Node labels', { hint: 'rack=7', when: ['nodes_mode', ['labels']] }],
      [
        '/nodes/count',
        'Nodes to request',
        {
          id: 'launch_count',
          help: 'Default: 1, or 2 for patterns that measure groups of nodes.',
          when: ['nodes_mode', ['launch']],
        },
      ],
      [
        '/launch',
        'Launcher',
        { kind: 'launch', ofProgram: true, help: '', when: ['nodes_mode', ['launch']] },
      ],
      ['/nodes/wait_s', 'Wait for nodes', { unit: 'seconds' }],
      [
        '/pattern',
        'Pattern',
        {
          words: {
            all: 'all: all nodes at once',
            pairs: 'pairs: find the slow node',
            scaling: 'scaling: 1, 2, 4 … nodes, and all',
          },
        },
      ],
      [
        '/rounds',
        'Rounds of pairs',
        { hint: 'default: 8; up to 16 nodes: all', when: ['pattern', ['pairs']] },
      ],
      ['/ranks_per_node', 'Ranks per node'],
      [
        '/devices',
        'GPUs',
        {
          kind: 'any',
          hint: '[0, 1]',
          help: 'Indexes: a list for all nodes, or {"node-1": [0, 1]}.',
        },
      ],
      [
        '/nccl_lib',
        'NCCL library',
        {
          hint: '/opt/nccl/lib/libnccl.so.2',
          help: 'A library that the agents offer. Default: the node’s own.',
        },
      ],
      [
        '/bind',
        'Bind ranks to',
        {
          words: {
            auto: 'auto: cores, or the GPU’s NUMA node',
            core: 'one core each',
            numa: 'a NUMA node',
            none: 'nothing',
          },
        },
      ],
    ],
  ],
  [
    'What to compare',
    [
      [
        '/matrix',
        'Variables',
        {
          help: 'One case per combination, each in new processes: libraries read their environment once.',
        },
      ],
      ['/order', 'Order of the cases'],
      ['/repeats', 'Repeats', { help: 'New processes each time; the spread shows in the chart.' }],
    ],
  ],
  [
    'Name and labels',
    [
      ['/name', 'Name', { hint: 'after the switch update' }],
      ['/labels', 'Labels', { hint: 'ticket=NET-12', help: 'One KEY=VALUE per line, to find the run.' }],
    ],
  ],
  [
    'How to measure',
    [
      ['/dtypes', 'Data types'],
      ['/redops', 'Reductions'],
      ['/root', 'Root', { help: 'For broadcast, reduce, gather, scatter. -1: each rank in turn.' }],
      [
        '/timing',
        'Timing',
        {
          words: { throughput: 'throughput: calls back to back', isolated: 'isolated: one call at a time' },
        },
      ],
      ['/iters', 'Timed calls', { unit: 'per size' }],
      ['/warmup', 'Warm-up calls', { unit: 'per size' }],
      ['/agg_iters', 'Calls per group'],
      ['/cycles', 'Cycles'],
      ['/check', 'Check the data', { help: '1: every element on every rank. 0: no check.' }],
    ],
    'closed',
  ],
  [
    'Environment and limits',
    [
      ['/env', 'Environment', { hint: 'NCCL_DEBUG=INFO', help: 'One NAME=VALUE per line, for every rank.' }],
      ['/timeout_s', 'Time limit', { unit: 'seconds' }],
      [
        '/join_s',
        'Join limit',
        {
          unit: 'seconds',
          help: 'Time for all ranks to start and join, and again for NCCL to connect them.',
        },
      ],
      [
        '/stall_s',
        'Stall limit',
        { unit: 'seconds', help: 'A case fails after this time without progress.' },
      ],
    ],
    'closed',
  ],
];
const LEFT_OUT = new Set(['fault']);
/* References to the server's documentation, which users of the page cannot open. */
const DOCUMENT = /[:;,.]? *(see )?docs\/\S+\.md\S*/g;

/* Groups of fields {id, pointer, kind, label, options, hint, help, unit, when}. kind: text, number,
 * choice (one of), several (any of), list (comma separated), pairs (KEY=VALUE lines), matrix,
 * nodes, program, launch, any (text, or JSON). `when` shows a field only for certain values of
 * another field. Options in `later` are hidden until the server offers them. */
export function buildGroups(description) {
  const schemas = description.components.schemas;
  /* A copy with all $ref resolved. */
  const whole = (part) =>
    JSON.parse(JSON.stringify(part), (_key, at) =>
      at?.$ref ? whole({ ...schemas[at.$ref.split('/').pop()], ...at, $ref: undefined }) : at,
    );
  const { properties } = whole(schemas.RunSpec);
  const ofPrograms = schemas.EffectiveProgramSpec?.required ?? Object.keys(properties);
  const known = new Set();
  const make = (pointer, label, own = {}) => {
    const key = pointer.split('/')[1];
    known.add(key);
    const schema = nodeAt(properties, pointer);
    return (
      schema && {
        ...fromSchema(schema, pointer, properties[key]),
        id: pointer.slice(1).replaceAll('/', '_'),
        pointer,
        label,
        ofProgram: ofPrograms.includes(key),
        ...own,
        ...(own.words ? { options: worded(schema, own.words) } : {}),
      }
    );
  };
  const groups = TITLES.map(([title, lines, closed]) => ({
    title,
    closed: Boolean(closed),
    fields: lines.map((line) => make(...line)).filter(Boolean),
  }));
  const rest = Object.keys(properties).filter((key) => !known.has(key) && !LEFT_OUT.has(key));
  const more = rest.flatMap((key) => restOf(properties[key], `/${key}`, make));
  return [...groups, { title: 'More', closed: true, fields: more }];
}

/* Returns the fields for a property without a line in TITLES. An object becomes a field per
 * member. */
function restOf(schema, pointer, make) {
  const parts = partsOf(schema);
  return parts
    ? Object.keys(parts).flatMap((key) => restOf(parts[key], `${pointer}/${key}`, make))
    : [make(pointer, inWords(pointer))];
}

const inWords = (pointer) => {
  const text = pointer.slice(1).replaceAll('/', ': ').replaceAll('_', ' ');
  return text[0].toUpperCase() + text.slice(1);
};

const variants = (schema) => [schema, ...(schema.oneOf ?? [])];
const partsOf = (schema) => variants(schema).find((one) => one.properties)?.properties;

function nodeAt(properties, pointer) {
  let at = { properties };
  for (const key of pointer.slice(1).split('/')) {
    at = partsOf(at ?? {})?.[key];
  }
  return at;
}

function fromSchema(schema, pointer, top) {
  const kinds = variants(schema).map(kindOf);
  const kind =
    ['several', 'matrix', 'pairs', 'choice', 'number', 'text'].find((one) => kinds.includes(one)) ?? 'any';
  const items = variants(schema).find((one) => one.items?.enum)?.items.enum;
  const usual = defaultOf(schema, pointer, top);
  return {
    kind: kinds.filter((one) => one !== 'none').length > 1 && kind === 'choice' ? 'any' : kind,
    options: items ?? worded(schema, {}),
    usual: schema.default,
    hint: usual === undefined || typeof usual === 'object' ? undefined : String(usual),
    help:
      schema.description?.replace(DOCUMENT, '') ??
      (items && usual ? `If none is selected: ${[usual].flat().join(', ')}.` : undefined),
  };
}

function defaultOf(schema, pointer, top) {
  const part = pointer.split('/')[2];
  return schema.default ?? (part ? top.default?.[part] : undefined);
}

function kindOf(schema) {
  if (schema.oneOf) {
    return 'none';
  }
  if (schema.enum || schema.examples || schema.type === 'boolean') {
    return 'choice';
  }
  if (schema.type === 'array') {
    return schema.items?.enum ? 'several' : 'any';
  }
  if (schema.type === 'object') {
    const { type } = schema.additionalProperties ?? {};
    return type === 'array' ? 'matrix' : type === 'string' ? 'pairs' : 'any';
  }
  return { integer: 'number', number: 'number', string: 'text' }[schema.type] ?? 'none';
}

/* Returns the options of a choice: [form value, text, request value]. The first option leaves
 * the field out of the request. */
function worded(schema, words) {
  const values = schema.enum ?? schema.examples ?? (schema.type === 'boolean' ? [true, false] : null);
  if (!values) {
    return undefined;
  }
  const say = (value) => words[value] ?? { true: 'yes', false: 'no' }[value] ?? String(value);
  const usual = schema.default;
  const others = values.filter((value) => value !== usual);
  return [
    ['', usual === undefined ? 'default' : say(usual), undefined],
    ...others.map((value) => [String(value), say(value), value]),
  ];
}
