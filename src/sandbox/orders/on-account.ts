import { freeAt, placingEnds } from '../accounts/queue.ts';
import { type Account, accountFor, findAccount } from '../accounts/records.ts';
import { accountTrouble } from '../accounts/trouble.ts';
import { Refusal } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import type { LineFacts, OrderBody, OrderPlan, Surroundings } from './lifecycle/index.ts';

/** The managed account that an order names. @throws Refusal for an unknown account. */
export function orderAccount({ store }: Service, userId: string, body: OrderBody): Account | undefined {
  const id = body.retailer_credentials_id;
  if (id == null) return undefined;
  const account = findAccount(store, userId, id);
  if (account) return account;
  throw new Refusal('bad_request', `There is no managed account ${id}.`, { retailer_credentials_id: id });
}

interface Turn {
  readonly surroundings: Pick<Surroundings, 'startAt' | 'accountError'>;
  held(plan: OrderPlan): { accountId: string; start: number; end: number } | null;
}

/**
 * One order at a time runs on an account: a later one starts when those before it have been placed or have failed.
 * The function given back is to be called within the transaction that keeps the order.
 */
export async function turnOnAccount(
  service: Service,
  userId: string,
  body: OrderBody,
): Promise<(createdAt: number) => Turn> {
  if (!orderAccount(service, userId, body)) return () => ({ surroundings: {}, held: () => null });
  const sealer = await service.sealer();
  const catalogue = await service.catalogue();
  const twoFactor = body.products.some(({ url }) => catalogue.sellerOf(url)?.twoFactor);
  return (createdAt) => {
    const account = orderAccount(service, userId, body);
    if (!account) throw new Error('an order on an account has one');
    const start = freeAt(service.store, account.id, createdAt);
    const accountError = accountTrouble(account, sealer, twoFactor);
    return {
      surroundings: { startAt: start, ...(accountError && { accountError }) },
      held: (plan) => ({ accountId: account.id, start, end: placingEnds(plan) }),
    };
  };
}

/** The saved account that could pay the retailer directly, which leaves the wallet the fee alone. */
export function accountRails(
  { store, config }: Service,
  userId: string,
  lines: readonly (LineFacts | null)[],
): Readonly<Record<string, unknown>>[] {
  const [retailer = null, ...others] = new Set(lines.map((line) => line?.retailer ?? null));
  const account = others.length === 0 ? accountFor(store, userId, retailer) : undefined;
  if (!account) return [];
  const message = `Order with your own account ${account.email}: the retailer charges it, and the wallet pays the fee alone.`;
  return [
    {
      rail: 'your_retailer_account',
      retailer_credentials_id: account.shortId,
      retailer: account.retailer,
      required: config.orderFeeCents,
      message,
    },
  ];
}
