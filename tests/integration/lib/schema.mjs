// SPDX-License-Identifier: Apache-2.0
// schema.mjs - JSON Schema 2020-12 as far as openapi.json uses it; an unknown keyword is an
// error, so that nothing in the document goes unchecked
const checks = {
  type: (value, want) =>
    [want].flat().includes(typeOf(value)) ||
    ([want].flat().includes('number') && typeOf(value) === 'integer'),
  const: (value, want) => value === want,
  enum: (value, want) => want.includes(value),
  minimum: (value, want) => typeof value !== 'number' || value >= want,
  maximum: (value, want) => typeof value !== 'number' || value <= want,
  minLength: (value, want) => typeof value !== 'string' || [...value].length >= want,
  maxLength: (value, want) => typeof value !== 'string' || [...value].length <= want,
  pattern: (value, want) => typeof value !== 'string' || new RegExp(want, 'u').test(value),
  minItems: (value, want) => !Array.isArray(value) || value.length >= want,
  maxItems: (value, want) => !Array.isArray(value) || value.length <= want,
  uniqueItems: (value) => !Array.isArray(value) || new Set(value).size === value.length,
  required: (value, want) => !isObject(value) || want.every((key) => Object.hasOwn(value, key)),
  minProperties: (value, want) => !isObject(value) || Object.keys(value).length >= want,
  maxProperties: (value, want) => !isObject(value) || Object.keys(value).length <= want,
  format: (value, want) => typeof value !== 'string' || formats[want].test(value),
};

const formats = {
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  'uri-reference': /^[^\s]*$/,
  'json-pointer': /^(\/([^~/]|~[01])*)*$/,
};

const notes = new Set(['description', 'examples', 'default', '$comment', 'x-templates']);

function typeOf(value) {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

function isObject(value) {
  return typeOf(value) === 'object';
}

export class Schemas {
  constructor(document) {
    this.document = document;
  }

  // What stands beside a reference is for the caller.
  resolve(schema) {
    let found = schema;
    while (found.$ref && Object.keys(found).length === 1) {
      found = found.$ref
        .replace(/^#\//, '')
        .split('/')
        .reduce((node, key) => node[key], this.document);
    }
    return found;
  }

  // Every fault of the value, as "PLACE: what"; none: it is valid.
  faults(given, value, at = '') {
    if (given === true || given === undefined) return [];
    if (given === false) return [`${at}: must not be there`];
    if (given.$ref) {
      const { $ref, ...more } = given;
      return [...this.faults(this.resolve({ $ref }), value, at), ...this.faults(more, value, at)];
    }
    const schema = given;
    return Object.entries(schema).flatMap(([keyword, want]) => {
      if (notes.has(keyword) || ['then', 'else'].includes(keyword)) return [];
      if (checks[keyword]) {
        return checks[keyword](value, want)
          ? []
          : [
              `${at}: ${keyword} ${JSON.stringify(want)} is broken by ${JSON.stringify(value)?.slice(0, 200)}`,
            ];
      }
      return this.nested(schema, keyword, want, value, at);
    });
  }

  nested(schema, keyword, want, value, at) {
    const is = (one) => this.faults(one, value, at).length === 0;
    switch (keyword) {
      case 'properties':
        return isObject(value)
          ? Object.keys(want)
              .filter((key) => Object.hasOwn(value, key))
              .flatMap((key) => this.faults(want[key], value[key], `${at}/${key}`))
          : [];
      case 'additionalProperties':
        return isObject(value)
          ? Object.keys(value)
              .filter((key) => !Object.hasOwn(schema.properties ?? {}, key))
              .flatMap((key) => this.faults(want, value[key], `${at}/${key}`))
          : [];
      case 'propertyNames':
        return isObject(value)
          ? Object.keys(value).flatMap((key) => this.faults(want, key, `${at}/${key}`))
          : [];
      case 'contains':
        return !Array.isArray(value) || value.some((one) => this.faults(want, one).length === 0)
          ? []
          : [`${at}: contains nothing that fits ${JSON.stringify(want)}`];
      case 'prefixItems':
        return Array.isArray(value) ? want.flatMap((one, i) => this.faults(one, value[i], `${at}/${i}`)) : [];
      case 'items':
        return Array.isArray(value)
          ? value
              .slice((schema.prefixItems ?? []).length)
              .flatMap((one, i) => this.faults(want, one, `${at}/${i}`))
          : [];
      case 'allOf':
        return want.flatMap((one) => this.faults(one, value, at));
      case 'oneOf':
        return want.filter(is).length === 1
          ? []
          : [
              `${at}: fits ${want.filter(is).length} of ${want.length} choices: ${JSON.stringify(value)?.slice(0, 200)}`,
            ];
      case 'not':
        return is(want) ? [`${at}: must not fit`] : [];
      case 'if':
        return this.faults(is(want) ? schema.then : schema.else, value, at);
      default:
        throw new Error(`unknown keyword ${keyword} in the schema at ${at}`);
    }
  }
}
