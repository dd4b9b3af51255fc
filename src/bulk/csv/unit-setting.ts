import { UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { type RowsOptions, readRows } from '../rows.ts';
import type { Source } from '../upload/source.ts';
import { readPrice } from './amounts.ts';
import type { TableReading } from './table-options.ts';

/**
 * Applies the unit of amounts from a saved map or from `config set amounts cents`. A flag takes precedence. The setting
 * is only for columns of bare whole numbers, so it is ignored if the first price has a sign or decimals. Reads the file
 * up to the first price. @throws ErrandError interrupted.
 */
export async function withUnitSetting<T extends RowsOptions>(
  context: Context,
  source: Source,
  { cellFlags, savedUnit }: Pick<TableReading, 'cellFlags' | 'savedUnit'>,
  options: T,
): Promise<T> {
  const { amounts: flag } = cellFlags;
  const setting = savedUnit ?? context.settings.amounts;
  // The setting `units` always applies: it does not change the meaning of amounts with a sign or decimals.
  if (flag !== undefined || setting !== 'cents') return options;
  const open = { ...options, amounts: undefined };
  return (await beginsWhole(context, source, open)) ? { ...options, amounts: setting } : open;
}

/** Whether the first price of a file is a whole number. Also true if there is no price. */
async function beginsWhole(context: Context, source: Source, options: RowsOptions): Promise<boolean> {
  try {
    for await (const rows of readRows(source.chunks(), options)) {
      // Under a heading that says cents, nothing is ambiguous.
      if (rows[0]?.plan.isInCents) return true;
      const first = rows.find(({ openPrice }) => openPrice && openPrice.cents !== 0)?.openPrice;
      if (first) return readPrice(first.text, 'cents', options.decimal).problem === undefined;
      context.signal.throwIfAborted();
    }
  } catch (error) {
    // Ignore the file's problems here, because the check that follows reports them.
    if (!(error instanceof UsageError)) throw error;
  }
  return true;
}
