import { destinationCountries } from '../../api/enums.ts';
import {
  type Account,
  accountFor,
  accountProblem,
  findAccount,
  freeAt,
  placingEnds,
} from '../accounts/records.ts';
import { lineFacts } from '../catalogue/offers.ts';
import type { SandboxConfig } from '../config.ts';
import { userNumber } from '../keys/keys.ts';
import type { Caller } from '../server/caller.ts';
import { ErrorResponse, Invalid } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import { insufficientFunds, lowerCeiling, requireFunds, reserve, walletOf } from '../wallet/wallet.ts';
import { createOrder, creationRefusal, slugOf } from './lifecycle/index.ts';
import type { LineFacts, OrderBody, OrderEnvironment, OrderPlan } from './lifecycle/types.ts';
import { insertOrder, loadRecordText } from './records.ts';

/** A stored order: its id, row number and serialized record. */
interface Accepted {
  readonly id: string;
  readonly seq: number;
  readonly text: string;
}

type Orderer = Pick<Caller, 'userId' | 'email'>;

/**
 * Accepts an order. Rejects the order immediately if it cannot succeed. Otherwise stores the order with its entire
 * schedule and reserves the money, in one transaction. @returns the serialized record. @throws Refusal.
 */
export async function acceptOrder(
  service: Service,
  caller: Caller,
  body: OrderBody,
  now: number,
): Promise<string> {
  const save = await prepareOrder(service, caller, body);
  return (await service.store.grouped(() => save(now))).text;
}

/**
 * Validates an order and loads everything its schedule depends on. The returned function stores the order as created at
 * `createdAt` (ms) and must run in a transaction. @throws Refusal from both functions.
 */
export async function prepareOrder(
  service: Service,
  orderer: Orderer,
  body: OrderBody,
  feeCents = service.config.orderFeeCents,
): Promise<(createdAt: number) => Accepted> {
  const { store, idGenerator, config } = service;
  const { userId, email } = orderer;
  refuseExisting(service, userId, body);
  await refuseAtOnce(service, userId, body);
  const environment = await environmentOf(service, body);
  const recordText = await loadRecordText();
  const turn = await turnOnAccount(service, userId, body);
  return (createdAt) => {
    refuseExisting(service, userId, body);
    const { reserved, fee, paysGoods } = walletTerms(body, feeCents);
    const { spendable } = walletOf(store, userId);
    const rails = paysGoods ? [...accountRails(service, userId, environment.lines), lowerCeiling] : [];
    if (creationRefusal(body, config.shopUrl)?.code === 'insufficient_funds') {
      const required = Math.max(1, reserved);
      throw insufficientFunds(Math.min(spendable, required - 1), required, rails);
    }
    requireFunds(spendable, reserved, rails);
    const account = orderAccount(service, userId, body);
    const id = idGenerator.uuid('order');
    const key = body.idempotency_key ?? idGenerator.uuid('idempotency_key');
    const queue = turn(createdAt);
    const state = createOrder({
      ...environment,
      ...queue.environment,
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

/** Rejects a reused idempotency key. */
function refuseExisting({ store }: Service, userId: string, body: OrderBody): void {
  if (body.idempotency_key == null) return;
  const row = store.get(
    'SELECT id FROM orders WHERE user_id = ? AND idempotency_key = ?',
    userId,
    body.idempotency_key,
  );
  if (!row) return;
  throw new ErrorResponse('already_exists', 'An order with this idempotency_key exists already.', {
    resource: 'order',
    identifier: String(row.id),
  });
}

/** What an order takes from the wallet, in cents. */
interface WalletTerms {
  /** Amount that is reserved when the order is accepted. It is the most that the order can cost the wallet. */
  readonly reserved: number;
  /** Service fee, charged when the order is placed. */
  readonly fee: number;
  /** Whether the wallet also pays for the goods. */
  readonly paysGoods: boolean;
}

/**
 * Computes the wallet's share of an order. Card payments cover both ceiling and fee, so the wallet pays nothing. For
 * goods paid through the caller's own retailer account or by a connected customer, the wallet pays only the fee
 * (specification, Errors, rule 3).
 */
export function walletTerms(order: OrderBody, feeCents: number): WalletTerms {
  const mode = order.payment?.mode ?? 'wallet';
  if (mode === 'card') return { reserved: 0, fee: 0, paysGoods: false };
  const paysGoods = mode === 'wallet' && order.retailer_credentials_id == null;
  return { reserved: paysGoods ? order.max_price + feeCents : feeCents, fee: feeCents, paysGoods };
}

/** Collects the external inputs that determine an order's future. */
export async function environmentOf(service: Service, body: OrderBody): Promise<OrderEnvironment> {
  const { config, idGenerator } = service;
  const isTest = (url: string): boolean => slugOf(url, config.shopUrl) !== null;
  const catalogue = body.products.every(({ url }) => isTest(url)) ? undefined : await service.catalogue();
  const factsOf = (line: OrderBody['products'][number]): LineFacts | null => {
    const listing = isTest(line.url) ? undefined : catalogue?.byUrl(line.url);
    return listing ? lineFacts(listing, line) : null;
  };
  return {
    seed: idGenerator.seed,
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

/** The managed account that an order refers to. @throws Refusal if the account is unknown. */
function orderAccount({ store }: Service, userId: string, body: OrderBody): Account | undefined {
  const id = body.retailer_credentials_id;
  if (id == null) return undefined;
  const account = findAccount(store, userId, id);
  if (account) return account;
  throw new ErrorResponse('bad_request', `There is no managed account ${id}.`, {
    retailer_credentials_id: id,
  });
}

interface Turn {
  readonly environment: Pick<OrderEnvironment, 'startAt' | 'accountError'>;
  held(plan: OrderPlan): { accountId: string; start: number; end: number } | null;
}

/**
 * Queues an order on its account. Orders on the same account run one at a time. The next order therefore starts once
 * all earlier orders are placed or have failed. The returned function must be called in the transaction that stores the
 * order.
 */
async function turnOnAccount(
  service: Service,
  userId: string,
  body: OrderBody,
): Promise<(createdAt: number) => Turn> {
  if (!orderAccount(service, userId, body)) return () => ({ environment: {}, held: () => null });
  const sealer = await service.sealer();
  const catalogue = await service.catalogue();
  const twoFactor = body.products.some(({ url }) => catalogue.sellerOf(url)?.twoFactor);
  return (createdAt) => {
    const account = orderAccount(service, userId, body);
    if (!account) throw new Error('an order on an account has one');
    const start = freeAt(service.store, account.id, createdAt);
    const accountError = accountProblem(account, sealer, twoFactor);
    return {
      environment: { startAt: start, ...(accountError && { accountError }) },
      held: (plan) => ({ accountId: account.id, start, end: placingEnds(plan) }),
    };
  };
}

/** The saved account that could pay the retailer directly, so that the wallet pays only the fee. */
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

/**
 * Maximum lines per order. The specification sets no limit, but every transition costs time proportional to the lines.
 */
const maxLines = 500;

/**
 * Rejects an order for problems known before it is queued, except for the wallet balance.
 * @param isDryRun skips problems that show up only when the order is placed.
 * @throws Refusal, Invalid.
 */
export async function refuseAtOnce(
  service: Service,
  userId: string,
  body: OrderBody,
  isDryRun = false,
): Promise<void> {
  const { config } = service;
  if (body.products.length > maxLines) {
    const msg = `This sandbox takes at most ${maxLines} products an order`;
    throw new Invalid([{ loc: ['body', 'products'], msg, type: 'too_long' }]);
  }
  const refused = creationRefusal(body, config.shopUrl);
  if (refused && refused.code !== 'insufficient_funds' && !(isDryRun && refused.isLate))
    throw new ErrorResponse(refused.code, refused.message, refused.details);
  const country = body.shipping_address.country.toUpperCase();
  if (!destinationCountries.some((served) => served === country)) {
    throw new ErrorResponse('unsupported_country', `Orders are not delivered to ${country}.`, { country });
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
      throw new ErrorResponse(reason, detail ?? `${url} cannot be ordered to ${country}.`, { url, country });
    const retailer = catalogue.sellerOf(url)?.retailer;
    if (account?.retailer && account.retailer !== retailer) {
      const message = `The managed account ${account.shortId} is one at ${account.retailer}, and ${url} is not sold there.`;
      throw new ErrorResponse('bad_request', message, { retailer_credentials_id: account.shortId, url });
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
