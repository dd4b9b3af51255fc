import { z } from 'zod';

/** The error body; `code` stays open in answers so that a new code passes through. */
export const ErrorResponse = z.strictObject({
  code: z.string(),
  message: z.string(),
  details: z.looseObject({}),
});

export const HTTPValidationError = z.strictObject({
  detail: z.array(
    z.strictObject({
      loc: z.array(z.union([z.string(), z.int()])),
      msg: z.string(),
      type: z.string(),
    }),
  ),
});
