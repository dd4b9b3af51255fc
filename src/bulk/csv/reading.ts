import { UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import type { RowsOptions } from '../rows.ts';
import type { Source } from '../upload/source.ts';
import { readTableOptions, saveReading, type TableFlags, type TableReading } from './table-options.ts';
import { withUnitSetting } from './unit-setting.ts';

/** The options for parsing a file, and the file's name. */
export type FileReading = TableReading & Pick<RowsOptions, 'name'>;

/** The options for parsing a file, and the flags that set them. */
export interface Reading {
  readonly options: FileReading;
  readonly flags: TableFlags;
}

/**
 * Resolves how to parse a file from the flags. On a TTY, asks the user about whatever the flags leave open.
 * @throws UsageError; ErrandError interrupted.
 */
export async function readReading(context: Context, source: Source, flags: TableFlags): Promise<Reading> {
  if (!context.interactive.yes || source.isPipe)
    return { options: await readOptions(context, source, flags), flags };
  const hasMap = flags.map !== undefined || flags.own !== undefined || flags.useMap !== undefined;
  // If no flag gives a map, do not save one yet: the dialog below has to produce it first.
  const now = hasMap ? flags : { ...flags, saveMap: undefined };
  const options = await readOptions(context, source, now);
  const { askReading } = await import('./ask-mapping.ts');
  const resolved = await askReading(context, source, { options, flags });
  const isChosen = Object.keys(resolved.options.map).length > 0 || resolved.options.preset !== undefined;
  if (!hasMap && !isChosen && flags.saveMap !== undefined)
    await saveReading(context, flags.saveMap, resolved.options);
  return resolved;
}

/** Resolves how to parse a file from flags and settings. @throws UsageError; ErrandError interrupted. */
export async function readOptions(context: Context, source: Source, flags: TableFlags): Promise<FileReading> {
  const textual = (['locale', 'encoding', 'delimiter', 'quotes'] as const).find(
    (name) => flags[name] !== undefined,
  );
  if (source.isWorkbook && textual !== undefined)
    throw new UsageError(
      `--${textual} is for text: ${source.name} is a workbook, whose cells say what they are`,
    );
  const read = await readTableOptions(context, flags, source.isWorkbook);
  const options = await withUnitSetting(context, source, read, { name: source.name, ...read });
  if (flags.saveMap !== undefined) await saveReading(context, flags.saveMap, options);
  return options;
}
