import { isForBody, type PaymentChallenge } from '../../http/payment-challenge.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { PayOptions } from './options.ts';

/** The method that the built-in payer knows: it settles without money. */
export const builtInMethod = 'sandbox';

interface Offers {
  readonly challenges: readonly PaymentChallenge[];
  /** As it was sent: a challenge may be bound to it. */
  readonly body: Uint8Array;
  /** Ms since the epoch. */
  readonly now: number;
}

/** One at least. */
export type Candidates = readonly [PaymentChallenge, ...PaymentChallenge[]];

/**
 * The challenges that could be paid, the first of each method, in the service's order. Pure.
 * @throws ErrandError payment saying what is offered, where none is left.
 */
export function payable(
  { challenges, body, now }: Offers,
  { method, payCommand }: Pick<PayOptions, 'method' | 'payCommand'>,
): Candidates {
  const wanted = method ?? (payCommand === undefined ? builtInMethod : undefined);
  const named = challenges.filter((it) => it.intent === 'charge' && (wanted ?? it.method) === it.method);
  if (named.length === 0 || (payCommand === undefined && wanted !== builtInMethod)) {
    throw notOffered(challenges, wanted, payCommand);
  }
  const live = named.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now);
  if (live.length === 0)
    throw refused('the payment that the service asks for has expired already', clockHint);
  const ours = live.filter((challenge) => isForBody(challenge, body));
  const [first, ...others] = [
    ...new Map(ours.toReversed().map((it) => [it.method, it])).values(),
  ].toReversed();
  if (!first) throw refused('the service asks payment for another request than this one');
  return [first, ...others];
}

const clockHint = 'Is the clock of this machine right?';

function notOffered(
  challenges: readonly PaymentChallenge[],
  wanted: string | undefined,
  payCommand: string | undefined,
): ErrandError {
  const offered = [...new Set(challenges.map(({ method }) => method))].join(', ');
  const what =
    payCommand === undefined && wanted === builtInMethod
      ? `the service takes payment by ${offered}; built in is ${builtInMethod} only`
      : `the service takes payment by ${offered}, not by ${wanted ?? 'a single charge'}`;
  return payCommand === undefined && offered.split(', ').includes(wanted ?? '')
    ? refused(`built in is ${builtInMethod} only; ${wanted} needs a wallet`, walletHint)
    : refused(what, payCommand === undefined ? walletHint : undefined);
}

const walletHint =
  'Any program that pays can: --pay-command CMD of the agent commands gets the challenge on stdin and prints the credential.';

const refused = (message: string, hint?: string): ErrandError =>
  new ErrandError('payment', message, {
    code: 'payment_method_required',
    outcome: 'not_sent',
    retryable: false,
    hint,
  });
