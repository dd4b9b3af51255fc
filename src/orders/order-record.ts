import type { Received, Unchecked } from '../contract/received.ts';
import type { Shape } from '../contract/schemas/index.ts';

export type Order = Shape<'OrderResponse'>;

/** An order as it was received, from whichever operation. */
export type OrderRecord = Unchecked<Order>;
/** An order that says which one it is. */
export type IdentifiedOrder = OrderRecord & { readonly id: string };

/** What each journaled operation leads to. */
export interface MadeBy {
  'order.create': OrderRecord;
  'agent.order.create': OrderRecord;
  'bulk.create': Received<'bulk.get'>;
  'return.create': Received<'return.create'> | Received<'return.get'>;
  'legacy.retry': Received<'legacy.retry'> & { readonly order_id: unknown };
}
export type JournaledOperation = keyof MadeBy;
export type MadeRecord = MadeBy[JournaledOperation];
