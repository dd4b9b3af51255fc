import type { OperationName, operations } from '../contract/operations/index.ts';
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
  'bulk.create': Received<'bulk.create'> | Received<'bulk.get'>;
  'return.create': Received<'return.create'> | Received<'return.get'>;
  'legacy.retry': Received<'legacy.retry'> & { readonly order_id: string };
}
/** The operations that the table marks: each has its row above. */
export type JournaledOperation = {
  [N in OperationName]: (typeof operations)[N] extends { readonly once: true } ? N : never;
}[OperationName];
export type MadeRecord = MadeBy[JournaledOperation];
