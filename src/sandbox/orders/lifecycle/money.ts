/** US cents for 10,000 minor units of a currency: the sandbox's fixed rates. */
const usdPerTenThousand: Readonly<Record<string, number>> = { USD: 10_000, EUR: 10_850, GBP: 12_700 };
/** What the card network adds to a converted payment, in parts of 10,000. */
const conversionMarkup = 250;

export const paymentCurrency = 'USD';

/** Rounds to whole cents and keeps within what a JSON integer holds exactly, however absurd the quantity. */
export const wholeCents = (amount: number): number => Math.min(Math.round(amount), Number.MAX_SAFE_INTEGER);

/** US cents charged for an amount in another currency's minor units, conversion markup included. */
export function chargedInUsd(amount: number, currency: string): number {
  if (currency === paymentCurrency) return amount;
  const rate = usdPerTenThousand[currency] ?? 10_000;
  return wholeCents((amount * rate * (10_000 + conversionMarkup)) / 1e8);
}

/** `1999, USD` as `19.99 USD`, for messages. */
export const spokenAmount = (cents: number, currency: string): string =>
  `${(cents / 100).toFixed(2)} ${currency}`;
