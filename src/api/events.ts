/** The specification's Events table. */
export const webhookEvents = {
  request_succeeded: 'a request succeeds',
  request_failed: 'a request fails; the body carries error_type',
  tracking_obtained: 'all tracking for an order has been obtained',
  tracking_updated: 'any tracking for an order has been obtained or updated',
  status_updated: 'the status of a request changes',
  case_updated: 'a marketplace-guarantee case tied to the order receives an update',
} as const;
/** Deprecated names of webhook attributes, each with the event that it stands for. */
export const webhookEventSynonyms = {
  order_placed: 'request_succeeded',
  order_failed: 'request_failed',
} as const satisfies Record<string, WebhookEvent>;
/** Every event name for which a webhook URL can be set. */
export const webhookEventNames: readonly string[] = [
  ...Object.keys(webhookEvents),
  ...Object.keys(webhookEventSynonyms),
];
/** Events that arrive in an envelope. They were observed on services that sign their events. */
export const envelopeEvents = {
  'order.started': 'the service has begun to place an order',
  'order.placed': 'an order was placed',
  'order.failed': 'an order failed',
  'order.tracking_received': 'an order has a tracking number',
  'order.delivered': 'an order was delivered',
  'order.cancelled': 'an order was cancelled',
  'return.created': 'a return was requested',
  'return.approved': 'a return was approved',
  'return.denied': 'a return was denied',
  'return.credited': 'a return was credited',
} as const;
/** Header with the HMAC-SHA256 of the raw body, in hexadecimal. Services that sign their events send it. */
export const webhookSignatureHeader = 'X-Webhook-Signature';
export const webhookEventHeader = 'X-Webhook-Event';
/**
 * Header that has the same value in all deliveries of one event. It was not observed on the real service, so receivers
 * must not depend on it.
 */
export const webhookIdHeader = 'X-Webhook-Id';

export type WebhookEvent = keyof typeof webhookEvents;
