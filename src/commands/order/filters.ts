import type { Input, Options } from '../../cli/define.ts';
import { optionFor } from '../../cli/from-contract.ts';
import { operations } from '../../contract/operations/index.ts';
import { UsageError } from '../../errors.ts';

const query = operations['order.list'].query;
const group = 'Filters';

/** Every filter of the specification as an option; shared by `list` and `export`. */
export const filterOptions = {
  status: optionFor(query.status_filter, { group }),
  orderId: optionFor(query.order_id, { group, completes: 'orders' }),
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

type Filters = Input<readonly [], typeof filterOptions>;

/**
 * The filters under their names on the wire; those not given are undefined.
 * @throws UsageError for half of the metadata pair.
 */
export function wireFilters(filters: Filters) {
  const { metadataKey, metadataValue } = filters;
  if ((metadataKey === undefined) !== (metadataValue === undefined)) {
    const [given, missing] =
      metadataKey === undefined ? (['value', 'key'] as const) : (['key', 'value'] as const);
    throw new UsageError(`--metadata-${given} needs --metadata-${missing}: an order is found by both`);
  }
  return {
    status_filter: filters.status,
    order_id: filters.orderId,
    search: filters.search,
    merchant_order_id: filters.merchantOrderId,
    tracking_status: filters.trackingStatus,
    has_tracking: filters.hasTracking,
    return_status: filters.returnStatus,
    created_after: filters.createdAfter,
    created_before: filters.createdBefore,
    metadata_key: filters.metadataKey,
    metadata_value: filters.metadataValue,
    user_email: filters.userEmail,
    shipping_name: filters.shippingName,
  };
}
