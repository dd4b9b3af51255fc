/** The rows of the specification's States and transitions. */
export const orderStates = {
  'order pending': 'queued',
  'order in_progress': 'taken up (observed)',
  'order order_placed': 'terminal for a successful order',
  'order order_failed': 'terminal, error_type set',
  'order cancelled': 'terminal',
  'order cancelled_by_retailer': 'terminal (observed)',
  'order pending -> cancelled': 'by cancel while pending; answers 204',
  'order not pending -> unchanged': 'a cancel is rejected with order_not_cancellable',
  'order pending -> order_placed': 'request_succeeded and status_updated hooks',
  'order pending -> order_failed': 'error_type set; request_failed and status_updated hooks',
  'order order_failed -> a new order request': 'legacy retry, where the failure was temporary',
} as const;

export const itemStates = {
  'item any -> skipped': 'items concern relaxed: code recorded in fulfillment.concessions',
  'item skipped': 'cannot be bought, the rest ships',
  'item pending': 'while the order is queued',
  'item processing': 'while the order is taken up',
  'item ordered': 'once the order is placed',
  'item shipped': 'once its parcel is in transit',
  'item available_for_pickup': 'waits at a pickup point',
  'item delivered': 'arrived',
  'item cancelled': 'with its order',
  'item failed': 'with its order',
} as const;

export const trackingStates = {
  'tracking pending': 'tracking number attached',
  'tracking in_transit': 'on its way',
  'tracking delivered': 'arrived',
  'tracking available_for_pickup': 'waits at a pickup point',
  'tracking undeliverable': 'came back (observed)',
  'tracking pending -> in_transit': 'automatic in the sandbox; tracking_updated hook',
  'tracking in_transit -> delivered': 'automatic in the sandbox',
} as const;

export const returnStates = {
  'return open': 'asked for',
  'return in_progress': 'of the earlier version: read and filtered by, never sent',
  'return approved': 'with labels',
  'return denied': 'with resolution_notes',
  'return completed': 'of the earlier version: read and filtered by, never sent',
  'return credited': "resolved by crediting the customer's wallet",
} as const;

export const batchStates = {
  'batch pending': 'created, rows still to be placed',
  'batch processing': 'rows are being placed asynchronously',
  'batch completed': 'every row placed or failed',
  'batch failed': 'no row is an order',
} as const;

export const deviceStates = {
  'device authorization_pending': 'keep waiting, details.interval seconds (5)',
  'device slow_down': 'keep waiting, details.interval seconds',
  'device access_denied': 'stop',
  'device expired_token': 'stop (observed)',
} as const;

export const keyStates = {
  'sandbox key -> claimed': 'a human signs in at claim_url; status reports when; the key keeps working',
} as const;
