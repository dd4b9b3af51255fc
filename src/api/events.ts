/** The specification's Events table. */
export const webhookEvents = {
  request_succeeded: 'a request succeeds',
  request_failed: 'a request fails; the body carries error_type',
  tracking_obtained: 'all tracking for an order has been obtained',
  tracking_updated: 'any tracking for an order has been obtained or updated',
  status_updated: 'the status of a request changes',
  case_updated: 'a marketplace-guarantee case tied to the order receives an update',
} as const;
/** Deprecated attribute names and the event each stands for. */
export const webhookEventSynonyms = {
  order_placed: 'request_succeeded',
  order_failed: 'request_failed',
} as const satisfies Record<string, WebhookEvent>;
/** Every name under which a webhook URL can be set. */
export const webhookEventNames: readonly string[] = [
  ...Object.keys(webhookEvents),
  ...Object.keys(webhookEventSynonyms),
];
export const webhookEventHeader = 'X-Webhook-Event';
/**
 * Header with the same value in all deliveries of one event. It was not observed on the real service, so receivers must
 * not depend on it.
 */
export const webhookIdHeader = 'X-Webhook-Id';

export type WebhookEvent = keyof typeof webhookEvents;
