import { z } from 'zod';
import type { JsonObject } from '../../api/json.ts';
import { jsonSchemaOf } from '../../api/openapi.ts';
import { BestEffortNotation, FulfillmentPreferences, OrderCreate } from '../../api/schemas/order-create.ts';
import { maxReferenceLength } from '../needs/reference.ts';

/** JSON Schema of an order file, for editors. Pure. */
export function orderFileSchema(): JsonObject {
  const file = z.strictObject({
    ...OrderCreate().shape,
    reference: z
      .string()
      .max(maxReferenceLength)
      .nullish()
      .describe('your own name for this order: it is bought once, from whichever machine'),
    namespace: z.string().nullish().describe('who numbers the reference'),
    fulfillment: z.union([FulfillmentPreferences(), BestEffortNotation()]).nullish(),
  });
  return jsonSchemaOf(file, true);
}
