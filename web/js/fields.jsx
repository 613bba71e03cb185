/* SPDX-License-Identifier: Apache-2.0 */
/* fields.jsx - controls of the new-run form, one for each kind of field in spec_fields.mjs */
import { useRef, useState } from 'preact/hooks';
import { grouped } from './node_groups.mjs';
import { groupings, groupTitle, nodeFits, order, usualGrouping } from './node_list.mjs';
import { ProgramControl } from './program_field.jsx';
import { Button, flipped, Select } from './ui.jsx';

const NODES_SHOWN = 24;

const CONTROLS = {
  text: LineControl,
  number: LineControl,
  list: LineControl,
  any: LineControl,
  pairs: AreaControl,
  choice: ChoiceControl,
  several: SeveralControl,
  nodes: NodesControl,
  matrix: MatrixControl,
  program: ProgramControl,
  launch: ProgramControl,
};
/* Kinds of fields that consist of several inputs. */
const GROUPED = new Set(['several', 'nodes', 'matrix', 'program', 'launch']);

/* A field with its label, help and errors. `offered` are the choices that the server supports.
 * `onChange` gets the new value. */
export function Field({ field, value, errors = [], offered, onChange }) {
  const { id, kind, label, unit, help } = field;
  const isGroup = GROUPED.has(kind);
  const Control = CONTROLS[kind];
  const Box = isGroup ? 'fieldset' : 'div';
  const isInvalid = errors.length > 0;
  const described = { 'aria-describedby': `${help ? `${id}-help ` : ''}${id}-error` };
  const state = isGroup ? {} : { ...described, 'aria-invalid': String(isInvalid) };
  const title = (
    <>
      {label}
      {unit && <span class="unit"> {unit}</span>}
    </>
  );
  return (
    <Box class={`field kind-${kind}${isInvalid ? ' invalid' : ''}`} {...(isGroup ? described : {})}>
      {isGroup ? <legend>{title}</legend> : <label for={id}>{title}</label>}
      <Control field={field} value={value} offered={offered} onChange={onChange} state={state} />
      {help && (
        <p class="help" id={`${id}-help`}>
          {help}
        </p>
      )}
      <p class="field-error" id={`${id}-error`} hidden={!isInvalid}>
        {errors.join(' ')}
      </p>
    </Box>
  );
}

/* Keeps the typed text while `read(text)` equals the value. Otherwise shows `write(value)`. */
export function useTyped(value, write, read) {
  const [text, setText] = useState(write(value));
  const isSame = JSON.stringify(read(text)) === JSON.stringify(value);
  return [isSame ? text : write(value), setText];
}

function LineControl({ field, value, onChange, state }) {
  return (
    <input
      id={field.id}
      type="text"
      placeholder={field.hint}
      spellcheck={false}
      autocomplete="off"
      inputmode={field.kind === 'number' ? 'decimal' : undefined}
      value={value}
      onInput={({ currentTarget }) => onChange(currentTarget.value)}
      {...state}
    />
  );
}

function AreaControl({ field, value, onChange, state }) {
  return (
    <textarea
      id={field.id}
      rows={2}
      placeholder={field.hint}
      spellcheck={false}
      value={value}
      onInput={({ currentTarget }) => onChange(currentTarget.value)}
      {...state}
    />
  );
}

/* `offered` enables the options in `later`. A selected option is always shown. */
function ChoiceControl({ field, value, offered = [], onChange, state }) {
  const { later = [] } = field;
  const options = field.options.filter(
    ([one]) => !later.includes(one) || offered.includes(one) || one === value,
  );
  return <Select id={field.id} value={value} options={options} onChange={onChange} {...state} />;
}

const Checkbox = ({ id, checked, isPartly = false, onChange, children }) => (
  <label class="choice" for={id}>
    <input type="checkbox" id={id} checked={checked} indeterminate={isPartly} onChange={onChange} />
    {children}
  </label>
);

function SeveralControl({ field, value, onChange }) {
  return (
    <div class="choices">
      {field.options.map((one) => (
        <Checkbox
          key={one}
          id={`${field.id}-${one}`}
          checked={value.includes(one)}
          onChange={() => onChange(field.options.filter((two) => flipped(value, one).includes(two)))}
        >
          {one}
        </Checkbox>
      ))}
    </div>
  );
}

const namesIn = (text) => [...new Set(text.split(/[\s,;]+/).filter(Boolean))];
const namesAsText = (names) => names.join(names.some((name) => name.length > 40) ? '\n' : ' ');

/* Nodes by name. The user types names, or selects groups or single nodes from a filtered list. */
function NodesControl({ field, value, offered = [], onChange }) {
  const [text, setText] = useTyped(value, namesAsText, namesIn);
  const [filter, setFilter] = useState('');
  const [by, setBy] = useState('');
  const known = order(offered, { sort: 'name', order: 'asc' });
  const ways = groupings(known);
  const grouping = by || usualGrouping(known) || ways[0]?.[0];
  const isMany = known.length > NODES_SHOWN;
  const hasGroups = isMany && ways.length > 0;
  const fit =
    hasGroups && filter.trim() === ''
      ? []
      : known.filter((node) => nodeFits(node, { q: filter })).map(({ name }) => name);
  const choose = (some, isChosen) => {
    const others = value.filter((name) => !some.includes(name));
    onChange(isChosen ? [...others, ...some] : others);
  };
  return (
    <div class="stack">
      {hasGroups && (
        <>
          <Select
            aria-label="Group the nodes"
            value={grouping}
            options={ways.map(([one, name]) => [one, `by ${name}`])}
            onChange={setBy}
          />
          <div class="choices">
            {grouped(known, grouping).map(({ name, nodes }, i) => {
              const own = nodes.map((node) => node.name);
              const count = own.filter((one) => value.includes(one)).length;
              return (
                <Checkbox
                  key={name}
                  id={`${field.id}-group-${i}`}
                  checked={count === own.length}
                  isPartly={count > 0 && count < own.length}
                  onChange={({ currentTarget }) => choose(own, currentTarget.checked)}
                >
                  {groupTitle(name, grouping)} ({own.length})
                </Checkbox>
              );
            })}
          </div>
        </>
      )}
      {isMany && (
        <input
          type="search"
          aria-label="Filter the nodes"
          placeholder="filter by name, group or label"
          value={filter}
          onInput={({ currentTarget }) => setFilter(currentTarget.value)}
        />
      )}
      <div class="choices">
        {fit.slice(0, NODES_SHOWN).map((name, i) => (
          <Checkbox
            key={name}
            id={`${field.id}-${i}`}
            checked={value.includes(name)}
            onChange={({ currentTarget }) => choose([name], currentTarget.checked)}
          >
            {name}
          </Checkbox>
        ))}
      </div>
      <p class="actions">
        {fit.length > 1 && (
          <Button class="quiet" onClick={() => choose(fit, true)}>
            Select all {fit.length}
          </Button>
        )}
        <span class="help" role="status">
          {known.length === 0 ? 'No node has registered yet.' : `${value.length} selected`}
          {fit.length > NODES_SHOWN && `; showing ${NODES_SHOWN} of ${fit.length}`}
        </span>
      </p>
      <textarea
        id={field.id}
        rows={2}
        aria-label="Names of nodes"
        placeholder="node-1 node-2"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          onChange(namesIn(currentTarget.value));
        }}
      />
    </div>
  );
}

/* A row per variable: its name, one value per line, and a checkbox for "unset". */
function MatrixControl({ value, onChange }) {
  const list = useRef(null);
  const set = (i, part) => onChange(value.map((row, at) => (at === i ? { ...row, ...part } : row)));
  const add = () => {
    onChange([...value, { name: '', values: '', unset: false }]);
    setTimeout(() => list.current.lastElementChild.querySelector('input').focus());
  };
  return (
    <div>
      <div class="matrix-rows" ref={list}>
        {value.map(({ name, values, unset }, i) => (
          <div class="matrix-row" key={i}>
            <input
              type="text"
              placeholder="NCCL_ALGO"
              aria-label="Variable"
              spellcheck={false}
              value={name}
              onInput={({ currentTarget }) => set(i, { name: currentTarget.value })}
            />
            <textarea
              rows={3}
              placeholder={'Ring\nTree'}
              aria-label="Values, one per line"
              spellcheck={false}
              value={values}
              onInput={({ currentTarget }) => set(i, { values: currentTarget.value })}
            />
            <label class="choice">
              <input
                type="checkbox"
                checked={unset}
                onChange={({ currentTarget }) => set(i, { unset: currentTarget.checked })}
              />
              and unset
            </label>
            <Button class="quiet" onClick={() => onChange(value.filter((_row, at) => at !== i))}>
              Remove
            </Button>
          </div>
        ))}
      </div>
      <Button class="quiet" onClick={add}>
        Add a variable
      </Button>
    </div>
  );
}
