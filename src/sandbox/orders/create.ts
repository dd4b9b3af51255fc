import { destinationCountries } from '../../api/enums.ts';
import {
  type Account,
  accountFor,
  accountTrouble,
  findAccount,
  freeAt,
  placingEnds,
} from '../accounts/records.ts';
import { lineFacts } from '../catalogue/offers.ts';
import type { SandboxConfig } from '../config.ts';
import { userNumber } from '../keys/keys.ts';
import type { Caller } from '../server/caller.ts';
import { Invalid, Refusal } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import { insufficientFunds, lowerCeiling, requireFunds, reserve, walletOf } from '../wallet/wallet.ts';
import { createOrder, creationRefusal, slugOf } from './lifecycle/index.ts';
import type { LineFacts, OrderBody, OrderPlan, Surroundings } from './lifecycle/types.ts';
import { insertOrder, loadRecordText } from './records.ts';

/** An order that was kept: its id, its number in the store, and its record's text. */
interface Accepted {
  readonly id: string;
  readonly seq: number;
  readonly text: string;
}

type Orderer = Pick<Caller, 'userId' | 'email'>;

/**
 * Accepts an order: refused at creation for what is known at once, else kept with its whole future in one transaction,
 * together with the money set aside for it. @returns the record's text. @throws Refusal.
 */
export async function acceptOrder(
  service: Service,
  caller: Caller,
  body: OrderBody,
  now: number,
): Promise<string> {
  const keep = await prepareOrder(service, caller, body);
  return (await service.store.grouped(() => keep(now))).text;
}

/**
 * Checks an order and reads all that its future depends on. The function given back keeps it as created at `createdAt`
 * (ms); it is to be called within a transaction. @throws Refusal, both.
 */
export async function prepareOrder(
  service: Service,
  orderer: Orderer,
  body: OrderBody,
  feeCents = service.config.orderFeeCents,
): Promise<(createdAt: number) => Accepted> {
  const { store, identity, config } = service;
  const { userId, email } = orderer;
  refuseExisting(service, userId, body);
  await refuseAtOnce(service, userId, body);
  const surroundings = await surroundingsOf(service, body);
  const recordText = await loadRecordText();
  const turn = await turnOnAccount(service, userId, body);
  return (createdAt) => {
    refuseExisting(service, userId, body);
    const { reserved, fee, paysGoods } = walletTerms(body, feeCents);
    const { spendable } = walletOf(store, userId);
    const rails = paysGoods ? [...accountRails(service, userId, surroundings.lines), lowerCeiling] : [];
    if (creationRefusal(body, config.shopUrl)?.code === 'insufficient_funds') {
      const required = Math.max(1, reserved);
      throw insufficientFunds(Math.min(spendable, required - 1), required, rails);
    }
    requireFunds(spendable, reserved, rails);
    const account = orderAccount(service, userId, body);
    const id = identity.uuid('order');
    const key = body.idempotency_key ?? identity.uuid('idempotency_key');
    const queue = turn(createdAt);
    const state = createOrder({
      ...surroundings,
      ...queue.surroundings,
      order: body,
      orderId: id,
      createdAt,
      userNumber: userNumber(store, userId),
      createdBy: email,
      accountUuid: account?.id ?? null,
    });
    const text = recordText(state.record);
    reserve(store, userId, reserved);
    const seq = insertOrder(store, {
      state,
      text,
      body,
      userId,
      email,
      key,
      createdAt,
      reserved,
      fee,
      walletPaid: paysGoods,
      queued: queue.held(state.plan),
      speed: config.speed,
    });
    return { id, seq, text };
  };
}

/** An order made before with this key. */
function refuseExisting({ store }: Service, userId: string, body: OrderBody): void {
  if (body.idempotency_key == null) return;
  const row = store.get(
    'SELECT id FROM orders WHERE user_id = ? AND idempotency_key = ?',
    userId,
    body.idempotency_key,
  );
  if (!row) return;
  throw new Refusal('already_exists', 'An order with this idempotency_key exists already.', {
    resource: 'order',
    identifier: String(row.id),
  });
}

/** What one order takes from the wallet, cents. */
interface WalletTerms {
  /** Set aside when the order is accepted: the most that it can come to cost the wallet. */
  readonly reserved: number;
  /** The service's fee, taken when the order is placed. */
  readonly fee: number;
  /** Whether the wallet pays the goods too. */
  readonly paysGoods: boolean;
}

/**
 * A card holds the ceiling and the fee itself, so the wallet owes nothing; goods bought through the caller's own
 * retailer account, or by a connected customer, leave it the fee alone (specification, Errors, rule 3).
 */
export function walletTerms(order: OrderBody, feeCents: number): WalletTerms {
  const mode = order.payment?.mode ?? 'wallet';
  if (mode === 'card') return { reserved: 0, fee: 0, paysGoods: false };
  const paysGoods = mode === 'wallet' && order.retailer_credentials_id == null;
  return { reserved: paysGoods ? order.max_price + feeCents : feeCents, fee: feeCents, paysGoods };
}

/** What an order's future depends on besides the order itself. */
export async function surroundingsOf(service: Service, body: OrderBody): Promise<Surroundings> {
  const { config, identity } = service;
  const isTest = (url: string): boolean => slugOf(url, config.shopUrl) !== null;
  const catalogue = body.products.every(({ url }) => isTest(url)) ? undefined : await service.catalogue();
  const factsOf = (line: OrderBody['products'][number]): LineFacts | null => {
    const listing = isTest(line.url) ? undefined : catalogue?.byUrl(line.url);
    return listing ? lineFacts(listing, line) : null;
  };
  return {
    seed: identity.seed,
    speed: config.speed,
    config: {
      prefix: config.prefix,
      trackingUrlBase: `${config.baseUrl}/track`,
      shopUrl: config.shopUrl,
      orderFeeCents: config.orderFeeCents,
    },
    lines: body.products.map(factsOf),
  };
}

/** The managed account that an order names. @throws Refusal for an unknown account. */
function orderAccount({ store }: Service, userId: string, body: OrderBody): Account | undefined {
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
async function turnOnAccount(
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
function accountRails(
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

/** The service states no bound; each change of an order costs in proportion to its lines. */
const mostLines = 500;

/**
 * Refuses an order for what is known before it is queued, the wallet aside.
 * @param isDryRun whether the order is only looked at: what shows when it is placed is not known then.
 * @throws Refusal, Invalid.
 */
export async function refuseAtOnce(
  service: Service,
  userId: string,
  body: OrderBody,
  isDryRun = false,
): Promise<void> {
  const { config } = service;
  if (body.products.length > mostLines) {
    const msg = `This sandbox takes at most ${mostLines} products an order`;
    throw new Invalid([{ loc: ['body', 'products'], msg, type: 'too_long' }]);
  }
  const refused = creationRefusal(body, config.shopUrl);
  if (refused && refused.code !== 'insufficient_funds' && !(isDryRun && refused.isLate))
    throw new Refusal(refused.code, refused.message, refused.details);
  const country = body.shipping_address.country.toUpperCase();
  if (!destinationCountries.some((served) => served === country)) {
    throw new Refusal(
      'unsupported_country',
      `Orders are delivered to ${destinationCountries.join(', ')}, not to ${country}.`,
      { country },
    );
  }
  if (body.webhooks) await refuseWebhooks(body.webhooks, config);
  const account = orderAccount(service, userId, body);
  const fromElsewhere = body.products.filter(({ url }) => slugOf(url, config.shopUrl) === null);
  if (fromElsewhere.length === 0) return;
  const catalogue = await service.catalogue();
  for (const { url } of fromElsewhere) {
    const { unsupported_reason: reason, support_detail: detail } = catalogue.check(
      url,
      country,
      config.shopUrl,
    );
    const isMember = account !== undefined && reason === 'guest_checkout_not_supported';
    if (reason && !isMember)
      throw new Refusal(reason, detail ?? `${url} cannot be ordered to ${country}.`, { url, country });
    const retailer = catalogue.sellerOf(url)?.retailer;
    if (account?.retailer && account.retailer !== retailer) {
      const message = `The managed account ${account.shortId} is one at ${account.retailer}, and ${url} is not sold there.`;
      throw new Refusal('bad_request', message, { retailer_credentials_id: account.shortId, url });
    }
  }
}

async function refuseWebhooks(
  webhooks: NonNullable<OrderBody['webhooks']>,
  config: SandboxConfig,
): Promise<void> {
  const { requireAddress } = await import('../webhooks/address.ts');
  for (const [event, addresses] of Object.entries(webhooks)) {
    for (const address of [addresses ?? []].flat()) requireAddress(address, `webhooks.${event}`, config);
  }
}
