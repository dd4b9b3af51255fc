import type { Context } from '../../run/context.ts';
import { readOrders } from '../report/read-orders.ts';
import { type Batch, earlierOrder, rowsOf, withRows } from './batch.ts';

/** Orders by id, as far as they are known. */
type KnownOrders = ReadonlyMap<string, { readonly status: string }>;

/** Ids of the existing orders that rows' keys already had and whose status the batches do not give. */
export const metOrders = (batches: readonly Batch[]): string[] =>
  batches.flatMap((batch) =>
    rowsOf(batch).flatMap((row) => (row.orderStatus === undefined ? (earlierOrder(row, batch) ?? []) : [])),
  );

/**
 * Adds order ids and statuses to the rows of batches, because a row's state depends on them. Includes orders that
 * already existed. Pure.
 */
export const withOrders = (batches: readonly Batch[], orders: KnownOrders): Batch[] =>
  batches.map((batch) =>
    withRows(batch, (row) => {
      const id = row.orderId ?? earlierOrder(row, batch);
      const order = id === undefined ? undefined : orders.get(id);
      const isSaid = id === row.orderId && order?.status === row.orderStatus;
      return order && !isSaid ? { ...row.record, order_id: id, order_status: order.status } : undefined;
    }),
  );

/**
 * Fetches the current status of orders that already existed, and adds it to their rows. @throws ErrandError if a status
 * cannot be read.
 */
export async function withMetOrders(context: Context, batches: readonly Batch[]): Promise<Batch[]> {
  const others = metOrders(batches);
  if (others.length === 0) return [...batches];
  return withOrders(batches, await readOrders(context, { batches: [], others, feeCents: undefined }));
}
