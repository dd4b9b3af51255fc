import { shapeSchema } from '../openapi.ts';
import type { Operation } from '../operation.ts';
import { operations } from '../operations/index.ts';
import type { SchemaName } from '../schemas/index.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * Schema of a service shape as errand prints it. The service may add fields and values. So only the fields that are
 * essential in every response are required, any other field may be null, and enums accept other values besides the
 * known ones. Pure.
 */
export function servedSchema(name: SchemaName): Json {
  const required = essentials(name);
  return { ...opened(shapeSchema(name, false), required), ...(required.length > 0 && { required }) };
}

/** Fields that are essential in every operation that returns this shape. */
function essentials(name: SchemaName): readonly string[] {
  const lists = Object.values<Operation>(operations).flatMap(({ response }) =>
    response.type === 'json' && response.schema === name ? [Object.keys(response.essential ?? {})] : [],
  );
  const [first = [], ...others] = lists;
  return first.filter((field) => others.every((list) => list.includes(field)));
}

/** @param certain lists the fields that are always present and never null. */
function opened(given: unknown, certain: readonly string[] = []): Json {
  const { 'x-observed': _, required: _required, pattern, enum: values, ...node }: Json = Object(given);
  const { properties, items, anyOf, oneOf, additionalProperties, ...rest } = node;
  // If there is a format, the pattern adds nothing.
  const bare = pattern === undefined || rest.format !== undefined ? rest : { ...rest, pattern };
  if (Array.isArray(values)) return { anyOf: [{ ...bare, enum: values }, bare] };
  const either = anyOf ?? oneOf;
  return {
    ...bare,
    ...(Array.isArray(either) && { anyOf: either.flatMap((one) => unfolded(opened(one))) }),
    ...(items !== undefined && { items: opened(items) }),
    ...(isSchema(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([field, one]) => [
          field,
          certain.includes(field) ? opened(one) : orNull(opened(one)),
        ]),
      ),
    }),
    ...(isSchema(additionalProperties) && { additionalProperties: opened(additionalProperties) }),
  };
}

const isSchema = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const alternativesOf = ({ anyOf }: Json): readonly Json[] | undefined =>
  Array.isArray(anyOf) ? anyOf : undefined;

/** Flattens nested alternatives. */
function unfolded(schema: Json): readonly Json[] {
  const inner = alternativesOf(schema);
  return inner && Object.keys(schema).length === 1 ? inner : [schema];
}

function orNull(schema: Json): Json {
  const either = alternativesOf(schema);
  if (either)
    return either.some(({ type }) => type === 'null')
      ? schema
      : { ...schema, anyOf: [...either, { type: 'null' }] };
  const { type, properties, items } = schema;
  if (typeof type !== 'string' || type === 'null') return schema;
  const isPlain = properties === undefined && items === undefined;
  return isPlain ? { ...schema, type: [type, 'null'] } : { anyOf: [schema, { type: 'null' }] };
}

/** Rewrites lists of types as `anyOf`, because strict validators accept only lists of one type and null. Pure. */
export function withPlainTypes(given: Json): Json {
  const { type, ...rest } = given;
  const inner = Object.fromEntries(Object.entries(rest).map(([name, one]) => [name, plainIn(one)]));
  // `type` is a keyword in a schema, but a property name inside `properties`.
  if (!Array.isArray(type) || (type.length === 2 && type.includes('null')))
    return { ...(type !== undefined && { type: plainIn(type) }), ...inner };
  return { ...inner, anyOf: type.map((one: unknown) => ({ type: one })) };
}

function plainIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainIn);
  return isSchema(value) ? withPlainTypes(value) : value;
}
