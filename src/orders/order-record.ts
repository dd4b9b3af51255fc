import type { OperationName, operations } from '../api/operations/index.ts';
import { orderState, type ShownState } from '../api/order-state.ts';
import { type Received, type Unchecked, valueAt } from '../api/received.ts';
import type { Shape } from '../api/schemas/index.ts';

export type Order = Shape<'OrderResponse'>;

/** An order as it was received, from any operation. */
export type OrderRecord = Unchecked<Order>;
/** An order whose id is known. */
export type IdentifiedOrder = OrderRecord & { readonly id: string };

export const hasId = (order: OrderRecord): order is IdentifiedOrder => typeof order.id === 'string';

/** Type of the result of each journaled operation. */
export interface MadeBy {
  'order.create': OrderRecord;
  'agent.order.create': OrderRecord;
  'bulk.create': Received<'bulk.create'> | Received<'bulk.get'>;
  'return.create': Received<'return.create'> | Received<'return.get'>;
  'legacy.retry': Received<'legacy.retry'> & { readonly order_id: string };
}
/** Operations that the table marks with `once`. Each of them needs an entry in `MadeBy`. */
export type JournaledOperation = {
  [N in OperationName]: (typeof operations)[N] extends { readonly once: true } ? N : never;
}[OperationName];
export type MadeRecord = MadeBy[JournaledOperation];

/** Display state of an order, as it was received. */
export const stateOfOrder = (order: OrderRecord): ShownState =>
  orderState({
    status: order.status,
    items: order.items,
    parcels: order.tracking_numbers,
    fulfillment: order.fulfillment,
    errorType: valueAt<Order>(order, 'job_result.error_type'),
  });
