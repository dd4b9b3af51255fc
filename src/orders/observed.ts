import { failedOrderStatuses } from '../api/enums.ts';
import { type JsonObject, numberIn, objectsIn, own, textIn } from '../api/json.ts';
import { uuidPattern } from '../api/limits.ts';
import type { AuditEntry } from '../journal/audit-entry.ts';
import { journalExists } from '../journal/journal-tables.ts';
import { ErrandError } from '../platform/errors.ts';
import type { Context } from '../run/context.ts';
import { chargeOf } from '../spending/price-of-order.ts';
import type { IdentifiedOrder } from './order-record.ts';

/**
 * Records the costs and refunds that a read shows for an order placed by this machine. Records each of them only once.
 * Ignores write failures, because a later read or `reconcile` makes up for them.
 */
export async function observeOrder(context: Context, order: IdentifiedOrder): Promise<void> {
  const { baseUrl, profile } = context.settings;
  if (context.previewsRequests || !journalExists(context.settings)) return;
  const entries = entriesIn(order);
  if (entries.length === 0) return;
  try {
    const { audit } = await context.journal();
    if (!audit.has('responded', order.id)) return;
    const subject = { profile: profile.value, service: baseUrl.value };
    for (const entry of entries) await audit.writeOnce(order.id, { ...entry, ...subject });
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
  }
}

/**
 * Same as `observeOrder`, but for many orders that are known to come from this machine, in one transaction.
 * @throws StorageError.
 */
export async function observeOrders(context: Context, orders: readonly IdentifiedOrder[]): Promise<void> {
  const { baseUrl, profile } = context.settings;
  if (context.previewsRequests || orders.length === 0 || !journalExists(context.settings)) return;
  const subject = { profile: profile.value, service: baseUrl.value };
  const { audit } = await context.journal();
  await audit.writeAllOnce(
    orders.flatMap((order) => entriesIn(order).map((entry) => [order.id, { ...entry, ...subject }] as const)),
  );
}

type ObservedEntry = Extract<AuditEntry, { readonly kind: 'settled' | 'refund' | 'return_credit' }>;

/** Costs, refunds and credits of an order; empty as long as the order is in progress. */
function entriesIn(order: IdentifiedOrder): ObservedEntry[] {
  const result = own(order, 'job_result');
  return [
    ...settledIn(order),
    ...objectsIn(result, 'refunds').flatMap(refundIn),
    ...objectsIn(order, 'returns').flatMap(creditIn),
  ];
}

/** Charge for the goods; 0 if nothing was bought. The order does not show the fee. */
function settledIn(order: IdentifiedOrder): ObservedEntry[] {
  const status = textIn(order, 'status') ?? '';
  const detail = { status };
  if (failedOrderStatuses.some((failed) => failed === status)) return [{ kind: 'settled', cents: 0, detail }];
  const charge = status === 'order_placed' ? chargeOf(order) : undefined;
  if (!charge) return [];
  const currency = charge.currency === 'USD' ? {} : { currency: charge.currency };
  return [{ kind: 'settled', cents: charge.cents, ...currency, detail }];
}

/** Refund to someone who paid by challenge, in the minor unit of the currency. */
function refundIn(refund: JsonObject, index: number): ObservedEntry[] {
  const amount = textIn(refund, 'amount');
  const currency = textIn(refund, 'currency');
  if (amount === undefined || !/^\d{1,15}$/.test(amount) || !/^[a-z]{3}$/i.test(currency ?? '')) return [];
  return [{ kind: 'refund', cents: Number(amount), currency, detail: { refund: index + 1 } }];
}

function creditIn(returned: JsonObject): ObservedEntry[] {
  const cents = numberIn(returned, 'credited_amount');
  if (cents === undefined || cents === 0 || !isCents(cents)) return [];
  const id = textIn(returned, 'id');
  if (id === undefined || !uuidPattern.test(id)) return [];
  return [{ kind: 'return_credit', cents, detail: { return: id } }];
}

const isCents = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
