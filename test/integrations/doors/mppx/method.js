// The payment method `sandbox` as the public SDK has methods defined.
import { Method, z } from 'mppx';

export const sandbox = Method.from({
  name: 'sandbox',
  intent: 'charge',
  schema: {
    credential: { payload: z.object({ type: z.literal('sandbox'), authorization: z.literal('approve') }) },
    request: z.object({ amount: z.string(), currency: z.string(), recipient: z.optional(z.string()) }),
  },
});

/** One that settles in units of a token, so that two are on offer. */
export const token = Method.from({
  name: 'token',
  intent: 'charge',
  schema: {
    credential: { payload: z.object({ signature: z.string() }) },
    request: z.object({ amount: z.string(), currency: z.string(), recipient: z.optional(z.string()) }),
  },
});
