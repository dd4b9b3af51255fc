import type { ErrorCode } from './error-codes.ts';
import type { Operation } from './operation.ts';

/**
 * Error codes that concern the API key. A key may be unknown or expired, and a temporary key can read only one order.
 */
export const authErrors = ({ auth }: Pick<Operation, 'auth'>): readonly ErrorCode[] =>
  auth === 'bearer' || auth === 'basic'
    ? ['unauthorized', 'invalid_token', 'token_expired', 'forbidden']
    : [];

/** Every error code that an operation may return, except validation errors. Pure. */
export const errorResponseCodes = (operation: Pick<Operation, 'auth' | 'errors'>): readonly ErrorCode[] => [
  ...operation.errors,
  ...authErrors(operation),
];
