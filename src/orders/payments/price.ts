import { formatMoney } from '../../format/money.ts';
import type { PaymentChallenge } from '../../http/payment-challenge.ts';
import { ErrandError } from '../../platform/errors.ts';

type Priced = Pick<PaymentChallenge, 'amount' | 'currency' | 'request'>;

/** What a challenge asks for in cents; undefined for what is not US dollars, which nobody here can compare. */
export function challengeCents(challenge: Priced): number | undefined {
  const cents = Number(challenge.amount);
  return isDollars(challenge) && !hasOtherDecimals(challenge) && Number.isSafeInteger(cents)
    ? cents
    : undefined;
}

/** Without the `u` flag a pattern folds ASCII letters only: `toUpperCase` would take `u\u017fd` for USD. */
const isDollars = ({ currency }: Priced): boolean => /^usd$/i.test(currency);

/** Whether a challenge counts its currency in another unit than cents: then `5100` is not $51.00. */
const hasOtherDecimals = ({ request }: Priced): boolean =>
  [request, Object(request.methodDetails)].some(
    ({ decimals }) => decimals !== undefined && decimals !== centDecimals,
  );

const centDecimals = 2;

/** The price for people: `$51.00`, or the bare amount with the name of its unit. */
export function priceText(challenge: Priced): string {
  const cents = challengeCents(challenge);
  return cents === undefined
    ? `${challenge.amount} units of ${asciiText(challenge.currency)}`
    : formatMoney(cents);
}

/** A letter that only looks like one of USD is shown as what it is. */
const asciiText = (text: string): string =>
  text.replace(/[^\u0020-\u007e]/gu, (letter) => `\\u{${letter.codePointAt(0)?.toString(16)}}`);

/**
 * Refuses to pay more than was agreed: the flag's amount, or else what the contract says the call costs (both cents).
 * @throws ErrandError payment. A price that cannot be compared passes only where no flag caps it; a person must then agree.
 */
export function checkPrice(
  challenge: Priced,
  {
    expectedCents,
    maxPayCents,
  }: { readonly expectedCents: number; readonly maxPayCents?: number | undefined },
): void {
  if (isDollars(challenge) && hasOtherDecimals(challenge))
    throw new ErrandError(
      'payment',
      'the service counts US dollars in another unit than cents, so its price cannot be checked; nothing was paid',
      { code: 'payment_failed', details: { ...challenge.request }, outcome: 'not_sent', retryable: false },
    );
  const cents = challengeCents(challenge);
  const most = maxPayCents ?? expectedCents;
  if (cents === undefined ? maxPayCents === undefined : cents <= most) return;
  const limit = maxPayCents === undefined ? 'this costs' : '--max-pay allows';
  throw new ErrandError(
    'payment',
    `the service asks for ${priceText(challenge)}, and ${limit} ${formatMoney(most)}; nothing was paid`,
    {
      code: 'payment_failed',
      details: { amount: challenge.amount, currency: challenge.currency, allowed_cents: most },
      outcome: 'not_sent',
      retryable: false,
      hint: hintFor(cents, maxPayCents),
    },
  );
}

function hintFor(cents: number | undefined, maxPayCents: number | undefined): string {
  if (cents === undefined)
    return 'The price is not in US dollars, so --max-pay cannot cap it. Without --max-pay a person is shown the price and decides.';
  return maxPayCents === undefined
    ? 'The price is not the one that the service publishes. --max-pay allows another one.'
    : 'Allow more with --max-pay, or order under a lower --max-price.';
}
