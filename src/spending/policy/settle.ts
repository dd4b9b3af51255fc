import { mentionedOrder, saysExists } from '../../api/bulk-row.ts';
import { failedOrderStatuses } from '../../api/enums.ts';
import { numberIn, objectsIn, textIn } from '../../api/json.ts';
import type { Output } from '../../api/outputs/index.ts';
import type { Client } from '../../http/client.ts';
import { pages } from '../../http/paging.ts';
import { paidElsewhere } from '../../journal/grants.ts';
import type { Journal } from '../../journal/journal.ts';
import { paidAccount } from '../../journal/journal-record.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import { ListedUsage } from '../../journal/limit-usage.ts';
import type { Reservation } from '../../journal/reservation-row.ts';
import type { Reading } from '../../journal/reservations.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { chargeOf } from '../price-of-order.ts';
import { verifiedReservations } from '../verified-reservations.ts';
import { rowKeysOf } from './facts.ts';
import { type Policy, periodsAt, scopeText } from './policy.ts';
import { periodOf, summedLimit } from './verdict.ts';

/** Maximum number of orders that are read one by one because the order list does not contain them. */
const maxSingleReads = 20;
/** Number of pages to read in addition to those that the orders would fill if there were no others. */
const morePages = 2;
const pageRows = 500;

/**
 * Reads the results of the orders for which this account has reservations at this service. A placed order then counts
 * with its actual cost. Reservations for failed or cancelled orders are released. If the service cannot be read,
 * everything stays reserved, and a message says so.
 * @param since is in ms since the epoch.
 * @returns whether anything has changed.
 * @throws StorageError.
 */
export async function settleUnsettled(context: OrderContext, since: number): Promise<boolean> {
  const journal = await context.journal();
  const { reservations } = journal;
  let changed = await reservations.giveBackAbandoned();
  const { value: baseUrl } = context.settings.baseUrl;
  const accounts = [(await context.sender()).account, paidAccount];
  const active = () =>
    reservations
      .since(since)
      .filter((one) => one.baseUrl === baseUrl && accounts.includes(one.account) && one.state !== 'released');
  try {
    const client = await context.client();
    changed += await reservations.settle(await readBatches(client, journal, active()));
    changed += await reservations.settle(await readOrders(client, active()));
  } catch (error) {
    if (!(error instanceof ErrandError) || context.signal.aborted) throw error;
    context.note(
      `policy: could not read what earlier orders cost (${error.message}); every reserved amount counts`,
    );
  }
  return changed > 0;
}

/**
 * Settles the reservation for an order that has just been read. @returns the settled reservation. @throws StorageError.
 */
export async function settleRead(
  context: OrderContext,
  reservation: Reservation,
  order: unknown,
): Promise<Reservation> {
  const { reservations } = await context.journal();
  if ((await reservations.settle([{ reservation, ...endOf(order, reservation) }])) === 0) return reservation;
  return reservations.about(reservation.baseUrl, reservation.orderId, reservation.key) ?? reservation;
}

/**
 * Reads the results of the rows of batches. If the service refused a row and the row has no order, the batch has spent
 * nothing on that row.
 */
async function readBatches(
  client: Client,
  journal: Journal,
  active: readonly Reservation[],
): Promise<Reading[]> {
  const open = active.filter(({ state, orderId }) => state === 'held' && orderId === undefined);
  const intents = new Map(open.flatMap(({ intents, baseUrl }) => intents.map((intent) => [intent, baseUrl])));
  const readings: Reading[] = [];
  for (const [intent, baseUrl] of intents) {
    const record = intent === '' ? undefined : journal.find(intent, baseUrl);
    if (record?.operation !== 'bulk.create' || record.order_id === null || record.state === 'damaged')
      continue;
    const { body } = await client.call('bulk.get', { path: { batch_id: record.order_id } });
    const keys = rowKeysOf(record.body);
    const byKey = new Map(open.flatMap((one) => (one.account === record.account ? [[one.key, one]] : [])));
    for (const [rowIndex, row] of objectsIn(body, 'rows').entries()) {
      const reservation = byKey.get(keys[numberIn(row, 'index') ?? rowIndex] ?? '');
      if (!reservation) continue;
      const orderId = textIn(row, 'order_id') ?? existingOrder(row);
      if (orderId !== undefined) readings.push({ reservation, orderId });
      else if (isRefused(row, body)) readings.push({ reservation, without: intent });
    }
  }
  return readings;
}

/**
 * The order that already had the key of a row. It belongs to an earlier upload. If an intermediary sent the upload
 * twice, it belongs to this one.
 */
function existingOrder(row: unknown): string | undefined {
  const error = textIn(row, 'error');
  return error !== undefined && saysExists(error) ? mentionedOrder(error) : undefined;
}

/**
 * Whether the service refused a row. A row whose key already has an order also fails, but does not count as refused.
 */
const isRefused = (row: unknown, batch: unknown): boolean =>
  (textIn(row, 'status') === 'failed' ||
    (textIn(row, 'status') === 'pending' && textIn(batch, 'status') === 'failed')) &&
  !saysExists(textIn(row, 'error'));

async function readOrders(client: Client, active: readonly Reservation[]): Promise<Reading[]> {
  const byId = new Map(active.flatMap((one) => (one.orderId === undefined ? [] : [[one.orderId, one]])));
  const missing = new Map(byId);
  const readings: Reading[] = [];
  const read = (order: unknown): void => {
    const id = textIn(order, 'id') ?? '';
    const reservation = missing.get(id);
    if (!reservation) return;
    missing.delete(id);
    readings.push({ reservation, ...endOf(order, reservation) });
  };
  if (byId.size > maxSingleReads) {
    let left = Math.ceil(byId.size / pageRows) + morePages;
    for await (const { rows } of pages(client, 'order.list', {}, { all: true })) {
      rows.forEach(read);
      left -= 1;
      if (missing.size === 0 || left === 0) break;
    }
  }
  const single = [...missing.values()].sort((a, b) => (a.state < b.state ? -1 : 1)).slice(0, maxSingleReads);
  for (const { orderId = '' } of single) read(await orderAt(client, orderId));
  return readings;
}

/** Reads an order. Undefined if this account or this machine cannot see it. */
async function orderAt(client: Client, id: string): Promise<unknown> {
  try {
    return (await client.call('order.get', { path: { order_id: id } })).body;
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    if (error.facts.outcome === 'rejected' || error.facts.code === paidElsewhere) return undefined;
    throw error;
  }
}

/**
 * The final cost of an order, as far as it is known. If the retailer cancels a placed order, the service keeps the fee.
 */
function endOf(
  order: unknown,
  { feeCents, counted, state }: Reservation,
): Pick<Reading, 'costCents' | 'isVoid'> {
  const status = textIn(order, 'status');
  if (status === 'cancelled_by_retailer') return { costCents: feeCents };
  if (failedOrderStatuses.some((failed) => failed === status)) return { isVoid: true };
  const charge = chargeOf(order);
  if (status !== 'order_placed' || charge?.currency !== 'USD') return {};
  const costCents = charge.cents + feeCents;
  return state === 'settled' && counted === costCents ? {} : { costCents };
}

/** What is left of a daily or monthly limit. Amounts in cents. */
type ShownUsage = Output<'PolicyUsage'>;

/** What is left of the daily and monthly limits. @throws StorageError if the journal cannot be read. */
export async function shownUsage(
  context: OrderContext,
  policy: Policy,
  { refresh, isRehearsal }: { readonly refresh: boolean; readonly isRehearsal: boolean },
): Promise<ShownUsage[]> {
  const periods = periodsAt(context.clock.now(), policy.timeZone);
  const since = Math.min(periods.month.begin, periods.day.begin);
  const hasJournal = journalExists(context.settings);
  if (refresh && hasJournal) await settleUnsettled(context, since);
  const all = hasJournal ? await verifiedReservations(context, since) : [];
  const usage = new ListedUsage(all);
  const open = new ListedUsage(all.filter(({ state }) => state === 'held'));
  return policy.limits.flatMap(({ rule, kind, max, scope }) => {
    const period = periodOf(kind, periods);
    if (!period) return [];
    const summed = summedLimit(scope, period, isRehearsal);
    const used = usage.used(summed);
    return {
      rule,
      applies_to: scopeText(scope) ?? null,
      period: period.name,
      resets_at: new Date(period.end).toISOString(),
      limit_cents: max,
      used_cents: used,
      open_cents: open.used(summed),
      left_cents: Math.max(0, max - used),
      used_share: max === 0 ? 1 : Math.round((used / max) * 1000) / 1000,
    };
  });
}
