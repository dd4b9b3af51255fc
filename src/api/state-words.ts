import type { OrderStatus, TrackingStatus } from './enums.ts';

/** The service's filter that finds orders in a displayed state. */
type StateFilter = { readonly status_filter: OrderStatus } | { readonly tracking_status: TrackingStatus };

/**
 * Order states as lists display them, with the service's filter for each. States after the placement are states of
 * parcels, which the service filters by tracking status. If a state has a reason, or was reached only in part, the
 * first words of the state determine the filter.
 */
export const stateWords = {
  waiting: { status_filter: 'pending' },
  'in-progress': { status_filter: 'in_progress' },
  placed: { status_filter: 'order_placed' },
  'in-transit': { tracking_status: 'in_transit' },
  'ready-for-pickup': { tracking_status: 'available_for_pickup' },
  delivered: { tracking_status: 'delivered' },
  undeliverable: { tracking_status: 'undeliverable' },
  failed: { status_filter: 'order_failed' },
  cancelled: { status_filter: 'cancelled' },
  'cancelled-by-retailer': { status_filter: 'cancelled_by_retailer' },
} as const satisfies Readonly<Record<string, StateFilter>>;
