import type { NoResult, StreamResult } from '../format/result.ts';
import { saveFile } from '../format/save-file.ts';
import { byteOrderMark } from '../platform/csv-cell.ts';
import type { Context } from '../run/context.ts';
import { centsHeading } from './csv/amounts.ts';
import { isPriceHeading } from './csv/headings.ts';
import type { UploadRow } from './rows.ts';
import { rowsText } from './spend.ts';

/**
 * Rows as a CSV in the columns of their file, and those that they have beside; the price, which is in cents, says so in
 * its heading. What a spreadsheet would run is defused, and read back as it was.
 */
async function csvOf(
  rows: readonly UploadRow[],
  {
    headings,
    raw,
    visible,
  }: { readonly headings: readonly string[]; readonly raw: boolean; readonly visible: boolean },
): Promise<string> {
  const { csvRecord } = await import('../format/csv.ts');
  const names = [...new Set([...headings, ...rows.flatMap((row) => Object.keys(row))])];
  const table = [
    names.map((name) => (isPriceHeading(name) ? centsHeading : name)),
    ...rows.map((row) => names.map((name) => String(row[name] ?? ''))),
  ];
  return table.map((cells) => csvRecord(cells, { delimiter: ',', raw, visible })).join('');
}

/** Rows in a file of their own, or on stdout for `-`. @throws UsageError, StorageError naming the path. */
export async function writtenRows(
  context: Context,
  rows: readonly UploadRow[],
  {
    to,
    force,
    headings,
  }: { readonly to: string; readonly force: boolean; readonly headings: readonly string[] },
): Promise<StreamResult | NoResult> {
  const isOut = to === '-';
  const visible = isOut && context.io.stdout.isTerminal;
  const text = await csvOf(rows, { headings, raw: context.output.rawCsv === true, visible });
  if (isOut) return { kind: 'stream', chunks: [text], isCsv: true };
  await saveFile(to, [context.output.excel ? byteOrderMark + text : text], { force });
  return { kind: 'none', hints: [`wrote ${rowsText(rows.length)} to ${to}`] };
}
