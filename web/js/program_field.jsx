/* SPDX-License-Identifier: Apache-2.0 */
/* program_field.jsx - the control that selects a program offered by the nodes, or a launcher
 * offered by the server, and sets its arguments */
import { useTyped } from './fields.jsx';
import { Select } from './ui.jsx';
import { plural } from './units.mjs';

/* `value` is {name, args}, or null without a selection. */
export function ProgramControl({ field, value, offered = [], onChange }) {
  const program = offered.find(({ name }) => name === value?.name);
  const names = [...new Set([...offered.map(({ name }) => name), ...(value?.name ? [value.name] : [])])];
  const args = value?.args ?? {};
  /* Arguments left blank are not sent. */
  const set = (name, arg) => {
    const { [name]: _old, ...others } = args;
    onChange({ name: value.name, args: arg === undefined ? others : { ...others, [name]: arg } });
  };
  return (
    <div class="stack">
      <Select
        id={field.id}
        aria-label={field.label}
        value={value?.name ?? ''}
        options={[['', names.length ? 'select' : 'none available'], ...names.map((name) => [name, name])]}
        onChange={(name) => onChange({ name, args: {} })}
      />
      <p class="help">{program && inWords(program)}</p>
      <div class="field-grid">
        {Object.entries(program?.parameters ?? {}).map(([name, parameter]) => (
          <Argument
            key={`${program.name} ${name}`}
            id={`${field.id}-${name}`}
            name={name}
            parameter={parameter}
            value={args[name]}
            onChange={(arg) => set(name, arg)}
          />
        ))}
      </div>
    </div>
  );
}

function inWords({ description, nodes, ranks_per_node: ranks, metrics, limits }) {
  const about = description && `${description.replace(/\.$/, '')}.`;
  const where = limits
    ? `A job has up to ${plural(limits.nodes, 'node')} and runs for up to ${plural(limits.hours, 'hour')}. ` +
      `At most ${plural(limits.jobs, 'job')} at a time.`
    : `On ${plural(nodes.length, 'node')}, ${ranks === 'all' ? 'all ranks' : plural(ranks, 'rank')} each.`;
  const figures = metrics?.map((metric) => metric.name).join(', ');
  return [about, where, figures && `Figures: ${figures}.`].filter(Boolean).join(' ');
}

const isNumber = ({ type }) => type === 'integer' || type === 'number';

/* Text that does not fit the parameter's type is sent unchanged, so that the server reports the
 * error. */
function parsed(parameter, text) {
  const isPlain = isNumber(parameter) ? /^[+-]?\d+(\.\d+)?$/.test(text) : parameter.type === 'boolean';
  return text === '' ? undefined : isPlain ? JSON.parse(text) : text;
}

function Argument({ id, name, parameter, value, onChange }) {
  const [text, setText] = useTyped(
    value,
    (given) => (given === undefined ? '' : String(given)),
    (typed) => parsed(parameter, typed),
  );
  const { type, description, min, max, pattern } = parameter;
  const listed = type === 'boolean' ? ['true', 'false'] : parameter.values;
  const usual = parameter.default === undefined ? undefined : String(parameter.default);
  const bounds = min === undefined ? pattern : `${min} to ${max}`;
  const set = (typed) => {
    setText(typed);
    onChange(parsed(parameter, typed));
  };
  return (
    <div class="field">
      <label for={id}>
        {name}
        <span class="unit"> {type}</span>
      </label>
      {listed ? (
        <Select
          id={id}
          value={text}
          options={[
            ['', usual === undefined ? 'select' : `default: ${usual}`],
            ...listed.map((one) => [one, one]),
          ]}
          onChange={set}
        />
      ) : (
        <input
          id={id}
          type="text"
          placeholder={usual ?? 'required'}
          value={text}
          onInput={({ currentTarget }) => set(currentTarget.value)}
        />
      )}
      <p class="help">{[description, bounds].filter(Boolean).join('; ')}</p>
    </div>
  );
}
