import { PaymentRequiredError } from '../../http/errors.ts';
import type { PaymentChallenge } from '../../http/payment-challenge.ts';
import { type Grant, paymentCredential } from '../../http/payment-credential.ts';
import { wireBody } from '../../http/request.ts';
import type { Context } from '../../run/context.ts';
import { agree, chooseMethod } from './agree.ts';
import { payable } from './choose.ts';
import type { PayOptions } from './options.ts';
import { payByCommand } from './pay-command.ts';
import { checkPrice, priceText } from './price.ts';

/** Sends a request without payment. @returns its response, or the challenges where it must be paid for. */
export async function requestPrice<T>(
  send: () => Promise<T>,
): Promise<{ readonly response: T } | { readonly challenges: readonly PaymentChallenge[] }> {
  try {
    return { response: await send() };
  } catch (error) {
    if (error instanceof PaymentRequiredError) return error;
    throw error;
  }
}

/**
 * The challenge that is to be paid for a body: one that can be, at a price that was agreed (cents), to which a person
 * said yes where one is asked. Nothing is paid yet. @throws ErrandError payment, interrupted; UsageError.
 */
export async function agreeOnPayment(
  context: Context,
  challenges: readonly PaymentChallenge[],
  { body, expectedCents }: { readonly body: unknown; readonly expectedCents: number },
  options: PayOptions,
): Promise<PaymentChallenge> {
  const offered = { challenges, body: wireBody(body), now: context.clock.now() };
  const chosen = await chooseMethod(context, payable(offered, options));
  checkPrice(chosen, { expectedCents, maxPayCents: options.maxPayCents });
  await agree(context, chosen, options);
  return chosen;
}

/** Pays a challenge. @returns the header that says so. @throws ErrandError payment. */
export function pay(
  context: Context,
  challenge: PaymentChallenge,
  { payCommand }: PayOptions,
): Promise<string> {
  if (payCommand !== undefined) return payByCommand(context, payCommand, challenge);
  return Promise.resolve(paymentCredential(challenge, { payload: builtInPayload }));
}

/** How the method `sandbox` is paid: by saying so. */
const builtInPayload = { type: 'sandbox', authorization: 'approve' };

/** Tells what was paid. */
export function notePaid(context: Context, challenge: PaymentChallenge, { receipt }: Grant): void {
  const reference = receipt === undefined ? 'no receipt came' : `receipt ${receipt.reference}`;
  context.note(`paid ${priceText(challenge)} by ${challenge.method}, ${reference}`);
}
