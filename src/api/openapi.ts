import { z } from 'zod';
import { webhookEvents } from './events.ts';
import { fieldDoc } from './field-docs.ts';
import { own } from './json.ts';
import { content, responses } from './openapi-responses.ts';
import type { Operation, Parameter, ParameterRule } from './operation.ts';
import { operations } from './operations/index.ts';
import { type SchemaName, schemas } from './schemas/index.ts';
import { contractVersion } from './version.ts';

type Json = Readonly<Record<string, unknown>>;

export interface ServedDescription {
  readonly baseUrl: string;
  readonly legacyBaseUrl: string;
  /** Ids of the known retailers. */
  readonly retailers?: readonly string[];
}

type Retailers = ServedDescription['retailers'];

/** Generates the OpenAPI 3.1 document from the operation table. Pure. */
export function openApiDocument({ baseUrl, legacyBaseUrl, retailers }: ServedDescription): Json {
  const described = {
    paths: paths(legacyBaseUrl, retailers),
    webhooks: Object.fromEntries(
      Object.entries(webhookEvents).map(([name, when]) => [name, webhook(name, when)]),
    ),
  };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Retail purchasing service',
      version: contractVersion,
      description: 'Orders at online retailers, under a price ceiling. Amounts are cents, times ISO 8601.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    tags: tagNames.map((name) => ({ name, description: `Operations of ${name}` })),
    paths: described.paths,
    webhooks: described.webhooks,
    components: {
      schemas: usedShapes(described),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        basic: {
          type: 'http',
          scheme: 'basic',
          description: 'The client token as user name, a blank password.',
        },
        payment: { type: 'http', scheme: 'payment', description: 'A 402 challenge, paid per request.' },
      },
    },
  };
}

const tagOf = (operation: string): string => operation.split('.', 1)[0] ?? operation;
const tagNames = [...new Set(Object.keys(operations).map(tagOf))];

/** Collects, by name, the shapes that a description refers to, directly or through other shapes. */
function usedShapes(described: unknown): Json {
  const all = namedShapes();
  const used = new Map<string, unknown>();
  const add = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      const name = key === '$ref' && typeof value === 'string' ? value.slice(refPrefix.length) : undefined;
      if (name === undefined) add(value);
      else if (!used.has(name)) {
        used.set(name, all.get(name));
        add(all.get(name));
      }
    }
  };
  add(described);
  return Object.fromEntries(
    Object.keys(schemas).flatMap((name) => (used.has(name) ? [[name, used.get(name)]] : [])),
  );
}

const refPrefix = '#/components/schemas/';

/**
 * Builds the schemas of all shapes. If part of a shape is a named shape, a reference replaces it. Each field gets a
 * description.
 */
function namedShapes(): ReadonlyMap<string, unknown> {
  const requests = [...requestNames].map((name) => JSON.stringify(shapeSchema(name as SchemaName))).join();
  const shapes = new Map(
    Object.keys(schemas).map((name) => {
      // If a request allows no unknown fields, the shapes within it allow none either.
      const written = shapeSchema(name as SchemaName, true);
      return [name, requests.includes(JSON.stringify(written)) ? written : shapeSchema(name as SchemaName)];
    }),
  );
  const names = new Map([...shapes].map(([name, shape]) => [JSON.stringify(shape), name]));
  const named = (node: unknown, shape: string, isWhole = false): unknown => {
    if (typeof node !== 'object' || node === null) return node;
    if (Array.isArray(node)) return node.map((one) => named(one, shape));
    const name = isWhole ? undefined : names.get(JSON.stringify(node));
    if (name !== undefined) return { $ref: `${refPrefix}${name}` };
    const made = Object.entries(node).map(([key, value]) => [
      key,
      key === 'properties' ? fieldsOf(value, shape) : named(value, shape),
    ]);
    return Object.fromEntries(made);
  };
  const fieldsOf = (properties: object, shape: string): Json =>
    Object.fromEntries(
      Object.entries(properties).map(([field, one]) => {
        const made = named(one, shape);
        const description = fieldDoc(shape, field);
        const isDocumented = own(made, 'description') !== undefined || description === undefined;
        return [field, isDocumented ? made : { ...Object(made), description }];
      }),
    );
  return new Map([...shapes].map(([name, shape]) => [name, named(shape, name, true)]));
}

function paths(legacyBaseUrl: string, retailers: Retailers): Json {
  const byPath: Record<string, Record<string, unknown>> = {};
  for (const [name, operation] of Object.entries<Operation>(operations)) {
    const item = byPath[operation.path] ?? {};
    byPath[operation.path] = {
      ...item,
      [operation.method.toLowerCase()]: described(name, operation, legacyBaseUrl, retailers),
    };
  }
  return byPath;
}

function described(name: string, operation: Operation, legacyBaseUrl: string, retailers: Retailers): Json {
  const { summary, auth, pathParameters = {}, query = {}, rules = [], body } = operation;
  const parameters = [...parametersIn('path', pathParameters), ...parametersIn('query', query, retailers)];
  return {
    operationId: name,
    tags: [tagOf(name)],
    summary,
    ...(operation.surface === 'legacy' && { servers: [{ url: legacyBaseUrl }] }),
    ...(operation.observed && { 'x-observed': true }),
    ...(operation.challengeCents !== undefined && { 'x-challenge-cents': operation.challengeCents }),
    ...(rules.length > 0 && { 'x-parameter-rules': rules satisfies readonly ParameterRule[] }),
    security: auth === 'none' ? [] : [{ [auth]: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: requestBody(body) }),
    responses: responses(name, operation),
  };
}

/** Describes a request body. If the body is optional, it may also be null. */
function requestBody({ schema, optional, form }: NonNullable<Operation['body']>): Json {
  const { schema: reference } = content(schema)['application/json'];
  const taken = optional ? { anyOf: [reference, { type: 'null' }] } : reference;
  return {
    required: !optional,
    content: {
      'application/json': { schema: taken },
      ...(form && { 'application/x-www-form-urlencoded': { schema: reference } }),
    },
  };
}

function parametersIn(
  place: 'path' | 'query',
  specs: Readonly<Record<string, Parameter>>,
  retailers?: Retailers,
): Json[] {
  return Object.entries(specs).map(([name, spec]) => ({
    name,
    in: place,
    description: spec.description,
    required: place === 'path' || spec.required === true,
    ...(spec.observed && { 'x-observed': true }),
    schema: parameterSchema(spec, retailers),
  }));
}

const types = {
  string: { type: 'string' },
  integer: { type: 'integer' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  'date-time': { type: 'string', format: 'date-time' },
  uuid: { type: 'string', format: 'uuid' },
  strings: { type: 'array' },
} as const;

function parameterSchema(spec: Parameter, retailers: Retailers): Json {
  const { type, min, max, minLength, maxLength, valuesFrom, values = valuesFrom && retailers } = spec;
  const base = types[type];
  return {
    ...base,
    ...(spec.nullable && { type: [base.type, 'null'] }),
    ...(type === 'strings' && { items: { type: 'string', ...(values && { enum: values }) } }),
    ...(type !== 'strings' && values && { enum: values }),
    ...(valuesFrom && { 'x-values-from': valuesFrom }),
    ...(min !== undefined && { minimum: min }),
    ...(max !== undefined && { maximum: max }),
    ...(minLength !== undefined && { minLength }),
    ...(maxLength !== undefined && { maxLength }),
    ...(spec.default !== undefined && { default: spec.default }),
  };
}

const webhook = (name: string, when: string): Json => ({
  post: {
    operationId: `webhook.${name}`,
    security: [],
    summary: `sent when ${when}`,
    requestBody: { content: content('OrderResponse') },
    responses: { 200: { description: 'received' } },
  },
});

const requestNames = new Set<string>(
  Object.values<Operation>(operations).flatMap(({ body }) => (body ? [body.schema] : [])),
);

/**
 * JSON Schema of a shape. Requests allow no unknown fields. Responses allow them, because the service may add fields.
 * Pure.
 */
export const shapeSchema = (name: SchemaName, isRequest = requestNames.has(name)): Json =>
  jsonSchemaOf(schemas[name](), isRequest);

/** JSON Schema of any shape composed of contract shapes. */
export function jsonSchemaOf(shape: z.ZodType, isRequest: boolean): Json {
  const { $schema: _, ...made } = z.toJSONSchema(shape, {
    io: isRequest ? 'input' : 'output',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema: node }) {
      withoutNoise(node);
      if (!isRequest && node.additionalProperties === false) delete node.additionalProperties;
      if (z.globalRegistry.get(zodSchema)?.observed) node['x-observed'] = true;
      delete node.observed;
    },
  });
  return made;
}

/** Removes the bounds for safe integers, which zod adds to every integer. */
export function withoutNoise(node: { maximum?: unknown; minimum?: unknown }): void {
  if (node.maximum === Number.MAX_SAFE_INTEGER) delete node.maximum;
  if (node.minimum === Number.MIN_SAFE_INTEGER) delete node.minimum;
}
