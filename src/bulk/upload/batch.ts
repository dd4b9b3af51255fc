import { randomUUID } from 'node:crypto';
import { rowReader } from '../../api/bulk-row.ts';
import { failedOrderStatuses } from '../../api/enums.ts';
import { type JsonObject, numberIn, objectsIn, textIn } from '../../api/json.ts';
import { uuidPattern } from '../../api/limits.ts';
import type { Received } from '../../api/received.ts';
import type { Shape } from '../../api/schemas/index.ts';
import type { BatchIntent } from '../../orders/send-batch.ts';
import type { Placing } from '../../orders/submit/intent.ts';
import { keyOfRows, RowKeys } from '../rows.ts';

export type Batch = Received<'bulk.get'>;

/** A row of a batch as far as it can be read. */
export interface BatchRow {
  /** Its number among the rows of the batch, from 0. */
  readonly index: number;
  readonly status: string | undefined;
  readonly orderId: string | undefined;
  readonly orderStatus: string | undefined;
  readonly error: string | undefined;
  /** As it came. */
  readonly record: JsonObject;
}

/** The rows of a batch; one that does not say its number has that of its place. */
export const rowsOf = (batch: { readonly rows?: unknown }): BatchRow[] =>
  objectsIn(batch, 'rows').map((record, place) => {
    const index = numberIn(record, 'index');
    return {
      index: index !== undefined && Number.isSafeInteger(index) ? index : place,
      status: textIn(record, 'status'),
      orderId: textIn(record, 'order_id'),
      orderStatus: textIn(record, 'order_status'),
      error: textIn(record, 'error'),
      record,
    };
  });

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

/** The name of a batch whose request has none. */
const unnamed = 'request';

/**
 * The batch of a request that was written by hand, each row with its key, as an upload of the same rows gives it: the same
 * rows place nothing twice, whichever command sends them.
 */
export function batchOfRequest(
  { filename, rows, notify_on_complete: notifies }: Shape<'BulkUploadRequest'>,
  { isNew }: Pick<Placing, 'isNew'>,
): { readonly batch: BatchIntent; readonly hasOwnKeys: boolean } {
  const read = rowReader();
  const keys = new RowKeys(isNew ? randomUUID() : '');
  const given = rows.map((row) => {
    const { plan, values: cells, row: order } = read(textsOf(row));
    return { plan, cells, row: order };
  });
  const keyed = given.map((row) => keys.keyed(row));
  return {
    batch: { key: keyOfRows(keyed), filename: filename || unnamed, rows: keyed, notifies: notifies === true },
    hasOwnKeys: given.every(({ row }) => row.cell('idempotency_key') !== ''),
  };
}

const textsOf = (row: Shape<'BulkUploadRequest'>['rows'][number]): Record<string, string> =>
  Object.fromEntries(Object.entries(row).map(([heading, cell]) => [heading, String(cell ?? '')]));
