import { numberIn, textIn } from '../../api/json.ts';
import { type ShownState, spoken } from '../../api/order-state.ts';
import { type Unchecked, valueAt } from '../../api/received.ts';
import type { Shape } from '../../api/schemas/index.ts';
import { countText } from '../../format/counts.ts';
import { plainText } from '../../format/path.ts';
import type { Column } from '../../format/result.ts';
import { pages } from '../../http/paging.ts';
import { failureText } from '../../orders/columns.ts';
import type { Order } from '../../orders/order-record.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import {
  type Batch,
  type BatchRow,
  isMet,
  type RowState,
  rowsOf,
  stateOf,
  tallyOf,
  withdrawalOf,
} from './batch.ts';

export const issueColumns: readonly Column[] = [
  { name: 'row', path: 'row', weight: 10 },
  { name: 'column', path: 'column', weight: 9 },
  { name: 'value', path: 'value', weight: 7 },
  { name: 'what is wrong', path: 'message', weight: 8, isProse: true, wraps: true },
];

export const batchColumns: readonly Column<Shape<'BulkBatchResponse'>>[] = [
  { name: 'id', path: 'id', kind: 'id', names: 'batches', weight: 10 },
  { name: 'status', path: 'status', kind: 'status', weight: 9 },
  { name: 'rows', path: 'row_count', kind: 'count', weight: 8 },
  { name: 'ordered', path: 'placed_count', kind: 'count', weight: 7 },
  { name: 'refused', path: 'failed_count', kind: 'count', weight: 6 },
  { name: 'file', path: 'filename', weight: 5 },
  { name: 'created', path: 'created_at', kind: 'time', weight: 4 },
];

/**
 * Whether a batch includes its rows, so that they can be counted. An empty list counts if the row count is 0, too:
 * later batches have retried all rows.
 */
const hasRows = (batch: Unchecked<Shape<'BulkBatchResponse'>>): boolean =>
  rowsOf(batch).length > 0 || (Array.isArray(batch.rows) && batch.row_count === 0);

/**
 * Batch columns. If the batch includes its rows, the counts come from the rows. A row whose key already had an order
 * counts as ordered, as everywhere else.
 */
export const countedColumns = batchColumns.map((column): Column<Shape<'BulkBatchResponse'>> => {
  const { name } = column;
  if (name === 'rows') return { ...column, value: (batch) => batch.row_count };
  if (name !== 'ordered' && name !== 'refused') return column;
  const reported = name === 'ordered' ? 'placed_count' : 'failed_count';
  return {
    ...column,
    value: (batch) => (hasRows(batch) ? tallyOf([batch])[name] : batch[reported]),
  };
});

/**
 * Batch columns for a TTY. A finished batch with refused rows is shown as bad. A completed batch has made its orders,
 * but does not tell how they ended.
 */
export const batchScreen: readonly Column<Shape<'BulkBatchResponse'>>[] = [
  ...countedColumns.slice(0, 1),
  {
    name: 'state',
    path: 'status',
    kind: 'status',
    weight: 9,
    value: (batch) => batchState(batch).text,
    mood: (batch) => batchState(batch).mood,
  },
  ...countedColumns.slice(2),
];

function batchState(batch: Unchecked<Shape<'BulkBatchResponse'>>): ShownState {
  const { status, failed_count: without, row_count: rows } = batch;
  const text = plainText(status);
  const isOver = status === 'completed' || status === 'failed';
  // Without its rows, a batch does not tell which rows were refused and how the orders of the other rows ended.
  const known = rowsOf(batch);
  if (hasRows(batch) && rows === 0) return { text: 'tried again', mood: 'past' };
  if (known.length > 0 && isOver) {
    const { refused, failed, withdrawn, before } = tallyOf([batch]);
    if (refused > 0)
      return { text: refused === rows ? 'refused' : `${countText(refused)} refused`, mood: 'bad' };
    if (failed > 0) return { text: `${countText(failed)} failed`, mood: 'bad' };
    if (withdrawn > 0) return { text: `${countText(withdrawn)} withdrawn`, mood: 'past' };
    return { text: before === known.length ? 'ordered before' : 'completed', mood: 'past' };
  }
  if (status === 'failed') return { text, mood: 'bad' };
  if (status !== 'completed') return { text, mood: 'waiting' };
  return typeof without === 'number' && without > 0
    ? { text: `${countText(without)} not placed`, mood: 'bad' }
    : { text, mood: 'past' };
}

/**
 * Other column names for listed batches. Such batches lack their rows, so rows whose keys already had an order count as
 * rows that made no order.
 */
const listNames: Readonly<Record<string, string | undefined>> = {
  ordered: 'new orders',
  refused: 'not placed',
};

/** Columns of the batch list, for scripts and for a TTY. */
export const batchList = {
  columns: batchColumns,
  screen: [
    ...batchScreen.slice(0, 2),
    ...batchColumns.slice(2).map((column) => ({ ...column, name: listNames[column.name] ?? column.name })),
  ],
} as const;
/** Columns for a list of batches that include their rows. */
export const wholeBatchList = { columns: batchColumns, screen: batchScreen } as const;

/** The displayed state for each row state. */
const rowStates: Readonly<Record<Exclude<RowState, 'withdrawn'>, ShownState>> = {
  waiting: { text: 'waiting', mood: 'waiting' },
  refused: { text: 'refused', mood: 'bad' },
  before: { text: 'ordered before', mood: 'past' },
  since: { text: 'ordered since', mood: 'past' },
  under_way: { text: 'in progress', mood: 'waiting' },
  // The batch does not tell what happens to an order after its placement.
  placed: { text: 'ordered', mood: 'past' },
  failed: { text: 'failed', mood: 'bad' },
  unknown: { text: 'unknown', mood: 'waiting' },
};

/** The displayed state of a row, as far as the row's batch tells. */
export function rowState(row: BatchRow, batch: { readonly status?: unknown }): ShownState {
  const state = stateOf(row, batch);
  if (state === 'withdrawn') return { text: `withdrawn: ${withdrawalOf(row)}`, mood: 'past' };
  const isCancelled = state === 'failed' && row.orderStatus?.startsWith('cancelled') === true;
  return isCancelled ? { text: spoken(row.orderStatus ?? ''), mood: 'bad' } : rowStates[state];
}

/** The rows of a batch, each with the state to display. */
const rowsWithStates = {
  name: 'rows in it',
  path: 'rows',
  value: (batch: Unchecked<Shape<'BulkBatchResponse'>>) =>
    rowsOf(batch).map((row) => ({ ...row.record, index: row.index, shown: rowState(row, batch) })),
} as const;

/** Batch columns for a TTY, with the state of each row. @param numberOf as in `batchDetailColumns`. */
export const batchDetailScreen = (
  numberOf: ((index: number) => number | undefined) | undefined,
  reasons: Reasons,
): readonly Column<Shape<'BulkBatchResponse'>>[] => [
  ...batchScreen,
  { name: 'notified', path: 'notified_at', kind: 'time', weight: 1 },
  {
    ...rowsWithStates,
    columns: [
      numberOf
        ? { name: 'row', path: 'index', weight: 10, value: (row) => numberOf(numberIn(row, 'index') ?? -1) }
        : { name: 'place', path: 'index', weight: 10, value: rowNumberIn },
      {
        name: 'state',
        path: 'shown.text',
        kind: 'status',
        weight: 9,
        minWidth: 21,
        mood: ({ shown }) => (shown as ShownState).mood,
      },
      { name: 'order', path: 'order_id', kind: 'id', names: 'orders', weight: 8 },
      { name: 'recipient', path: 'recipient', weight: 4 },
      {
        name: 'why',
        path: 'error',
        weight: 6,
        isProse: true,
        wraps: true,
        value: (row) => reasonOf(row, reasons),
      },
    ],
  },
];

const rowNumberIn = (row: Unchecked<Shape<'BulkRowResult'>>): number | undefined => {
  const index = numberIn(row, 'index');
  return index === undefined ? undefined : index + 1;
};

/**
 * Columns of a batch whose rows are in a table. @param numberOf returns a row's number in its file, if this machine
 * knows it.
 */
export const batchDetailColumns = (
  numberOf: ((index: number) => number | undefined) | undefined,
  reasons: Reasons,
): readonly Column<Shape<'BulkBatchResponse'>>[] => [
  ...rawBatchColumns.slice(0, -1),
  {
    ...rowsWithStates,
    columns: [
      numberOf
        ? { name: 'row', path: 'index', weight: 10, value: (row) => numberOf(numberIn(row, 'index') ?? -1) }
        : { name: 'place', path: 'index', weight: 10, value: rowNumberIn },
      { name: 'status', path: 'status', kind: 'status', weight: 9 },
      { name: 'order', path: 'order_id', kind: 'id', names: 'orders', weight: 8 },
      { name: 'order status', path: 'order_status', kind: 'status', weight: 7 },
      { name: 'state', path: 'shown.text', kind: 'status', weight: 9 },
      { name: 'recipient', path: 'recipient', weight: 4 },
      { name: 'why', path: 'error', weight: 6, isProse: true, value: (row) => reasonOf(row, reasons) },
    ],
  },
];

/** Columns of a batch as the service sent it. */
export const rawBatchColumns: readonly Column<Shape<'BulkBatchResponse'>>[] = [
  ...batchColumns,
  { name: 'notified', path: 'notified_at', kind: 'time', weight: 1 },
  { name: 'rows in it', path: 'rows' },
];

export const uploadedColumns: readonly Column[] = [
  { name: 'id', path: 'id', kind: 'id', names: 'batches', weight: 10 },
  { name: 'rows', path: 'rows', kind: 'count', weight: 9 },
  { name: 'existed', path: 'existed', kind: 'flag', weight: 8 },
];

interface Reason {
  readonly code: string;
  readonly message: string;
}

/** Failure reasons of the batches' orders, by order id. */
export type Reasons = ReadonlyMap<string, Reason>;

/** Maximum number of failed orders to search. */
const maxOrders = 20_000;

/** Fetches the failure reasons that the batches do not give. If a reason cannot be read, it stays unknown. */
export async function readReasons(context: Context, batches: Iterable<Batch>): Promise<Reasons> {
  const pending = new Set<string>();
  const since: string[] = [];
  for (const batch of batches)
    for (const row of rowsOf(batch)) {
      const isUnsaid = (row.error ?? '') === '' || isMet(row, batch);
      if (!isUnsaid || row.orderStatus !== 'order_failed' || row.orderId === undefined) continue;
      pending.add(row.orderId);
      // An order that already existed is older than the batch, so search without a start time.
      since.push(isMet(row, batch) ? '' : (textIn(batch, 'created_at') ?? ''));
    }
  const reasons = new Map<string, Reason>();
  if (pending.size === 0) return reasons;
  try {
    const client = await context.client();
    const [oldest = ''] = since.sort();
    const query = {
      status_filter: 'order_failed',
      ...(oldest !== '' && { created_after: oldest }),
      limit: 500,
    };
    let looked = 0;
    for await (const { rows } of pages(client, 'order.list', { query }, { all: true })) {
      for (const order of rows) {
        const id = plainText(order.id);
        if (!pending.delete(id)) continue;
        reasons.set(id, {
          code: plainText(valueAt<Order>(order, 'job_result.error_type')),
          message: failureText(order),
        });
      }
      looked += rows.length;
      if (pending.size === 0 || looked >= maxOrders) break;
    }
  } catch (error) {
    // Ignore the error, because the result is complete even without reasons.
    if (!(error instanceof ErrandError) || context.signal.aborted) throw error;
  }
  return reasons;
}

/** Why a row failed, as its batch or order says: `out_of_stock: …`; empty if neither says why. */
export function reasonOf(
  { error, order_id: id, order_status: status }: Readonly<Record<string, unknown>>,
  reasons: Reasons,
): string {
  const reported = plainText(error);
  const reason = reasons.get(plainText(id));
  // The failure reason of an existing order is more informative than the fact that the order exists.
  if (reported !== '' && !(reason && reported.startsWith('already_exists'))) return reported;
  if (reason === undefined && plainText(status).startsWith('cancelled')) return plainText(status);
  return reason === undefined ? '' : [reason.code, reason.message].filter((part) => part !== '').join(': ');
}

/** Extracts the leading code of a reason, such as `max_price_exceeded`. */
export const codeOfReason = (text: string): string | undefined => /^[a-z][a-z0-9_]*(?=:|$)/.exec(text)?.[0];

/** Formats `40 max_price_exceeded, 11 out_of_stock`: the leading codes of texts, most frequent first. */
export function countedReasons(texts: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const text of texts) {
    const code = codeOfReason(text) ?? 'without a reason';
    counts.set(code, (counts.get(code) ?? 0) + 1);
  }
  return [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([code, count]) => `${countText(count)} ${code}`)
    .join(', ');
}
