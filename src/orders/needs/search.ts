import { isFailedOrder } from '../../api/order-state.ts';
import { contentIn } from '../../format/canonical-need.ts';
import { pages } from '../../http/paging.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { differences, hasOtherRecipient, hasSameProduct } from '../compare.ts';
import type { OrderRecord } from '../order-record.ts';
import type { Body } from '../submit/intent.ts';
import { compareNeeds, needOf } from './need.ts';
import { metadataOf, referenceIn } from './reference.ts';

/** How long before a request an order is listed from, ms. */
const marginMs = 3600 * 1000;

/** The request to search for. */
interface Searched {
  readonly body: Body;
  /** Idempotency key of the request. */
  readonly key: string;
  /** Earliest time at which the request was sent, in ms since the epoch. */
  readonly since: number;
}

/** How to recognize an order. */
export interface Recognition {
  /** Whether an order may be the result of the request; defaults to `isAlike`. */
  readonly mayBeOf?: (body: Body, row: OrderRecord) => boolean;
  /** Whether to include orders that belong to other requests according to the journal. */
  readonly countsOthers?: boolean;
}

/**
 * Searches the service for orders that a request may have made. Live orders come first. Among those and among the
 * others, the oldest comes first.
 * @throws ErrandError.
 */
export async function findOrders(
  context: OrderContext,
  { body, key, since }: Searched,
  { mayBeOf = isAlike, countsOthers = false }: Recognition = {},
): Promise<readonly OrderRecord[]> {
  const journal = await context.journal();
  const found = await ordersSince(
    context,
    since,
    (row) => mayBeOf(body, row) && (countsOthers || journal.otherKeyOf(String(row.id), key) === undefined),
  );
  return found.toSorted((one, other) => rank(one) - rank(other) || madeAt(one) - madeAt(other));
}

/**
 * Lists the orders that were created after a request was sent and that `isOne` accepts.
 * @param since is in ms since the epoch, by the clock that recorded the request.
 * @throws ErrandError.
 */
export async function ordersSince(
  context: OrderContext,
  since: number,
  isOne: (row: OrderRecord) => boolean,
): Promise<readonly OrderRecord[]> {
  const client = await context.client();
  for (let from = earliest(context, since); ; ) {
    const query = { created_after: new Date(from).toISOString() };
    const found: OrderRecord[] = [];
    for await (const { rows } of pages(client, 'order.list', { query }, { all: true }))
      found.push(...rows.filter(isOne));
    // The response tells the service's time. If this machine's clock turns out to be ahead, list again from an earlier
    // time. Half of the margin is left for what the two clocks differ by from one response to the next.
    const known = earliest(context, since);
    if (known > from - marginMs / 2) return found;
    from = known;
  }
}

/**
 * Earliest time at which a request was sent, by the service's clock. The clock that recorded the request may be ahead.
 */
function earliest({ clock, serviceClock }: OrderContext, since: number): number {
  const now = serviceClock.now();
  const from = since - Math.max(0, clock.now() - now) - marginMs;
  // The clock that recorded the request was ahead and has been corrected since. Therefore list all orders.
  return from > now ? 0 : from;
}

const rank = ({ status }: OrderRecord): number => (isFailedOrder(String(status)) ? 1 : 0);
const madeAt = ({ created_at: at }: OrderRecord): number => Date.parse(String(at));

/**
 * Whether an order may be the result of a request, even if the service spells the order differently. An order for
 * another reference cannot be the result.
 */
function isAlike(body: Body, row: OrderRecord): boolean {
  const [sent, listed] = [referenceIn(body.metadata), referenceIn(row.metadata)];
  if (sent && listed && metadataOf(sent) !== metadataOf(listed)) return false;
  const content = contentIn(row, 'items');
  return (
    (content !== undefined && compareNeeds(needOf(body), needOf(content)) !== 'unlike') ||
    differences(body, row).every(({ isVariant }) => isVariant) ||
    (!hasOtherRecipient(body, row) && hasSameProduct(body, row))
  );
}

/**
 * Whether an order has the recipient or a product in common with a request, whatever its ceiling and spelling. Used for
 * a key that another machine may have sent and that the service may have forgotten since.
 */
export const sharesAnything = (body: Body, row: OrderRecord): boolean =>
  !hasOtherRecipient(body, row) || hasSameProduct(body, row);
