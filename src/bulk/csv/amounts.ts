import { type AmountUnit, readAmount, serviceCurrency } from '../../api/amount.ts';
import { plainHeading } from '../../api/bulk-columns.ts';
import { formatMoney } from '../../format/money.ts';
import { UsageError } from '../../platform/errors.ts';
import { typedCommand } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';

/** Heading of prices that are always in cents. The service calls this column `max_price`. */
export const centsHeading = 'max_price_cents';
export const isCentsHeading = (heading: string): boolean =>
  plainHeading(heading) === plainHeading(centsHeading);

/** A parsed price. If no unit is given, a bare number is ambiguous. */
type ReadPrice =
  | { readonly cents: number; readonly isBare: boolean; readonly problem?: never }
  | { readonly problem: string };

const digits = /^\d{1,15}$/;

/** The decimal separator of amounts. */
export type Decimal = '.' | ',';

/**
 * Parses a price cell. @param unit is the unit of a bare whole number. If the unit is not known yet, the number is read
 * as cents, and `PriceTally` shows at the end whether the whole file must be refused. @param decimal is the decimal
 * separator. If it is undefined, ambiguous amounts are refused.
 */
export function readPrice(cell: string, unit: AmountUnit | undefined, decimal?: Decimal): ReadPrice {
  const given = cell.trim();
  const isBare = digits.test(given);
  if (isBare && unit !== 'units') return { cents: Number(given), isBare: Number(given) !== 0 };
  const text = decimal === ',' && !inDollars.test(given) ? withPoint(given) : given;
  if (text === undefined)
    return {
      problem: 'is not an amount with a decimal comma, such as 12,50 or 1.250,00, as --locale asks for',
    };
  const amount = readAmount(text);
  if (amount.problem !== undefined) {
    if (decimal === undefined && decimalComma.test(given))
      return { problem: 'has a decimal comma; --locale de, or your own, reads such a file' };
    return decimal === undefined && thousandPoint.test(given)
      ? { problem: `${amount.problem}; --locale de reads it as ${given.replace('.', '')}` }
      : amount;
  }
  if (amount.isBare && !isBare) {
    if (decimal === undefined)
      return {
        problem: `can be read as ${text.replaceAll(',', '')}.00 or as a decimal comma; --locale en reads such a file, or write it without the comma`,
      };
    if (unit === 'cents') return { cents: amount.cents / 100, isBare: false };
  }
  if (unit === 'cents')
    return {
      problem: wholeWithZero.test(text)
        ? `is in cents, without decimals; write ${text.slice(0, -2)}, or ${amount.cents} for ${formatMoney(amount.cents)}`
        : `is in cents; write ${amount.cents} for ${given}`,
    };
  if (amount.cents === 0) return { problem: 'is $0.00, and an order with that ceiling buys nothing' };
  return { cents: amount.cents, isBare: false };
}

/**
 * `$12.50`. Every locale reads it in the same way, because two digits cannot be a group of thousands. Corrected copies
 * write amounts in this form.
 */
const inDollars = /^\$\d{1,12}\.\d{2}$/;
/** Maximum length of an amount, in characters. */
const maxLength = 60;
const decimalComma = /^[^\d.,]{0,10}\d{1,12}(?:[.'’ \u00a0\u202f]\d{3}){0,4},\d{1,2}[^\d.,]{0,10}$/u;
/** `1.250`. It means 1250 if the point separates thousands. */
const thousandPoint = /^[1-9]\d{0,2}\.\d{3}$/;
/** A whole number as a spreadsheet writes it in a decimal column. */
const wholeWithZero = /^\d{1,15}\.0$/;
/** `12,50`, `1.250,00` or `1 250`, with a currency before or after. */
const withComma =
  /^([^\d.,]{0,10})(\d{1,3}(?:[.'’ \u00a0\u202f]\d{3}){1,4}|\d{1,15})(?:,(\d{1,9}))?([^\d.,]{0,10})$/u;

/**
 * Rewrites an amount with a decimal point and without thousands separators. Returns undefined if the text is not such
 * an amount.
 */
function withPoint(text: string): string | undefined {
  const found = text.length <= maxLength ? withComma.exec(text) : null;
  if (!found) return undefined;
  const [, before = '', units = '', fraction, after = ''] = found;
  return `${before}${units.replace(/\D/g, '')}${fraction === undefined ? '' : `.${fraction}`}${after}`;
}

/** A price whose unit is known only once the whole column is read. */
export interface OpenPrice {
  readonly text: string;
  readonly cents: number;
  /** Whether the text has only digits. */
  readonly isBare: boolean;
}

/** A price and its row number. */
interface RowPrice {
  readonly row: number;
  readonly text: string;
}

/** Tally of a file's prices, which shows whether all of them use the same unit. */
export interface PriceTally {
  /** First whole number that could mean cents or dollars. */
  bare: RowPrice | undefined;
  /** First amount with a currency sign or decimals. */
  decimal: RowPrice | undefined;
  /** Sum of the bare numbers. Sums far beyond any wallet balance are still exact. */
  bareSum: number;
}

export const emptyPrices = (): PriceTally => ({ bare: undefined, decimal: undefined, bareSum: 0 });

/** Adds a parsed price to the tally. */
export function countPrice(tally: PriceTally, row: number, { text, cents, isBare }: OpenPrice): void {
  if (isBare) {
    tally.bare ??= { row, text };
    tally.bareSum += cents;
  } else if (cents !== 0) tally.decimal ??= { row, text };
}

const currencyHeadings = new Set([
  'currency',
  'currencycode',
  'ordercurrency',
  'pricecurrency',
  'maxpricecurrency',
]);

/** Whether the heading is that of a column with the currency of the prices. */
export const namesCurrency = (heading: string): boolean => currencyHeadings.has(plainHeading(heading));

/** Why a row in this currency is refused; undefined if the cell is empty or names the service's currency. */
export function currencyProblem(cell: string): string | undefined {
  const currency = cell.trim();
  const isService =
    currency === '' || currency === '$' || currency.toLowerCase() === serviceCurrency.toLowerCase();
  return isService
    ? undefined
    : `is not ${serviceCurrency}; the service takes amounts in ${serviceCurrency} only`;
}

/**
 * Refuses a file with ambiguous prices: their bare whole numbers may be dollars or cents. @param invalid is the number
 * of rows that are refused under either reading. @throws UsageError, once per file, with both readings and their
 * totals.
 */
export function checkOneReading(
  context: Context,
  name: string,
  { bare, decimal, bareSum }: PriceTally,
  invalid = 0,
): void {
  if (!bare) return;
  const [asUnits, asCents] = readings(Number(bare.text));
  if (decimal)
    throw new UsageError(
      `${name}: max_price mixes bare whole numbers and amounts with decimals or a sign: row ${bare.row} has ${bare.text}, row ${decimal.row} has ${decimal.text}`,
      {
        hint: `Give every amount its decimals, or say with --amounts units that ${bare.text} is ${asUnits}.`,
        // Do not suggest a command that would fail on the same rows.
        ...(invalid === 0 && {
          next: [{ command: again(context, 'units'), when: `if ${bare.text} is ${asUnits}` }],
        }),
      },
    );
  const [sumAsUnits, sumAsCents] = readings(bareSum);
  throw new UsageError(
    `${name}: max_price can be read in two ways: ${bare.text} (row ${bare.row}) means ${asUnits} or ${asCents}, all rows ${sumAsUnits} or ${sumAsCents}`,
    {
      hint: `A column headed ${centsHeading} is always cents. \`errand config set amounts cents\` (or units) settles this for every file.`,
      next: [
        { command: again(context, 'units'), when: `if ${bare.text} is ${asUnits}` },
        { command: again(context, 'cents'), when: `if ${bare.text} is ${asCents}` },
      ],
    },
  );
}

/** Formats a bare whole number both as dollars and as cents. */
export const readings = (count: number): readonly [asUnits: string, asCents: string] => [
  formatMoney(BigInt(count) * 100n),
  formatMoney(BigInt(count)),
];

const again = ({ argv }: Context, unit: string): string => typedCommand([...argv, '--amounts', unit]);
