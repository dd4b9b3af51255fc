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
 * @param contract.fieldDoc gives the sentence of a field
 * @param contract.errorTypes the reasons of failed orders by their names
 * @param contract.errorCodes the codes of errors
 * @returns the declarations: an interface for each shape, and `Operations` with what each operation takes and returns
 */
export async function wireTypes({ operations, schemas, shapeSchema, fieldDoc, errorTypes, errorCodes }) {
  const names = Object.keys(schemas);
  const bodies = Object.values(operations).flatMap(({ body }) => (body ? [body.schema] : []));
  const requests = JSON.stringify(bodies.map((name) => plain(shapeSchema(name))));
  const written = new Map(names.map((name) => [name, plain(shapeSchema(name, true))]));
  // What a request is made of is written by a caller too: what has a default may be left out.
  const isWritten = (name) => requests.includes(JSON.stringify(written.get(name)));
  const shapes = new Map(
    names.map((name) => [name, isWritten(name) ? written.get(name) : plain(shapeSchema(name))]),
  );
  const known = new Map([...shapes].map(([name, shape]) => [JSON.stringify(shape), name]));
  const shared = (node, isRoot = false) => {
    if (typeof node !== 'object' || node === null) return node;
    const name = isRoot ? undefined : known.get(JSON.stringify(node));
    if (name !== undefined) return reference(name);
    if (Array.isArray(node)) return node.map((one) => shared(one));
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, shared(value)]));
  };
  const unions = { error_type: Object.keys(errorTypes), 'ErrorResponse.code': Object.keys(errorCodes) };
  const definitions = Object.fromEntries(
    names.map((name) => {
      const shape = shared(shapes.get(name), true);
      const says = (field) => fieldDoc(name, field);
      const known = (field) => unions[`${name}.${field}`] ?? unions[field];
      return [name, isWritten(name) ? documented(shape, says) : opened(documented(shape, says), known)];
    }),
  );
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

/** Gives each field its sentence and its bounds, which an editor shows. */
function documented(node, says) {
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) return node.map((one) => documented(one, says));
  const { bounds: _, ...rest } = node;
  const made = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, documented(value, says)]));
  if (!node.properties) return made;
  const properties = Object.entries(node.properties).map(([name, field]) => {
    const { bounds } = field.anyOf?.find((one) => one.bounds) ?? field;
    const description = [field.description ?? says(name), bounds].filter(Boolean).join('; ');
    const shown = made.properties[name];
    if (description === '') return [name, shown];
    return [name, shown.$ref ? { allOf: [shown], description } : { ...shown, description }];
  });
  return { ...made, properties: Object.fromEntries(properties) };
}

/** What a service sends may come to have other values: a closed list of them is one that an editor offers. */
function opened(node, known) {
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) return node.map((one) => opened(one, known));
  if (Array.isArray(node.enum)) return { ...withDoc(node), tsType: openUnion(node.enum) };
  const made = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, sentAgain.has(key) ? value : opened(value, known)]),
  );
  for (const [name, field] of Object.entries(node.properties ?? {}))
    if (known(name)) {
      const types = JSON.stringify(field);
      const more = [types.includes('"null"') && 'null', types.includes('undefined') && 'undefined'];
      const tsType = [openUnion(known(name)), ...more.filter(Boolean)].join(' | ');
      made.properties[name] = { ...withDoc(field), tsType };
    }
  return made;
}

/** What a response gives to be sent as a request is closed as that is. */
const sentAgain = new Set(['example_order']);

const withDoc = ({ description }) => (description ? { description } : {});
const openUnion = (values) => `(${[...values.map((one) => `'${one}'`), '(string & {})'].join(' | ')})`;

/** Bounds of a field, in words. */
function boundsOf(schema) {
  const own = schema.anyOf?.find(({ type }) => type !== 'null') ?? schema;
  const { minimum, maximum, exclusiveMinimum, minLength, maxLength, minItems, maxItems, format } = own;
  const range = (from, to, unit) =>
    to === undefined
      ? from !== undefined && from > 0 && `at least ${from}${unit}`
      : `${from === undefined ? 'at most' : `${from} to`} ${to}${unit}`;
  return [
    formats[format],
    range(minimum ?? exclusiveMinimum, maximum, ''),
    minLength === 1 && maxLength === undefined ? 'not empty' : range(minLength, maxLength, ' characters'),
    minItems === 1 && maxItems === undefined ? 'not empty' : range(minItems, maxItems, ' entries'),
    schema.default !== undefined && `\`${JSON.stringify(schema.default)}\` if left out`,
  ]
    .filter(Boolean)
    .join('; ');
}

const formats = {
  'date-time': 'ISO 8601',
  date: 'YYYY-MM-DD',
  uuid: 'UUID',
  uri: 'URL',
  email: 'mail address',
};

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
  const properties = Object.entries(made.properties).map(([name, schema]) => {
    const bounds = boundsOf(rest.properties[name]);
    const bounded = bounds ? { ...schema, bounds } : schema;
    return [name, rest.required?.includes(name) ? bounded : orUndefined(bounded)];
  });
  return { ...made, properties: Object.fromEntries(properties) };
}

const isAnything = (schema) =>
  typeof schema.description === 'string' && Object.keys(schema).every((key) => key === 'description');
