import type { Context } from '../context.ts';
import type { RowsOptions } from './rows.ts';
import type { Source } from './source.ts';
import { readTableOptions, type TableFlags } from './table-options.ts';

/** How a file is to be read, and the flags that say so. */
export interface Reading {
  readonly options: RowsOptions;
  readonly flags: TableFlags;
}

/**
 * How a file is to be read, as the flags say it; what they leave open is asked of a person at a terminal.
 * @throws UsageError; ErrandError interrupted.
 */
export async function readReading(context: Context, source: Source, flags: TableFlags): Promise<Reading> {
  const options = { name: source.name, ...(await readTableOptions(context, flags)) };
  if (!context.interactive.yes || source.isPipe) return { options, flags };
  const { askReading } = await import('./mapping/ask.ts');
  return askReading(context, source, { options, flags });
}
