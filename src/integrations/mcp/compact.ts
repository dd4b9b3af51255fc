import { isObject } from '../../api/json.ts';
import { maxTextLength } from './arguments.ts';
import type { JsonSchema } from './untrusted.ts';

/** Keeps each field of a result with its type and description, and leaves out what is within it. Pure. */
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
 * Leaves out of a tool's arguments what a model does not need: that a field may be null, which omitting it says too, and
 * how the contract knows it. What the listed schema allows, the tool takes. Pure.
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

/** Bounds that no sensible value meets, and what any field of an open record may be; the tool checks both all the same. */
const isObvious = (name: string, value: unknown): boolean =>
  name === 'minLength' ||
  (name === 'maxLength' && value === maxTextLength) ||
  (name === 'additionalProperties' && value !== false);
