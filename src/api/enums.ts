/** All enums, each defined once. Requests accept only these values, but responses may carry newer ones. */

export const orderStatuses = [
  'pending',
  'in_progress',
  'order_placed',
  'order_failed',
  'cancelled',
  'cancelled_by_retailer',
] as const;
/** Statuses of an order whose placement has ended, successfully or not. */
export const settledOrderStatuses = [
  'order_placed',
  'order_failed',
  'cancelled',
  'cancelled_by_retailer',
] as const satisfies readonly OrderStatus[];
/** Settled statuses that are failures. */
export const failedOrderStatuses = [
  'order_failed',
  'cancelled',
  'cancelled_by_retailer',
] as const satisfies readonly OrderStatus[];
export const cancellableOrderStatuses = ['pending'] as const satisfies readonly OrderStatus[];

export const itemStatuses = [
  'pending',
  'processing',
  'ordered',
  'shipped',
  'available_for_pickup',
  'delivered',
  'cancelled',
  'failed',
  'skipped',
] as const;

export const trackingStatuses = [
  'pending',
  'in_transit',
  'delivered',
  'available_for_pickup',
  'undeliverable',
] as const;

/** How certain it is which items a parcel contains: the retailer stated them, or the service inferred them. */
export const itemMappings = ['exact', 'inferred'] as const;

export const milestoneTypes = [
  'order_created',
  'order_placed',
  'tracking_acquired',
  'shipped',
  'available_for_pickup',
  'delivered',
  'undeliverable',
  'order_failed',
  'cancelled',
] as const;

export const productConditions = [
  'New',
  'Refurbished',
  'UsedLikeNew',
  'UsedVeryGood',
  'UsedGood',
  'UsedAcceptable',
] as const;

/** The spelling of each condition in an offer. */
export const offerConditions = {
  New: 'New',
  Refurbished: 'Refurbished',
  UsedLikeNew: 'Used - Like New',
  UsedVeryGood: 'Used - Very Good',
  UsedGood: 'Used - Good',
  UsedAcceptable: 'Used - Acceptable',
} as const satisfies Readonly<Record<ProductCondition, string>>;

export const fulfillmentConcerns = ['gift', 'items', 'quantity'] as const;
export const fulfillmentModes = ['best_effort'] as const;
export const paymentModes = ['wallet', 'card', 'connect'] as const;
export const marginTypes = ['flat', 'percent'] as const;
export const cardPaymentStates = ['authorized', 'captured', 'released', 'refunded'] as const;
export const connectStates = ['secured', 'captured', 'released', 'refunded'] as const;

export const destinationCountries = ['US', 'DE', 'IT'] as const;
export const orderIncludes = ['tracking_events'] as const;
export const orderReturnFilters = ['open', 'closed'] as const;

export const batchStatuses = ['pending', 'processing', 'completed', 'failed'] as const;
export const batchRowStatuses = ['pending', 'placed', 'failed'] as const;

export const returnStatuses = ['open', 'in_progress', 'approved', 'denied', 'completed', 'credited'] as const;
export const returnReasons = [
  'damaged',
  'not_delivered',
  'empty_box',
  'wrong_item',
  'defective',
  'not_as_described',
  'wrong_size',
  'no_longer_needed',
  'forced_cancellation',
  'other',
] as const;
/** Return reasons of the previous version. Responses may contain them, but requests never send them. */
export const earlierReturnReasons = [
  'return.request_label',
  'nondelivery.not_delivered',
  'nondelivery.damaged',
  'nondelivery.empty_box',
  'tracking.request_update',
  'cancel.forced_cancellation',
] as const;

export const searchSorts = ['relevance', 'price_asc', 'price_desc', 'rating'] as const;
export const payloadStatuses = ['processing', 'failed', 'completed'] as const;
export const listingTypes = ['physical', 'download', 'both'] as const;
export const retailerSupports = ['verified', 'active', 'observed'] as const;
export const checkSupports = [...retailerSupports, 'untested', 'unsupported'] as const;
export const unsupportedReasons = [
  'unsupported_retailer',
  'unsupported_country',
  'guest_checkout_not_supported',
] as const;
export const walletTypes = ['purchases'] as const;

export type OrderStatus = (typeof orderStatuses)[number];
export type ItemStatus = (typeof itemStatuses)[number];
export type TrackingStatus = (typeof trackingStatuses)[number];
export type MilestoneType = (typeof milestoneTypes)[number];
export type ProductCondition = (typeof productConditions)[number];
export type FulfillmentConcern = (typeof fulfillmentConcerns)[number];
export type ReturnStatus = (typeof returnStatuses)[number];
export type ReturnReason = (typeof returnReasons)[number];
export type SearchSort = (typeof searchSorts)[number];
export type UnsupportedReason = (typeof unsupportedReasons)[number];
