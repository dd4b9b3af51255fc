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
 * Records once what a read shows of the money of an order that this machine has placed: what it cost, what came back.
 * Reading goes on where the chain cannot be written; a later read, or `reconcile`, then finds it.
 */
export async function observeOrder(context: Context, order: IdentifiedOrder): Promise<void> {
  const { baseUrl, profile } = context.settings;
  if (context.previewsRequests || !journalExists(context.settings)) return;
  const seen = seenIn(order);
  if (seen.length === 0) return;
  try {
    const { audit } = await context.journal();
    if (!audit.has('responded', order.id)) return;
    const subject = { profile: profile.value, service: baseUrl.value };
    for (const entry of seen) await audit.writeOnce(order.id, { ...entry, ...subject });
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
  }
}

/** The same of many orders that are known to be of this machine, in one transaction. @throws StorageError. */
export async function observeOrders(context: Context, orders: readonly IdentifiedOrder[]): Promise<void> {
  const { baseUrl, profile } = context.settings;
  if (context.previewsRequests || orders.length === 0 || !journalExists(context.settings)) return;
  const subject = { profile: profile.value, service: baseUrl.value };
  const { audit } = await context.journal();
  await audit.writeAllOnce(
    orders.flatMap((order) => seenIn(order).map((entry) => [order.id, { ...entry, ...subject }] as const)),
  );
}

type Seen = Extract<AuditEntry, { readonly kind: 'settled' | 'refund' | 'return_credit' }>;

/** Nothing of an order that is still on its way. */
function seenIn(order: IdentifiedOrder): Seen[] {
  const result = own(order, 'job_result');
  return [
    ...settledIn(order),
    ...objectsIn(result, 'refunds').flatMap(refundIn),
    ...objectsIn(order, 'returns').flatMap(creditIn),
  ];
}

/** What was charged for the goods; 0 where nothing was bought in the end. The fee is not known from the order. */
function settledIn(order: IdentifiedOrder): Seen[] {
  const status = textIn(order, 'status') ?? '';
  const detail = { status };
  if (failedOrderStatuses.some((failed) => failed === status)) return [{ kind: 'settled', cents: 0, detail }];
  const charge = status === 'order_placed' ? chargeOf(order) : undefined;
  if (!charge) return [];
  const currency = charge.currency === 'USD' ? {} : { currency: charge.currency };
  return [{ kind: 'settled', cents: charge.cents, ...currency, detail }];
}

/** What a payer by challenge got back, in the currency's minor unit. */
function refundIn(refund: JsonObject, index: number): Seen[] {
  const amount = textIn(refund, 'amount');
  const currency = textIn(refund, 'currency');
  if (amount === undefined || !/^\d{1,15}$/.test(amount) || !/^[a-z]{3}$/i.test(currency ?? '')) return [];
  return [{ kind: 'refund', cents: Number(amount), currency, detail: { refund: index + 1 } }];
}

function creditIn(returned: JsonObject): Seen[] {
  const cents = numberIn(returned, 'credited_amount');
  if (cents === undefined || cents === 0 || !isCents(cents)) return [];
  const id = textIn(returned, 'id');
  if (id === undefined || !uuidPattern.test(id)) return [];
  return [{ kind: 'return_credit', cents, detail: { return: id } }];
}

const isCents = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
