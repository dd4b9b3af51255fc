import { z } from 'zod';
import { characterCount, limits } from '../limits.ts';
import {
  eachPlainField,
  type PlainFieldName,
  type PlainOrderField,
  type plainOrderFields,
} from '../order-fields.ts';
import { productUrlProblem } from '../product-url.ts';

/** Builds a shape when it is first used, because a run needs few shapes, and each shape costs about 25 µs per field. */
export function onDemand<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/**
 * Marks something that was observed on the wire but is not in the specification, so it may change without notice. There
 * is no other mark for this.
 */
export const observed = <S extends z.ZodType>(schema: S): S => schema.meta({ observed: true });

/** Does the same as `observed`, for a shape that is built on first use. */
export const observedOnDemand = <S extends z.ZodType>(make: () => S): (() => S) =>
  onDemand(() => observed(make()));

export const uuid = z.guid();
export const timestamp = z.iso.datetime({ offset: true });
export const calendarDate = z.iso.date();
export const cents = z.int();
export const price = z.int().min(limits.maxPriceCents.min);
export const count = z.int().min(0);
export const text = z.string();
/** Text of at most `max` characters. zod's own bound does not work here, because it counts UTF-16 units. */
export const shortText = (max: number, base = z.string()) =>
  base
    .check(({ value, issues }) => {
      if (characterCount(value) <= max) return;
      issues.push({ code: 'too_big', origin: 'string', maximum: max, inclusive: true, input: value });
    })
    .meta({ maxLength: max });
export const httpUrl = z.url({ protocol: /^https?$/, error: 'Input should be a valid http or https URL' });
/** The URL of one product page. */
export const productUrl = httpUrl.check(({ value, issues }) => {
  const problem = issues.length > 0 ? undefined : productUrlProblem(value.trim());
  if (problem !== undefined) issues.push({ code: 'custom', message: `Input ${problem}`, input: value });
});
export const metadata = z.record(z.string(), z.unknown());

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

/** Plain fields in a request. Each may be absent or null. */
export const plainRequest = onDemand(() => each((field) => schemaOf(field).nullish()) as RequestSchemas);

/** Plain fields in a response. They have no bounds, because a stored value may no longer be valid as input. */
export const plainResponse = onDemand(
  () =>
    each(({ type }) => (type === 'boolean' ? z.boolean() : schemaOf({ type }).nullable())) as ResponseSchemas,
);
