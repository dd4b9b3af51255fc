import { formatMoney } from '../format/money.ts';
import { UsageError } from '../platform/errors.ts';
import { typedCommand } from '../platform/shell-word.ts';
import type { Context } from '../run/context.ts';
import type { PriceTally } from './amounts.ts';
import { centsHeading } from './amounts.ts';

/**
 * Refuses a file whose prices can be read in two ways: its bare whole numbers may be dollars or cents.
 * @param invalid rows that are refused in either reading.
 * @throws UsageError, once for the file, with both readings and what they come to.
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
        // A command that ends with the same rows refused is no way on.
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

/** What bare whole numbers come to as dollars, and as cents. */
export const readings = (count: number): readonly [asUnits: string, asCents: string] => [
  formatMoney(BigInt(count) * 100n),
  formatMoney(BigInt(count)),
];

const again = ({ argv }: Context, unit: string): string => typedCommand([...argv, '--amounts', unit]);
