import { writeFile } from 'node:fs/promises';
import { StorageError, UsageError } from '../errors.ts';
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

/** What the person who named the file can mend. */
const wrongPlaces: Readonly<Record<string, string>> = {
  EEXIST: 'already exists; use --force to overwrite it',
  EISDIR: 'is a folder; --to takes a file',
  ENOENT: 'cannot be written: its folder is not there',
  ENOTDIR: 'cannot be written: its folder is a file',
};

/** Writes a new file; over one only with `force`. @throws UsageError, StorageError naming the path. */
export async function writeCsv(path: string, text: string, force: boolean): Promise<void> {
  try {
    await writeFile(path, text, { flag: force ? 'w' : 'wx' });
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    const wrong = wrongPlaces[code];
    if (wrong) throw new UsageError(`${path} ${wrong}`, { cause });
    throw new StorageError(`${path} cannot be written (${code})`, { cause });
  }
}
