import { contentIn } from '../../format/canonical-need.ts';
import type { Client } from '../../http/client.ts';
import { pages } from '../../http/paging.ts';
import type { AttemptChange, AttemptScope } from '../../journal/attempts.ts';
import { OrderMirror } from '../../journal/order-mirror.ts';
import { needOf } from '../../orders/needs/need.ts';
import { metadataOf, referenceIn, referenceKey } from '../../orders/needs/reference.ts';
import {
  listedByReference,
  ordersOf,
  type SeenOrder,
  seeListed,
  seeOrder,
} from '../../orders/needs/service-orders.ts';
import type { OrderRecord } from '../../orders/order-record.ts';
import type { Context } from '../../run/context.ts';
import type { AttemptStore } from './batch-outcome.ts';

/** Maximum number of references that are queried one by one. For more references, the whole order list is read. */
export const maxByReference = 20;

/** Maximum number of orders that are read one by one. */
const maxById = 20;

/**
 * Time in ms by which the next reading overlaps the last one. The service's list may lag, and keys are forgotten after
 * a day.
 */
const overlapMs = 25 * 3600 * 1000;

/** Maximum number of orders per chunk. */
const atOnce = 500;

/**
 * Reads the orders that the service has for references, including orders made on other machines. @param references have
 * the form in which metadata holds them. @throws ErrandError if the service cannot be queried. Nothing may be sent
 * then.
 */
export async function* ordersFor(
  context: Context,
  { scope }: Pick<AttemptStore, 'scope'>,
  references: ReadonlySet<string>,
): AsyncGenerator<readonly SeenOrder[]> {
  const client = await context.client();
  if (references.size <= maxByReference) {
    const list = listedByReference(client);
    for (const text of references) {
      const reference = referenceIn({ [referenceKey]: text });
      if (reference) yield await ordersOf(client, list, reference);
    }
    return;
  }
  const mirror = await OrderMirror.open(context.settings.folders.state);
  try {
    const progress = await context.progress({
      label: 'looking for orders',
      unit: 'orders',
      now: context.clock.monotonic,
    });
    try {
      await continueMirror(context, client, { mirror, scope, report: (count) => progress.update(count) });
    } finally {
      progress.end();
    }
    const found = mirror.having(scope, [...references]);
    const [first] = found;
    yield* readOrders(client, new Set(found.map(({ id }) => id)), first?.madeAt ?? 0);
  } finally {
    await mirror.close();
  }
}

/** Reads the orders that were added to the list since it was last read, page by page. */
async function continueMirror(
  { serviceClock, signal }: Pick<Context, 'serviceClock' | 'signal'>,
  client: Client,
  {
    mirror,
    scope,
    report,
  }: {
    readonly mirror: OrderMirror;
    readonly scope: AttemptScope;
    readonly report: (orders: number) => void;
  },
): Promise<void> {
  const begunAt = serviceClock.now();
  const mark = mirror.mark(scope);
  const query = mark === undefined ? {} : { created_after: new Date(mark - overlapMs).toISOString() };
  let read = 0;
  for await (const { rows } of pages(client, 'order.list', { query }, { all: true })) {
    signal.throwIfAborted();
    const named = rows.flatMap(({ id, metadata, created_at: at }) => {
      const reference = referenceIn(metadata);
      return typeof id === 'string' && reference
        ? { id, reference: metadataOf(reference), madeAt: Date.parse(String(at)) || 0 }
        : [];
    });
    await mirror.add(scope, named);
    read += rows.length;
    report(read);
  }
  await mirror.setMark(scope, begunAt);
}

/**
 * Reads orders by id. If there are many, reads them from the list page by page. @param since is when the first of the
 * orders was made, ms since the epoch.
 */
async function* readOrders(
  client: Client,
  ids: Set<string>,
  since: number,
): AsyncGenerator<readonly SeenOrder[]> {
  if (ids.size > maxById) {
    const query = since > 0 ? { created_after: new Date(since - 1000).toISOString() } : {};
    for await (const { rows } of pages(client, 'order.list', { query }, { all: true })) {
      const seen: SeenOrder[] = [];
      for (const order of rows) {
        const { id, status } = order;
        if (typeof id !== 'string' || typeof status !== 'string' || !ids.delete(id)) continue;
        seen.push(await seeListed(client, { ...order, id, status }));
      }
      if (seen.length > 0) yield seen;
      if (ids.size === 0) return;
    }
  }
  let seen: SeenOrder[] = [];
  for (const id of ids) {
    const one = await seeOrder(client, id);
    if (one) seen.push(one);
    if (seen.length < atOnce) continue;
    yield seen;
    seen = [];
  }
  yield seen;
}

/** Saves orders of the service as attempts. @returns the orders with the serials of their attempts. */
export async function recordOrders(
  { serviceClock }: Pick<Context, 'serviceClock'>,
  { attempts, scope }: Pick<AttemptStore, 'attempts' | 'scope'>,
  orders: readonly SeenOrder[],
): Promise<readonly { readonly serial: number; readonly order: OrderRecord }[]> {
  const seenAt = serviceClock.now();
  const changes: (AttemptChange & { readonly order: OrderRecord })[] = [];
  const needs = orders.map(({ order }) => {
    const reference = referenceIn(order.metadata);
    const content = contentIn(order, 'items');
    return content ? needOf(content, reference) : { reference, products: [], recipient: '' };
  });
  const written = await attempts.claim(scope, needs, (related, at) => {
    const found = orders[at];
    if (!found) return undefined;
    const { order, state, madeAt } = found;
    const id = order.id.toLowerCase();
    const known = related.filter(({ orderId }) => orderId?.toLowerCase() === id);
    changes.push(...known.map(({ serial }) => ({ serial, state, madeAt, seenAt, order })));
    if (known.length > 0) return undefined;
    // The service does not reveal the idempotency key, so the order's id takes its place.
    const made = { run: undefined, number: 1, key: order.id, operation: 'order.create', upload: undefined };
    return { ...made, orderId: order.id, state, madeAt, seenAt };
  });
  await attempts.change(changes);
  const made = written.flatMap((serial, at) => {
    const order = orders[at]?.order;
    return serial !== undefined && order ? { serial, order } : [];
  });
  return [...changes, ...made];
}
