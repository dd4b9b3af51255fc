import { UsageError } from '../errors.ts';

const signs: Readonly<Record<string, string>> = { USD: '$', EUR: '€' };
const currencies: Readonly<Record<string, string>> = { $: 'USD', '€': 'EUR' };

/**
 * An amount for people: `$12.34`, `-$1.00`, `€12.34`, else `12.34 CHF`.
 * @param cents integer in the currency's minor unit; what is no integer is shown as it stands.
 */
export function formatMoney(cents: number | bigint, currency = 'USD'): string {
  const code = currency.toUpperCase();
  if (typeof cents === 'number' && !Number.isInteger(cents)) return `${cents} cents ${code}`;
  const amount = BigInt(cents);
  const sign = amount < 0n ? '-' : '';
  const units = spelled(amount < 0n ? -amount : amount, minorDigits(code));
  const symbol = Object.hasOwn(signs, code) ? signs[code] : undefined;
  return symbol === undefined ? `${sign}${units} ${code}` : `${sign}${symbol}${units}`;
}

function spelled(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals).replace(/\B(?=(?:\d{3})+$)/g, ',');
  return decimals === 0 ? whole : `${whole}.${digits.slice(-decimals)}`;
}

const knownDigits = new Map([
  ['USD', 2],
  ['EUR', 2],
]);

/** How many decimals a currency has: 0 for JPY, 2 for most, 3 for KWD. 2 for what is no currency. */
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
  Object.hasOwn(signs, code) || Intl.supportedValuesOf('currency').includes(code);

export interface Money {
  /** Integer in the currency's minor unit. */
  readonly cents: number;
  /** Absent where the text names none. */
  readonly currency?: string;
}

const shape = /^(-?)(?:([$€])|([a-z]{3}))?\s?(-?)(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?(?:\s?([a-z]{3}))?$/i;

/**
 * The amount of a price flag: `$50`, `50.00`, `$1,234.50`, `EUR 50`, `50 EUR`, `€50`.
 * @param flag as typed, `--max-price`; its integer twin is `--max-price-cents`.
 * @throws UsageError naming the flag: a bare integer other than 0 (it may be meant either way), a negative or too large amount,
 * more decimals than the currency has, anything else.
 */
export function parseMoney(text: string, flag: string): Money {
  const trimmed = text.trim();
  if (trimmed === '') throw new UsageError(`${flag} is empty: write an amount, such as '$50' or 50.00`);
  const found = trimmed.length <= 60 ? shape.exec(trimmed) : null;
  if (!found)
    throw new UsageError(
      `${flag} takes an amount, such as '$50', 50.00 or 'EUR 50', not "${shorten(trimmed)}"`,
    );
  const [, minus, sign, before, innerMinus, grouped = '', decimals, after] = found;
  const units = grouped.replaceAll(',', '');
  if (minus || innerMinus) throw new UsageError(`${flag} must not be negative: ${trimmed}`);
  const currency = namedCurrency(flag, trimmed, [sign && currencies[sign], before, after]);
  if (currency === undefined && decimals === undefined && !/^0+$/.test(units)) throw ambiguous(flag, units);
  const digits = minorDigits(currency ?? 'USD');
  if (decimals !== undefined && decimals.length > digits) {
    throw new UsageError(
      `${flag} ${trimmed} has ${decimals.length} decimals; ${currency ?? 'an amount'} has at most ${digits}`,
    );
  }
  const cents = Number(units + (decimals ?? '').padEnd(digits, '0'));
  if (!Number.isSafeInteger(cents)) throw tooLarge(flag, trimmed);
  return currency === undefined ? { cents } : { cents, currency };
}

function namedCurrency(
  flag: string,
  text: string,
  names: readonly (string | undefined)[],
): string | undefined {
  const [currency, second] = names.filter((name) => name !== undefined).map((name) => name.toUpperCase());
  if (second !== undefined) throw new UsageError(`${flag} names the currency twice: ${text}`);
  if (currency !== undefined && !isCurrency(currency))
    throw new UsageError(`${flag}: ${currency} is no currency`);
  return currency;
}

function ambiguous(flag: string, digits: string): UsageError {
  const cents = BigInt(digits);
  if (cents * 100n > BigInt(Number.MAX_SAFE_INTEGER)) return tooLarge(flag, digits);
  return new UsageError(
    `${flag} ${cents} is ambiguous: write ${flag} '$${cents}' for ${formatMoney(cents * 100n)} or ${flag}-cents ${cents} for ${formatMoney(cents)}`,
  );
}

const tooLarge = (flag: string, text: string): UsageError =>
  new UsageError(`${flag} ${text} is too large; the most is ${formatMoney(Number.MAX_SAFE_INTEGER)}`);

const shorten = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}…` : text);
