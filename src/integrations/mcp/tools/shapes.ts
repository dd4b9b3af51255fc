import { shapeSchema } from '../../../api/openapi.ts';
import type { SchemaName } from '../../../api/schemas/index.ts';
import { type JsonSchema, lenient } from '../untrusted.ts';

/** Uses a shape of the service as the output of a tool. */
export const shown = (name: SchemaName): JsonSchema => lenient(shapeSchema(name));

export const text = (description: string): JsonSchema => ({ type: 'string', description });
export const optionalText = (description: string): JsonSchema => ({ type: ['string', 'null'], description });
export const flag = (description: string): JsonSchema => ({ type: 'boolean', description });
/** Schema of an amount in cents. */
export const cents = (description: string): JsonSchema => ({
  type: 'integer',
  description: `${description}, in cents`,
});
export const optionalCents = (description: string): JsonSchema => ({
  type: ['integer', 'null'],
  description: `${description}, in cents`,
});
export const listOf = (items: JsonSchema, description: string): JsonSchema => ({
  type: 'array',
  items,
  description,
});
export const record = (properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  type: 'object',
  properties,
});

/** Schema of a policy verdict, which is the same wherever a verdict is printed. Amounts are in cents. */
export const verdict: JsonSchema = record({
  outcome: text('allowed, warned or needs_approval'),
  amount_cents: cents('ceiling and fee together'),
  rules: listOf(
    record({
      rule: text('where it stands in the policy'),
      outcome: text('what this rule says'),
      message: text('why'),
      limit_cents: optionalCents('what the rule allows'),
      left_cents: optionalCents('what is left'),
      resets_at: optionalText('when the period ends, ISO 8601'),
    }),
    'one for each rule that was looked at, the worst first',
  ),
  approval: record({ id: text('of the approval'), state: text('open or approved') }),
});

/** Schema of an earlier order with which a quote is compared. */
export const existingOrder: JsonSchema = record({
  order_id: optionalText('null while nobody knows whether there is an order'),
  state: text('placed, in_doubt, unknown, cancelled or returned'),
  status: optionalText('as the service has it now'),
  made_at: text('ISO 8601'),
  age: text('relative to now'),
  reference: optionalText('with its namespace'),
  differences: listOf(
    record({ field: text('of the order'), requested: {}, existing: {} }),
    'how this quote differs from it',
  ),
  key: optionalText('what order_explain takes, where there is no order_id'),
  settled_by: {
    type: ['object', 'null'],
    properties: {
      tool: text('order_place'),
      quote: text('which settles this order, and orders nothing else'),
    },
    description: 'the call that settles it, where it is in doubt',
  },
});
