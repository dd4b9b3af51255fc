import { randomUUID } from 'node:crypto';
import { mentionedOrder, rowReader, saysExists } from '../../api/bulk-row.ts';
import { failedOrderStatuses } from '../../api/enums.ts';
import { type JsonObject, numberIn, objectsIn, textIn } from '../../api/json.ts';
import type { Received } from '../../api/received.ts';
import type { Shape } from '../../api/schemas/index.ts';
import type { AttemptState } from '../../journal/attempts.ts';
import { referenceKey } from '../../orders/needs/reference.ts';
import type { BatchIntent } from '../../orders/send-batch.ts';
import type { Placing } from '../../orders/submit/intent.ts';
import { UsageError } from '../../platform/errors.ts';
import { keyOfRows, RowKeys } from '../rows.ts';
import type { Batch as NewBatch } from './batches.ts';

export type Batch = Received<'bulk.get'>;

/** How an order was taken back. It was cancelled on request, or every unit of it was returned. */
export type Withdrawal = 'cancelled' | 'returned';

/** An attempt at the need of a row. It is in another batch, or it is a single order. */
export interface OtherAttempt {
  readonly orderId: string | undefined;
  /** The batch of the attempt and the index of its row; undefined for a single order. */
  readonly row: { readonly batchId: string; readonly index: number } | undefined;
}

/** An attempt at a row's need after the row's own attempt. It is in another batch, or it is a single order. */
export class LaterAttempt {
  /** The state that this attempt gives to the row. */
  readonly state: Extract<RowState, 'since' | 'failed' | 'withdrawn' | 'unknown'>;
  /** How the order of this attempt was taken back; undefined if it was not. */
  readonly withdrawal: Withdrawal | undefined;
  /** How the row's own attempt ended. */
  readonly after: Extract<RowState, 'failed' | 'withdrawn'>;
  readonly orderId: string | undefined;
  /** Serial of the attempt; undefined if this machine has not recorded the attempt. */
  readonly serial: number | undefined;
  /** Name of the attempt's upload; undefined for a single order, or if this machine does not know the upload. */
  readonly upload: string | undefined;
  /** Whether only the service knows the attempt, and not which upload or command made it. */
  readonly isFromElsewhere: boolean;
  /** The batch of the attempt and the index of its row; undefined for a single order. */
  readonly row: OtherAttempt['row'];
  /** Attempts between the row's own attempt and this one. All of them have ended. */
  readonly between: readonly OtherAttempt[];

  constructor(of: LaterAttempt) {
    this.state = of.state;
    this.withdrawal = of.withdrawal;
    this.after = of.after;
    this.orderId = of.orderId;
    this.serial = of.serial;
    this.upload = of.upload;
    this.isFromElsewhere = of.isFromElsewhere;
    this.row = of.row;
    this.between = of.between;
  }
}

/** The state that a row has if its later attempt has the given state. Pure. */
export function outcomeOf(state: AttemptState): Pick<LaterAttempt, 'state' | 'withdrawal'> {
  if (state === 'cancelled' || state === 'returned') return { state: 'withdrawn', withdrawal: state };
  const isUnclear = state === 'intended' || state === 'unknown';
  return { state: isUnclear ? 'unknown' : state === 'placed' ? 'since' : 'failed', withdrawal: undefined };
}

/**
 * Properties that hold further facts in a row's record. They are symbols, so they cannot occur in a record from the
 * service, and copies of a record keep them.
 */
const [laterKey, returnedKey] = [Symbol('later attempt'), Symbol('returned')];

const laterIn = (record: JsonObject): LaterAttempt | undefined => {
  const later: unknown = Object.getOwnPropertyDescriptor(record, laterKey)?.value;
  return later instanceof LaterAttempt ? later : undefined;
};

/** Name of a row, unique across all batches. */
export const rowName = (batchId: string, index: number): string => `${batchId} ${index}`;

/** Later attempts by row name (`rowName`). */
export type LaterAttempts = ReadonlyMap<string, LaterAttempt>;

/** Adds the later attempts to the rows of batches. Pure. */
export const withLater = (batches: readonly Batch[], later: LaterAttempts): Batch[] =>
  batches.map((batch) =>
    withRows(batch, ({ index, record }) => {
      const one = later.get(rowName(batch.id, index));
      return one && recordAfter(record, index, one);
    }),
  );

/** Marks the rows whose orders were returned. @param returned holds order ids in lowercase. Pure. */
export const withReturned = (batches: readonly Batch[], returned: ReadonlySet<string>): Batch[] =>
  batches.map((batch) =>
    withRows(batch, (row) => {
      const id = orderOfAttempt(row, batch)?.toLowerCase();
      return id !== undefined && returned.has(id) ? { ...row.record, [returnedKey]: true } : undefined;
    }),
  );

/** @returns the batch itself if no row is replaced. */
export function withRows(batch: Batch, replaced: (row: BatchRow) => JsonObject | undefined): Batch {
  let isChanged = false;
  const rows = rowsOf(batch).map((row) => {
    const other = replaced(row);
    isChanged ||= other !== undefined;
    return other ?? row.record;
  });
  // The cast is safe, because the other rows are as the service sent them.
  return isChanged ? ({ ...batch, rows } as Batch) : batch;
}

function recordAfter(record: JsonObject, index: number, later: LaterAttempt): JsonObject {
  const ended = later.state === 'failed' ? 'order_failed' : null;
  return {
    ...{ ...record, index, error: null, order_id: later.orderId ?? null },
    order_status: later.withdrawal === 'cancelled' ? 'cancelled' : ended,
    [laterKey]: later,
  };
}

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
  /** Whether every unit of the row's order was returned. False if the returns were not read. */
  readonly isReturned: boolean;
  /** Undefined if there is no later attempt, or if nobody searched for one. */
  readonly later: LaterAttempt | undefined;
}

const knownRows = new WeakMap<object, readonly BatchRow[]>();

/** Rows of a batch, which are read once. A row without a number is numbered by its position. */
export function rowsOf(batch: { readonly rows?: unknown }): readonly BatchRow[] {
  const known = knownRows.get(batch);
  if (known) return known;
  const rows = objectsIn(batch, 'rows').map((record, rowIndex): BatchRow => {
    const index = numberIn(record, 'index');
    return {
      index: index !== undefined && Number.isSafeInteger(index) ? index : rowIndex,
      status: textIn(record, 'status'),
      orderId: textIn(record, 'order_id'),
      orderStatus: textIn(record, 'order_status'),
      error: textIn(record, 'error'),
      record,
      isReturned: Object.hasOwn(record, returnedKey),
      later: laterIn(record),
    };
  });
  knownRows.set(batch, rows);
  return rows;
}

/**
 * State of a row. `waiting`: the row is not ordered yet. `refused`: the service refused the row. `before`: the row's
 * key already had an order, which is not known to have ended. `since`: the row's order ended, and a later attempt at
 * the row's need placed another one. `under_way`, `placed`, `failed`: the state of the row's order. `withdrawn`: the
 * order was cancelled on request, or every unit of it was returned. `unknown`: the status of the order, or the outcome
 * of a later attempt, is unknown.
 */
export type RowState =
  | 'waiting'
  | 'refused'
  | 'before'
  | 'since'
  | 'under_way'
  | 'placed'
  | 'failed'
  | 'withdrawn'
  | 'unknown';

const openOrder: ReadonlySet<string | undefined> = new Set(['pending', 'in_progress']);
const badOrder: ReadonlySet<string | undefined> = new Set(failedOrderStatuses);

type Status = { readonly status?: unknown };

/**
 * Single source of truth for a row's state. A live attempt decides the state; if there is none, the last attempt does.
 * Some facts must be added first: the status of an order that already existed (`withOrders`), a return (`withReturned`)
 * and a later attempt (`withLater`).
 */
export function stateOf(row: BatchRow, batch: Status): RowState {
  const { status, orderStatus: order, later } = row;
  if (later) return later.state;
  if (withdrawalOf(row) !== undefined) return 'withdrawn';
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

/** Whether a row made no order, because its key already had an order. */
export const isMet = (row: BatchRow, batch: Status): boolean =>
  isUnplaced(row, batch) && saysExists(row.error);

/** Whether a row failed. Either it was refused and its key has no order, or its order failed. */
export function isFailed(row: BatchRow, batch: Status): boolean {
  const state = stateOf(row, batch);
  return state === 'refused' || state === 'failed';
}

/** How the order that decides a row's state was taken back; undefined if it was not taken back. */
export const withdrawalOf = ({ later, isReturned, orderStatus }: BatchRow): Withdrawal | undefined =>
  later ? later.withdrawal : orderStatus === 'cancelled' ? 'cancelled' : isReturned ? 'returned' : undefined;

/**
 * Number of rows per state: rows = ordered + refused + waiting, and ordered = placed + failed + withdrawn + under_way +
 * before + since + unknown.
 */
export interface RowTally {
  readonly rows: number;
  readonly ordered: number;
  readonly refused: number;
  readonly waiting: number;
  readonly placed: number;
  readonly failed: number;
  readonly withdrawn: number;
  readonly under_way: number;
  readonly before: number;
  readonly since: number;
  readonly unknown: number;
}

/** Leaves out a row if its later attempt is a row of the same batches, so that each need counts once. Pure. */
export const onceEach = (batches: readonly Batch[]): Batch[] => {
  const ids = new Set(batches.map(({ id }) => id));
  return batches.map((batch) => {
    const all = rowsOf(batch);
    const rows = all.filter(({ later }) => !(later?.row && ids.has(later.row.batchId)));
    // The cast is safe, because the rows are as the service sent them.
    return rows.length === all.length
      ? batch
      : ({ ...batch, rows: rows.map(({ record }) => record) } as Batch);
  });
};

export function tallyOf(batches: Iterable<{ readonly status?: unknown; readonly rows?: unknown }>): RowTally {
  const count: Record<RowState, number> = {
    ...{ refused: 0, waiting: 0, placed: 0, failed: 0, withdrawn: 0, under_way: 0, before: 0 },
    ...{ since: 0, unknown: 0 },
  };
  let rows = 0;
  for (const batch of batches) {
    const read = rowsOf(batch);
    rows += read.length;
    for (const row of read) count[stateOf(row, batch)] += 1;
  }
  const { refused, waiting, ...orders } = count;
  return { rows, ordered: rows - refused - waiting, refused, waiting, ...orders };
}

/** The id of the order that a row's key already had. */
export function earlierOrder(row: BatchRow, batch: Batch): string | undefined {
  const { error = '', orderId } = row;
  if (!isMet(row, batch)) return undefined;
  return orderId ?? mentionedOrder(error);
}

/** The id of the order that an attempt made or found. */
export const orderOfAttempt = (row: BatchRow, batch: Batch): string | undefined =>
  row.orderId ?? earlierOrder(row, batch);

/**
 * Keeps the attempts at a row that add information, in order. An attempt that found an existing order is kept only if no
 * earlier attempt mentions that order. Pure.
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

/** Name of a batch whose request gives no name. */
const unnamed = 'request';

/**
 * Builds the batch of a hand-written request. The rows get the same keys as in an upload, so no command orders the same
 * rows twice. If `isNew` is set, the request is an occasion of its own.
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

/**
 * Rejects rows that give a reference as metadata. @throws UsageError if a row sets the metadata key that is reserved
 * for references.
 */
function checkReference(row: Shape<'BulkUploadRequest'>['rows'][number], index: number): void {
  const name = `metadata.${referenceKey}`;
  if (!Object.keys(row).some((heading) => heading.trim().toLowerCase() === name)) return;
  throw new UsageError(
    `rows.${index}: ${name} is where the reference travels; give it by \`bulk upload --reference-column\``,
  );
}

const textsOf = (row: Shape<'BulkUploadRequest'>['rows'][number]): Record<string, string> =>
  Object.fromEntries(Object.entries(row).map(([heading, cell]) => [heading, String(cell ?? '')]));
