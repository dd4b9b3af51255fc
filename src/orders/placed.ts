import type { Shape } from '../api/schemas/index.ts';
import type { Consent } from '../spending/options.ts';
import type { MadeRecord, OrderRecord } from './order-record.ts';

export type Body = Shape<'OrderCreate'>;
export type KeyedBody = Body & { readonly idempotency_key: string };

/** What an intent has led to: an order, a batch, a return. */
export interface Made<R = MadeRecord> {
  readonly order: R;
  /** Set when it had been made by an earlier attempt. */
  readonly existed: boolean;
}

export type Placed = Made<OrderRecord>;

/** How something is placed. */
export interface Placing extends Consent {
  /** Another one is meant, whatever was placed before. */
  readonly isNew: boolean;
  /** By a request that the user wrote, with the command `api`. */
  readonly isByHand?: boolean | undefined;
}
