import { createHash } from 'node:crypto';
import { walletTerms } from '../orders/create.ts';
import type { OrderBody } from '../orders/lifecycle/types.ts';
import { ErrorResponse } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import type { Store, StoredRow } from '../store/store.ts';
import { lowerCeiling, requireFunds, walletOf } from '../wallet/wallet.ts';
import type { CheckedRow } from './check-rows.ts';
import { insertBatch } from './records.ts';

interface Failed {
  readonly row: StoredRow;
  readonly order: OrderBody;
  /** The idempotency key with which a retry places the row's order. */
  readonly key: string;
}

/**
 * The rows of a batch that a retry would place. These rows are valid orders, but were not placed or became orders that
 * failed. Leaves out rows that a retry has already placed. @param limit maximum number of rows examined; default: all.
 */
function failedRows(store: Store, { id, seq, user_id }: StoredRow, limit = -1): Failed[] {
  const isTaken = (key: string): boolean =>
    store.get('SELECT 1 FROM orders WHERE user_id = ? AND idempotency_key = ?', String(user_id), key) !==
    undefined;
  return store
    .all(
      `SELECT r.* FROM batch_rows r LEFT JOIN orders o ON o.seq = r.order_seq
       WHERE r.batch_seq = ? AND r.body IS NOT NULL AND (r.error IS NOT NULL OR o.status = 'order_failed')
       ORDER BY r.place LIMIT ?`,
      Number(seq),
      limit,
    )
    .map((row) => {
      // This cast is safe because the column was written from a validated body.
      const order = JSON.parse(String(row.body)) as OrderBody;
      return { row, order, key: keyOf(String(id), row, order) };
    })
    .filter(({ key }) => !isTaken(key));
}

/** Finds any user's batch by id. */
const batchOf = (store: Store, id: string): StoredRow | undefined =>
  store.get('SELECT id, seq, user_id, filename FROM batches WHERE id = ?', id);

/** Among the first `limit` failed rows of a batch, counts the rows that a retry would place. */
export const retryableCount = (store: Store, id: string, limit: number): number =>
  store.cached(`retryable of ${id}`, () => {
    const batch = batchOf(store, id);
    return batch ? failedRows(store, batch, limit).length : 0;
  });

/**
 * Places the failed rows of a batch again, unchanged, in a new batch. The batch may belong to any user. Each row's key
 * is derived from the row, so that repeated retries place each row only once.
 * @param newId id of the new batch; passing the same id twice creates only one batch. @throws Refusal not_found;
 * bad_request if no row has failed; insufficient_funds.
 */
export function retryFailed(service: Service, id: string, newId: string, now: number): Promise<void> {
  const { store, idGenerator, config } = service;
  return store.transaction(() => {
    if (store.get('SELECT 1 FROM batches WHERE id = ?', newId)) return;
    const batch = batchOf(store, id);
    if (!batch) throw new ErrorResponse('not_found', `There is no batch ${id}.`, { resource: 'batch' });
    const failed = failedRows(store, batch);
    if (failed.length === 0)
      throw new ErrorResponse('bad_request', 'No row of this batch has failed that could be placed again.');
    const rows = failed.map((one, index) => again(one, index, config.orderFeeCents));
    const userId = String(batch.user_id);
    const required = rows.reduce((sum, { cents }) => sum + cents, 0);
    requireFunds(walletOf(store, userId).spendable, required, [lowerCeiling]);
    const filename = batch.filename === null ? null : String(batch.filename);
    const upload = { filename, notify_on_complete: false };
    insertBatch(store, idGenerator, { userId, upload, rows, now, speed: config.speed, newId });
  });
}

function again({ row, order, key }: Failed, index: number, feeCents: number): CheckedRow {
  const body: OrderBody = { ...order, idempotency_key: key };
  return {
    shown: {
      index,
      ok: true,
      errors: [],
      product_urls: JSON.parse(String(row.product_urls)),
      quantities: order.products.map(({ quantity }) => quantity),
      recipient: row.recipient === null ? null : String(row.recipient),
      destination: null,
      max_price: order.max_price,
      retailer_credentials_id: order.retailer_credentials_id ?? null,
      passthrough: JSON.parse(String(row.passthrough)),
    },
    body,
    cents: walletTerms(body, feeCents).reserved,
  };
}

/**
 * A row without an order keeps its own key, so an existing order with that key is not duplicated. A row whose order
 * failed gets a newly derived key, because its own key is already used.
 */
const keyOf = (
  batchId: string,
  { place, order_id }: StoredRow,
  { idempotency_key: own }: OrderBody,
): string =>
  order_id === null && own != null
    ? own
    : createHash('sha256').update(`retry of row ${place} of batch ${batchId}`).digest('hex').slice(0, 36);
