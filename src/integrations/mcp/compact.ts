import { isObject } from '../../api/json.ts';
import { maxTextLength } from './arguments.ts';
import type { JsonSchema } from './untrusted.ts';

/** Reduces the schema of a result to the type and description of each field. Nested fields are left out. Pure. */
export function compactOutput({ properties, ...schema }: JsonSchema): JsonSchema {
  const fields = isObject(properties) ? Object.entries(properties) : [];
  return {
    ...schema,
    properties: Object.fromEntries(fields.map(([name, field]) => [name, outline(field)])),
  };
}

function outline(schema: unknown): JsonSchema {
  if (!isObject(schema)) return {};
  const { type, description, items } = schema;
  const inner = isObject(items) ? items.type : undefined;
  return {
    ...(type !== undefined && { type }),
    ...(inner !== undefined && { items: { type: inner } }),
    ...(description !== undefined && { description }),
  };
}

/**
 * Removes what a model does not need from the schema of a tool's arguments. This is null as an alternative, because
 * leaving out a field means the same, and annotations of the contract. The tool accepts everything that the reduced
 * schema allows. Pure.
 */
export function compactInput(schema: JsonSchema): JsonSchema {
  const { 'x-observed': _observed, propertyNames: _names, type, anyOf, properties, items, ...rest } = schema;
  const either = Array.isArray(anyOf) ? anyOf.filter(isObject).filter((one) => one.type !== 'null') : [];
  const [only, ...others] = either;
  if (only && others.length === 0) return compactInput({ ...only, ...rest });
  const types = Array.isArray(type) ? type.filter((one) => one !== 'null') : [type];
  return {
    ...(type !== undefined && { type: types.length === 1 ? types[0] : types }),
    ...(either.length > 0 && { anyOf: either.map(compactInput) }),
    ...(isObject(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, one]) => [name, isObject(one) ? compactInput(one) : one]),
      ),
    }),
    ...(isObject(items) && { items: compactInput(items) }),
    ...Object.fromEntries(Object.entries(rest).filter(([name, value]) => !isObvious(name, value))),
  };
}

/**
 * Whether a model does not need a schema keyword. This is so for bounds that every sensible value respects, and for the
 * type of unnamed fields. The tool checks both of these anyway.
 */
const isObvious = (name: string, value: unknown): boolean =>
  name === 'minLength' ||
  (name === 'maxLength' && value === maxTextLength) ||
  (name === 'additionalProperties' && value !== false);
