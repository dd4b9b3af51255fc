import { createHmac } from 'node:crypto';
import {
  productDetails,
  productOffers,
  productTerms,
  refuseProduct,
  retailerTerms,
  searchListings,
} from '../catalogue/products.ts';
import { insertUser } from '../keys/keys.ts';
import { prepareOrder, refuseAtOnce } from '../orders/create.ts';
import { creationRefusal } from '../orders/lifecycle/index.ts';
import { hashKey } from '../server/caller.ts';
import type { AllHandlers, Call } from '../server/handler.ts';
import { ErrorResponse, Invalid } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import type { Store } from '../store/store.ts';
import { enter, insufficientFunds, lowerCeiling, openWallet } from '../wallet/wallet.ts';
import { insertPayment, type Payment, paymentBy, paymentUnderKey, receiptHeaders } from './payments.ts';
import { openTill, type PaidOperation, type Till, verified } from './till.ts';

/** Handlers of the paid endpoints. Data calls are validated before payment, because rejected calls are free. */
export const agentHandlers = {
  'agent.order.create': (service, call) => acceptAgentOrder(service, call),

  'agent.search': async (service, call) => {
    const value = await searchListings(service, call.query);
    const take = await demandPayment(service, 'agent.search', call);
    return { value, headers: await take() };
  },

  'agent.product.search': async (service, call) => {
    const catalogue = await service.catalogue();
    const value = catalogue.retailerSearch({ ...retailerTerms(call.query), agent: true });
    const take = await demandPayment(service, 'agent.product.search', call);
    return { value, headers: await take() };
  },

  'agent.product.get': async (service, call) => {
    const product = productTerms(call.query.product_id, call.query);
    await refuseProduct(service, product, 'details');
    const take = await demandPayment(service, 'agent.product.get', call);
    return { value: await productDetails(service, product, call.now), headers: await take() };
  },

  'agent.product.offers': async (service, call) => {
    const product = productTerms(call.query.product_id, call.query);
    await refuseProduct(service, product, 'offers');
    const take = await demandPayment(service, 'agent.product.offers', call);
    return { value: await productOffers(service, product, call.now), headers: await take() };
  },
} satisfies Partial<AllHandlers>;

type OrderCall = Pick<Call<'agent.order.create'>, 'body' | 'query' | 'request' | 'now'>;

interface Ordered {
  /** The serialized record. */
  readonly text: string;
  readonly headers: Record<string, string>;
}

/**
 * Accepts an order paid by challenge (`max_price` plus fee). Rejects invalid orders before issuing a challenge, and
 * takes the payment in the transaction that stores the order. @throws Refusal, Invalid.
 */
async function acceptAgentOrder(service: Service, call: OrderCall): Promise<Ordered> {
  const { store, idGenerator, config } = service;
  const { body, request, query, now } = call;
  refuseUnpayable(call);
  const till = await openTill(
    service,
    { operation: 'agent.order.create', request, query, now },
    body.max_price,
  );
  refuseRepeated(service, till, body.idempotency_key);
  await refuseBeforePayment(service, call);
  const payment = await verified(service, till, now);
  // Each order gets its own user, so that the wallet holds only this payment and the key can read only this order.
  const userId = await store.transaction(() => idGenerator.uuid('user'));
  const fee = till.bill.cents - body.max_price;
  const save = await prepareOrder(service, { userId, email: null }, body, fee);
  return store.transaction(() => {
    refuseRepeated(service, till, body.idempotency_key);
    openPayersWallet(store, userId, idGenerator.uuid('wallet'), payment);
    const { id: orderId, text } = save(now);
    store.run('UPDATE ledger SET order_id = ? WHERE user_id = ?', orderId, userId);
    const taken = { ...payment, orderId, idempotencyKey: body.idempotency_key ?? null };
    insertPayment(store, taken);
    const key = temporaryKey(till.secret, config.prefix, orderId);
    saveTemporaryKey(store, { key, id: idGenerator.uuid('key'), userId, orderId, now });
    return { text, headers: orderHeaders(taken, key) };
  });
}

/**
 * Keeps amounts, including the fee, far below the largest integer that JSON numbers represent exactly. @throws Invalid.
 */
function refuseUnpayable({ body }: OrderCall): void {
  const maxCents = 1e12;
  if (body.max_price <= maxCents) return;
  const msg = `Input should be less than or equal to ${maxCents} for an order that is paid by challenge`;
  throw new Invalid([{ loc: ['body', 'max_price'], msg, type: 'too_big' }]);
}

/** Runs all checks made at creation, so that no money is taken for a rejected order. @throws Refusal. */
async function refuseBeforePayment(service: Service, { body }: OrderCall): Promise<void> {
  const { mode = 'wallet' } = body.payment ?? {};
  if (mode !== 'wallet') {
    const message = `An order without an account is paid by its challenge, not by payment.mode ${mode}.`;
    throw new ErrorResponse('bad_request', message, { mode });
  }
  await refuseAtOnce(service, '', body);
  if (creationRefusal(body, service.config.shopUrl)?.code === 'insufficient_funds')
    throw insufficientFunds(0, Math.max(1, body.max_price), [lowerCeiling]);
}

/**
 * Rejects a payment or idempotency key that already created an order. If the caller repeats the exact paid request, the
 * refusal returns the order's id, the receipt and the temporary key. A caller who lost the response therefore does not
 * have to pay again. Knowing only the key or the credential reveals nothing about the order. @throws Refusal.
 */
function refuseRepeated(
  { store, config }: Service,
  { bill, credential, secret, errorResponse }: Till,
  key: string | null | undefined,
): void {
  const spent = credential && paymentBy(store, credential.challenge.id);
  if (spent && (spent.digest !== bill.digest || spent.orderId === null))
    throw errorResponse(
      'invalid-challenge',
      'The challenge has been paid with already, for another request.',
    );
  const made = spent ?? (key == null ? undefined : paymentUnderKey(store, key));
  if (!made || made.orderId === null) return;
  const details = { resource: 'order', ...(made.digest === bill.digest && { identifier: made.orderId }) };
  const message = spent
    ? 'This payment has made its order already.'
    : 'An order with this idempotency_key exists already; nothing was paid.';
  const headers = spent && orderHeaders(made, temporaryKey(secret, config.prefix, made.orderId));
  throw new ErrorResponse('already_exists', message, details, headers);
}

const orderHeaders = (payment: Payment, key: string): Record<string, string> => ({
  ...receiptHeaders(payment),
  'x-api-key': key,
});

function openPayersWallet(store: Store, userId: string, walletId: string, { cents, at }: Payment): void {
  insertUser(store, { id: userId, email: null, createdAt: at });
  openWallet(store, userId, walletId, 0, at);
  enter(store, userId, 'payment', cents, at, null);
}

/**
 * Demands the price of a data call. The returned function takes the payment once the data is available, and returns the
 * response headers. @throws Refusal 402 from both functions. The returned function throws if another call has used the
 * same credential in the meantime.
 */
async function demandPayment<N extends PaidOperation>(
  service: Service,
  operation: N,
  { request, query, now }: Pick<Call<N>, 'request' | 'query' | 'now'>,
): Promise<() => Promise<Record<string, string>>> {
  const { store } = service;
  const till = await openTill(service, { operation, request, query, now }, 0);
  const payment = await verified(service, till, now);
  return () =>
    store.transaction(() => {
      if (paymentBy(store, payment.challengeId))
        throw till.errorResponse('invalid-challenge', 'The challenge has been paid with already.');
      insertPayment(store, payment);
      return receiptHeaders(payment);
    });
}

/**
 * Derives the temporary key that can read only this order. The same order always gets the same key, so a lost response
 * can be reproduced.
 */
function temporaryKey(secret: Buffer, prefix: string, orderId: string): string {
  const mac = createHmac('sha256', secret).update(`temporary key of order ${orderId}`).digest('hex');
  return `${prefix}_test_${mac.slice(0, 40)}`;
}

interface KeyRow {
  readonly key: string;
  readonly id: string;
  readonly userId: string;
  readonly orderId: string;
  /** Creation time of the key, in ms since the epoch. */
  readonly now: number;
}

/**
 * Stores the hash of an order's key. The key has no client address, so the key does not count against any mint limit.
 * Must run in a transaction.
 */
function saveTemporaryKey(store: Store, { key, id, userId, orderId, now }: KeyRow): void {
  store.run(
    "INSERT INTO api_keys (hash, user_id, id, minted_from, created_at, used_at, order_id) VALUES (?, ?, ?, 'payment', ?, ?, ?)",
    hashKey(key),
    userId,
    id,
    now,
    now,
    orderId,
  );
}
