import { readAmount } from '../api/amount.ts';
import { formatMoney } from '../format/money.ts';
import { UsageError } from '../platform/errors.ts';

/**
 * The amount of a price flag in cents: `$50`, `50.00`, `$1,234.50`, `USD 50`.
 * @param flag as typed, `--max-price`; its integer twin is `--max-price-cents`.
 * @throws UsageError naming the flag: another currency than the service's, a bare integer (it may be meant either way), a
 * negative or too large amount, more than two decimals, anything else.
 */
export function parseMoney(text: string, flag: string): number {
  const amount = readAmount(text);
  if (amount.problem !== undefined) throw new UsageError(`${flag} ${amount.problem}`);
  if (amount.isBare && amount.cents !== 0) throw ambiguous(flag, amount.cents / 100);
  return amount.cents;
}

/** `parseMoney` for a ceiling, which buys nothing at zero. @throws UsageError. */
export function parseCeiling(text: string, flag: string): number {
  const cents = parseMoney(text, flag);
  if (cents > 0) return cents;
  throw new UsageError(`${flag} is $0.00, and an order with that ceiling buys nothing`, {
    hint: `A shell takes the $5 out of "$50.00": write '$50.00'. If you mean zero, write ${flag}-cents 0.`,
  });
}

const ambiguous = (flag: string, count: number): UsageError =>
  new UsageError(
    `${flag} ${count} is ambiguous: write ${flag} '$${count}' for ${formatMoney(count * 100)} or ${flag}-cents ${count} for ${formatMoney(count)}`,
  );
