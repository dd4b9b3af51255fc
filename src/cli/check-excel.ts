import type { OutputOptions } from '../format/result.ts';
import { UsageError } from '../platform/errors.ts';
import type { AnyCommand } from './define.ts';

/** @throws UsageError if `--excel` is given with output that is not CSV, or with raw CSV. */
export function checkExcel(
  { writesCsv }: Pick<AnyCommand, 'writesCsv'>,
  input: Readonly<Record<string, unknown>>,
  { format, rawCsv }: OutputOptions,
): void {
  if (rawCsv)
    throw new UsageError(
      '--excel and --raw-csv contradict each other: a spreadsheet runs cells that are raw',
    );
  if (format !== 'csv' && format !== 'tsv' && writesCsv?.(input) !== true)
    throw new UsageError('--excel is for CSV, and this writes none; add -o csv');
}
