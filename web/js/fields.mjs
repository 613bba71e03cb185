/* fields.mjs - the controls of the new-run form, built from spec_fields.mjs */
import { h, setHidden } from './dom.mjs';
import { grouped } from './node_groups.mjs';
import { groupings, groupTitle, nodeFits, order, usualGrouping } from './node_list.mjs';
import { programControl } from './program_field.mjs';

const NODES_SHOWN = 24;

/* {element, read(), write(value), error(texts), focus()} of a field. `onInput` is called
 * after every change by hand. */
export function buildField(field, onInput) {
  const control = CONTROLS[field.kind](field, onInput);
  const help = field.help ? h('p.help', { id: `${field.id}-help` }, field.help) : null;
  const error = h('p.field-error', { id: `${field.id}-error`, hidden: true });
  const unit = field.unit ? h('span.unit', ` ${field.unit}`) : null;
  const grouped = control.grouped;
  const element = h(
    grouped ? 'fieldset' : 'div',
    { class: `field kind-${field.kind}` },
    h(grouped ? 'legend' : 'label', { for: grouped ? null : field.id }, field.label, unit),
    control.element,
    help,
    error,
  );
  const described = [help && `${field.id}-help`, `${field.id}-error`].filter(Boolean).join(' ');
  (grouped ? element : control.input).setAttribute('aria-describedby', described);
  return {
    ...control,
    element,
    error(texts) {
      error.textContent = texts.join(' ');
      setHidden(error, texts.length === 0);
      element.classList.toggle('invalid', texts.length > 0);
      if (!grouped) {
        control.input.setAttribute('aria-invalid', String(texts.length > 0));
      }
    },
  };
}

const CONTROLS = {
  text: lineControl,
  number: lineControl,
  list: lineControl,
  pairs: areaControl,
  choice: choiceControl,
  several: severalControl,
  nodes: nodesControl,
  any: lineControl,
  matrix: matrixControl,
  program: programControl,
  launch: programControl,
};

function plainControl(input) {
  return {
    input,
    element: input,
    grouped: false,
    focus: () => input.focus(),
    read: () => input.value,
    write: (value) => {
      input.value = value;
    },
  };
}

function lineControl(field, onInput) {
  return plainControl(
    h('input', {
      id: field.id,
      type: 'text',
      placeholder: field.hint,
      spellcheck: 'false',
      autocomplete: 'off',
      inputmode: field.kind === 'number' ? 'decimal' : null,
      on: { input: onInput },
    }),
  );
}

function areaControl(field, onInput) {
  return plainControl(
    h('textarea', {
      id: field.id,
      rows: '2',
      placeholder: field.hint,
      spellcheck: 'false',
      on: { input: onInput },
    }),
  );
}

/* What is not offered yet is so as soon as it is chosen. */
function choiceControl(field, onInput) {
  const { later = [] } = field;
  const select = h('select', { id: field.id, on: { change: onInput } });
  const offer = (values) =>
    select.append(
      ...field.options
        .filter(
          ([value]) => values.includes(value) && [...select.options].every((one) => one.value !== value),
        )
        .map(([value, text]) => h('option', { value }, text)),
    );
  offer(field.options.map(([value]) => value).filter((value) => !later.includes(value)));
  return {
    ...plainControl(select),
    offer,
    write(value) {
      offer([value]);
      select.value = value;
    },
  };
}

function severalControl(field, onInput) {
  const boxes = field.options.map((value) => checkbox(`${field.id}-${value}`, value, onInput));
  return {
    grouped: true,
    focus: () => boxes[0].input.focus(),
    element: h(
      'div.choices',
      boxes.map((box) => box.label),
    ),
    read: () => boxes.filter((box) => box.input.checked).map((box) => box.value),
    write: (values) =>
      boxes.forEach((box) => {
        box.input.checked = values.includes(box.value);
      }),
  };
}

function checkbox(id, value, onInput) {
  const input = h('input', { type: 'checkbox', id, on: { change: onInput } });
  return {
    value,
    input,
    label: h('label.choice', { for: id }, input, value),
  };
}

/* Nodes by name: written or pasted, or chosen from those that the server knows: many of them by
 * group, or one by one among those that a filter shows. */
function nodesControl(field, onInput) {
  const known = [];
  const names = h('textarea', {
    id: field.id,
    rows: '2',
    'aria-label': 'Names of nodes',
    placeholder: 'node-1 node-2',
    spellcheck: 'false',
    on: { input: () => changed() },
  });
  const filter = h('input', {
    type: 'search',
    'aria-label': 'Filter the nodes',
    placeholder: 'filter by name, group or label',
    on: { input: () => draw() },
  });
  const by = h('select', { 'aria-label': 'Group the nodes', on: { change: () => draw() } });
  const groups = h('div.choices');
  const boxes = h('div.choices');
  const all = h('button.quiet', { on: { click: () => choose(fitting(), true) } });
  const count = h('p.help', { role: 'status' });
  const read = () => [...new Set(names.value.split(/[\s,;]+/).filter(Boolean))];
  const write = (values) => {
    names.value = values.join(values.some((name) => name.length > 40) ? '\n' : ' ');
    draw();
  };
  const fitting = () => known.filter((node) => nodeFits(node, { q: filter.value })).map((node) => node.name);
  const changed = () => {
    draw();
    onInput();
  };
  const choose = (some, isChosen) => {
    const others = read().filter((name) => !some.includes(name));
    write(isChosen ? [...others, ...some] : others);
    onInput();
  };
  const drawGroups = (chosen) => {
    const has = known.length > NODES_SHOWN && by.options.length > 0;
    setHidden(by, !has);
    setHidden(groups, !has);
    groups.replaceChildren(
      ...(has ? grouped(known, by.value) : []).map((group, i) => {
        const own = group.nodes.map((node) => node.name);
        const count = own.filter((name) => chosen.has(name)).length;
        const box = checkbox(
          `${field.id}-group-${i}`,
          `${groupTitle(group.name, by.value)} (${own.length})`,
          () => choose(own, box.input.checked),
        );
        box.input.checked = count === own.length;
        box.input.indeterminate = count > 0 && count < own.length;
        return box.label;
      }),
    );
  };
  const draw = () => {
    const chosen = read();
    const fit =
      known.length <= NODES_SHOWN || by.options.length === 0 || filter.value.trim() !== '' ? fitting() : [];
    drawGroups(new Set(chosen));
    boxes.replaceChildren(
      ...fit.slice(0, NODES_SHOWN).map((name, i) => {
        const box = checkbox(`${field.id}-${i}`, name, () => choose([name], box.input.checked));
        box.input.checked = chosen.includes(name);
        return box.label;
      }),
    );
    setHidden(filter, known.length <= NODES_SHOWN);
    setHidden(all, fit.length < 2);
    all.textContent = `Select all ${fit.length}`;
    count.textContent =
      known.length === 0
        ? 'No node is registered.'
        : `${chosen.length} selected${
            fit.length > NODES_SHOWN ? `; the first ${NODES_SHOWN} of ${fit.length} are shown` : ''
          }`;
  };
  draw();
  return {
    grouped: true,
    element: h('div.stack', by, groups, filter, boxes, h('p.actions', all, count), names),
    focus: () => names.focus(),
    read,
    write,
    offer(nodes) {
      known.push(...order(nodes, { sort: 'name', order: 'asc' }));
      by.replaceChildren(...groupings(known).map(([value, name]) => h('option', { value }, `by ${name}`)));
      by.value = usualGrouping(known) || by.options[0]?.value;
      draw();
    },
  };
}

/* A row per variable: its name, a value a line, and whether it is left unset as well. */
function matrixControl(_field, onInput) {
  const list = h('div.matrix-rows');
  const rows = [];
  const add = ({ name, values, unset }) => {
    const row = {
      name: h('input', {
        type: 'text',
        placeholder: 'NCCL_ALGO',
        'aria-label': 'Variable',
        spellcheck: 'false',
        value: name,
        on: { input: onInput },
      }),
      values: h('textarea', {
        rows: '3',
        placeholder: 'Ring\nTree',
        'aria-label': 'Values, one a line',
        spellcheck: 'false',
        value: values,
        on: { input: onInput },
      }),
      unset: h('input', { type: 'checkbox', checked: unset, on: { change: onInput } }),
    };
    const remove = h('button.quiet', 'Remove');
    row.element = h(
      'div.matrix-row',
      row.name,
      row.values,
      h('label.choice', row.unset, 'and unset'),
      remove,
    );
    remove.addEventListener('click', () => {
      rows.splice(rows.indexOf(row), 1);
      row.element.remove();
      onInput();
    });
    rows.push(row);
    list.append(row.element);
    return row;
  };
  const more = h('button.quiet', 'Add a variable');
  more.addEventListener('click', () => {
    add({ name: '', values: '', unset: false }).name.focus();
    onInput();
  });
  return {
    grouped: true,
    element: h('div', list, more),
    focus: () => (rows[0]?.name ?? more).focus(),
    read: () =>
      rows.map(({ name, values, unset }) => ({
        name: name.value,
        values: values.value,
        unset: unset.checked,
      })),
    write(values) {
      rows.splice(0).forEach((row) => row.element.remove());
      values.forEach(add);
    },
  };
}
