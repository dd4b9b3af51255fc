// The types of what goes over the wire, for a program's compiler: made of the contract, so that they need no zod.
import { compile } from 'json-schema-to-typescript';

const reference = (name) => ({ $ref: `#/definitions/${name}` });
const parameterTypes = {
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  strings: 'readonly string[]',
};

/**
 * @param contract.operations the table
 * @param contract.schemas the shapes by their names
 * @param contract.shapeSchema gives a shape as JSON Schema
 * @returns the declarations: an interface for each shape, and `Operations` with what each operation takes and returns
 */
export async function wireTypes({ operations, schemas, shapeSchema }) {
  const names = Object.keys(schemas);
  const bodies = Object.values(operations).flatMap(({ body }) => (body ? [body.schema] : []));
  const requests = JSON.stringify(bodies.map((name) => plain(shapeSchema(name))));
  const shapes = new Map(
    names.map((name) => {
      // What a request is made of is written by a caller too: what has a default may be left out.
      const written = plain(shapeSchema(name, true));
      return [name, requests.includes(JSON.stringify(written)) ? written : plain(shapeSchema(name))];
    }),
  );
  const known = new Map([...shapes].map(([name, shape]) => [JSON.stringify(shape), name]));
  const shared = (node, isRoot = false) => {
    if (typeof node !== 'object' || node === null) return node;
    const name = isRoot ? undefined : known.get(JSON.stringify(node));
    if (name !== undefined) return reference(name);
    if (Array.isArray(node)) return node.map((one) => shared(one));
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, shared(value)]));
  };
  const definitions = Object.fromEntries(names.map((name) => [name, shared(shapes.get(name), true)]));
  const table = (isCalled) =>
    objectOf(
      Object.entries(operations)
        .filter(([, { response }]) => (response.type !== 'csv') === isCalled)
        .map(([name, operation]) => [name, operationType(operation, definitions)]),
    );
  const root = objectOf([
    ...names.map((name) => [name, reference(name)]),
    ['Operations', reference('Operations')],
    ['StreamedOperations', reference('StreamedOperations')],
  ]);
  const all = { ...definitions, Operations: table(true), StreamedOperations: table(false) };
  for (const [name, definition] of Object.entries(all)) definition.title = name;
  const text = await compile({ ...root, title: 'Wire', definitions: all }, 'Wire', {
    additionalProperties: false,
    bannerComment: '',
    format: true,
    style: { singleQuote: true, printWidth: 110 },
  });
  const union = names.map((name) => `\n  | '${name}'`).join('');
  // The root only names the others.
  return `${text.replace(/^export interface Wire \{\n[^}]*\}\n/m, '')}export type SchemaName =${union};\n`;
}

function operationType({ method, path, summary, pathParameters, query, body, response }, definitions) {
  const input = objectOf([
    ...(pathParameters ? [['path', parameters(pathParameters, true)]] : []),
    ...(query ? [['query', parameters(query, false), isOptional(query)]] : []),
    ...(body ? [['body', reference(body.schema), body.optional]] : []),
  ]);
  const rows = response.rows && definitions[response.schema].properties[response.rows].items;
  return {
    ...objectOf([
      ['input', takesNothing(input) ? { tsType: 'Record<string, never>' } : input],
      ['response', response.schema ? reference(response.schema) : { tsType: 'undefined' }],
      ...(rows ? [['row', rows]] : []),
    ]),
    description: `\`${method} ${path}\`: ${summary}`,
  };
}

/** To `{}` a program could hand anything. */
const takesNothing = ({ properties }) => Object.keys(properties).length === 0;

const isOptional = (specs) => Object.values(specs).every(({ required }) => !required);

const parameters = (specs, isPath) =>
  objectOf(
    Object.entries(specs).map(([name, { type, nullable, description, required }]) => {
      const tsType = `${parameterTypes[type] ?? 'string'}${nullable ? ' | null' : ''}`;
      return [name, { tsType, description }, !(isPath || required)];
    }),
  );

/** @param entries name, schema, and whether it may be left out */
const objectOf = (entries) => ({
  type: 'object',
  additionalProperties: false,
  properties: Object.fromEntries(
    entries.map(([name, schema, optional]) => [name, optional ? orUndefined(schema) : schema]),
  ),
  required: entries.filter(([, , optional]) => !optional).map(([name]) => name),
});

/** With `exactOptionalPropertyTypes` too a value that is left out may be written as undefined. */
const orUndefined = ({ description, tsType, ...schema }) => ({
  ...(description && { description }),
  ...(tsType ? { tsType: `${tsType} | undefined` } : { anyOf: [schema, { tsType: 'undefined' }] }),
});

/** What a type can say of a shape: bounds and marks are left out, what may be absent may be undefined. */
function plain(node) {
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) return node.map(plain);
  const { 'x-observed': _, minItems, maxItems, pattern, propertyNames, default: given, ...rest } = node;
  if (rest.additionalProperties === false) delete rest.additionalProperties;
  const made = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, plain(value)]));
  // Of a value that may be anything the library would make an object.
  if (isAnything(rest)) return { ...rest, tsType: 'unknown' };
  if (!rest.properties) return made;
  const properties = Object.entries(made.properties).map(([name, schema]) => [
    name,
    rest.required?.includes(name) ? schema : orUndefined(schema),
  ]);
  return { ...made, properties: Object.fromEntries(properties) };
}

const isAnything = (schema) =>
  typeof schema.description === 'string' && Object.keys(schema).every((key) => key === 'description');
