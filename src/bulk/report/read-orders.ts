import { textIn } from '../../api/json.ts';
import { plainText } from '../../format/path.ts';
import type { Client, QueryOf } from '../../http/client.ts';
import { pages, rowsOfPage } from '../../http/paging.ts';
import { hasId } from '../../orders/order-record.ts';
import { Deadline } from '../../platform/clock.ts';
import type { Context } from '../../run/context.ts';
import { type Batch, rowsOf } from '../upload/batch.ts';
import { factsOf, type OrderFacts } from './rows.ts';

/** The period in which orders were created, in ms since the epoch. */
interface Window {
  readonly from: number;
  readonly to: number;
}

/** Tolerated difference between the clocks of the service's machines, in ms. */
const earlierMs = 60_000;
/** Maximum time in ms between the last update of a completed batch and the creation of its last order. */
const laterMs = 3600_000;
/** Maximum value of a Date, in ms since the epoch. */
const latestMs = 8.64e15;
/** Maximum number of orders to search for orders outside their batch's time window. */
const maxOutsideWindow = 20_000;
/** Maximum number of orders that are fetched by id, one request each. */
const maxById = 20;

/**
 * Reads orders from paged lists, and extracts what a report needs. @param others lists the ids of further orders, which
 * these batches have not created. @returns the orders found, by id. @throws ErrandError.
 */
export async function readOrders(
  context: Context,
  {
    batches,
    others,
    feeCents,
  }: {
    readonly batches: readonly Batch[];
    readonly others: readonly string[];
    readonly feeCents: number | undefined;
  },
): Promise<Map<string, OrderFacts>> {
  const remaining = new Set(
    batches.flatMap((batch) => rowsOf(batch).flatMap(({ orderId }) => orderId ?? [])),
  );
  const windows = windowsOf(batches);
  const found = new Map<string, OrderFacts>();
  const total = new Set([...remaining, ...others]).size;
  if (total === 0) return found;
  const client = await context.client();
  const deadline = new Deadline(context.clock, context.waitMs());
  const progress = await context.progress({
    label: 'reading orders',
    total,
    unit: 'orders',
    now: context.clock.monotonic,
  });
  try {
    for (const { from, to } of windows)
      await search({
        ...(from > 0 && { created_after: new Date(from).toISOString() }),
        ...(to < Number.POSITIVE_INFINITY && { created_before: new Date(to).toISOString() }),
      });
    for (const id of others) if (!found.has(id)) remaining.add(id);
    if (remaining.size > maxById) await search({}, maxOutsideWindow);
    for (const id of [...remaining].slice(0, maxById)) await search({ order_id: id }, 1);
  } finally {
    progress.end();
  }
  return found;

  /** Pages through the results of a query until all wanted orders are found. */
  async function search(query: QueryOf<'order.list'>, limit = Number.POSITIVE_INFINITY): Promise<void> {
    let looked = 0;
    if (remaining.size === 0) return;
    for await (const page of listOrders(client, query, deadline)) {
      for (const order of rowsOfPage(page)) {
        const id = plainText(order.id);
        if (!remaining.delete(id)) continue;
        found.set(id, factsOf(hasId(order) ? order : { ...order, id }, feeCents));
      }
      progress.update(found.size);
      looked += page.count;
      if (remaining.size === 0 || looked >= limit) return;
    }
  }
}

/** Lists orders with their parcels, which an order's state depends on. */
const listOrders = (client: Client, query: QueryOf<'order.list'>, deadline: Deadline) =>
  pages(
    client,
    'order.list',
    { query: { include: ['tracking_events'], ...query } },
    { all: true, asSent: true, deadline },
  );

/** Time windows in which the orders of the batches were created. Merges overlapping windows. Pure. */
export function windowsOf(batches: readonly Batch[]): Window[] {
  const spans = batches
    .filter((batch) => rowsOf(batch).some(({ orderId }) => orderId !== undefined))
    .map(windowOf)
    .sort((one, other) => one.from - other.from);
  const merged: Window[] = [];
  for (const span of spans) {
    const last = merged.at(-1);
    if (last && span.from <= last.to)
      merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, span.to) };
    else merged.push(span);
  }
  return merged;
}

function windowOf(batch: Batch): Window {
  const [created, updated] = ['created_at', 'updated_at'].map((name) =>
    Date.parse(textIn(batch, name) ?? ''),
  );
  const isOver = batch.status === 'completed' || batch.status === 'failed';
  const [from, to] = [(created ?? 0) - earlierMs, (updated ?? 0) + laterMs];
  return {
    from: from > 0 ? from : 0,
    to: isOver && to > from && to < latestMs ? to : Number.POSITIVE_INFINITY,
  };
}
