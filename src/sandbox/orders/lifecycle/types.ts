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

/** What the catalogue knows of one product line. Money in minor units of `currency`. */
export interface LineFacts {
  readonly retailer: string;
  readonly productId: string;
  readonly title: string;
  readonly priceCents: number;
  readonly currency: string;
  readonly available: boolean;
  readonly giftOption: boolean;
  /** Charged once for each retailer of an order (the highest of its lines); 0 when absent. */
  readonly shippingCents?: number;
  readonly quantityCap?: number;
  /** Values that each variant label takes; absent: every variant is taken. */
  readonly options?: Readonly<Record<string, readonly string[]>>;
  /** Conditions on offer; absent: every condition is taken. */
  readonly conditions?: readonly ProductCondition[];
  /** Compared with `handling_days_max`; absent: always quick enough. */
  readonly handlingDays?: number;
  /** The one large marketplace retailer that reports `line_rejections`. */
  readonly reportsRejections?: boolean;
  /** The test product that an order of it behaves as, by its scenario. */
  readonly outcome?: string;
}

/** The sandbox's own addresses and fee, as far as a record shows them. */
export interface LifecycleConfig {
  /** The fixed prefix of keys and ids, without its underscore. */
  readonly prefix: string;
  /** Where `/<order id>` shows public tracking. No trailing slash. */
  readonly trackingUrlBase: string;
  /** The shop's address. No trailing slash. */
  readonly shopUrl: string;
  /** The service's fee for one order, cents. Never part of the price held against `max_price`. */
  readonly orderFeeCents: number;
}

/** What an order's future depends on besides the order itself. */
export interface Surroundings {
  readonly seed: string | number;
  readonly config: LifecycleConfig;
  /** One for each product line, in their order; null for a URL that the catalogue does not list. */
  readonly lines: readonly (LineFacts | null)[];
  /** Divides every delay; 1 when absent. */
  readonly speed?: number;
  /** ms since the epoch; later than creation when the managed account is still busy with another order. */
  readonly startAt?: number;
  /** Why the managed account cannot be used, if it cannot (`login_failed`, `account_locked` …). */
  readonly accountError?: ErrorType;
}

export interface NewOrder extends Surroundings {
  readonly order: OrderBody;
  readonly orderId: string;
  /** ms since the epoch. */
  readonly createdAt: number;
  /** The user's number, as records show it. */
  readonly userNumber: number;
  readonly createdBy?: string | null;
  /** UUID of the managed account that `retailer_credentials_id` names. */
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
 * One change of an order, whole but for the time: applying it needs only the record, and writes `at` (ms since
 * the epoch) wherever the record shows when it happened. So a change can be moved in time without being rebuilt.
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
  /** True on the last tracking number of the order. */
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

/** What is still to come, soonest first. Plain JSON; empty once nothing more happens by itself. */
export type OrderPlan = readonly Transition[];

export interface OrderState {
  readonly record: OrderRecord;
  readonly plan: OrderPlan;
}

export interface LedgerEffect {
  readonly reason: 'purchase' | 'refund';
  /** Only `wallet` moves the wallet's balance. */
  readonly payer: 'wallet' | 'retailer_account' | 'card' | 'connect';
  /** USD cents, the service's fee not included; never negative. */
  readonly cents: number;
}

/** One transition that happened: the record right after it, and what follows from it outside the record. */
export interface Step {
  /** ms since the epoch. */
  readonly at: number;
  readonly kind: TransitionKind;
  readonly record: OrderRecord;
  /** Webhook events, in the order they fire. */
  readonly events: readonly WebhookEvent[];
  readonly ledger: readonly LedgerEffect[];
}

export interface Advanced extends OrderState {
  readonly steps: readonly Step[];
}

export interface Refused {
  /** A sentence that says which state forbids it. */
  readonly refused: string;
}

/** What `sandbox trigger` can make happen now. */
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
