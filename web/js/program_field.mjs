/* program_field.mjs - the control that chooses a program and its arguments, from what the
 * nodes offer, or a launcher and its own, from what the server has */
import { h, setText } from './dom.mjs';
import { plural } from './units.mjs';

export function programControl(field, onInput) {
  const state = { offered: [], value: null, inputs: new Map() };
  const select = h('select', { id: field.id, 'aria-label': field.label });
  const about = h('p.help');
  const inputs = h('div.field-grid');
  select.addEventListener('change', () => {
    state.value = { name: select.value, args: {} };
    draw();
    onInput();
  });

  /* Where there is one, nobody chooses. */
  const chosen = () => state.value || (state.offered.length === 1 ? { name: state.offered[0].name } : null);

  function draw() {
    const names = state.offered.map((program) => program.name);
    const value = chosen();
    const all = [...new Set([...names, ...(value?.name ? [value.name] : [])])];
    select.replaceChildren(
      ...['', ...all].map((name) =>
        h('option', { value: name }, name || (all.length ? 'choose' : 'there is none')),
      ),
    );
    select.value = value?.name ?? '';
    const program = state.offered.find((one) => one.name === value?.name);
    setText(about, program ? inWords(program) : '');
    state.inputs = new Map(
      Object.entries(program?.parameters ?? {}).map(([name, parameter]) => [
        name,
        argument(field.id, name, parameter, onInput),
      ]),
    );
    for (const [name, input] of state.inputs) {
      const given = value?.args?.[name];
      input.control.value = given === undefined ? '' : String(given);
    }
    inputs.replaceChildren(...[...state.inputs.values()].map((input) => input.element));
  }

  /* What is blank is left out; arguments of a program that is not offered stay. */
  function read() {
    const value = chosen();
    const args = state.inputs.size ? {} : { ...value?.args };
    for (const [name, input] of state.inputs) {
      if (input.control.value !== '') {
        args[name] = input.parse(input.control.value);
      }
    }
    const name = value?.name ?? '';
    return Object.keys(args).length ? { name, args } : { name };
  }

  draw();
  return {
    grouped: true,
    element: h('div.stack', select, about, inputs),
    focus: () => select.focus(),
    read,
    write(value) {
      state.value = value;
      draw();
    },
    offer(programs) {
      state.value = state.value && read();
      state.offered = programs;
      draw();
    },
  };
}

function inWords({ description, nodes, ranks_per_node: ranks, metrics, limits }) {
  if (limits) {
    return `${description ? `${description.replace(/\.$/, '')}. ` : ''}A job has up to ${plural(
      limits.nodes,
      'node',
    )} and runs for up to ${plural(limits.hours, 'hour')}; ${limits.jobs} at once.`;
  }
  const figures = metrics.map((metric) => metric.name).join(', ');
  return [
    description && `${description.replace(/\.$/, '')}.`,
    `On ${plural(nodes.length, 'node')}, ${ranks === 'all' ? 'all ranks' : plural(ranks, 'rank')} each.`,
    figures && `Figures: ${figures}.`,
  ]
    .filter(Boolean)
    .join(' ');
}

function argument(id, name, parameter, onInput) {
  const own = `${id}-${name}`;
  const listed = parameter.type === 'boolean' ? ['true', 'false'] : parameter.values;
  const usual = parameter.default === undefined ? undefined : String(parameter.default);
  const control = listed
    ? h(
        'select',
        { id: own, on: { change: onInput } },
        h('option', { value: '' }, usual === undefined ? 'choose' : `${usual}, as usual`),
        listed.map((value) => h('option', { value }, value)),
      )
    : h('input', { id: own, type: 'text', placeholder: usual ?? 'needed', on: { input: onInput } });
  const bounds = parameter.min === undefined ? parameter.pattern : `${parameter.min} to ${parameter.max}`;
  const isNumber = parameter.type === 'integer' || parameter.type === 'number';
  const parse = (text) => {
    const isPlain = isNumber ? /^[+-]?\d+(\.\d+)?$/.test(text) : parameter.type === 'boolean';
    return isPlain ? JSON.parse(text) : text;
  };
  const element = h(
    'div.field',
    h('label', { for: own }, name, h('span.unit', ` ${parameter.type}`)),
    control,
    h('p.help', [parameter.description, bounds].filter(Boolean).join('; ')),
  );
  return { control, parse, element };
}
