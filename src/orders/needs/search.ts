import { isFailedOrder } from '../../api/order-state.ts';
import { contentIn } from '../../format/canonical-need.ts';
import { pages } from '../../http/paging.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { differences, hasOtherRecipient, hasSameProduct } from '../compare.ts';
import type { OrderRecord } from '../order-record.ts';
import type { Body } from '../submit/intent.ts';
import { compareNeeds, needOf } from './need.ts';

const hourMs = 3600 * 1000;

/**
 * Searches the service for orders that a request may have made, live ones first, then oldest first. Orders that the
 * journal knows to be another request's do not count. @param key is the request's idempotency key. @param since is when
 * it was sent at the earliest, ms since the epoch.
 * @throws ErrandError.
 */
export async function findOrders(
  context: OrderContext,
  body: Body,
  { key, since }: { readonly key: string; readonly since: number },
): Promise<readonly OrderRecord[]> {
  const client = await context.client();
  const journal = await context.journal();
  const query = { created_after: new Date(since - hourMs).toISOString() };
  const found: OrderRecord[] = [];
  for await (const { rows } of pages(client, 'order.list', { query }, { all: true }))
    found.push(
      ...rows.filter((row) => mayBeOf(body, row) && journal.otherKeyOf(String(row.id), key) === undefined),
    );
  return found.toSorted((one, other) => rank(one) - rank(other) || madeAt(one) - madeAt(other));
}

const rank = ({ status }: OrderRecord): number => (isFailedOrder(String(status)) ? 1 : 0);
const madeAt = ({ created_at: at }: OrderRecord): number => Date.parse(String(at));

/** Whether an order may be the result of a request, however the service spells it. */
function mayBeOf(body: Body, row: OrderRecord): boolean {
  const content = contentIn(row, 'items');
  return (
    (content !== undefined && compareNeeds(needOf(body), needOf(content)) !== 'unlike') ||
    differences(body, row).every(({ isVariant }) => isVariant) ||
    (!hasOtherRecipient(body, row) && hasSameProduct(body, row))
  );
}
