import type { Shape } from '../../../api/schemas/index.ts';
import type { OrderRecord } from './types.ts';

/** What anyone who holds the order's id may see: where it goes and how far it is, never whom it is for. */
export function publicTracking(record: OrderRecord): Shape<'PublicTrackingResponse'> {
  const { address_line1, address_line2, city, state, postal_code, country } = record.shipping_address;
  const estimates = record.tracking_numbers.flatMap((tracking) => tracking.estimated_delivery_date ?? []);
  return {
    order_id: record.id,
    current_status: record.status,
    estimated_delivery_date: estimates.toSorted().at(-1) ?? null,
    destination: { address_line1, address_line2, city, state, postal_code, country },
    shipments: record.tracking_numbers.map((tracking) => ({
      carrier: tracking.carrier,
      tracking_number: tracking.tracking_number,
      status: tracking.status,
      estimated_delivery_date: tracking.estimated_delivery_date,
      checkpoints: tracking.checkpoints ?? [],
    })),
    items: record.items.map(({ url, quantity, variant, status }) => ({ url, quantity, variant, status })),
  };
}
