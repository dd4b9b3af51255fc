import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { operations } from '../contract/operations/index.ts';
import { ErrandError } from '../errors.ts';
import type { Client } from '../http/client.ts';
import type { PaymentChallenge } from '../http/payment-challenge.ts';
import type { PayOptions } from '../paying/options.ts';
import { agreeOnPayment, askPrice, notePaid, pay } from '../paying/pay.ts';
import { bodyHash } from '../state/canonical.ts';
import type { Intent, PaymentNote } from '../state/journal-record.ts';
import { readExisting } from './existing.ts';
import { type Body, type KeyedBody, type Placed, twinMs } from './placed.ts';
import { resumeIntent } from './resume.ts';
import { keyedBody, paidOperation, paidOrder } from './resume-paid.ts';
import { type Create, send } from './send.ts';

type Options = PayOptions & { readonly evenIfInDoubt: boolean };

/**
 * Places one order that is paid by challenge, for one intent: that it is being paid is in the journal before it is paid,
 * what pays is there before it is sent. Asked again while the first is in doubt, it settles that one with its own payment.
 * @throws ErrandError: payment where nothing was bought, in_doubt when no answer came to the payment.
 */
export async function placePaidOrder(context: Context, order: Body, options: Options): Promise<Placed> {
  const client = await context.client();
  const body = keyedBody(order, order.idempotency_key ?? randomUUID());
  const query = options.method === undefined ? {} : { method: options.method };
  const unpaid = () => client.call(paidOperation, { query, body });
  if (context.previewsRequests) return { order: (await unpaid()).body, existed: false };
  const isTwinMeant = options.evenIfInDoubt || order.idempotency_key !== undefined;
  const twinsSince = isTwinMeant ? undefined : context.clock.now() - twinMs;
  const earlier = await earlierTry(context, client, body, twinsSince);
  if (earlier) return earlier;
  const asked = await askPrice(unpaid);
  if ('answer' in asked) return { order: asked.answer.body, existed: false };
  const expectedCents = body.max_price + operations[paidOperation].challengeCents;
  const challenge = await agreeOnPayment(context, asked.challenges, { body, expectedCents }, options);
  const payment = await payOnRecord(context, body, challenge, { ...options, twinsSince });
  return send(context, client, body, 'first', telling(context, challenge, paidOrder(payment)));
}

/** What an earlier try of the same intent has led to, or may have. */
async function earlierTry(
  context: Context,
  client: Client,
  body: KeyedBody,
  twinsSince: number | undefined,
): Promise<Placed | undefined> {
  const journal = await context.journal();
  const { value: baseUrl } = context.settings.baseUrl;
  const { idempotency_key: key } = body;
  const settled = journal.settledOrder(key, baseUrl);
  if (settled !== undefined) return readExisting(client, body, settled, {});
  const open = journal.findOpen(key, baseUrl);
  if (open?.operation === paidOperation && open.body_hash === bodyHash(body))
    return resumeIntent(context, open);
  if (twinsSince === undefined) return undefined;
  const twin = journal.findTwin(intentOf(context, body), twinsSince);
  if (!twin) return undefined;
  const since = `the same order is in doubt since ${twin.created_at}`;
  context.note(`${since}; settling that one with its own payment (--new pays for another)`);
  return resumeIntent(context, twin);
}

/** Pays a challenge, the journal knowing before and after. @returns what pays. @throws ErrandError payment. */
async function payOnRecord(
  context: Context,
  body: KeyedBody,
  challenge: PaymentChallenge,
  options: PayOptions & { readonly twinsSince: number | undefined },
): Promise<string> {
  const journal = await context.journal();
  const { value: baseUrl } = context.settings.baseUrl;
  const { idempotency_key: key } = body;
  await journal.record(intentOf(context, body, noteOf(challenge)), options.twinsSince);
  try {
    const payment = await pay(context, challenge, options);
    await journal.keepCredential(key, baseUrl, payment);
    return payment;
  } catch (error) {
    // Nothing was sent, whatever a wallet did.
    if (error instanceof ErrandError) {
      await journal.refuse(key, baseUrl, {
        code: error.facts.code ?? error.category,
        message: error.message,
      });
    }
    throw error;
  }
}

function intentOf(context: Context, body: KeyedBody, payment?: PaymentNote): Intent {
  const { profile, baseUrl } = context.settings;
  return {
    key: body.idempotency_key,
    operation: paidOperation,
    profile: profile.value,
    baseUrl: baseUrl.value,
    keyMasked: payment === undefined ? 'payment' : `payment by ${payment.method}`,
    body,
    payment,
  };
}

const noteOf = ({ id, method, amount, currency, expiresAt }: PaymentChallenge): PaymentNote => ({
  challenge_id: id,
  method,
  amount,
  currency,
  expires: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
});

const telling =
  (context: Context, challenge: PaymentChallenge, create: Create): Create =>
  async (client, body) => {
    const made = await create(client, body);
    if (made.grant) notePaid(context, challenge, made.grant);
    return made;
  };
