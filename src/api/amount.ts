/**
 * Currency of every amount that a caller gives: wallet, fees, ceilings and search bounds. According to the
 * specification (What the service does), the fee and every call are priced in USD, and orders in other currencies are
 * billed in USD.
 */
export const serviceCurrency = 'USD';

/** Unit of a bare whole number: dollars (`units`) or cents. */
export const amountUnits = ['units', 'cents'] as const;
export type AmountUnit = (typeof amountUnits)[number];

/** A parsed amount, or a problem phrased to follow the name of a flag or column. */
export type ReadAmount =
  | {
      readonly cents: number;
      /** Whether the text has only digits, so that it could mean cents or dollars. */
      readonly isBare: boolean;
      readonly problem?: never;
    }
  | { readonly problem: string };

const decimals = 2;
const maxLength = 60;
const form =
  /^(-?)(?:(\p{Sc})|([A-Za-z]{3}))?\s?(-?)(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?(?:\s?(?:(\p{Sc})|([A-Za-z]{3})))?$/u;

/** Parses `$50`, `50.00`, `$1,234.50`, `USD 50` or a bare `5000`. Accepts only the service's currency. */
export function readAmount(text: string): ReadAmount {
  const amount = text.trim();
  if (amount === '') return { problem: "is empty; write an amount, such as '$50' or 50.00" };
  const found = amount.length <= maxLength ? form.exec(amount) : null;
  if (!found) return { problem: `takes an amount, such as '$50' or 50.00, not "${shortened(amount)}"` };
  const [, minus, sign, code, innerMinus, grouped = '', fraction, signAfter, codeAfter] = found;
  if (minus || innerMinus) return { problem: `must not be negative: ${amount}` };
  const [currency, second] = [sign, code, signAfter, codeAfter].filter((name) => name !== undefined);
  if (second !== undefined) return { problem: `names the currency twice: ${amount}` };
  if (currency !== undefined && currency !== '$' && currency.toUpperCase() !== serviceCurrency)
    return {
      problem: `${amount} is not in ${serviceCurrency}; the service takes amounts in ${serviceCurrency} only`,
    };
  if (fraction !== undefined && fraction.length > decimals)
    return { problem: `${amount} has ${fraction.length} decimals; an amount has at most ${decimals}` };
  const units = grouped.replaceAll(',', '');
  const isBare = currency === undefined && fraction === undefined;
  const cents = Number(units + (fraction ?? '').padEnd(decimals, '0'));
  return Number.isSafeInteger(cents) ? { cents, isBare } : { problem: `${amount} is too large` };
}

const shortened = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}…` : text);
