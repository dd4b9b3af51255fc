import { cancellableOrderStatuses } from '../../../api/enums.ts';
import type { WebhookEvent } from '../../../api/events.ts';
import { capturedBlocks, chargedCents, returnedBlocks } from './payment.ts';
import { isoTime } from './record.ts';
import type {
  Advanced,
  Concession,
  ItemChange,
  LedgerEffect,
  OrderItem,
  OrderPlan,
  OrderRecord,
  OrderState,
  Refused,
  Step,
  Tracking,
  Transition,
} from './types.ts';

/** Webhook events of a transition, in firing order (specification, Events). */
function eventsOf(change: Transition): readonly WebhookEvent[] {
  if (change.kind === 'tracked' && !change.complete) return ['tracking_updated'];
  return events[change.kind];
}

const events: Readonly<Record<Transition['kind'], readonly WebhookEvent[]>> = {
  started: ['status_updated'],
  placed: ['request_succeeded', 'status_updated'],
  failed: ['request_failed', 'status_updated'],
  tracked: ['tracking_obtained', 'tracking_updated'],
  scanned: ['tracking_updated'],
  cancelled: ['status_updated'],
  cancelled_by_retailer: ['status_updated'],
};

/**
 * Money moved by a transition. Placing an order charges the actual price. A cancellation by the retailer refunds that
 * price in full.
 */
function ledgerEffects(before: OrderRecord, after: OrderRecord): readonly LedgerEffect[] {
  if (before.status === after.status) return [];
  const price = after.job_result?.price_components;
  const reason = reasons[after.status];
  if (!price || !reason) return [];
  return [{ reason, payer: payerOf(after), cents: chargedCents(price) }];
}

const reasons: Partial<Record<OrderRecord['status'], LedgerEffect['reason']>> = {
  order_placed: 'purchase',
  cancelled_by_retailer: 'refund',
};

/** Who pays for the goods of an order. */
export function payerOf(record: OrderRecord): LedgerEffect['payer'] {
  if (record.retailer_credentials_id !== null) return 'retailer_account';
  if (record.payment) return 'card';
  return record.connect ? 'connect' : 'wallet';
}

/** Whether the order can still be cancelled (specification, States and transitions). */
function isCancellable(record: OrderRecord): boolean {
  return cancellableOrderStatuses.some((status) => status === record.status);
}

/** Time of the next transition, in ms since the epoch; null if none is scheduled. */
export const nextDue = (plan: OrderPlan): number | null => plan[0]?.at ?? null;

/** Applies all transitions due by `now` (ms). The result does not depend on how often this function is called. */
export function advance(state: OrderState, now: number): Advanced {
  const steps: Step[] = [];
  let { record } = state;
  for (const change of state.plan) {
    if (change.at > now) break;
    const after = applyTransition(record, change);
    const { at, kind } = change;
    steps.push({ at, kind, record: after, events: eventsOf(change), ledger: ledgerEffects(record, after) });
    record = after;
  }
  return { record, plan: state.plan.slice(steps.length), steps };
}

/** Cancels an order that is still pending at `now` (ms), without charge. Refused once processing has started. */
export function cancelPending(
  state: OrderState,
  now: number,
  reason = 'Cancelled by the caller.',
): Advanced | Refused {
  const due = advance(state, now);
  if (!isCancellable(due.record)) {
    return { refused: `The order is ${due.record.status}; only a pending order can be cancelled.` };
  }
  return resumed(due, [{ at: now, kind: 'cancelled', reason }], now);
}

/** Continues from the state that an order has reached, with a different plan. */
export function resumed(reached: Advanced, plan: OrderPlan, now: number): Advanced {
  const next = advance({ record: reached.record, plan }, now);
  return { ...next, steps: [...reached.steps, ...next.steps] };
}

type Change<K extends Transition['kind']> = Extract<Transition, { kind: K }>;

/** Returns the record after a transition; does not mutate its argument. */
function applyTransition(record: OrderRecord, change: Transition): OrderRecord {
  return { ...changed(record, change), updated_at: isoTime(change.at) };
}

function changed(record: OrderRecord, change: Transition): OrderRecord {
  switch (change.kind) {
    case 'started':
      return started(record, change.at);
    case 'placed':
      return placed(record, change);
    case 'failed':
      return failed(record, change);
    case 'tracked':
      return tracked(record, change);
    case 'scanned':
      return scanned(record, change);
    case 'cancelled':
      return { ...withdrawn(record, change), ...returnedBlocks(record, 'released') };
    case 'cancelled_by_retailer':
      return { ...withdrawn(record, change), ...returnedBlocks(record, 'refunded') };
  }
}

function started(record: OrderRecord, at: number): OrderRecord {
  const items = everyItem(record, at, { status: 'processing' });
  return { ...record, status: 'in_progress', attempts: record.attempts + 1, items };
}

function placed(record: OrderRecord, change: Change<'placed'>): OrderRecord {
  const { job_result } = change;
  const { customer_notifications: notified } = record;
  return {
    ...settled(record, change),
    ...capturedBlocks(record, job_result.price_components ? chargedCents(job_result.price_components) : 0),
    status: 'order_placed',
    merchant_order_ids: job_result.merchant_order_ids.map(({ merchant_order_id }) => merchant_order_id),
    customer_notifications: notified && { ...notified, delivered: true },
  };
}

function failed(record: OrderRecord, change: Change<'failed'>): OrderRecord {
  return { ...settled(record, change), ...returnedBlocks(record, 'released'), status: 'order_failed' };
}

function settled(record: OrderRecord, change: Change<'placed' | 'failed'>): OrderRecord {
  return {
    ...record,
    items: withChanges(record, change.at, change.items),
    // Store the time here, because the timeline is derived from the record alone.
    job_result: { ...change.job_result, completed_at: isoTime(change.at) },
    fulfillment: withConcessions(record, change.concessions),
  };
}

function tracked(record: OrderRecord, { at, tracking, checkpoint }: Change<'tracked'>): OrderRecord {
  const created_at = isoTime(at);
  const added: Tracking = {
    ...tracking,
    checkpoints: [{ ...checkpoint, checkpoint_time: created_at }],
    created_at,
  };
  return { ...record, tracking_numbers: [...record.tracking_numbers, added] };
}

function scanned(record: OrderRecord, change: Change<'scanned'>): OrderRecord {
  const { at, checkpoint, items, tracking_id, estimated_delivery_date } = change;
  const tracking_numbers = record.tracking_numbers.map((tracking): Tracking => {
    if (tracking.id !== tracking_id) return tracking;
    const { svc_tracking_url, svc_tracking_number } = tracking;
    const proof = `${svc_tracking_url}/proof/${svc_tracking_number}`;
    return {
      ...tracking,
      status: checkpoint.status,
      estimated_delivery_date,
      delivery_proof_url: checkpoint.status === 'delivered' ? proof : tracking.delivery_proof_url,
      checkpoints: [{ ...checkpoint, checkpoint_time: isoTime(at) }, ...(tracking.checkpoints ?? [])],
    };
  });
  return { ...record, items: withChanges(record, at, items), tracking_numbers };
}

function withdrawn(
  record: OrderRecord,
  { at, kind, reason }: Change<'cancelled' | 'cancelled_by_retailer'>,
): OrderRecord {
  const items = everyItem(record, at, { status: 'cancelled', cancellation_reason: reason });
  return { ...record, status: kind, items };
}

/** Changes all items except skipped items, because skipped items are no longer part of the order. */
function everyItem(record: OrderRecord, at: number, change: Omit<ItemChange, 'id'>): OrderItem[] {
  const taking = record.items.filter(({ status }) => status !== 'skipped');
  return withChanges(
    record,
    at,
    taking.map(({ id }) => ({ ...change, id })),
  );
}

function withChanges(record: OrderRecord, at: number, changes: readonly ItemChange[]): OrderItem[] {
  const byId = new Map(changes.map((change) => [change.id, change]));
  return record.items.map((item) => {
    const change = byId.get(item.id);
    return change ? { ...item, ...change, updated_at: isoTime(at) } : item;
  });
}

function withConcessions(
  record: OrderRecord,
  concessions: readonly Concession[],
): OrderRecord['fulfillment'] {
  return { ...record.fulfillment, concessions: [...concessions] };
}
