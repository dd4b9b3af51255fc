import { canonicalJson } from '../format/canonical.ts';
import type { Client } from '../http/client.ts';
import { readGrant } from '../http/payment-credential.ts';
import type { JournalRecord } from '../journal/journal-record.ts';
import { ErrandError } from '../platform/errors.ts';
import type { OrderContext } from '../run/order-context.ts';
import { paidOperation } from './intent.ts';
import { asOrder } from './journaled-order.ts';
import { isKeyOld, tooOld } from './key-life.ts';
import type { Body, KeyedBody, Placed } from './placed.ts';
import { type Create, send } from './send.ts';
import { endUnsent } from './settle.ts';

/** Sends an order with what pays for it. */
export const paidOrder =
  (payment: string): Create =>
  async (client, body, options) => {
    const { body: order, headers } = await client.call(paidOperation, { body }, { ...options, payment });
    return { order, grant: readGrant(headers) };
  };

/** An order with its key, its fields in one order whoever reads it back: a payment may be bound to the very bytes. */
export function keyedBody(order: Body, key: string): KeyedBody {
  const body: KeyedBody = JSON.parse(canonicalJson({ ...order, idempotency_key: key }));
  return body;
}

/**
 * Settles an order that may have been paid: the same body is sent with the same payment, nothing is paid again.
 * Where errand ended before it had anything to pay with, nothing can have been ordered, and the record ends so.
 * @param record claimed by this process. @throws ErrandError payment in that case; in_doubt; conflict where it is too old.
 */
export async function resumePaid(
  context: OrderContext,
  client: Client,
  record: JournalRecord,
  resend: boolean,
): Promise<Placed> {
  const { key, base_url: baseUrl, operation, key_origin: keyOrigin } = record;
  const intent = { key, baseUrl, operation, keyOrigin };
  const payment = (await context.journal()).credentialOf(key, baseUrl);
  if (payment !== undefined) {
    if (!resend && isKeyOld(record, context.clock.now())) throw await tooOld(context, client, record);
    const body = keyedBody(await asOrder(record), key);
    return send(context, client, { intent, body, sending: 'again', create: paidOrder(payment) });
  }
  const nothing = new ErrandError(
    'payment',
    `errand ended while ${key} was being paid for; nothing was ordered`,
    {
      code: 'payment_failed',
      idempotencyKey: key,
      outcome: 'not_sent',
      retryable: false,
      hint: 'The wallet may have paid all the same: look there before you order again.',
    },
  );
  await endUnsent(context, intent, nothing);
  throw nothing;
}
