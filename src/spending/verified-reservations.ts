import { formatMoney } from '../format/money.ts';
import { paidAccount, type Signer } from '../journal/journal-record.ts';
import { machineMac } from '../journal/mac.ts';
import type { Reservation } from '../journal/reservation-row.ts';
import type { OrderContext } from '../run/order-context.ts';

/**
 * The keys with which a shared journal is verified: the API key in use and, for orders paid by challenge, this
 * machine's key.
 */
export async function verifiersOf({
  sender,
  settings: { folders },
}: Pick<OrderContext, 'sender' | 'settings'>): Promise<readonly Signer[]> {
  const { account, mac } = await sender();
  return [...(mac ? [{ account, mac }] : []), { account: paidAccount, mac: machineMac(folders.state) }];
}

/**
 * The verified reservations made since a time.
 * @param since is in ms since the epoch.
 * @throws StorageError.
 */
export async function verifiedReservations(
  context: OrderContext,
  since: number,
): Promise<readonly Reservation[]> {
  const { reservations, isShared } = await context.journal();
  return reservations.standing(since, isShared ? await verifiersOf(context) : []);
}

/**
 * Lists running sums of limits that differ from a recount, one line each.
 * @throws StorageError.
 */
export async function wrongSums(context: OrderContext): Promise<readonly string[]> {
  return (await context.journal()).reservations.sumProblems();
}

/**
 * Lists reservations of a shared journal that were removed or changed, one line each.
 * @throws StorageError.
 */
export async function alteredReservations(context: OrderContext): Promise<readonly string[]> {
  const { reservations, isShared } = await context.journal();
  const altered = isShared ? reservations.altered(await verifiersOf(context)) : [];
  return altered.map(({ key, counted, at }) => {
    const day = new Date(at).toISOString().slice(0, 10);
    return `the reservation of ${key} of ${day} is gone or was changed; ${formatMoney(counted)} count for it, as the audit chain says`;
  });
}
