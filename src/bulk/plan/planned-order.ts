import type { orderOfRow } from '../../api/bulk-row.ts';
import { metadataOf, referenceKey } from '../../orders/needs/reference.ts';
import { referenceOfRow } from '../needs/row-need.ts';
import type { UploadRow } from '../rows.ts';

/** A row's order as it will be sent, including its key and its reference. Pure. */
export function plannedOrder(order: ReturnType<typeof orderOfRow>, sent: UploadRow, key: string) {
  const reference = referenceOfRow(sent);
  const metadata = reference && { ...order.metadata, [referenceKey]: metadataOf(reference) };
  return { ...order, ...(metadata && { metadata }), idempotency_key: key };
}
