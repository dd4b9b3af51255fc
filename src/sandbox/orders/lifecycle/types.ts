import type { ItemStatus, ProductCondition, TrackingStatus } from '../../../api/enums.ts';
import type { ErrorType } from '../../../api/error-types.ts';
import type { WebhookEvent } from '../../../api/events.ts';
import type { Shape } from '../../../api/schemas/index.ts';

export type OrderBody = Shape<'OrderCreate'>;
export type OrderRecord = Shape<'OrderResponse'>;
export type OrderItem = Shape<'OrderItem'>;
export type Tracking = Shape<'TrackingNumber'>;
export type Checkpoint = Shape<'TrackingCheckpoint'>;
export type Concession = Shape<'FulfillmentConcession'>;
export type JobResult = Shape<'OrderJobResult'>;
export type PriceComponents = Shape<'OrderPriceComponents'>;

/** Catalogue data for a product line. Money in minor units of `currency`. */
export interface LineFacts {
  readonly retailer: string;
  readonly productId: string;
  readonly title: string;
  readonly priceCents: number;
  readonly currency: string;
  readonly available: boolean;
  readonly giftOption: boolean;
  /**
   * Shipping cost; default: 0. For each retailer, an order pays only the highest shipping cost among that retailer's
   * lines.
   */
  readonly shippingCents?: number;
  readonly quantityCap?: number;
  /** Accepted values per variant label; if absent, any variant is accepted. */
  readonly options?: Readonly<Record<string, readonly string[]>>;
  /** Available conditions; if absent, any condition is accepted. */
  readonly conditions?: readonly ProductCondition[];
  /** Handling time, which is compared with `handling_days_max`. If absent, handling is always fast enough. */
  readonly handlingDays?: number;
  /** Set only for the large marketplace, because no other retailer reports `line_rejections`. */
  readonly reportsRejections?: boolean;
  /** The scenario of a test product. Orders of this listing have the same outcome as orders of that product. */
  readonly outcome?: string;
}

/** The sandbox's addresses and fee that appear in a record. */
export interface LifecycleConfig {
  /** Prefix of keys and ids, without the underscore. */
  readonly prefix: string;
  /**
   * Base URL of the public tracking pages, without a trailing slash. The page of an order is at `/<order id>` below
   * this URL.
   */
  readonly trackingUrlBase: string;
  /** The shop's address. No trailing slash. */
  readonly shopUrl: string;
  /** Service fee per order, in cents. The price that is compared with `max_price` does not include the fee. */
  readonly orderFeeCents: number;
}

/** External inputs that determine an order's future. */
export interface OrderEnvironment {
  readonly seed: string | number;
  readonly config: LifecycleConfig;
  /** Facts of each product line, in the order of the lines; null for a URL that is not in the catalogue. */
  readonly lines: readonly (LineFacts | null)[];
  /** Divides every delay; defaults to 1. */
  readonly speed?: number;
  /**
   * When processing starts, ms since the epoch. This is later than the creation time if the managed account is busy
   * with another order.
   */
  readonly startAt?: number;
  /** Why the managed account is unusable, such as `login_failed`; absent if the account is usable. */
  readonly accountError?: ErrorType;
}

export interface NewOrder extends OrderEnvironment {
  readonly order: OrderBody;
  readonly orderId: string;
  /** Creation time, ms since the epoch. */
  readonly createdAt: number;
  /** The user's number as shown in records. */
  readonly userNumber: number;
  readonly createdBy?: string | null;
  /** UUID of the managed account referenced by `retailer_credentials_id`. */
  readonly accountUuid?: string | null;
}

export interface ItemChange {
  readonly id: string;
  readonly status: ItemStatus;
  readonly error_type?: ErrorType;
  readonly cancellation_reason?: string;
}

interface Settled {
  readonly items: readonly ItemChange[];
  readonly concessions: readonly Concession[];
  readonly job_result: JobResult;
}

/**
 * A change of an order at a given time. Applying the change needs only the record, and writes `at` (ms since the epoch)
 * wherever the record shows the time. The change can therefore be rescheduled without being rebuilt.
 */
export type Transition = { readonly at: number } & (
  | { readonly kind: 'started' }
  | ({ readonly kind: 'placed' } & Settled)
  | ({ readonly kind: 'failed' } & Settled)
  | Tracked
  | Scan
  | { readonly kind: 'cancelled'; readonly reason: string }
  | { readonly kind: 'cancelled_by_retailer'; readonly reason: string }
);

interface Tracked {
  readonly kind: 'tracked';
  readonly tracking: Omit<Tracking, 'created_at' | 'checkpoints'>;
  readonly checkpoint: UntimedCheckpoint;
  /** True for the order's last tracking number. */
  readonly complete: boolean;
}

export interface Scan {
  readonly kind: 'scanned';
  readonly tracking_id: string;
  readonly checkpoint: UntimedCheckpoint;
  readonly estimated_delivery_date: string | null;
  readonly items: readonly ItemChange[];
}

export type UntimedCheckpoint = Omit<Checkpoint, 'checkpoint_time'>;
export type TransitionKind = Transition['kind'];

/** Scheduled transitions, soonest first. Plain JSON; empty once no more transitions are scheduled. */
export type OrderPlan = readonly Transition[];

export interface OrderState {
  readonly record: OrderRecord;
  readonly plan: OrderPlan;
}

export interface LedgerEffect {
  readonly reason: 'purchase' | 'refund';
  /** Only `wallet` changes the wallet balance. */
  readonly payer: 'wallet' | 'retailer_account' | 'card' | 'connect';
  /** Amount in US cents, without the service fee; never negative. */
  readonly cents: number;
}

/** An applied transition: the resulting record and its side effects. */
export interface Step {
  /** Time of the transition, ms since the epoch. */
  readonly at: number;
  readonly kind: TransitionKind;
  readonly record: OrderRecord;
  /** Webhook events, in firing order. */
  readonly events: readonly WebhookEvent[];
  readonly ledger: readonly LedgerEffect[];
}

export interface Advanced extends OrderState {
  readonly steps: readonly Step[];
}

export interface Refused {
  /** A sentence that names the state and says that this state does not allow the transition. */
  readonly refused: string;
}

/** Transitions that `sandbox trigger` can force. */
export const forcedKinds = [
  'placed',
  'failed',
  'shipped',
  'delivered',
  'undeliverable',
  'available_for_pickup',
  'cancelled_by_retailer',
] as const;
export type ForcedKind = (typeof forcedKinds)[number];

export type { ErrorType, ItemStatus, TrackingStatus };
