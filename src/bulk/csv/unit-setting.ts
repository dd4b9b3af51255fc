import { UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { type RowsOptions, readRows } from '../rows.ts';
import type { Source } from '../upload/source.ts';
import { readPrice } from './amounts.ts';
import type { TableFlags } from './table-options.ts';

/**
 * How a file is read where `config set amounts cents` is set: the setting is about columns of bare whole numbers, so it is
 * left out where the first price has a sign or decimals. A flag stands. Reads the file as far as that price.
 * @throws ErrandError interrupted.
 */
export async function withUnitSetting(
  context: Context,
  source: Source,
  { amounts: flag }: TableFlags,
  options: RowsOptions,
): Promise<RowsOptions> {
  const { amounts: setting } = context.settings;
  // Amounts with a sign or decimals are the same in units.
  if (flag !== undefined || setting !== 'cents') return options;
  const open = { ...options, amounts: undefined };
  return (await beginsWhole(context, source, open)) ? { ...options, amounts: setting } : open;
}

/** Whether the first price of a file is a whole number, or none is there to tell. */
async function beginsWhole(context: Context, source: Source, options: RowsOptions): Promise<boolean> {
  try {
    for await (const rows of readRows(source.chunks(), options)) {
      // Under a heading in cents nothing is open.
      if (rows[0]?.plan.isInCents) return true;
      const first = rows.find(({ openPrice }) => openPrice && openPrice.cents !== 0)?.openPrice;
      if (first) return readPrice(first.text, 'cents', options.decimal).problem === undefined;
      context.signal.throwIfAborted();
    }
  } catch (error) {
    // The check that follows says what is wrong with the file.
    if (!(error instanceof UsageError)) throw error;
  }
  return true;
}
