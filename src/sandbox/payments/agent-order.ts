import { insertUser } from '../keys/users.ts';
import { prepareOrder } from '../orders/create.ts';
import { creationRefusal } from '../orders/lifecycle/index.ts';
import { refuseAtOnce } from '../orders/refuse-at-once.ts';
import type { Call } from '../server/handler.ts';
import { Invalid, Refusal } from '../server/refusal.ts';
import type { Service } from '../service.ts';
import type { Store } from '../store/store.ts';
import { enter, insufficientFunds, lowerCeiling, openWallet } from '../wallet/wallet.ts';
import { insertPayment, type Payment, paymentBy, paymentUnderKey } from './payments.ts';
import { receiptHeaders } from './receipt.ts';
import { keepTemporaryKey, temporaryKey } from './temporary-key.ts';
import { openTill, type Till, verified } from './till.ts';

type OrderCall = Pick<Call<'agent.order.create'>, 'body' | 'query' | 'request' | 'now'>;

export interface Ordered {
  /** The record's text. */
  readonly text: string;
  readonly headers: Record<string, string>;
}

/**
 * Accepts an order that is paid by challenge: `max_price` and the fee. What is refused at once is refused before a
 * challenge is issued, and the payment is taken in the transaction that keeps the order. @throws Refusal, Invalid.
 */
export async function acceptAgentOrder(service: Service, call: OrderCall): Promise<Ordered> {
  const { store, identity, config } = service;
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
  // Each order has a user of its own: its wallet holds what was paid, and its key reads nothing else.
  const userId = await store.transaction(() => identity.uuid('user'));
  const fee = till.bill.cents - body.max_price;
  const keep = await prepareOrder(service, { userId, email: null }, body, fee);
  return store.transaction(() => {
    refuseRepeated(service, till, body.idempotency_key);
    openPayersWallet(store, userId, identity.uuid('wallet'), payment);
    const { id: orderId, text } = keep(now);
    store.run('UPDATE ledger SET order_id = ? WHERE user_id = ?', orderId, userId);
    const taken = { ...payment, orderId, idempotencyKey: body.idempotency_key ?? null };
    insertPayment(store, taken);
    const key = temporaryKey(till.secret, config.prefix, orderId);
    keepTemporaryKey(store, { key, id: identity.uuid('key'), userId, orderId, now });
    return { text, headers: orderHeaders(taken, key) };
  });
}

/** Sums stay far below what a JSON number no longer holds exactly, fee and all. @throws Invalid. */
function refuseUnpayable({ body }: OrderCall): void {
  const most = 1e12;
  if (body.max_price <= most) return;
  const msg = `Input should be less than or equal to ${most} for an order that is paid by challenge`;
  throw new Invalid([{ loc: ['body', 'max_price'], msg, type: 'too_big' }]);
}

/** Everything that creation refuses at once: no money is taken for that. @throws Refusal. */
async function refuseBeforePayment(service: Service, { body }: OrderCall): Promise<void> {
  const { mode = 'wallet' } = body.payment ?? {};
  if (mode !== 'wallet') {
    const message = `An order without an account is paid by its challenge, not by payment.mode ${mode}.`;
    throw new Refusal('bad_request', message, { mode });
  }
  await refuseAtOnce(service, '', body);
  if (creationRefusal(body, service.config.shopUrl)?.code === 'insufficient_funds')
    throw insufficientFunds(0, Math.max(1, body.max_price), [lowerCeiling]);
}

/**
 * A payment that made its order already, or a key that did. Who repeats the very request that was paid gets all that
 * its response held but the record, so that a lost response is never paid for twice; who knows only the key or the
 * credential learns nothing of the order. @throws Refusal.
 */
function refuseRepeated(
  { store, config }: Service,
  { bill, credential, secret, refusal }: Till,
  key: string | null | undefined,
): void {
  const spent = credential && paymentBy(store, credential.challenge.id);
  if (spent && (spent.digest !== bill.digest || spent.orderId === null))
    throw refusal('invalid-challenge', 'The challenge has been paid with already, for another request.');
  const made = spent ?? (key == null ? undefined : paymentUnderKey(store, key));
  if (!made || made.orderId === null) return;
  const details = { resource: 'order', ...(made.digest === bill.digest && { identifier: made.orderId }) };
  const message = spent
    ? 'This payment has made its order already.'
    : 'An order with this idempotency_key exists already; nothing was paid.';
  const headers = spent && orderHeaders(made, temporaryKey(secret, config.prefix, made.orderId));
  throw new Refusal('already_exists', message, details, headers);
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
