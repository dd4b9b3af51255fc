import { plainOutput } from '../../../api/order-fields.ts';
import { drawFor } from './draw.ts';
import { securedBlocks } from './payment.ts';
import type { NewOrder, OrderBody, OrderItem, OrderRecord } from './types.ts';

export const isoTime = (at: number): string => new Date(at).toISOString();

/** The record in the response to `POST /orders`: pending, nothing attempted, nothing charged. */
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

/** What a strict order relaxes is nothing: every concern null. */
function fulfillment({ fulfillment: relaxed }: OrderBody): OrderRecord['fulfillment'] {
  return {
    gift: relaxed?.gift ?? null,
    items: relaxed?.items ?? null,
    quantity: relaxed?.quantity ?? null,
    excluded_merchants: relaxed?.excluded_merchants ?? [],
    concessions: [],
  };
}
