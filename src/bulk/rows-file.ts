import { centsHeading } from './amounts.ts';
import { isPriceHeading } from './columns.ts';
import type { UploadRow } from './rows.ts';

/**
 * Rows as a CSV in the columns of their file, and those that they have beside; the price, which is in cents, says so in
 * its heading. What a spreadsheet would run is defused, and read back as it was.
 */
export async function csvOf(
  rows: readonly UploadRow[],
  {
    headings,
    raw,
    visible,
  }: { readonly headings: readonly string[]; readonly raw: boolean; readonly visible: boolean },
): Promise<string> {
  const { csvRecord } = await import('../output/csv.ts');
  const names = [...new Set([...headings, ...rows.flatMap((row) => Object.keys(row))])];
  const table = [
    names.map((name) => (isPriceHeading(name) ? centsHeading : name)),
    ...rows.map((row) => names.map((name) => String(row[name] ?? ''))),
  ];
  return table.map((cells) => csvRecord(cells, { delimiter: ',', raw, visible })).join('');
}
