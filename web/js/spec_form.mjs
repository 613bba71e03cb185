/* SPDX-License-Identifier: Apache-2.0 */
/* spec_form.mjs - converts the new-run form to a request, and back. No DOM. Nothing is validated
 * here: invalid text is sent as typed, and the server's error is shown at the field. */
import { listAsRange } from './spec_text.mjs';
import { formatSize } from './units.mjs';

/* Empty values per kind. Kinds that are not listed start as ''. */
const EMPTY = {
  several: () => [],
  nodes: () => [],
  matrix: () => [],
  program: () => null,
  launch: () => null,
};

/* `fields` are the fields of all groups in spec_fields.mjs. */
export function emptyForm(fields) {
  const form = { what: 'measure', extra: {} };
  for (const field of fields) {
    form[field.id] = EMPTY[field.kind]?.() ?? '';
  }
  form.sizes_mode = 'factor';
  return form;
}

export const isShown = (field, form) =>
  (form.what === 'program' ? field.ofProgram : field.kind !== 'program') &&
  (!field.when || field.when[1].includes(form[field.when[0]]));

/* Returns the request, with only the fields that are filled in. */
export function toSpec(fields, form) {
  const spec = { ...form.extra };
  for (const field of fields) {
    const value = isShown(field, form) ? READERS[field.kind](form[field.id], field) : undefined;
    if (value !== undefined && !field.id.endsWith('_mode')) {
      setAt(spec, field.pointer, value);
    }
  }
  return spec;
}

const READERS = {
  text: (value) => (value.trim() === '' ? undefined : value.trim()),
  choice: (value, field) => field.options.find(([text]) => text === value)?.[2],
  number: readNumber,
  several: (value) => (value.length === 0 ? undefined : [...value]),
  nodes: (value) => [...value],
  list: (value) => (value.trim() === '' ? undefined : splitList(value)),
  pairs: readPairs,
  matrix: readMatrix,
  program: readProgram,
  launch: readProgram,
  any: readAny,
};

function readNumber(value) {
  const text = String(value).trim();
  if (text === '') {
    return undefined;
  }
  return /^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

/* A program without arguments is sent as {name}. */
function readProgram(value) {
  const { name, args = {} } = value || { name: '' };
  return Object.keys(args).length > 0 ? { name, args } : { name };
}

/* Valid JSON is sent as its value, other text as a string. */
function readAny(value) {
  const text = value.trim();
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}

/* Rows are [{name, values, unset}]. `values` contains a value per line. `unset` adds a
 * combination without the variable. */
function readMatrix(rows) {
  const matrix = {};
  for (const { name, values, unset } of rows) {
    const list = values
      .split('\n')
      .map((text) => text.trim())
      .filter((text) => text !== '');
    if (name.trim() !== '' || list.length > 0) {
      matrix[name.trim()] = unset ? [...list, null] : list;
    }
  }
  return Object.keys(matrix).length === 0 ? undefined : matrix;
}

const splitList = (text) => text.split(/[\s,;]+/).filter((item) => item !== '');

function readPairs(text) {
  const pairs = {};
  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    if (trimmed !== '') {
      const equals = trimmed.indexOf('=');
      const name = equals < 0 ? trimmed : trimmed.slice(0, equals).trim();
      pairs[name] = equals < 0 ? '' : trimmed.slice(equals + 1).trim();
    }
  }
  return Object.keys(pairs).length === 0 ? undefined : pairs;
}

function setAt(spec, pointer, value) {
  const keys = pointer.slice(1).split('/');
  const last = keys.pop();
  let at = spec;
  for (const key of keys) {
    at[key] = at[key] !== null && typeof at[key] === 'object' ? at[key] : {};
    at = at[key];
  }
  at[last] = value;
}

/* Returns the form that reproduces a spec. Members without a field are kept in `extra`. */
export function fromSpec(fields, spec) {
  const form = emptyForm(fields);
  form.what = spec.program ? 'program' : 'measure';
  for (const field of fields) {
    const value = getAt(spec, field.pointer);
    if (value !== undefined && value !== null && WRITERS[field.kind]) {
      form[field.id] = WRITERS[field.kind](value, field);
    }
  }
  form.sizes_list = '';
  sizesToForm(spec.sizes, form);
  form.nodes_mode = nodesMode(spec);
  form.ranks_per_node = spec.ranks_per_node === 'all' ? '' : form.ranks_per_node;
  const told = toSpec(fields, form);
  for (const [key, value] of Object.entries(spec)) {
    const isField = fields.some((field) => field.pointer.split('/')[1] === key);
    const isLost = told[key] === undefined && value !== null && !isUsual(fields, key, value);
    if (!isField || isLost) {
      form.extra[key] = value;
    }
  }
  return form;
}

/* True if a blank field means the same: the default of a choice, an empty list, or false. */
function isUsual(fields, key, value) {
  const field = fields.find((one) => one.pointer === `/${key}`);
  return (
    value === false ||
    value === 'all' ||
    value === '' ||
    (typeof value === 'object' && Object.keys(value).length === 0) ||
    (field?.kind === 'choice' && value === field.usual)
  );
}

const asText = (value) => (typeof value === 'object' ? '' : String(value));
const asArray = (value) => (Array.isArray(value) ? value.map(String) : []);

const WRITERS = {
  text: asText,
  number: asText,
  choice: (value, field) => (field.options.some(([text]) => text === String(value)) ? String(value) : ''),
  several: asArray,
  nodes: asArray,
  pairs: (value) =>
    Object.entries(value)
      .map(([k, v]) => `${k}=${v}`)
      .join('\n'),
  matrix: (value) =>
    Object.entries(value).map(([name, list]) => ({
      name,
      values: asArray(list)
        .filter((_text, i) => list[i] !== null)
        .join('\n'),
      unset: list.includes(null),
    })),
  program: (value) => ({ args: {}, ...value }),
  launch: ({ name, args }) => ({ name, args: args ?? {} }),
  any: (value) => (typeof value === 'string' ? value : JSON.stringify(value)),
};

function getAt(spec, pointer) {
  let at = spec;
  for (const key of pointer.slice(1).split('/')) {
    at = at !== null && typeof at === 'object' ? at[key] : undefined;
  }
  return at;
}

function sizesToForm(sizes, form) {
  const range = Array.isArray(sizes) ? listAsRange(sizes) : null;
  if (range) {
    Object.assign(form, {
      sizes_mode: 'factor',
      sizes_min: formatSize(range.min),
      sizes_max: formatSize(range.max),
      sizes_factor: String(range.factor),
    });
  } else if (Array.isArray(sizes)) {
    form.sizes_mode = 'list';
    form.sizes_list = sizes.map(sizeText).join(', ');
  } else if (sizes !== null && typeof sizes === 'object') {
    form.sizes_mode = sizes.step === undefined || sizes.step === null ? 'factor' : 'step';
    for (const key of ['min', 'max', 'step']) {
      form[`sizes_${key}`] = sizes[key] == null ? '' : sizeText(sizes[key]);
    }
  }
}

const sizeText = (size) => (Number.isInteger(size) ? formatSize(size) : String(size));

function nodesMode({ nodes, launch }) {
  if (launch) {
    return 'launch';
  }
  if (nodes === null || typeof nodes !== 'object') {
    return '';
  }
  if (Array.isArray(nodes.names) && nodes.names.length > 0) {
    return 'names';
  }
  if (nodes.group) {
    return 'group';
  }
  if (nodes.labels && Object.keys(nodes.labels).length > 0) {
    return 'labels';
  }
  return nodes.count ? 'count' : '';
}

/* Returns the problem document's errors by field id. Errors without a visible field are under
 * ''. */
export function errorsByField(fields, problem, form) {
  const byField = {};
  for (const error of problem?.errors ?? []) {
    const id = fieldOf(fields, error.pointer ?? '', form)?.id ?? '';
    const text = id === '' && error.pointer ? `${error.pointer}: ${error.detail}` : error.detail;
    byField[id] ??= [];
    byField[id].push(text);
  }
  return byField;
}

/* Returns the visible field with the longest pointer that leads to `pointer`. Of two with equal
 * pointers (kind of sizes, list of sizes), the later one, where the user types. */
function fieldOf(fields, pointer, form) {
  const shown = fields.filter((field) => isShown(field, form));
  const above = shown.filter((field) => pointer === field.pointer || pointer.startsWith(`${field.pointer}/`));
  return above.reduce(
    (best, field) => (best && best.pointer.length > field.pointer.length ? best : field),
    undefined,
  );
}
