import type { Context } from '../context.ts';
import { formatMoney, type Money } from '../output/money.ts';

/**
 * The cents that a price flag stands for. The service names no currency beside a price and reads it as USD, so another
 * currency is told of before anything is sent.
 */
export function centsOf(context: Context, flag: string, { cents, currency }: Money): number {
  if (currency !== undefined && currency !== 'USD') {
    const [given, read] = [formatMoney(cents, currency), formatMoney(cents)];
    context.note(`note: ${flag} ${given} is sent as ${cents} cents, which the service reads as ${read}`);
  }
  return cents;
}
