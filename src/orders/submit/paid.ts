import { randomUUID } from 'node:crypto';
import { operations } from '../../api/operations/index.ts';
import type { PaymentChallenge } from '../../http/payment-challenge.ts';
import { journalCommand } from '../../journal/journal-command.ts';
import type { Intent, PaymentNote } from '../../journal/journal-record.ts';
import { isUnsettled } from '../../journal/record-result.ts';
import { ErrandError, StorageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { approvedKey, notePolicy, reserveAhead } from '../../spending/policy-gate.ts';
import type { PayOptions } from '../payments/pay.ts';
import { agreeOnPayment, notePaid, pay, priceText, requestPrice } from '../payments/pay.ts';
import {
  type Body,
  type IntentOf,
  type Placed,
  type Placing,
  paidBy,
  paidIntent,
  paidOperation,
} from './intent.ts';
import { previewKey } from './preview.ts';
import { type Ended, type RepeatRule, recordOnce, settleEarlier, settleOwed } from './repeats.ts';
import { keyedBody, paidOrder } from './resume.ts';
import { type Create, endUnsent, send, settleIntent, whileHeld } from './send.ts';
import { earlierOrder, readyToSend } from './submit.ts';

type Options = PayOptions & Placing;

/**
 * Places one order per intent, paid by challenge. The payment is journaled before it is made, and the credential before
 * it is sent. Placing the same order again settles the first order with its own payment, or counts as a repeated
 * command, unless `isNew` or a key is given.
 * @throws ErrandError: payment if nothing was bought, in_doubt if no response settles the payment.
 */
export async function placePaidOrder(context: Context, order: Body, options: Options): Promise<Placed> {
  await readyToSend(context);
  const client = await context.client();
  const chosen = order.idempotency_key ?? undefined;
  const unkeyed = paidIntent(context, { key: '', keyOrigin: 'made', body: keyedBody(order, '') });
  const isOpen = chosen === undefined && !context.previewsRequests;
  const earlierOnes = { isByHand: options.isByHand, ended: new Map<string, string>() };
  const unfinished = isOpen && !options.isNew ? await settleOwed(context, unkeyed, earlierOnes) : undefined;
  if (unfinished) return unfinished;
  const approved = isOpen ? await approvedKey(context, unkeyed, options) : undefined;
  const body = keyedBody(order, chosen ?? (approved?.isSent === false ? approved.key : randomUUID()));
  const query = options.method === undefined ? {} : { method: options.method };
  const unpaid = () => client.call(paidOperation, { query, body });
  const { idempotency_key: key } = body;
  const intent = paidIntent(context, { key, keyOrigin: chosen === undefined ? 'made' : 'chosen', body });
  const repeats = options.isNew || chosen !== undefined ? 'none' : 'repeats';
  if (context.previewsRequests) {
    await notePolicy(context, [{ intent }]);
    const shown = keyedBody(order, (await previewKey(context, intent, repeats)) ?? key);
    return { order: (await client.call(paidOperation, { query, body: shown })).body, existed: false };
  }
  const earlier = await earlierOrder(context, client, intent, body);
  if (earlier) return earlier;
  const { placed, rule } = await settleEarlier(context, intent, repeats, earlierOnes);
  if (placed) return placed;
  // Reserve the money first, because a service that requires no payment places the order as soon as it is asked for its
  // price.
  const giveBackUnsent = await reserveAhead(context, [{ intent }], options);
  try {
    const priced = await requestPrice(unpaid);
    if ('response' in priced)
      return await placedUnpaid(context, intent, priced.response.body, rule, earlierOnes.ended);
    const expectedCents = body.max_price + operations[paidOperation].challengeCents;
    const challenge = await agreeOnPayment(context, priced.challenges, { body, expectedCents }, options);
    const paid = { ...intent, ...paidBy(noteOf(challenge)) };
    const recorded = await recordOnce(context, paid, rule, { ...options, ...earlierOnes });
    if (recorded.placed) return recorded.placed;
    const payment = await payOnRecord(context, paid, challenge, options);
    const create = telling(context, challenge, paidOrder(payment));
    return await send(context, client, { intent: paid, body, sending: 'first', create });
  } finally {
    await giveBackUnsent();
  }
}

/** Records an order the service placed without asking for payment. */
async function placedUnpaid(
  context: Context,
  intent: IntentOf<typeof paidOperation>,
  order: Placed['order'] & { readonly id: string },
  rule: RepeatRule,
  ended: Ended,
): Promise<Placed> {
  try {
    const { placed } = await recordOnce(context, intent, rule === 'none' ? rule : 'owed', { ended });
    if (placed) return placed;
    await settleIntent(context, intent, order.id);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    context.note(
      `the order ${order.id} was placed without a payment; it is not in the journal (${error.message})`,
    );
  }
  return { order, existed: false };
}

/** Pays a challenge, journaling before and after. @returns the credential. @throws ErrandError payment. */
async function payOnRecord(
  context: Context,
  intent: Intent,
  challenge: PaymentChallenge,
  options: PayOptions,
): Promise<string> {
  try {
    const payment = await whileHeld(context, intent, () => pay(context, challenge, options));
    await saveCredential(context, intent, challenge, payment);
    return payment;
  } catch (error) {
    // Nothing was sent, even if a wallet paid. Leave the record open if another machine may still send its order.
    const isOpen = error instanceof ErrandError && error.category === 'in_doubt';
    if (error instanceof ErrandError && !isOpen) await endUnsent(context, intent, error);
    throw error;
  }
}

async function saveCredential(
  context: Context,
  { key, baseUrl }: Intent,
  challenge: PaymentChallenge,
  payment: string,
): Promise<void> {
  try {
    await (await context.journal()).saveCredential(key, baseUrl, payment);
  } catch (error) {
    if (isUnsettled(error)) throw mayBeSaved(context, key, challenge, error);
    throw error instanceof ErrandError ? paidInVain(key, challenge, error) : error;
  }
}

/**
 * The error for a credential that may or may not have reached the database. Nothing was sent. If the credential was
 * stored, resuming sends the order with this payment.
 */
const mayBeSaved = (
  context: Context,
  key: string,
  challenge: PaymentChallenge,
  error: StorageError,
): ErrandError =>
  new ErrandError(
    'in_doubt',
    `in doubt: ${priceText(challenge)} was paid by ${challenge.method}, and the database that may have the payment cannot be reached (${error.message}); the order was not sent`,
    {
      details: { payment: noteOf(challenge) },
      idempotencyKey: key,
      outcome: 'unknown',
      retryable: true,
      hint: 'Do not order again, which pays again: resume sends the order with this payment, or says that it is lost.',
      next: [
        { command: journalCommand('resume', key, whereFlags(context)), when: 'once the database is reached' },
      ],
      cause: error,
    },
  );

/**
 * The error for a payment that could not be journaled. The credential must be durable before it is sent, or a lost
 * response could not be settled with the same payment.
 */
const paidInVain = (key: string, challenge: PaymentChallenge, error: ErrandError): ErrandError =>
  new ErrandError(
    'payment',
    `${priceText(challenge)} was paid by ${challenge.method}, and the order was not sent: ${error.message}`,
    {
      ...error.facts,
      code: 'payment_failed',
      details: { payment: noteOf(challenge) },
      idempotencyKey: key,
      outcome: 'not_sent',
      retryable: false,
      hint: `Look in the wallet: this payment (challenge ${challenge.id}) buys nothing unless it comes back. Ordering again pays again.`,
      cause: error,
    },
  );

const noteOf = ({ id, method, amount, currency, expiresAt }: PaymentChallenge): PaymentNote => ({
  challenge_id: id,
  method,
  amount,
  currency,
  expires: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
});

const telling =
  (context: Context, challenge: PaymentChallenge, create: Create): Create =>
  async (client, body, options) => {
    const made = await create(client, body, options);
    if (made.grant) notePaid(context, challenge, made.grant);
    return made;
  };
