import { uuidPattern } from '../contract/limits.ts';
import type { BatchRow } from './batch.ts';
import type { RowState } from './row-state.ts';

/** What was ordered before says which order it is. */
const mentioned = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

/** The order that a row met: its key was that order's already. */
export function earlierOrder(standing: RowState, { error = '' }: BatchRow): string | undefined {
  if (standing !== 'before') return undefined;
  const ids = new Set((error.match(mentioned) ?? []).map((id) => id.toLowerCase()));
  const [id = ''] = ids;
  return ids.size === 1 && uuidPattern.test(id) ? id : undefined;
}

/** The order that an attempt led to, or met. */
export const orderOfAttempt = (standing: RowState, row: BatchRow): string | undefined =>
  row.orderId ?? earlierOrder(standing, row);

/**
 * The attempts at a row that say something, of all in their order. One that found the row ordered says nothing that is new,
 * unless no earlier one tells of that order. Pure.
 */
export function tellingAttempts<
  T extends { readonly standing: RowState; readonly orderId: string | undefined },
>(attempts: readonly T[]): readonly T[] {
  const known = new Set<string>();
  const telling = attempts.filter(({ standing, orderId }) => {
    const isNew = orderId !== undefined && known.size < known.add(orderId).size;
    return standing !== 'before' || isNew;
  });
  return telling.length > 0 ? telling : attempts.slice(-1);
}
