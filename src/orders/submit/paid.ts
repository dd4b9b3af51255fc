import { randomUUID } from 'node:crypto';
import { operations } from '../../api/operations/index.ts';
import type { Client } from '../../http/client.ts';
import type { PaymentChallenge } from '../../http/payment-challenge.ts';
import type { AttemptClaim } from '../../journal/attempts.ts';
import { journalCommand } from '../../journal/journal-command.ts';
import type { Intent, PaymentNote } from '../../journal/journal-record.ts';
import { isUnsettled } from '../../journal/record-result.ts';
import { ErrandError, StorageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { previewedWith } from '../../run/request-preview.ts';
import type { ApprovedKey } from '../../spending/approval/key.ts';
import { approvedKey, notePolicy, reserveAhead } from '../../spending/policy-gate.ts';
import { keyedClaim, placeOnce } from '../needs/place-once.ts';
import { previewNeed } from '../needs/preview.ts';
import { metadataOf, withReference } from '../needs/reference.ts';
import type { PayOptions } from '../payments/pay.ts';
import { agreeOnPayment, notePaid, pay, priceText, requestPrice } from '../payments/pay.ts';
import {
  type Body,
  type IntentOf,
  type KeyedBody,
  type Placed,
  type Placing,
  paidBy,
  paidIntent,
  paidOperation,
} from './intent.ts';
import { previewKey } from './preview.ts';
import { recordIntent, withEarlier } from './record.ts';
import { keyedBody, paidOrder } from './resume.ts';
import { type Create, endUnsent, send, settleIntent, whileHeld } from './send.ts';
import { earlierOrder, readyToSend } from './submit.ts';

type Options = PayOptions & Placing;
type PaidIntent = IntentOf<typeof paidOperation>;

/**
 * Places one order per need, paid for by challenge. The order is journaled before the payment is made, and the
 * credential before it is sent. An order in doubt is settled with its own payment. If the caller gives an idempotency
 * key, places one order per key instead. No list shows these orders, so only the journal knows their references.
 * @throws ErrandError: payment if nothing was bought; in_doubt if no response settles the payment; conflict if the need
 * is met, naming the order.
 */
export async function placePaidOrder(context: Context, order: Body, options: Options): Promise<Placed> {
  const { reference, isNew, approval } = options;
  await readyToSend(context);
  const client = await context.client();
  const body = reference ? withReference(order, reference) : order;
  if (context.previewsRequests) return previewed(context, client, body, options);
  const given = body.idempotency_key ?? undefined;
  if (given !== undefined) return placeByKey(context, client, keyedBody(body, given), options);
  const unkeyed = paidIntent(context, { key: '', keyOrigin: 'made', body: keyedBody(body, '') });
  const approved = () => approvedKey(context, unkeyed, options);
  const byApproval = async (key: ApprovedKey | undefined): Promise<Placed | undefined> =>
    key?.isSent && !isNew ? placeByKey(context, client, keyedBody(body, key.key), options) : undefined;
  return placeOnce(context, {
    ...{ order: body, intent: unkeyed, placing: options },
    adopt: (found) => found.order,
    existing: async () => (approval === undefined ? undefined : byApproval(await approved())),
    async send({ claim, noteEarlier }) {
      const carried = await approved();
      const existing = await byApproval(carried);
      if (existing) return existing;
      const key = carried && !carried.isSent ? carried.key : randomUUID();
      const keyed = keyedBody(body, key);
      const intent = paidIntent(context, { key, keyOrigin: 'made', body: keyed });
      return buy(context, client, { intent, body: keyed, claim: claim(key), noteEarlier }, options);
    },
  });
}

/** Places one order per key, no matter what was ordered with other keys. */
async function placeByKey(
  context: Context,
  client: Client,
  body: KeyedBody,
  options: Options,
): Promise<Placed> {
  const intent = paidIntent(context, { key: body.idempotency_key, keyOrigin: 'chosen', body });
  const earlier = await earlierOrder(context, client, intent, body);
  if (earlier) return earlier;
  const claim = await withEarlier(context, intent, false, () => keyedClaim(context, body, intent));
  const bought = await buy(context, client, { intent, body, claim }, options);
  if (bought) return bought;
  throw new Error('an order with a key of its own was compared with others');
}

/**
 * Shows the request instead of sending it. If the same request is in doubt, shows it with the key in doubt, so that
 * sending it makes no second order.
 */
async function previewed(context: Context, client: Client, body: Body, options: Options): Promise<Placed> {
  const given = body.idempotency_key ?? undefined;
  const isOpen = given === undefined && !options.isNew && !options.reference;
  const key = given ?? randomUUID();
  const intent = paidIntent(context, { key, keyOrigin: 'made', body: keyedBody(body, key) });
  const policy = await notePolicy(context, [{ intent }], options);
  const earlier = await previewKey(context, intent, isOpen);
  const isCompared = given === undefined && earlier?.isSettled !== true;
  const isNoted = earlier !== undefined;
  const need = isCompared
    ? await previewNeed(context, body, options, { operation: paidOperation, isNoted })
    : undefined;
  const shown = keyedBody(body, earlier?.key ?? key);
  const exitCode = earlier?.isSettled
    ? earlier.exitCode
    : need?.isMet
      ? undefined
      : (need?.exitCode ?? policy);
  return previewedWith(exitCode, async () => ({
    order: (await client.call(paidOperation, { query: queryOf(options), body: shown })).body,
    existed: false,
  }));
}

const queryOf = ({ method }: PayOptions) => (method === undefined ? {} : { method });

interface Buying {
  readonly intent: PaidIntent;
  readonly body: KeyedBody;
  readonly claim: AttemptClaim;
  noteEarlier?(): void;
}

/**
 * Requests the price, agrees on a payment, records the attempt, pays and sends.
 * @returns undefined if another process has meanwhile decided about the same need; nothing was paid then.
 */
async function buy(
  context: Context,
  client: Client,
  { intent, body, claim, noteEarlier }: Buying,
  options: Options,
): Promise<Placed | undefined> {
  // Reserve the money before requesting the price. A service that requires no payment places the order in response to
  // that request.
  const giveBackUnsent = await reserveAhead(context, [{ intent }], options);
  try {
    const priced = await requestPrice(() => client.call(paidOperation, { query: queryOf(options), body }));
    if ('response' in priced)
      return await placedUnpaid(context, { intent, body, claim }, priced.response.body);
    const expectedCents = body.max_price + operations[paidOperation].challengeCents;
    const challenge = await agreeOnPayment(context, priced.challenges, { body, expectedCents }, options);
    const paid = { ...intent, ...paidBy(noteOf(challenge)) };
    const recorded = await recordIntent(context, paid, { ...options, claim });
    if (recorded.placed) return recorded.placed;
    if (recorded.isOvertaken) return undefined;
    noteEarlier?.();
    noteUnlisted(context, options);
    const payment = await payOnRecord(context, paid, challenge, options);
    const create = telling(context, challenge, paidOrder(payment));
    return await send(context, client, { intent: paid, body, sending: 'first', create });
  } finally {
    await giveBackUnsent();
  }
}

function noteUnlisted(context: Context, { reference }: Options): void {
  if (!reference) return;
  const where = context.settings.database === undefined ? 'this journal' : 'the shared database';
  context.note(
    `orders without an account are listed nowhere: only ${where} knows the reference ${metadataOf(reference)}`,
  );
}

/**
 * Records an order that the service placed without requiring a payment. Does so even if another process has meanwhile
 * decided about the same need.
 */
async function placedUnpaid(
  context: Context,
  { intent, body, claim }: Buying,
  order: Placed['order'] & { readonly id: string },
): Promise<Placed> {
  try {
    const always = await keyedClaim(context, body, intent);
    const { placed } = await recordIntent(context, intent, { claim: { ...always, needs: claim.needs } });
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

/**
 * Pays a challenge. The intent must be journaled before; the credential is journaled afterwards.
 * @returns the credential.
 * @throws ErrandError payment.
 */
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
    // Nothing was sent, even if a wallet has paid. If another machine may still send the order, leave the record open.
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
 * The error if it is unknown whether the credential reached the database. Nothing was sent. If the database has the
 * credential, resuming sends the order with this payment.
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
 * The error for a payment whose credential could not be journaled. The credential must be durable before it is sent.
 * Otherwise, a lost response could not be settled with the same payment.
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
