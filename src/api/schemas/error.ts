import { z } from 'zod';
import { errorCodes } from '../error-codes.ts';
import { onDemand } from './fields.ts';

const codes = Object.keys(errorCodes);

/**
 * Body of an error. The OpenAPI document lists the codes, but parsing accepts any `code`, so that new codes pass
 * through.
 */
export const ErrorResponse = onDemand(() =>
  z.strictObject({
    code: z.string().meta({ enum: codes }),
    message: z.string(),
    details: z.looseObject({}),
  }),
);

export const HTTPValidationError = onDemand(() =>
  z.strictObject({
    detail: z.array(
      z.strictObject({
        loc: z.array(z.union([z.string(), z.int()])),
        msg: z.string(),
        type: z.string(),
      }),
    ),
  }),
);
