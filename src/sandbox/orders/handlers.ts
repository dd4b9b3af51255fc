import { withRefunds } from '../payments/refunds.ts';
import type { AllHandlers, Call, QueryOf } from '../server/handler.ts';
import { Refusal } from '../server/refusal.ts';
import type { Store } from '../store/store.ts';
import { cancelOrder } from './cancel.ts';
import { acceptOrder } from './create.ts';
import { csvOf } from './export.ts';
import { milestones, type OrderRecord, publicTracking, testProductsResponse } from './lifecycle/index.ts';
import { eachOrder, listOrders } from './list.ts';
import { findOrder, type StoredOrder } from './records.ts';

export const orderHandlers = {
  'order.create': async (service, { caller, body, now }) => ({
    text: await acceptOrder(service, caller, body, now),
  }),

  'order.list': ({ store }, { caller, query }) => {
    const { texts, total } = listOrders(store, caller.userId, query);
    const { limit, offset } = query;
    return {
      text: `{"orders":[${texts.join(',')}],"total":${total},"limit":${limit},"offset":${offset}}`,
      count: texts.length,
    };
  },

  'order.export': ({ store }, { caller, query }) => ({
    csv: csvOf(records(store, caller.userId, query)),
    filename: 'orders.csv',
  }),

  'order.testProducts': ({ config }) => ({ value: testProductsResponse(config.shopUrl) }),

  'order.get': ({ store }, call) => {
    const { record } = ownOrder(store, call);
    if (call.caller.orderId === null) return { text: JSON.stringify(record) };
    const paid = withRefunds(store, record);
    return { text: JSON.stringify(paid.record), headers: paid.headers };
  },

  'order.timeline': ({ store }, call) => ({ value: milestones(ownOrder(store, call).record) }),

  'order.cancel': async (service, { path, caller, now }) => {
    await cancelOrder(service, { id: path.order_id, userId: caller.userId }, now);
    return { empty: true };
  },

  'order.track': ({ store }, { path }) => {
    const order = findOrder(store, path.order_id, null);
    if (!order) throw notFound(path.order_id, { vary: 'Accept' });
    // A browser gets a page at this path.
    return { value: publicTracking(order.record), headers: { vary: 'Accept' } };
  },
} satisfies Partial<AllHandlers>;

async function* records(
  store: Store,
  userId: string,
  query: QueryOf<'order.export'>,
): AsyncGenerator<OrderRecord[]> {
  for await (const rows of eachOrder(store, userId, query))
    yield rows.map((row) => JSON.parse(String(row.listed)));
}

function ownOrder(store: Store, { path, caller }: Pick<Call<'order.get'>, 'path' | 'caller'>): StoredOrder {
  const order = findOrder(store, path.order_id, caller.userId);
  if (!order || (caller.orderId !== null && caller.orderId !== order.record.id))
    throw notFound(path.order_id);
  return order;
}

const notFound = (id: string, headers = {}): Refusal =>
  new Refusal('not_found', `There is no order ${id}.`, { resource: 'order' }, headers);
