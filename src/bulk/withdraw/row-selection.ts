import { isRetailer } from '../../journal/summed-limit.ts';
import { UsageError } from '../../platform/errors.ts';
import { hostOf } from '../../spending/policy/policy.ts';
import type { RetailerNames } from '../../spending/report/read.ts';

/** A selection of rows, by their numbers in the file. */
export interface RowSelection {
  readonly text: string;
  readonly ranges: readonly (readonly [first: number, last: number])[];
}

const rangePattern = /^(\d{1,9})(?:-(\d{1,9}))?$/;

/** Parses `12-20,31`. @throws UsageError naming the part that is not a range. */
export function parseRows(text: string): RowSelection {
  const ranges = text.split(',').map((part): readonly [number, number] => {
    const [, first, last = first] = rangePattern.exec(part.trim()) ?? [];
    const range = [Number(first), Number(last)] as const;
    if (!(range[0] >= 1 && range[0] <= range[1]))
      throw new UsageError(`--rows ${text}: "${part}" is no row and no range of rows; write 12-20,31`);
    return range;
  });
  return { text, ranges };
}

/**
 * The selected rows; all rows if there is no selection. @throws UsageError for a range that contains no row, or if this
 * machine does not know the row numbers.
 */
export function selectedRows<T extends { readonly number: number | undefined }>(
  rows: readonly T[],
  selection: RowSelection | undefined,
): readonly T[] {
  if (!selection) return rows;
  if (rows.some(({ number }) => number === undefined))
    throw new UsageError(
      `--rows ${selection.text}: this machine does not know the numbers of all rows, since another one uploaded them`,
      { hint: '`errand bulk report` lists the orders; `errand order cancel` takes their ids.' },
    );
  const has = ({ number = 0 }: T, [first, last]: readonly [number, number]) =>
    number >= first && number <= last;
  for (const range of selection.ranges) {
    if (rows.some((row) => has(row, range))) continue;
    const [first, last] = range;
    const named = first === last ? `row ${first}` : `rows ${first} to ${last}`;
    throw new UsageError(`--rows ${selection.text}: the upload has no ${named}`);
  }
  return rows.filter((row) => selection.ranges.some((range) => has(row, range)));
}

/**
 * The rows that order from the given retailers. A retailer is given by name or host. @throws UsageError for a retailer
 * from which no row orders.
 */
export function rowsOfRetailers<T extends { readonly urls: readonly string[] }>(
  rows: readonly T[],
  only: readonly string[],
  nameOf: RetailerNames,
): readonly T[] {
  const namesOf = ({ urls }: T): string[] => urls.flatMap((url) => [nameOf(url), hostOf(url)]);
  const names = only.map((name) => name.trim().toLowerCase());
  for (const name of names) {
    if (rows.some((row) => isRetailer(name, namesOf(row)))) continue;
    const known = [...new Set(rows.flatMap(({ urls }) => urls.map(nameOf)))].sort();
    throw new UsageError(
      `--only: no row orders from "${name}"; the retailers are ${known.slice(0, maxNamed).join(', ')}`,
    );
  }
  return rows.filter((row) => names.some((name) => isRetailer(name, namesOf(row))));
}

/** Maximum number of retailers that an error lists. */
const maxNamed = 20;
