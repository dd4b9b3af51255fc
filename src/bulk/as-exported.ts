import { countryCodePattern } from '../contract/limits.ts';
import type { TablePlan } from './columns.ts';
import { hasMore, noRows, type RowSample } from './row-sample.ts';
import { rowsText } from './spend.ts';

const markedNumber = /^'[\d+($]/;

/** What rows were read as that is not what their cells say; told once for the file. */
export interface Readings {
  /** Countries that were given by name, by their codes: the first name, and how many rows have one. */
  readonly countries: Map<string, { readonly name: string; count: number }>;
  /** Rows that order nothing: those that continue another, or sum the table up. */
  readonly continuations: RowSample;
}

export const noReadings = (): Readings => ({ countries: new Map(), continuations: noRows() });

/** The cells of a row as the service takes them, where shops and spreadsheets write them otherwise. */
export function asTaken(
  { numberIndexes, countryIndex }: TablePlan,
  cells: readonly string[],
  { countries }: Readings,
): readonly string[] {
  let taken = cells;
  for (const index of numberIndexes) {
    const cell = taken[index];
    // A spreadsheet marks a number as text with an apostrophe, and some write it into the file.
    if (cell?.startsWith("'") && markedNumber.test(cell)) taken = taken.with(index, cell.slice(1));
  }
  const name = taken[countryIndex]?.trim() ?? '';
  const code = countryCode(name);
  if (code === undefined) return taken;
  const seen = countries.get(code);
  if (seen) seen.count += 1;
  else countries.set(code, { name, count: 1 });
  return taken.with(countryIndex, code);
}

/** The code of a country that is given by its English name; undefined for a code, and for what is neither. */
function countryCode(name: string): string | undefined {
  if (name === '' || (countryCodePattern.test(name) && name.toUpperCase() !== 'UK')) return undefined;
  codes ??= codesByName();
  return codes.get(lettersOf(name));
}

const lettersOf = (name: string): string => name.toLowerCase().replace(/[^\p{L}]/gu, '');

let codes: ReadonlyMap<string, string> | undefined;

const otherNames = {
  usa: 'US',
  unitedstatesofamerica: 'US',
  uk: 'GB',
  greatbritain: 'GB',
  czechrepublic: 'CZ',
  thenetherlands: 'NL',
} as const;

function codesByName(): ReadonlyMap<string, string> {
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
  const letters = Array.from({ length: 26 }, (_, at) => String.fromCharCode(65 + at));
  const known = letters
    .flatMap((one) => letters.map((other) => one + other))
    .flatMap((code): (readonly [name: string, code: string])[] => {
      const name = names.of(code);
      // A code that was given up has the name of the one that stands for it now.
      return name === undefined || new Intl.Locale(`und-${code}`).region !== code
        ? []
        : [[lettersOf(name), code]];
    });
  return new Map([...known, ...Object.entries(otherNames)]);
}

/** Whether a row orders nothing: a shop's export continues an order on a line of its own, or sums all of them up. */
export function isContinuation({ orderIndexes }: TablePlan, cells: readonly string[]): boolean {
  return orderIndexes.every((index) => (cells[index] ?? '').trim() === '');
}

/** A line for a person for each way in which rows were read. */
export function readingLines({ countries, continuations }: Readings): string[] {
  const { count, first } = continuations;
  const rows = first.join(', ') + (hasMore(continuations) ? ' …' : '');
  const left = count === 1 ? 'is left out: row' : 'are left out: rows';
  return [
    ...[...countries].map(
      ([code, seen]) => `country "${seen.name}" is read as ${code} in ${rowsText(seen.count)}`,
    ),
    ...(count > 0 ? [`${rowsText(count)} without product, price and address ${left} ${rows}`] : []),
  ];
}
