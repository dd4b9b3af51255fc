import type { Context } from '../context.ts';
import { ErrandError } from '../errors.ts';
import type { Client } from '../http/client.ts';
import { readGrant } from '../http/payment-credential.ts';
import { canonicalJson } from '../state/canonical.ts';
import type { JournalRecord } from '../state/journal-record.ts';
import type { Body, KeyedBody, Placed } from './placed.ts';
import { type Create, send } from './send.ts';

/** The operation of intents that are paid by challenge. */
export const paidOperation = 'agent.order.create';

/** Sends an order with what pays for it. */
export const paidOrder =
  (payment: string): Create =>
  async (client, body) => {
    const { body: order, headers } = await client.call(paidOperation, { body }, { payment });
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
 * @param record claimed by this process. @throws ErrandError payment in that case; in_doubt.
 */
export async function resumePaid(
  context: Context,
  client: Client,
  record: JournalRecord,
  order: Body,
): Promise<Placed> {
  const { key, base_url: baseUrl } = record;
  const journal = await context.journal();
  const payment = journal.credentialOf(key, baseUrl);
  if (payment !== undefined) return send(context, client, keyedBody(order, key), 'again', paidOrder(payment));
  const message = `errand ended while ${key} was being paid for; nothing was ordered`;
  await journal.refuse(key, baseUrl, { code: 'payment_failed', message });
  throw new ErrandError('payment', message, {
    code: 'payment_failed',
    idempotencyKey: key,
    outcome: 'not_sent',
    retryable: false,
    hint: 'The wallet may have paid all the same: look there before you order again.',
  });
}
