import { randomUUID } from 'node:crypto';
import { rowReader } from '../../api/bulk-row.ts';
import { failedOrderStatuses } from '../../api/enums.ts';
import { type JsonObject, numberIn, objectsIn, textIn } from '../../api/json.ts';
import { uuidPattern } from '../../api/limits.ts';
import type { Received } from '../../api/received.ts';
import type { Shape } from '../../api/schemas/index.ts';
import { referenceKey } from '../../orders/needs/reference.ts';
import type { BatchIntent } from '../../orders/send-batch.ts';
import type { Placing } from '../../orders/submit/intent.ts';
import { UsageError } from '../../platform/errors.ts';
import { keyOfRows, RowKeys } from '../rows.ts';
import type { Batch as NewBatch } from './batches.ts';

export type Batch = Received<'bulk.get'>;

/** A row of a batch, as far as it can be parsed. */
export interface BatchRow {
  /** Row number within the batch, from 0. */
  readonly index: number;
  readonly status: string | undefined;
  readonly orderId: string | undefined;
  readonly orderStatus: string | undefined;
  readonly error: string | undefined;
  /** The row as received. */
  readonly record: JsonObject;
}

/** Rows of a batch. A row without a number is numbered by its position. */
export const rowsOf = (batch: { readonly rows?: unknown }): BatchRow[] =>
  objectsIn(batch, 'rows').map((record, rowIndex) => {
    const index = numberIn(record, 'index');
    return {
      index: index !== undefined && Number.isSafeInteger(index) ? index : rowIndex,
      status: textIn(record, 'status'),
      orderId: textIn(record, 'order_id'),
      orderStatus: textIn(record, 'order_status'),
      error: textIn(record, 'error'),
      record,
    };
  });

/**
 * State of a row. A row is `waiting` to be ordered, or `refused`, or was ordered `before`, because its key already has
 * an order that is not known to have failed. Otherwise its order is `under_way`, `placed`, `failed` (or cancelled), or
 * of `unknown` status.
 */
export type RowState = 'waiting' | 'refused' | 'before' | 'under_way' | 'placed' | 'failed' | 'unknown';

const openOrder: ReadonlySet<string | undefined> = new Set(['pending', 'in_progress']);
const badOrder: ReadonlySet<string | undefined> = new Set(failedOrderStatuses);

type Status = { readonly status?: unknown };

/**
 * Single source of truth for a row's state. An already existing order's status is only known after `withOrders` adds
 * it.
 */
export function stateOf(row: BatchRow, batch: Status): RowState {
  const { status, orderStatus: order } = row;
  if (isMet(row, batch)) return badOrder.has(order) ? 'failed' : 'before';
  if (isUnplaced(row, batch)) return 'refused';
  if (status === undefined || status === 'pending') return 'waiting';
  if (openOrder.has(order)) return 'under_way';
  if (order === undefined) return 'unknown';
  // Default to placed, because a row must not be ordered again unless its order is known to have failed.
  return badOrder.has(order) ? 'failed' : 'placed';
}

/** A batch that failed as a whole places no more rows. */
const isUnplaced = ({ status }: BatchRow, batch: Status): boolean =>
  status === 'failed' || (status === 'pending' && batch.status === 'failed');

/** Whether a row made no order because its key already had an order. */
export const isMet = (row: BatchRow, batch: Status): boolean =>
  isUnplaced(row, batch) && row.error?.startsWith('already_exists') === true;

/** Whether a row failed: it was refused and its key has no order, or its order failed or was cancelled. */
export function isFailed(row: BatchRow, batch: Batch): boolean {
  const state = stateOf(row, batch);
  return state === 'refused' || state === 'failed';
}

/** Whether a row's order was cancelled on request; it is only retried if explicitly selected. */
export const isCalledOff = ({ orderStatus }: BatchRow): boolean => orderStatus === 'cancelled';

/**
 * Number of rows per state: rows = ordered + refused + waiting, and ordered = placed + failed + under_way + before +
 * unknown.
 */
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

/** Matches order ids. The error of an already ordered row mentions the id of its order. */
const mentioned = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

/** The existing order that already used a row's key. */
export function earlierOrder(row: BatchRow, batch: Batch): string | undefined {
  const { error = '', orderId } = row;
  if (!isMet(row, batch)) return undefined;
  if (orderId !== undefined) return orderId;
  const ids = new Set((error.match(mentioned) ?? []).map((id) => id.toLowerCase()));
  const [id = ''] = ids;
  return ids.size === 1 && uuidPattern.test(id) ? id : undefined;
}

/** The order an attempt created or found. */
export const orderOfAttempt = (row: BatchRow, batch: Batch): string | undefined =>
  row.orderId ?? earlierOrder(row, batch);

/**
 * Keeps the informative attempts at a row, in order. An attempt that found the row already ordered adds nothing, unless
 * it is the first to mention that order. Pure.
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

/** Batch name if the request has none. */
const unnamed = 'request';

/**
 * Builds the batch of a hand-written request, with the same row keys an upload would give, so no command orders the
 * same rows twice. The request is an occasion of its own if it is meant as another.
 */
export function batchOfRequest(
  { filename, rows, notify_on_complete: notifies }: Shape<'BulkUploadRequest'>,
  { isNew }: Pick<Placing, 'isNew'>,
): NewBatch & BatchIntent & { readonly run: string } {
  const read = rowReader();
  const run = isNew ? randomUUID() : '';
  const keys = new RowKeys(run);
  const given = rows.map((row, index) => {
    checkReference(row, index);
    const { plan, values: cells, row: order } = read(textsOf(row));
    return { plan, cells, row: order };
  });
  const keyed = given.map((row) => keys.keyed(row));
  const ownKeys = given.flatMap(({ row }, index) => (row.cell('idempotency_key') === '' ? [] : index + 1));
  return {
    ...{
      key: keyOfRows(keyed),
      filename: filename || unnamed,
      rows: keyed,
      notifies: notifies === true,
      run,
    },
    headings: [...new Set(keyed.flatMap((row) => Object.keys(row)))],
    numbers: keyed.map((_, index) => index + 1),
    ...(ownKeys.length > 0 && { ownKeys }),
  };
}

/** @throws UsageError if a row gives the metadata in which references travel. */
function checkReference(row: Shape<'BulkUploadRequest'>['rows'][number], index: number): void {
  const name = `metadata.${referenceKey}`;
  if (!Object.keys(row).some((heading) => heading.trim().toLowerCase() === name)) return;
  throw new UsageError(
    `rows.${index}: ${name} is where the reference travels; give it by \`bulk upload --reference-column\``,
  );
}

const textsOf = (row: Shape<'BulkUploadRequest'>['rows'][number]): Record<string, string> =>
  Object.fromEntries(Object.entries(row).map(([heading, cell]) => [heading, String(cell ?? '')]));
