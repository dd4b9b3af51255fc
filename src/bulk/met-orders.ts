import type { Context } from '../run/context.ts';
import { earlierOrder } from './attempts.ts';
import { type Batch, rowsOf } from './batch.ts';
import { readOrders } from './report/read-orders.ts';

/** Orders by their ids, as far as they are known. */
type KnownOrders = ReadonlyMap<string, { readonly status: string }>;

/** The orders that rows of batches met, as far as the batches do not say how they stand. */
export const metOrders = (batches: readonly Batch[]): string[] =>
  batches.flatMap((batch) =>
    rowsOf(batch).flatMap((row) => (row.orderStatus === undefined ? (earlierOrder(row, batch) ?? []) : [])),
  );

/** Batches whose rows have the status of their orders, of those too that they met: how a row stands follows from it. Pure. */
export const withOrders = (batches: readonly Batch[], orders: KnownOrders): Batch[] =>
  batches.map((batch) => {
    const rows = rowsOf(batch).map((row) => {
      const id = row.orderId ?? earlierOrder(row, batch);
      const order = id === undefined ? undefined : orders.get(id);
      return order ? { ...row.record, order_id: id, order_status: order.status } : row.record;
    });
    // Only ids and statuses of orders were added to what the service sent.
    return { ...batch, rows } as Batch;
  });

/** The same, with the orders that rows met as they are now. @throws ErrandError where they cannot be read. */
export async function withMetOrders(context: Context, batches: readonly Batch[]): Promise<Batch[]> {
  const others = metOrders(batches);
  if (others.length === 0) return [...batches];
  return withOrders(batches, await readOrders(context, { batches: [], others, feeCents: undefined }));
}
