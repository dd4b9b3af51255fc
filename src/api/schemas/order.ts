import { z } from 'zod';
import {
  cardPaymentStates,
  connectStates,
  fulfillmentConcerns,
  fulfillmentModes,
  itemStatuses,
  milestoneTypes,
  orderStatuses,
  paymentModes,
  productConditions,
  returnReasons,
  returnStatuses,
  trackingStatuses,
} from '../enums.ts';
import {
  calendarDate,
  cents,
  count,
  metadata,
  observed,
  observedOnDemand,
  onDemand,
  plainResponse,
  text,
  timestamp,
  uuid,
} from './fields.ts';
import { ProductVariant } from './order-create.ts';
import { TrackingCheckpoint, TrackingNumber } from './tracking.ts';

const ShippingAddress = onDemand(() =>
  z.strictObject({
    first_name: text,
    last_name: text,
    address_line1: text,
    address_line2: text.nullable(),
    city: text,
    state: text.nullable(),
    postal_code: text,
    country: text,
    phone_number: text,
  }),
);

export const OrderItem = onDemand(() =>
  z.strictObject({
    id: observed(uuid),
    url: observed(text),
    quantity: observed(count),
    variant: z.array(ProductVariant()).nullable(),
    condition_in: z.array(z.enum(productConditions)).nullable(),
    condition_not_in: z.array(z.enum(productConditions)).nullable(),
    status: z.enum(itemStatuses),
    cancellation_reason: observed(text.nullable()),
    error_type: text.nullable(),
    created_at: observed(timestamp),
    updated_at: observed(timestamp),
    tracking_number_ids: observed(z.array(text)).optional().describe('the parcels that hold it'),
  }),
);

export const FieldError = observedOnDemand(() =>
  z.strictObject({
    field: text,
    code: text,
    message: text,
    received: z.unknown().describe('as it was sent'),
    expected: text.nullable(),
  }),
);

export const LineRejection = observedOnDemand(() =>
  z.strictObject({
    item_id: uuid.optional().describe('in the older form'),
    url: text.optional(),
    code: text.optional().describe('in the older form'),
    message: text.optional().describe('in the older form'),
    product_id: text.optional().describe("the retailer's"),
    requested_quantity: count.optional(),
    available_quantity: count.optional(),
    codes: z.array(text).optional(),
    messages: z.array(text).optional(),
  }),
);

const ErrorDetails = onDemand(() =>
  z.strictObject({
    code: observed(text),
    message: observed(text),
    address_validation_reasons: observed(z.array(text)),
    field_errors: z.array(FieldError()),
    line_rejections: z.array(LineRejection()),
    url: observed(text).optional().describe('the page concerned'),
  }),
);

const CartItem = onDemand(() =>
  z.strictObject({
    name: text,
    product_id: text,
    quantity: count,
    unit_price: cents,
    line_total: cents,
  }),
);

export const OrderPriceComponents = observedOnDemand(() =>
  z.strictObject({
    subtotal: cents,
    tax: cents,
    shipping: cents,
    discount: cents,
    fees: cents,
    total: cents,
    converted_payment_total: cents.nullable(),
    currency: text,
    payment_currency: text,
    cart_items: z.array(CartItem()).nullable(),
    line_items: z.array(z.strictObject({ description: text, amount: cents, category: text })).nullable(),
    breakdown_recorded: z.boolean(),
  }),
);

/** The order at the retailer. `merchant_order_id` is its number there. */
export const MerchantOrder = observedOnDemand(() => z.looseObject({ merchant_order_id: text }));

export const OrderJobResult = observedOnDemand(() =>
  z.looseObject({
    success: z.boolean(),
    error: text.nullable(),
    error_type: text.nullable(),
    error_details: ErrorDetails().nullable(),
    price_components: OrderPriceComponents().nullable(),
    estimated_delivery: text.nullable(),
    merchant_order_ids: z.array(MerchantOrder()),
  }),
);

const OrderPaymentInfo = observedOnDemand(() =>
  z.strictObject({
    mode: z.enum(paymentModes),
    state: z.enum(cardPaymentStates),
    authorized_cents: cents,
    fee_cents: cents,
    stripe_fee_cents: cents,
    captured_cents: cents,
    payment_method: text.nullable(),
    payment_intent_id: text.nullable(),
    simulated: z.boolean(),
  }),
);

const OrderConnectInfo = observedOnDemand(() =>
  z.strictObject({
    state: z.enum(connectStates),
    secured_amount: cents,
    order_cost: cents.nullable(),
    customer_margin: cents.nullable(),
    stripe_fee: cents.nullable(),
    final_charge: cents.nullable(),
    transfer_amount: cents.nullable(),
    payment_intent_id: text.nullable(),
    connected_account_id: text.nullable(),
    simulated: z.boolean(),
  }),
);

export const FulfillmentConcession = observedOnDemand(() =>
  z.strictObject({
    concern: z.enum(fulfillmentConcerns),
    code: text,
    message: text,
    item_id: uuid.nullable(),
    url: text.nullable(),
    requested_quantity: count.nullable(),
    fulfilled_quantity: count.nullable(),
  }),
);

const mode = onDemand(() => z.enum(fulfillmentModes).nullable());

const OrderFulfillment = onDemand(() =>
  z.strictObject({
    gift: mode(),
    items: mode(),
    quantity: mode(),
    excluded_merchants: z.array(text),
    concessions: z.array(FulfillmentConcession()),
  }),
);

export const ReturnSummary = onDemand(() =>
  z.strictObject({
    id: uuid,
    status: z.enum(returnStatuses),
    reason: z.enum(returnReasons),
    credited_amount: cents,
    created_at: timestamp,
    updated_at: timestamp,
  }),
);

export const OrderResponse = onDemand(() =>
  z.strictObject({
    id: observed(uuid),
    status: z.enum(orderStatuses),
    max_price: observed(cents),
    attempts: count,
    items: z.array(OrderItem()),
    shipping_address: observed(ShippingAddress()),
    metadata: metadata.optional(),
    ...plainResponse(),
    retailer_credentials_uuid: uuid.nullable(),
    job_result: OrderJobResult().nullable(),
    merchant_order_ids: z.array(text),
    tracking_numbers: z.array(TrackingNumber()),
    created_by: observed(text.nullable()),
    user_id: observed(z.int()),
    returns: observed(z.array(ReturnSummary())),
    connect: OrderConnectInfo().nullable(),
    payment: OrderPaymentInfo().nullable(),
    customer_notifications: observed(
      z.strictObject({ email: text, delivered: z.boolean().nullable() }).nullable(),
    ),
    fulfillment: OrderFulfillment(),
    created_at: observed(timestamp),
    updated_at: observed(timestamp),
  }),
);

export const OrderListResponse = observedOnDemand(() =>
  z.strictObject({ orders: z.array(OrderResponse()), total: count, limit: count, offset: count }),
);

export const TestProductsResponse = observedOnDemand(() =>
  z.strictObject({
    products: z.array(
      z.strictObject({
        url: text,
        scenario: text,
        name: text,
        description: text,
        is_synchronous_error: z.boolean(),
      }),
    ),
  }),
);

export const OrderMilestone = onDemand(() =>
  z.strictObject({
    type: z.enum(milestoneTypes),
    label: observed(text),
    occurred_at: observed(timestamp),
    source: observed(text),
    detail: observed(z.looseObject({}).nullable()),
  }),
);

export const OrderTimelineResponse = observedOnDemand(() =>
  z.strictObject({ order_id: uuid, current_status: text, milestones: z.array(OrderMilestone()) }),
);

export const PublicTrackingResponse = observedOnDemand(() =>
  z.strictObject({
    order_id: uuid,
    current_status: text,
    estimated_delivery_date: calendarDate.nullable(),
    destination: ShippingAddress().omit({ first_name: true, last_name: true, phone_number: true }),
    shipments: z.array(
      z.strictObject({
        carrier: text,
        tracking_number: text,
        status: z.enum(trackingStatuses),
        estimated_delivery_date: calendarDate.nullable(),
        checkpoints: z.array(TrackingCheckpoint()),
      }),
    ),
    items: z.array(
      z.strictObject({
        url: text,
        quantity: count,
        variant: z.array(ProductVariant()).nullable(),
        status: z.enum(itemStatuses),
      }),
    ),
  }),
);
