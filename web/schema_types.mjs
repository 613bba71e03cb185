/* SPDX-License-Identifier: Apache-2.0 */
/* schema_types.mjs - generates TypeScript declarations from the schemas in openapi.json, for tsc.
 * The namespace Schema has an interface or type for each schema.
 *
 * usage: node schema_types.mjs OPENAPI_JSON OUTPUT */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const PREFIX = '#/components/schemas/';
const LITERALS = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
  array: 'any[]',
  object: '{ [name: string]: any }',
};

const key = (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name));
const union = (types) => [...new Set(types)].join(' | ');
const list = (type) => (/[|&]/.test(type) ? `(${type})[]` : `${type}[]`);

class Generator {
  constructor(schemas) {
    this.schemas = schemas;
  }

  text() {
    const types = Object.entries(this.schemas).map(
      ([name, schema]) => `  type ${name} = ${this.type(schema)};\n`,
    );
    return `declare namespace Schema {\n${types.join('')}}\n`;
  }

  resolve(schema) {
    const steps = schema.$ref?.slice(PREFIX.length).split('/');
    return steps ? this.resolve(steps.reduce((part, step) => part[step], this.schemas)) : schema;
  }

  type(schema) {
    if (schema.$ref) {
      const name = schema.$ref.slice(PREFIX.length);
      return name in this.schemas ? name : this.type(this.resolve(schema));
    }
    if ('const' in schema) {
      return JSON.stringify(schema.const);
    }
    if (schema.enum) {
      return union(schema.enum.map((value) => JSON.stringify(value)));
    }
    if (schema.properties || typeof schema.additionalProperties === 'object') {
      const object = this.object(schema);
      return [schema.type].flat().includes('null') ? `${object} | null` : object;
    }
    if (schema.oneOf && !schema.oneOf.every(isCondition)) {
      return this.oneOf(schema.oneOf);
    }
    if (schema.allOf && !schema.allOf.every(isCondition)) {
      return schema.allOf.map((part) => `(${this.type(part)})`).join(' & ');
    }
    return schema.type ? union([schema.type].flat().map((name) => this.simple(name, schema))) : 'any';
  }

  simple(name, { items, prefixItems }) {
    if (name === 'array' && prefixItems) {
      return `[${prefixItems.map((item) => this.type(item)).join(', ')}]`;
    }
    return name === 'array' && items ? list(this.type(items)) : LITERALS[name];
  }

  object({ properties = {}, required = [], additionalProperties: others }) {
    const fields = Object.entries(properties).map(
      ([name, schema]) => `${key(name)}${required.includes(name) ? '' : '?'}: ${this.type(schema)}`,
    );
    /* An index signature must also match the named members. */
    if (typeof others === 'object') {
      fields.push(`[name: string]: ${fields.length === 0 ? this.type(others) : 'any'}`);
    }
    return `{ ${fields.join('; ')} }`;
  }

  /* Add the members of all other variants as undefined, so that code may test a member before it
   * knows the variant. */
  oneOf(variants) {
    const fieldsOf = (schema) => {
      const { properties, allOf = [] } = this.resolve(schema);
      return [...Object.keys(properties ?? {}), ...allOf.flatMap(fieldsOf)];
    };
    const isOpen = (schema) => {
      const { properties, allOf = [], oneOf = [], type } = this.resolve(schema);
      return allOf.some(isOpen) || oneOf.some(isOpen) || (type === 'object' && !properties);
    };
    const all = new Set(variants.flatMap(fieldsOf));
    return union(
      variants.map((schema) => {
        const type = this.type(schema);
        const own = fieldsOf(schema);
        const absent = [...all].filter((name) => !own.includes(name));
        return own.length === 0 || absent.length === 0 || isOpen(schema)
          ? type
          : `(${type} & { ${absent.map((name) => `${key(name)}?: undefined`).join('; ')} })`;
      }),
    );
  }
}

/* Schemas that only state which members belong together. */
const isCondition = (schema) =>
  Object.keys(schema).every((name) => ['if', 'then', 'not', 'required'].includes(name));

const [, , input, output] = process.argv;
mkdirSync(dirname(output), { recursive: true });
writeFileSync(output, new Generator(JSON.parse(readFileSync(input, 'utf8')).components.schemas).text());
