import type { MilestoneType } from '../../../api/enums.ts';
import { plainOutput } from '../../../api/order-fields.ts';
import type { Shape } from '../../../api/schemas/index.ts';
import { securedBlocks } from './payment.ts';
import { drawFor } from './schedule.ts';
import type { NewOrder, OrderBody, OrderItem, OrderRecord, Tracking, TrackingStatus } from './types.ts';

export const isoTime = (at: number): string => new Date(at).toISOString();

/** The record returned by `POST /orders`: pending, nothing attempted, nothing charged. */
export function initialRecord(input: NewOrder): OrderRecord {
  const { order, orderId, createdAt } = input;
  const time = isoTime(createdAt);
  return {
    id: orderId,
    status: 'pending',
    max_price: order.max_price,
    attempts: 0,
    items: items(input, time),
    shipping_address: shippingAddress(order),
    metadata: order.metadata ?? {},
    ...plainOutput(order),
    retailer_credentials_uuid: input.accountUuid ?? null,
    job_result: null,
    merchant_order_ids: [],
    tracking_numbers: [],
    created_by: input.createdBy ?? null,
    user_id: input.userNumber,
    returns: [],
    ...securedBlocks(order, input.config.orderFeeCents, drawFor(input.seed, orderId)),
    customer_notifications: order.customer_notifications
      ? { email: order.customer_notifications.email, delivered: null }
      : null,
    fulfillment: fulfillment(order),
    created_at: time,
    updated_at: time,
  };
}

function items({ order, orderId, seed }: NewOrder, time: string): OrderItem[] {
  const draw = drawFor(seed, orderId);
  return order.products.map((product, index) => ({
    id: draw.uuid(`item ${index}`),
    url: product.url,
    quantity: product.quantity,
    variant: product.variant ?? null,
    condition_in: product.condition_in ?? null,
    condition_not_in: product.condition_not_in ?? null,
    status: 'pending',
    cancellation_reason: null,
    error_type: null,
    created_at: time,
    updated_at: time,
  }));
}

function shippingAddress({ shipping_address: address }: OrderBody): OrderRecord['shipping_address'] {
  const { first_name, last_name, address_line1, city, postal_code, phone_number } = address;
  return {
    first_name,
    last_name,
    address_line1,
    address_line2: address.address_line2 ?? null,
    city,
    state: address.state ?? null,
    postal_code,
    country: address.country.toUpperCase(),
    phone_number,
  };
}

/** Fulfillment options. In a strict order no requirement is relaxed, so every concern is null. */
function fulfillment({ fulfillment: relaxed }: OrderBody): OrderRecord['fulfillment'] {
  return {
    gift: relaxed?.gift ?? null,
    items: relaxed?.items ?? null,
    quantity: relaxed?.quantity ?? null,
    excluded_merchants: relaxed?.excluded_merchants ?? [],
    concessions: [],
  };
}

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

/** Maps each carrier status that is a milestone to that milestone. */
const carrierMilestones: Partial<Record<TrackingStatus, MilestoneType>> = {
  in_transit: 'shipped',
  available_for_pickup: 'available_for_pickup',
  delivered: 'delivered',
  undeliverable: 'undeliverable',
};

/** Derives the milestones from the record, oldest first: the placing result and the carrier's tracking. */
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

/** What anyone who knows the order id may see: destination and progress, never the recipient. */
export function publicTracking(record: OrderRecord): Shape<'PublicTrackingResponse'> {
  const { address_line1, address_line2, city, state, postal_code, country } = record.shipping_address;
  const estimates = record.tracking_numbers.flatMap((tracking) => tracking.estimated_delivery_date ?? []);
  return {
    order_id: record.id,
    current_status: record.status,
    estimated_delivery_date: estimates.toSorted().at(-1) ?? null,
    destination: { address_line1, address_line2, city, state, postal_code, country },
    shipments: record.tracking_numbers.map((tracking) => ({
      carrier: tracking.carrier,
      tracking_number: tracking.tracking_number,
      status: tracking.status,
      estimated_delivery_date: tracking.estimated_delivery_date,
      checkpoints: tracking.checkpoints ?? [],
    })),
    items: record.items.map(({ url, quantity, variant, status }) => ({ url, quantity, variant, status })),
  };
}
