import { failedOrderStatuses } from '../api/enums.ts';
import { type Batch, type BatchRow, rowsOf } from './batch.ts';

/**
 * How a row stands: `waiting` to become an order, `refused` as one, ordered `before` (its key has an order already, which
 * has not failed as far as is known), or its order is `under_way`, was `placed`, has `failed` or been cancelled, or is of a
 * status that is `unknown`.
 */
export type RowState = 'waiting' | 'refused' | 'before' | 'under_way' | 'placed' | 'failed' | 'unknown';

const openOrder: ReadonlySet<string | undefined> = new Set(['pending', 'in_progress']);
const badOrder: ReadonlySet<string | undefined> = new Set(failedOrderStatuses);

type Status = { readonly status?: unknown };

/** The one place that decides how a row stands. Of an order that the row met it knows what `withOrders` has written there. */
export function stateOf(row: BatchRow, batch: Status): RowState {
  const { status, orderStatus: order } = row;
  if (isMet(row, batch)) return badOrder.has(order) ? 'failed' : 'before';
  if (isUnplaced(row, batch)) return 'refused';
  if (status === undefined || status === 'pending') return 'waiting';
  if (openOrder.has(order)) return 'under_way';
  if (order === undefined) return 'unknown';
  // A row that is placed has an order: where nothing known says that it failed, it is not to be placed again.
  return badOrder.has(order) ? 'failed' : 'placed';
}

/** A batch that failed as a whole places no more rows. */
const isUnplaced = ({ status }: BatchRow, batch: Status): boolean =>
  status === 'failed' || (status === 'pending' && batch.status === 'failed');

/** Whether a row made no order, since its key has one already. */
export const isMet = (row: BatchRow, batch: Status): boolean =>
  isUnplaced(row, batch) && row.error?.startsWith('already_exists') === true;

/** Whether a row came to nothing: it became no order and no order of its key exists, or its order failed or was cancelled. */
export function isFailed(row: BatchRow, batch: Batch): boolean {
  const state = stateOf(row, batch);
  return state === 'refused' || state === 'failed';
}

/** Whether somebody cancelled the order of a row: it is not tried again unless that is asked for. */
export const isCalledOff = ({ orderStatus }: BatchRow): boolean => orderStatus === 'cancelled';

/** How many rows of batches stand how: rows = ordered + refused + waiting, and ordered = placed + failed + under_way + before + unknown. */
export interface RowTally {
  readonly rows: number;
  readonly ordered: number;
  readonly refused: number;
  readonly waiting: number;
  readonly placed: number;
  readonly failed: number;
  readonly under_way: number;
  readonly before: number;
  readonly unknown: number;
}

export function tallyOf(batches: Iterable<{ readonly status?: unknown; readonly rows?: unknown }>): RowTally {
  const count = { refused: 0, waiting: 0, placed: 0, failed: 0, under_way: 0, before: 0, unknown: 0 };
  let rows = 0;
  for (const batch of batches) {
    const read = rowsOf(batch);
    rows += read.length;
    for (const row of read) count[stateOf(row, batch)] += 1;
  }
  const { refused, waiting, ...orders } = count;
  return { rows, ordered: rows - refused - waiting, refused, waiting, ...orders };
}
