import type { ErrorCode } from './error-codes.ts';
import type { Operation } from './operation.ts';

/** Codes about the key. It may be unknown or expired, and a temporary key reads one order only. */
export const authErrors = ({ auth }: Pick<Operation, 'auth'>): readonly ErrorCode[] =>
  auth === 'bearer' || auth === 'basic'
    ? ['unauthorized', 'invalid_token', 'token_expired', 'forbidden']
    : [];

/** Every code with which the service refuses an operation, validation aside. Pure. */
export const refusalCodes = (operation: Pick<Operation, 'auth' | 'errors'>): readonly ErrorCode[] => [
  ...operation.errors,
  ...authErrors(operation),
];
