import { operations } from '../../contract/operations/index.ts';
import type { Options } from '../define.ts';
import { optionFor } from '../from-contract.ts';

const query = operations['order.list'].query;
const group = 'Filters';

/** Every filter of the specification as an option; shared by `list` and `export`. */
export const filterOptions = {
  status: optionFor(query.status_filter, { group }),
  orderId: optionFor(query.order_id, { group }),
  search: optionFor(query.search, { group }),
  merchantOrderId: optionFor(query.merchant_order_id, { group }),
  trackingStatus: optionFor(query.tracking_status, { group }),
  hasTracking: optionFor(query.has_tracking, { group }),
  returnStatus: optionFor(query.return_status, { group }),
  createdAfter: optionFor(query.created_after, { group }),
  createdBefore: optionFor(query.created_before, { group }),
  metadataKey: optionFor(query.metadata_key, { group }),
  metadataValue: optionFor(query.metadata_value, { group }),
  userEmail: optionFor(query.user_email, { group }),
  shippingName: optionFor(query.shipping_name, { group }),
} as const satisfies Options;

const parameterOf = {
  status: 'status_filter',
  orderId: 'order_id',
  search: 'search',
  merchantOrderId: 'merchant_order_id',
  trackingStatus: 'tracking_status',
  hasTracking: 'has_tracking',
  returnStatus: 'return_status',
  createdAfter: 'created_after',
  createdBefore: 'created_before',
  metadataKey: 'metadata_key',
  metadataValue: 'metadata_value',
  userEmail: 'user_email',
  shippingName: 'shipping_name',
} as const satisfies Record<keyof typeof filterOptions, keyof typeof query>;

type Filters = { readonly [K in keyof typeof filterOptions]?: string | boolean };
export type OrderFilters = {
  readonly [P in (typeof parameterOf)[keyof typeof parameterOf]]?: string | boolean;
};

/** The given filters under their names on the wire. */
export function wireFilters(filters: Filters): OrderFilters {
  const names = Object.entries(parameterOf) as [keyof Filters, string][];
  return Object.fromEntries(
    names.filter(([key]) => filters[key] !== undefined).map(([key, parameter]) => [parameter, filters[key]]),
  );
}
