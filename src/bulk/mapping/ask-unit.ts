import type { AmountUnit } from '../../api/amount.ts';
import { UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { countPrice, emptyPrices, type PriceTally } from '../amounts.ts';
import { readings } from '../one-reading.ts';
import { type RowsOptions, readRows } from '../rows.ts';
import type { Source } from '../source.ts';

/**
 * Asks whether bare whole numbers are dollars or cents, where the file leaves that open, with both readings of the first
 * one and of all together. @returns undefined where nothing is open. @throws ErrandError interrupted.
 */
export async function askUnit(
  context: Context,
  source: Source,
  options: RowsOptions,
): Promise<AmountUnit | undefined> {
  const { bare, decimal, bareSum } = await pricesOf(context, source, options);
  if (!bare || decimal) return undefined;
  const [units, cents] = readings(Number(bare.text));
  const [allUnits, allCents] = readings(bareSum);
  const asCents = `${cents} (cents), all rows ${allCents}`;
  // The smaller amount stands first: an Enter too many spends nothing.
  const choices = [asCents, `${units} (units), all rows ${allUnits}`];
  const question = `max_price ${bare.text} in row ${bare.row} means`;
  const chosen = await (await context.prompt()).askChoice(context, question, choices);
  return chosen === asCents ? 'cents' : 'units';
}

/** The prices of a file; of its first rows where none of them leaves anything open. */
async function pricesOf(context: Context, source: Source, options: RowsOptions): Promise<PriceTally> {
  const prices = emptyPrices();
  try {
    for await (const rows of readRows(source.chunks(), options)) {
      for (const { number, openPrice } of rows) if (openPrice) countPrice(prices, number, openPrice);
      if (!prices.bare || prices.decimal) break;
      context.signal.throwIfAborted();
    }
  } catch (error) {
    // The check that follows says what is wrong with the file.
    if (!(error instanceof UsageError)) throw error;
    return emptyPrices();
  }
  return prices;
}
