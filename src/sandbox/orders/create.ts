import { userNumber } from '../keys/users.ts';
import type { Caller } from '../server/caller.ts';
import { Refusal } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import { insufficientFunds, lowerCeiling, requireFunds, reserve, walletOf } from '../wallet/wallet.ts';
import { createOrder, creationRefusal, type OrderBody } from './lifecycle/index.ts';
import { accountRails, orderAccount, turnOnAccount } from './on-account.ts';
import { loadRecordText } from './record-text.ts';
import { insertOrder } from './records.ts';
import { refuseAtOnce } from './refuse-at-once.ts';
import { surroundingsOf } from './surroundings.ts';
import { walletTerms } from './terms.ts';

/** An order that was kept: its id, its number in the store, and its record's text. */
export interface Accepted {
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
