import { uuidPattern } from '../api/limits.ts';
import type { Batch, BatchRow } from './batch.ts';
import { isMet } from './row-state.ts';

/** What was ordered before says which order it is. */
const mentioned = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

/** The order that a row met: its key was that order's already. */
export function earlierOrder(row: BatchRow, batch: Batch): string | undefined {
  const { error = '', orderId } = row;
  if (!isMet(row, batch)) return undefined;
  if (orderId !== undefined) return orderId;
  const ids = new Set((error.match(mentioned) ?? []).map((id) => id.toLowerCase()));
  const [id = ''] = ids;
  return ids.size === 1 && uuidPattern.test(id) ? id : undefined;
}

/** The order that an attempt led to, or met. */
export const orderOfAttempt = (row: BatchRow, batch: Batch): string | undefined =>
  row.orderId ?? earlierOrder(row, batch);

/**
 * The attempts at a row that say something, of all in their order. One that found the row ordered says nothing that is new,
 * unless no earlier one tells of that order. Pure.
 */
export function tellingAttempts<
  T extends { readonly row: BatchRow; readonly batch: Batch; readonly orderId: string | undefined },
>(attempts: readonly T[]): readonly T[] {
  const known = new Set<string>();
  const telling = attempts.filter(({ row, batch, orderId }) => {
    const isNew = orderId !== undefined && known.size < known.add(orderId).size;
    return !isMet(row, batch) || isNew;
  });
  return telling.length > 0 ? telling : attempts.slice(-1);
}
