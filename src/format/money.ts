import { groupDigits } from './counts.ts';

const symbols: Readonly<Record<string, string>> = { USD: '$', EUR: '€' };

/**
 * Formats an amount for people: `$12.34`, `-$1.00`, `€12.34`. With any other currency: `12.34 CHF`. @param cents is an
 * integer in the currency's minor unit. Any other value is shown unchanged.
 */
export function formatMoney(cents: number | bigint, currency = 'USD'): string {
  const code = currency.toUpperCase();
  if (typeof cents === 'number' && !Number.isInteger(cents)) return `${cents} cents ${code}`;
  const amount = BigInt(cents);
  const sign = amount < 0n ? '-' : '';
  const units = spelled(amount < 0n ? -amount : amount, minorDigits(code));
  const symbol = Object.hasOwn(symbols, code) ? symbols[code] : undefined;
  return symbol === undefined ? `${sign}${units} ${code}` : `${sign}${symbol}${units}`;
}

/**
 * Formats an amount for programs, in currency units: `-1234.50`, or `-1234` for a currency without decimals. @param
 * cents is an integer.
 */
export function plainAmount(cents: number, currency: string): string {
  const units = spelled(BigInt(Math.abs(cents)), minorDigits(currency), (digits) => digits);
  return cents < 0 ? `-${units}` : units;
}

/**
 * Parses the output of `plainAmount` into minor units. Trailing zeros may be missing, because spreadsheets drop them.
 * Undefined for any other text.
 */
export function readPlainAmount(text: string, currency: string): number | undefined {
  const [, sign = '', whole = '', fraction = ''] = /^([-+]?)(\d{1,16})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  const decimals = minorDigits(currency);
  const [digits, rest] = [fraction.slice(0, decimals), fraction.slice(decimals)];
  if (whole === '' || /[^0]/.test(rest)) return undefined;
  const cents = Number(`${whole}${digits.padEnd(decimals, '0')}`);
  if (!Number.isSafeInteger(cents)) return undefined;
  return sign === '-' ? 0 - cents : cents;
}

function spelled(amount: bigint, decimals: number, grouped = groupDigits): string {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = grouped(digits.slice(0, digits.length - decimals));
  return decimals === 0 ? whole : `${whole}.${digits.slice(-decimals)}`;
}

const knownDigits = new Map([
  ['USD', 2],
  ['EUR', 2],
]);

/** Number of decimals of a currency: 0 for JPY, 2 for most, 3 for KWD; 2 if unknown. */
function minorDigits(code: string): number {
  const known = knownDigits.get(code);
  if (known !== undefined) return known;
  const digits = isCurrency(code)
    ? (new Intl.NumberFormat('en', { style: 'currency', currency: code }).resolvedOptions()
        .maximumFractionDigits ?? 2)
    : 2;
  if (knownDigits.size < 1000) knownDigits.set(code, digits);
  return digits;
}

const isCurrency = (code: string): boolean =>
  Object.hasOwn(symbols, code) || Intl.supportedValuesOf('currency').includes(code);
