import { type AmountUnit, readAmount, serviceCurrency } from '../contract/amount.ts';
import { plainHeading } from '../contract/bulk-columns.ts';

/** The heading of prices that are always cents. The service calls the same column `max_price`. */
export const centsHeading = 'max_price_cents';
export const isCentsHeading = (heading: string): boolean =>
  plainHeading(heading) === plainHeading(centsHeading);

/** A price of a file, read. A bare one may be meant either way where nothing says which. */
export type ReadPrice =
  | { readonly cents: number; readonly isBare: boolean; readonly problem?: never }
  | { readonly problem: string };

const digits = /^\d{1,15}$/;

/**
 * Reads the cell of a price.
 * @param unit what a bare whole number counts; undefined where that is not known yet: such a number is read as cents, and
 * the file as a whole is refused once it is read (`PriceTally`).
 */
export function readPrice(cell: string, unit: AmountUnit | undefined): ReadPrice {
  const text = cell.trim();
  const isBare = digits.test(text);
  if (isBare && unit !== 'units') return { cents: Number(text), isBare: Number(text) !== 0 };
  const amount = readAmount(text);
  if (amount.problem !== undefined) return amount;
  if (amount.isBare && !isBare)
    return {
      problem: `can be read as ${text.replaceAll(',', '')}.00 or as a decimal comma; write it without the comma`,
    };
  if (unit === 'cents')
    return {
      problem: `is in cents; write ${amount.cents} for ${text}`,
    };
  if (amount.cents === 0) return { problem: 'is $0.00, and an order with that ceiling buys nothing' };
  return { cents: amount.cents, isBare: false };
}

/** A price whose unit follows from the whole column. */
export interface OpenPrice {
  readonly text: string;
  readonly cents: number;
  /** Digits alone. */
  readonly isBare: boolean;
}

/** A price of the file with the number of its row. */
interface Seen {
  readonly row: number;
  readonly text: string;
}

/** The prices of a file, to tell whether they are all in one unit. */
export interface PriceTally {
  /** The first whole number that may be cents or dollars. */
  bare: Seen | undefined;
  /** The first amount with a sign or decimals. */
  decimal: Seen | undefined;
  /** Sum of the bare numbers; exact far beyond any wallet. */
  bareSum: number;
}

export const emptyPrices = (): PriceTally => ({ bare: undefined, decimal: undefined, bareSum: 0 });

/** Counts one price that was read. */
export function countPrice(tally: PriceTally, row: number, { text, cents, isBare }: OpenPrice): void {
  if (isBare) {
    tally.bare ??= { row, text };
    tally.bareSum += cents;
  } else if (cents !== 0) tally.decimal ??= { row, text };
}

const currencyHeadings = new Set(['currency', 'currencycode', 'pricecurrency', 'maxpricecurrency']);

/** Whether the cells under a heading name the currency of the row's prices. */
export const namesCurrency = (heading: string): boolean => currencyHeadings.has(plainHeading(heading));

/** Why a row in this currency is refused; undefined for the service's own, or none. */
export function currencyProblem(cell: string): string | undefined {
  const currency = cell.trim();
  const isService =
    currency === '' || currency === '$' || currency.toLowerCase() === serviceCurrency.toLowerCase();
  return isService
    ? undefined
    : `is not ${serviceCurrency}; the service takes amounts in ${serviceCurrency} only`;
}
