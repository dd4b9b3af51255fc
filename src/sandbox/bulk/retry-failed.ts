import { createHash } from 'node:crypto';
import { walletTerms } from '../orders/create.ts';
import type { OrderBody } from '../orders/lifecycle/types.ts';
import { Refusal } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import type { Store, StoredRow } from '../store/store.ts';
import { lowerCeiling, requireFunds, walletOf } from '../wallet/wallet.ts';
import type { CheckedRow } from './check-rows.ts';
import { insertBatch } from './records.ts';

interface Failed {
  readonly row: StoredRow;
  readonly order: OrderBody;
  /** Of the order that a retry makes of the row. */
  readonly key: string;
}

/**
 * The rows of a batch that became no order, or an order that failed, and that no retry has placed; not those that never
 * were orders. @param most looked at; all of them without it.
 */
function failedRows(store: Store, { id, seq, user_id }: StoredRow, most = -1): Failed[] {
  const isTaken = (key: string): boolean =>
    store.get('SELECT 1 FROM orders WHERE user_id = ? AND idempotency_key = ?', String(user_id), key) !==
    undefined;
  return store
    .all(
      `SELECT r.* FROM batch_rows r LEFT JOIN orders o ON o.seq = r.order_seq
       WHERE r.batch_seq = ? AND r.body IS NOT NULL AND (r.error IS NOT NULL OR o.status = 'order_failed')
       ORDER BY r.place LIMIT ?`,
      Number(seq),
      most,
    )
    .map((row) => {
      // The column was written from a checked body.
      const order = JSON.parse(String(row.body)) as OrderBody;
      return { row, order, key: keyOf(String(id), row, order) };
    })
    .filter(({ key }) => !isTaken(key));
}

/** The batch of an id, whoever uploaded it. */
const batchOf = (store: Store, id: string): StoredRow | undefined =>
  store.get('SELECT id, seq, user_id, filename FROM batches WHERE id = ?', id);

/** How many rows of a batch a retry would place, of the first `most` that failed. */
export const retryableCount = (store: Store, id: string, most: number): number =>
  store.cached(`retryable of ${id}`, () => {
    const batch = batchOf(store, id);
    return batch ? failedRows(store, batch, most).length : 0;
  });

/**
 * Places the failed rows of anyone's batch again, as they were, in a new batch. Each row's order has a key that follows
 * from the row, so that it is placed once, however often its batch is retried.
 * @param newId of the new batch: who gives the same twice makes one. @throws Refusal not_found, bad_request where no row
 * has failed, insufficient_funds.
 */
export function retryFailed(service: Service, id: string, newId: string, now: number): Promise<void> {
  const { store, identity, config } = service;
  return store.transaction(() => {
    if (store.get('SELECT 1 FROM batches WHERE id = ?', newId)) return;
    const batch = batchOf(store, id);
    if (!batch) throw new Refusal('not_found', `There is no batch ${id}.`, { resource: 'batch' });
    const failed = failedRows(store, batch);
    if (failed.length === 0)
      throw new Refusal('bad_request', 'No row of this batch has failed that could be placed again.');
    const rows = failed.map((one, index) => again(one, index, config.orderFeeCents));
    const userId = String(batch.user_id);
    const required = rows.reduce((sum, { cents }) => sum + cents, 0);
    requireFunds(walletOf(store, userId).spendable, required, [lowerCeiling]);
    const filename = batch.filename === null ? null : String(batch.filename);
    const upload = { filename, notify_on_complete: false };
    insertBatch(store, identity, { userId, upload, rows, now, speed: config.speed, newId });
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
 * A row that became no order keeps its own key: where that key has an order already, this is no other one. The key of an
 * order that failed is taken.
 */
const keyOf = (
  batchId: string,
  { place, order_id }: StoredRow,
  { idempotency_key: own }: OrderBody,
): string =>
  order_id === null && own != null
    ? own
    : createHash('sha256').update(`retry of row ${place} of batch ${batchId}`).digest('hex').slice(0, 36);
