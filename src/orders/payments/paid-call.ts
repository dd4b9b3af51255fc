import { operations } from '../../api/operations/index.ts';
import type { Received } from '../../api/received.ts';
import type { InputOf } from '../../http/client.ts';
import { readGrant } from '../../http/payment-credential.ts';
import { appendOrReport } from '../../journal/append-or-report.ts';
import { paymentEntry } from '../../journal/audit.ts';
import type { Context } from '../../run/context.ts';
import type { PayOptions } from './pay.ts';
import { agreeOnPayment, notePaid, pay, requestPrice } from './pay.ts';

/** Reads with a fixed price. */
export type DataCall = 'agent.search' | 'agent.product.search' | 'agent.product.get' | 'agent.product.offers';

/**
 * Performs one paid read. The read is paid for once and never resent, so a lost response costs the price of the read.
 * @throws ErrandError payment if nothing was paid; in_doubt if the payment got no response.
 */
export async function paidCall<N extends DataCall>(
  context: Context,
  name: N,
  input: InputOf<N>,
  options: PayOptions,
): Promise<Received<N>> {
  const client = await context.client();
  const priced = await requestPrice(() => client.call(name, input));
  if ('response' in priced) return priced.response.body;
  const price = { body: input.body, expectedCents: operations[name].challengeCents };
  const challenge = await agreeOnPayment(context, priced.challenges, price, options);
  const payment = await pay(context, challenge, options);
  const { profile, baseUrl } = context.settings;
  const subject = { profile: profile.value, service: baseUrl.value };
  // The wallet may have paid already. If writing fails, stopping now would therefore save nothing.
  await appendOrReport(context, {
    ...paymentEntry(name, { ...challenge, challenge_id: challenge.id }),
    ...subject,
  });
  const { body, headers } = await client.call(name, input, { payment });
  notePaid(context, challenge, readGrant(headers));
  return body;
}
