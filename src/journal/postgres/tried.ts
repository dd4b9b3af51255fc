import { DamagedError } from '../../platform/errors.ts';
import type { Change } from './mirror-sql.ts';

/** What the work of a transaction came to on the copy, which is as it was before. */
export interface Tried<T> {
  readonly outcome: { readonly value: T } | { readonly error: unknown };
  readonly changes: readonly Change[];
}

export const isDamage = ({ outcome }: Tried<unknown>): boolean =>
  'error' in outcome && outcome.error instanceof DamagedError;

/** @throws what the work threw. */
export function result<T>({ outcome }: Tried<T>): T {
  if ('error' in outcome) throw outcome.error;
  return outcome.value;
}
