import type { ErrorCode } from './error-codes.ts';
import type { Operation } from './operation.ts';

/** Error codes about the key: it may be unknown or expired, and a temporary key can read one order only. */
export const authErrors = ({ auth }: Pick<Operation, 'auth'>): readonly ErrorCode[] =>
  auth === 'bearer' || auth === 'basic'
    ? ['unauthorized', 'invalid_token', 'token_expired', 'forbidden']
    : [];

/** Every refusal code of an operation, except validation errors. Pure. */
export const errorResponseCodes = (operation: Pick<Operation, 'auth' | 'errors'>): readonly ErrorCode[] => [
  ...operation.errors,
  ...authErrors(operation),
];
