import { z } from 'zod';
import {
  eachPlainField,
  type PlainFieldName,
  type PlainOrderField,
  type plainOrderFields,
} from '../order-fields.ts';
import { observed, onDemand, shortText, text } from './fields.ts';

type Table = typeof plainOrderFields;
interface Types {
  string: z.ZodString;
  integer: z.ZodInt;
  boolean: z.ZodBoolean;
}
type TypeOf<K extends PlainFieldName> = Types[Table[K]['type']];

type RequestSchemas = { [K in PlainFieldName]: z.ZodOptional<z.ZodNullable<TypeOf<K>>> };
type ResponseSchemas = {
  [K in PlainFieldName]: Table[K]['type'] extends 'boolean' ? z.ZodBoolean : z.ZodNullable<TypeOf<K>>;
};

function schemaOf({ type, maxLength, min }: Pick<PlainOrderField, 'type' | 'min' | 'maxLength'>): z.ZodType {
  if (type === 'boolean') return z.boolean();
  if (type === 'integer') return min === undefined ? z.int() : z.int().min(min);
  return maxLength === undefined ? text : shortText(maxLength);
}

const asMarked = (schema: z.ZodType, field: PlainOrderField): z.ZodType =>
  field.observed ? observed(schema) : schema;

const each = (build: (field: PlainOrderField) => z.ZodType): unknown =>
  Object.fromEntries(eachPlainField.map(([name, field]) => [name, asMarked(build(field), field)]));

/** The plain fields in a request: each may be absent or null. */
export const plainRequest = onDemand(() => each((field) => schemaOf(field).nullish()) as RequestSchemas);

/** The plain fields in a response, which may hold what a caller may no longer send: without bounds. */
export const plainResponse = onDemand(
  () =>
    each(({ type }) => (type === 'boolean' ? z.boolean() : schemaOf({ type }).nullable())) as ResponseSchemas,
);
