import { textIn } from '../../api/json.ts';
import { plainText } from '../../format/path.ts';
import type { Client, QueryOf } from '../../http/client.ts';
import { pages } from '../../http/paging.ts';
import { Deadline } from '../../platform/clock.ts';
import type { Context } from '../../run/context.ts';
import { type Batch, rowsOf } from '../upload/batch.ts';
import { factsOf, type OrderFacts } from './rows.ts';

/** When orders were created, ms since the epoch. */
interface Window {
  readonly from: number;
  readonly to: number;
}

/** The clocks of a service's machines need not agree to the second, ms. */
const earlierMs = 60_000;
/** The last order of a batch that is completed was created by then, ms. */
const laterMs = 3600_000;
/** No date is later, ms since the epoch. */
const latestMs = 8.64e15;
/** Orders that are looked through where those of a batch were not created in its time. */
const mostElsewhen = 20_000;
/** As few as this are looked up by their ids, a request each. */
const mostById = 20;

/**
 * Reads the orders of batches, and others that were named, in pages of a list, and keeps what a report says of them.
 * @param others ids of orders that none of the batches made. @returns what was found, by id. @throws ErrandError.
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
  const wanted = new Set(batches.flatMap((batch) => rowsOf(batch).flatMap(({ orderId }) => orderId ?? [])));
  const windows = windowsOf(batches);
  const found = new Map<string, OrderFacts>();
  const total = new Set([...wanted, ...others]).size;
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
      await look({
        ...(from > 0 && { created_after: new Date(from).toISOString() }),
        ...(to < Number.POSITIVE_INFINITY && { created_before: new Date(to).toISOString() }),
      });
    for (const id of others) if (!found.has(id)) wanted.add(id);
    if (wanted.size > mostById) await look({}, mostElsewhen);
    for (const id of [...wanted].slice(0, mostById)) await look({ order_id: id }, 1);
  } finally {
    progress.end();
  }
  return found;

  /** Goes through the orders of a query as long as one that is wanted is missing. */
  async function look(query: QueryOf<'order.list'>, most = Number.POSITIVE_INFINITY): Promise<void> {
    let looked = 0;
    if (wanted.size === 0) return;
    for await (const rows of listed(client, query, deadline)) {
      for (const order of rows) {
        const id = plainText(order.id);
        if (wanted.delete(id)) found.set(id, factsOf({ ...order, id }, feeCents));
      }
      progress.update(found.size);
      looked += rows.length;
      if (wanted.size === 0 || looked >= most) return;
    }
  }
}

/** The parcels of an order decide on its state: they come with it. */
async function* listed(client: Client, query: QueryOf<'order.list'>, deadline: Deadline) {
  const asked = { include: ['tracking_events'] as const, ...query };
  for await (const { rows } of pages(client, 'order.list', { query: asked }, { all: true, deadline }))
    yield rows;
}

/** When the orders of batches were created; spans of time that touch are one. Pure. */
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
