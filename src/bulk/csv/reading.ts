import type { Context } from '../../run/context.ts';
import type { RowsOptions } from '../rows.ts';
import type { Source } from '../upload/source.ts';
import { readTableOptions, type TableFlags } from './table-options.ts';
import { withUnitSetting } from './unit-setting.ts';

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
  if (!context.interactive.yes || source.isPipe)
    return { options: await readOptions(context, source, flags), flags };
  const hasMap = flags.map !== undefined || flags.own !== undefined || flags.useMap !== undefined;
  // What is to be saved may be what is asked for.
  const now = hasMap ? flags : { ...flags, saveMap: undefined };
  const options = await readOptions(context, source, now);
  const { askReading } = await import('./ask-mapping.ts');
  const asked = await askReading(context, source, { options, flags });
  if (!hasMap && Object.keys(asked.options.map).length === 0 && asked.options.preset === undefined)
    await readTableOptions(context, flags);
  return asked;
}

/** How a file is to be read, as the flags and the settings say it. @throws UsageError; ErrandError interrupted. */
export async function readOptions(context: Context, source: Source, flags: TableFlags): Promise<RowsOptions> {
  const options = { name: source.name, ...(await readTableOptions(context, flags)) };
  return withUnitSetting(context, source, flags, options);
}
