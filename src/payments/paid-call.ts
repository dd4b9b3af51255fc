import type { Context } from '../context.ts';
import { operations } from '../contract/operations/index.ts';
import type { Received } from '../contract/received.ts';
import type { InputOf } from '../http/client-types.ts';
import { readGrant } from '../http/payment-credential.ts';
import type { PayOptions } from './options.ts';
import { agreeOnPayment, askPrice, notePaid, pay } from './pay.ts';

/** What is read for a fixed price. */
export type DataCall = 'agent.search' | 'agent.product.search' | 'agent.product.get' | 'agent.product.offers';

/**
 * One paid read. It is paid once and never sent again: an answer that is lost costs its cent.
 * @throws ErrandError payment where it is not paid; in_doubt where no answer came to the payment.
 */
export async function paidCall<N extends DataCall>(
  context: Context,
  name: N,
  input: InputOf<N>,
  options: PayOptions,
): Promise<Received<N>> {
  const client = await context.client();
  const asked = await askPrice(() => client.call(name, input));
  if ('answer' in asked) return asked.answer.body;
  const price = { body: input.body, expectedCents: operations[name].challengeCents };
  const challenge = await agreeOnPayment(context, asked.challenges, price, options);
  const payment = await pay(context, challenge, options);
  const { body, headers } = await client.call(name, input, { payment });
  notePaid(context, challenge, readGrant(headers));
  return body;
}
