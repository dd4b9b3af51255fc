import { orderIncludes, orderReturnFilters, orderStatuses, trackingStatuses } from '../enums.ts';
import { limits } from '../limits.ts';
import { operationTable, type Parameter } from '../operation.ts';
import { list, offset, orderId } from './parameters.ts';

const filters = {
  order_id: { type: 'string', description: 'partial match on the order id' },
  search: { type: 'string', description: 'partial match on order id or tracking number' },
  merchant_order_id: {
    type: 'string',
    maxLength: limits.merchantOrderIdLength.max,
    description: "exact match on a retailer's own order number; dashes matched as typed and stripped",
  },
  status_filter: { type: 'string', values: orderStatuses, grows: true, description: 'order status' },
  tracking_status: {
    type: 'string',
    values: trackingStatuses,
    grows: true,
    description: 'at least one tracking number of that status',
  },
  has_tracking: { type: 'boolean', description: 'with (true) or without (false) a tracking number' },
  return_status: {
    type: 'string',
    values: orderReturnFilters,
    description: 'open: an open return; closed: an approved or denied return',
  },
  created_after: { type: 'date-time', description: 'created at this time or later' },
  created_before: { type: 'date-time', description: 'created before this time' },
  metadata_key: {
    type: 'string',
    maxLength: limits.metadataKeyLength.max,
    description: 'top-level metadata key; needs metadata_value',
  },
  metadata_value: {
    type: 'string',
    maxLength: limits.metadataValueLength.max,
    description: 'exact, case-sensitive; needs metadata_key',
  },
  user_email: {
    type: 'string',
    maxLength: limits.userEmailLength.max,
    description: "part of a teammate's email, any case",
  },
  shipping_name: { type: 'string', description: "part of the recipient's name, any case" },
} as const satisfies Record<string, Parameter>;

const rules = [{ together: ['metadata_key', 'metadata_value'] }] as const;

const creationErrors = [
  'already_exists',
  'invalid_shipping_address',
  'url_unreachable',
  'insufficient_funds',
  'payment_method_required',
  'invalid_payment_method',
  'payment_failed',
  'unsupported_retailer',
  'unsupported_country',
  'retailer_country_not_supported',
  'guest_checkout_not_supported',
  'invalid_variant',
  'out_of_stock',
  'shipping_unavailable',
  'bad_request',
] as const;

export const orderOperations = operationTable({
  'order.create': {
    method: 'POST',
    path: '/orders',
    surface: 'current',
    summary: 'Queue an order for product URLs under a price ceiling',
    auth: 'bearer',
    body: { schema: 'OrderCreate' },
    answer: { status: 201, type: 'json', schema: 'OrderResponse', essential: { id: 'newId' } },
    errors: creationErrors,
    retry: 'idempotency_key',
    movesMoney: true,
  },
  'order.list': {
    method: 'GET',
    path: '/orders',
    surface: 'current',
    summary: 'List orders, newest first',
    auth: 'bearer',
    query: {
      limit: list(limits.orderListLimit),
      offset,
      ...filters,
      include: {
        type: 'strings',
        values: orderIncludes,
        description: 'tracking_events embeds all checkpoints in each tracking number',
      },
    },
    rules,
    answer: { status: 200, type: 'json', schema: 'OrderListResponse', rows: 'orders' },
    errors: [],
    retry: 'safe',
  },
  'order.export': {
    method: 'GET',
    path: '/orders/export',
    surface: 'current',
    summary: 'Export the whole filtered set as CSV',
    auth: 'bearer',
    query: filters,
    rules,
    answer: { status: 200, type: 'csv' },
    errors: [],
    retry: 'safe',
  },
  'order.testProducts': {
    method: 'GET',
    path: '/orders/test-products',
    surface: 'current',
    summary: 'List the product URLs that rehearse outcomes in the sandbox',
    auth: 'bearer',
    answer: { status: 200, type: 'json', schema: 'TestProductsResponse', rows: 'products' },
    errors: [],
    retry: 'safe',
  },
  'order.get': {
    method: 'GET',
    path: '/orders/{order_id}',
    surface: 'current',
    summary: 'Read one order',
    auth: 'bearer',
    pathParameters: { order_id: orderId },
    answer: { status: 200, type: 'json', schema: 'OrderResponse', essential: { id: 'id', status: 'text' } },
    errors: ['not_found', 'forbidden'],
    retry: 'safe',
  },
  'order.timeline': {
    method: 'GET',
    path: '/orders/{order_id}/timeline',
    surface: 'current',
    summary: 'Read the milestones of one order',
    auth: 'bearer',
    pathParameters: { order_id: orderId },
    answer: { status: 200, type: 'json', schema: 'OrderTimelineResponse', rows: 'milestones' },
    errors: ['not_found', 'forbidden'],
    retry: 'safe',
  },
  'order.cancel': {
    method: 'POST',
    path: '/orders/{order_id}/cancel',
    surface: 'current',
    summary: 'Cancel an order that is still pending',
    auth: 'bearer',
    pathParameters: { order_id: orderId },
    answer: { status: 204, type: 'none' },
    errors: ['not_found', 'forbidden', 'order_not_cancellable'],
    retry: 'never',
  },
  'order.track': {
    method: 'GET',
    path: '/track/{order_id}',
    surface: 'current',
    summary: 'Follow an order publicly; its id is the secret',
    auth: 'none',
    pathParameters: { order_id: orderId },
    answer: { status: 200, type: 'json', schema: 'PublicTrackingResponse', essential: { order_id: 'id' } },
    errors: ['not_found'],
    retry: 'safe',
  },
});

export const orderCreationErrors = creationErrors;
