import type { MilestoneType } from '../../../api/enums.ts';
import type { Shape } from '../../../api/schemas/index.ts';
import type { OrderRecord, Tracking, TrackingStatus } from './types.ts';

type Milestone = Shape<'OrderMilestone'>;

const labels: Readonly<Record<MilestoneType, string>> = {
  order_created: 'Order created',
  order_placed: 'Order placed with the retailer',
  tracking_acquired: 'Tracking number received',
  shipped: 'Shipped',
  available_for_pickup: 'Ready for pickup',
  delivered: 'Delivered',
  undeliverable: 'Could not be delivered',
  order_failed: 'Order failed',
  cancelled: 'Order cancelled',
};

/** The carrier's states that are milestones of their own. */
const carrierMilestones: Partial<Record<TrackingStatus, MilestoneType>> = {
  in_transit: 'shipped',
  available_for_pickup: 'available_for_pickup',
  delivered: 'delivered',
  undeliverable: 'undeliverable',
};

/** The milestones, oldest first, read off the record: what came of the placing, and the carrier's tracking. */
export function milestones(record: OrderRecord): Shape<'OrderTimelineResponse'> {
  const reached = [
    milestone('order_created', record.created_at, 'service', null),
    ...placing(record),
    ...record.tracking_numbers.flatMap(journey),
    ...cancelling(record),
  ];
  const inOrder = reached.toSorted(
    (one, other) => Date.parse(one.occurred_at) - Date.parse(other.occurred_at),
  );
  return { order_id: record.id, current_status: record.status, milestones: inOrder };
}

function placing({ job_result: result, merchant_order_ids: ids }: OrderRecord): Milestone[] {
  if (typeof result?.completed_at !== 'string') return [];
  return result.success
    ? [
        milestone(
          'order_placed',
          result.completed_at,
          'retailer',
          ids.length > 0 ? { merchant_order_ids: ids } : null,
        ),
      ]
    : [
        milestone('order_failed', result.completed_at, 'service', {
          error: result.error,
          error_type: result.error_type,
        }),
      ];
}

function journey(tracking: Tracking): Milestone[] {
  const { carrier, tracking_number } = tracking;
  const parcel = { carrier, tracking_number };
  const found = [milestone('tracking_acquired', tracking.created_at, 'retailer', parcel)];
  const seen = new Set<TrackingStatus>();
  for (const { status, checkpoint_time } of tracking.checkpoints?.toReversed() ?? []) {
    const type = carrierMilestones[status];
    if (type && !seen.has(status)) found.push(milestone(type, checkpoint_time, 'carrier', parcel));
    seen.add(status);
  }
  return found;
}

function cancelling(record: OrderRecord): Milestone[] {
  if (record.status !== 'cancelled' && record.status !== 'cancelled_by_retailer') return [];
  const item = record.items.find(({ status }) => status === 'cancelled');
  const source = record.status === 'cancelled' ? 'service' : 'retailer';
  const reason = item?.cancellation_reason;
  return [
    milestone('cancelled', item?.updated_at ?? record.updated_at, source, reason == null ? null : { reason }),
  ];
}

function milestone(
  type: MilestoneType,
  occurred_at: string,
  source: string,
  detail: Milestone['detail'],
): Milestone {
  return { type, label: labels[type], occurred_at, source, detail };
}
