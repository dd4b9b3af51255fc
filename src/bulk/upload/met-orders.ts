import type { Reference } from '../../journal/attempts.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import { referenceHeading, referenceIn, referenceKey } from '../../orders/needs/reference.ts';
import { listedByReference } from '../../orders/needs/service-orders.ts';
import type { Context } from '../../run/context.ts';
import { readOrders } from '../report/read-orders.ts';
import { type Batch, type BatchRow, earlierOrder, isMet, orderOfAttempt, rowsOf, withRows } from './batch.ts';
import { findJournaledRows } from './uploaded-rows.ts';

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
 * Adds the ids of orders that rows already had. Where the service does not give an id, finds the order by the row's
 * reference, if this machine uploaded the batch. @throws ErrandError if the orders cannot be listed.
 */
export async function withNamedOrders(context: Context, batches: readonly Batch[]): Promise<Batch[]> {
  const named: Batch[] = [];
  for (const batch of batches) {
    const orders = new Map<number, string>();
    for (const { index, reference } of await unnamedRows(context, batch)) {
      const [id] = await listedByReference(await context.client()).idsOf(reference);
      if (id !== undefined) orders.set(index, id);
    }
    named.push(
      withRows(batch, ({ index, record }) =>
        orders.has(index) ? { ...record, order_id: orders.get(index) } : undefined,
      ),
    );
  }
  return named;
}

/** Whether a row's key already had an order, and it is not known which. */
export const isUnnamed = (row: BatchRow, batch: Batch): boolean =>
  row.later === undefined && isMet(row, batch) && orderOfAttempt(row, batch) === undefined;

/** Rows whose key already had an order that the service does not name, with their references. */
async function unnamedRows(
  context: Context,
  batch: Batch,
): Promise<{ readonly index: number; readonly reference: Reference }[]> {
  const unnamed = rowsOf(batch).filter((row) => isUnnamed(row, batch));
  if (unnamed.length === 0 || !journalExists(context.settings)) return [];
  const uploaded = await findJournaledRows(context, batch);
  return unnamed.flatMap(({ index }) => {
    const reference = referenceIn({ [referenceKey]: uploaded?.rows[index]?.[referenceHeading] });
    return reference ? [{ index, reference }] : [];
  });
}

/**
 * Fetches the current status of orders that already existed, and adds it to their rows. @throws ErrandError if a status
 * cannot be read.
 */
export async function withMetOrders(context: Context, batches: readonly Batch[]): Promise<Batch[]> {
  const named = await withNamedOrders(context, batches);
  const others = metOrders(named);
  if (others.length === 0) return named;
  return withOrders(named, await readOrders(context, { batches: [], others, feeCents: undefined }));
}
