import { decodeObject } from './canonical-json.ts';
import { type Bill, billCurrency, isIssuedFor } from './challenge.ts';
import type { Credential } from './credential.ts';
import { isPaymentMethod, type PaymentMethod, paymentMethods } from './methods.ts';
import type { Problem } from './problem.ts';

type Failure = readonly [problem: Problem, detail: string];

/** What is wrong with a credential as payment of a bill, given that its challenge was issued here; undefined: it pays. */
export function failureOf(
  { challenge, payload }: Credential,
  bill: Bill,
  configured: readonly PaymentMethod[],
  now: number,
): Failure | undefined {
  const { method, intent, request, expires = '', digest } = challenge;
  const known = isPaymentMethod(method) && configured.includes(method) ? paymentMethods[method] : undefined;
  if (!known) return ['method-unsupported', `Payment method ${method} is not taken here.`];
  const { amount, currency } = decodeObject(request) ?? {};
  const checks: readonly (readonly [isWrong: boolean, ...Failure])[] = [
    [
      intent !== 'charge' || !isIssuedFor(challenge, bill),
      'invalid-challenge',
      'The challenge was issued for another endpoint, or for other terms.',
    ],
    [
      (digest ?? null) !== bill.digest,
      'verification-failed',
      'The challenge was issued for another body than that of this request.',
    ],
    [
      amount !== String(bill.cents) || currency !== billCurrency,
      'payment-insufficient',
      `The challenge is for ${amount} ${currency}, and the request costs ${bill.cents} ${billCurrency}.`,
    ],
    [!(Date.parse(expires) > now), 'payment-expired', `The challenge expired at ${expires}.`],
    [
      !known.accepts(payload),
      'invalid-payload',
      `The payload does not have the form of ${method}: ${known.form}.`,
    ],
    [
      method === 'sandbox' && payload.authorization === 'decline',
      'verification-failed',
      'The payment was declined, as its payload requested.',
    ],
  ];
  const found = checks.find(([isWrong]) => isWrong);
  return found && [found[1], found[2]];
}
