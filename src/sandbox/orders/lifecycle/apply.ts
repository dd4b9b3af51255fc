import { capturedBlocks, returnedBlocks } from './payment.ts';
import { chargedCents } from './price.ts';
import { isoTime } from './record.ts';
import type { Concession, ItemChange, OrderItem, OrderRecord, Tracking, Transition } from './types.ts';

type Change<K extends Transition['kind']> = Extract<Transition, { kind: K }>;

/** The record after a change; the one given stays as it was. */
export function applyTransition(record: OrderRecord, change: Transition): OrderRecord {
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
    // The timeline is read off the record alone, so the record keeps the moment.
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

/** Changes all items but those that were skipped: they are no longer part of the order. */
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
