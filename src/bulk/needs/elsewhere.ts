import { pages } from '../../http/paging.ts';
import { metadataOf, referenceIn, referenceKey } from '../../orders/needs/reference.ts';
import { listedByReference, ordersOf, type SeenOrder, seeListed } from '../../orders/needs/service-orders.ts';
import type { Context } from '../../run/context.ts';
import { readOrders } from '../report/read-orders.ts';
import {
  type Batch,
  type BatchRow,
  isFailed,
  LaterAttempt,
  type LaterAttempts,
  orderOfAttempt,
  outcomeOf,
  rowName,
  rowsOf,
} from '../upload/batch.ts';
import { maxByReference } from './reference-look.ts';

/** A row that another machine sent, and the reference of the row's order. */
interface ReferencedRow {
  readonly batch: Batch;
  readonly row: BatchRow;
  readonly orderId: string;
  /** The reference, in the form in which metadata holds it. */
  readonly reference: string;
  /** When the row's order was made, ms since the epoch. */
  readonly madeAt: number;
}

/**
 * Finds later attempts at rows that other machines sent. Searches by the references of the rows' orders. Stores
 * nothing. @param batches are the batches that are reported. @throws ErrandError.
 */
export async function attemptsElsewhere(
  context: Context,
  batches: readonly Batch[],
  ended: readonly { readonly batch: Batch; readonly rows: readonly BatchRow[] }[],
): Promise<LaterAttempts> {
  const rows = await referencedRows(context, ended);
  const later = new Map<string, LaterAttempt>();
  if (rows.length === 0) return later;
  const byReference = await ordersListed(context, rows);
  const reported = new Map(
    batches.flatMap((batch) =>
      rowsOf(batch).flatMap((row) => {
        const id = orderOfAttempt(row, batch)?.toLowerCase();
        return id === undefined ? [] : [[id, { batchId: batch.id, index: row.index }] as const];
      }),
    ),
  );
  for (const row of rows) {
    const own = row.orderId.toLowerCase();
    const others = (byReference.get(row.reference) ?? []).filter(
      ({ order }) => order.id.toLowerCase() !== own,
    );
    const found = others.find(({ state }) => state === 'placed') ?? lastAfter(row, others);
    if (!found) continue;
    const { id } = found.order;
    const between = others.filter((one) => one.madeAt > row.madeAt && one.madeAt < found.madeAt);
    const rowOf = (orderId: string) => reported.get(orderId.toLowerCase());
    later.set(
      rowName(row.batch.id, row.row.index),
      new LaterAttempt({
        ...{ ...outcomeOf(found.state), orderId: id, serial: undefined, upload: undefined },
        after: isFailed(row.row, row.batch) ? 'failed' : 'withdrawn',
        isFromElsewhere: true,
        row: rowOf(id),
        between: between.map(({ order }) => ({ orderId: order.id, row: rowOf(order.id) })),
      }),
    );
  }
  return later;
}

const lastAfter = ({ madeAt }: ReferencedRow, orders: readonly SeenOrder[]): SeenOrder | undefined =>
  orders
    .filter((one) => one.madeAt > madeAt)
    .toSorted((one, other) => one.madeAt - other.madeAt)
    .at(-1);

async function referencedRows(
  context: Context,
  ended: readonly { readonly batch: Batch; readonly rows: readonly BatchRow[] }[],
): Promise<ReferencedRow[]> {
  const rows = ended.flatMap(({ batch, rows: some }) =>
    some.flatMap((row) => {
      const orderId = orderOfAttempt(row, batch);
      return orderId === undefined ? [] : { batch, row, orderId };
    }),
  );
  const others = rows.map(({ orderId }) => orderId);
  const orders = await readOrders(context, { batches: [], others, feeCents: undefined });
  return rows.flatMap((row) => {
    const order = orders.get(row.orderId);
    const reference = referenceIn(order?.metadata);
    const madeAt = Date.parse(order?.createdAt ?? '') || 0;
    return reference ? { ...row, reference: metadataOf(reference), madeAt } : [];
  });
}

/** Lists the orders that the service has for the references of rows, grouped by reference. */
async function ordersListed(
  context: Context,
  rows: readonly ReferencedRow[],
): Promise<ReadonlyMap<string, readonly SeenOrder[]>> {
  const client = await context.client();
  const references = new Set(rows.map(({ reference }) => reference));
  const found = new Map<string, SeenOrder[]>();
  if (references.size <= maxByReference) {
    const list = listedByReference(client);
    for (const { reference } of rows) {
      const named = referenceIn({ [referenceKey]: reference });
      if (named && !found.has(reference)) found.set(reference, [...(await ordersOf(client, list, named))]);
    }
    return found;
  }
  const since = Math.min(...rows.map(({ madeAt }) => madeAt));
  const query = since > 0 ? { created_after: new Date(since - 1000).toISOString() } : {};
  for await (const { rows: page } of pages(client, 'order.list', { query }, { all: true }))
    for (const order of page) {
      const reference = referenceIn(order.metadata);
      const { id, status } = order;
      if (!reference || typeof id !== 'string' || typeof status !== 'string') continue;
      const text = metadataOf(reference);
      if (!references.has(text)) continue;
      const seen = await seeListed(client, { ...order, id, status });
      const known = found.get(text);
      if (known) known.push(seen);
      else found.set(text, [seen]);
    }
  return found;
}
