import { z } from 'zod';
import { BestEffortNotation, FulfillmentPreferences, OrderCreate } from './order-create.ts';

/** An order file. It contains the order in the notation for files, and the reference. */
export const orderFile = (maxReferenceLength: number) =>
  z.strictObject({
    ...OrderCreate().shape,
    reference: z
      .string()
      .max(maxReferenceLength)
      .nullish()
      .describe('your own name for this order: it is bought once, from whichever machine'),
    namespace: z.string().nullish().describe('who numbers the reference'),
    fulfillment: z.union([FulfillmentPreferences(), BestEffortNotation()]).nullish(),
  });
