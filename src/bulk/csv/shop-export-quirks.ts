import type { BulkIssue } from '../../api/bulk-row.ts';
import { countryCodePattern } from '../../api/limits.ts';
import { addRow, hasMore, noRows, type RowSample, rowsText } from '../check/spend.ts';
import { hiddenIn, visible } from './decode.ts';
import type { TablePlan } from './headings.ts';

/** `'08701` and `="08701"`: a spreadsheet is told that this is no number, and some write that into the file. */
const markedNumber = /^'(?=[\d+($])|^="(?=[\d+($-]+"$)/;

/** What rows were read as that is not what their cells say; told once for the file. */
export interface Readings {
  /** Countries that were given by name, by their codes: the first name, and how many rows have one. */
  readonly countries: Map<string, { readonly name: string; count: number }>;
  /** Rows that order nothing: those that continue another, or sum the table up. */
  readonly continuations: RowSample;
  /** Rows that have the address of the order that they continue. */
  readonly sameAddress: RowSample;
  /** Rows whose phone number is that of another column: its heading, and how many rows. */
  readonly phones: Map<string, number>;
  /** Headings that are read without a character that nobody sees: what they are then, and that character. */
  readonly hidden: Map<string, string>;
}

export const noReadings = (): Readings => ({
  countries: new Map(),
  continuations: noRows(),
  sameAddress: noRows(),
  phones: new Map(),
  hidden: new Map(),
});

/** Notes the headings that are read as what a person sees. */
export function noteHidden({ hidden }: Readings, headings: readonly string[]): void {
  for (const heading of headings) {
    const seen = visible(heading);
    const found = seen === heading ? undefined : hiddenIn(heading);
    if (found !== undefined) hidden.set(seen, found);
  }
}

/** The cells of a row as the service takes them, where shops and spreadsheets write them otherwise. */
export function asTaken(
  plan: TablePlan,
  cells: readonly string[],
  { countries, phones }: Readings,
): readonly string[] {
  const { numberIndexes, countryIndex } = plan;
  let taken = plan.phoneIndexes.length === 0 ? cells : withPhone(plan, cells, phones);
  for (const index of numberIndexes) {
    const cell = taken[index] ?? '';
    if (isMarked(cell)) taken = taken.with(index, cell.replace(markedNumber, '').replace(/"$/, ''));
  }
  const name = taken[countryIndex]?.trim() ?? '';
  const code = countryCode(name);
  if (code === undefined) return taken;
  const seen = countries.get(code);
  if (seen) seen.count += 1;
  else countries.set(code, { name, count: 1 });
  return taken.with(countryIndex, code);
}

const isMarked = (cell: string): boolean => {
  const first = cell.charCodeAt(0);
  return (first === apostrophe || first === equals) && markedNumber.test(cell);
};
const [apostrophe, equals] = [0x27, 0x3d];

/** The cells with the first phone number that a row of an export has. */
function withPhone(
  { columns, phoneIndexes, headings }: TablePlan,
  cells: readonly string[],
  phones: Readings['phones'],
): readonly string[] {
  const own = columns.get('phone_number') ?? -1;
  if ((cells[own] ?? '').trim() !== '') return cells;
  const other = phoneIndexes.find((index) => (cells[index] ?? '').trim() !== '');
  if (other === undefined) return cells;
  const heading = (headings[other] ?? '').replace(/^file\./, '');
  phones.set(heading, (phones.get(heading) ?? 0) + 1);
  return cells.with(own, cells[other] ?? '');
}

/**
 * Gives the lines with which an export continues an order its address and state: only the first of them has these. A line
 * with an address of its own, or with the number of another order than the line above, stands as it is.
 */
export function addressOfOrder({ sameAddress }: Readings) {
  let above: { readonly order: string; readonly cells: readonly string[] } | undefined;
  return (
    { orderNumberIndex, addressIndexes, calledOff }: TablePlan,
    cells: readonly string[],
    number: number,
  ): readonly string[] => {
    if (orderNumberIndex < 0) return cells;
    const order = (cells[orderNumberIndex] ?? '').trim();
    if (addressIndexes.some((index) => (cells[index] ?? '').trim() !== '')) {
      above = { order, cells };
      return cells;
    }
    if (order === '' || order !== above?.order) return cells;
    addRow(sameAddress, number);
    const filled = [...cells];
    for (const index of addressIndexes) filled[index] = above.cells[index] ?? '';
    for (const { index } of calledOff) filled[index] ||= above.cells[index] ?? '';
    return filled;
  };
}

/** What an export says of a customer's order that was called off, or not paid: nothing is to be bought for it. */
export function calledOffIssues(
  { calledOff, headings }: TablePlan,
  cells: readonly string[],
): readonly BulkIssue[] {
  for (const { index, states } of calledOff) {
    const value = (cells[index] ?? '').trim();
    if (value === '' || (states.length > 0 && !states.includes(stateText(value)))) continue;
    const message = "says that the customer's order was called off or is not paid; leave the row out";
    return [{ column: headings[index] ?? '', value, message }];
  }
  return [];
}

/** `wc-checkout-draft` and `Partially Refunded` as they are listed. */
const stateText = (text: string): string => text.toLowerCase().replace(/[\s_-]+/g, ' ');

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
export function readingLines({ countries, continuations, sameAddress, phones, hidden }: Readings): string[] {
  const { count } = continuations;
  const left = count === 1 ? 'is left out' : 'are left out';
  const continues = sameAddress.count === 1 ? 'continues an order and has' : 'continue an order and have';
  return [
    ...[...hidden].map(([heading, found]) => `the heading "${heading}" holds ${found}, which is ignored`),
    ...[...countries].map(
      ([code, seen]) => `country "${seen.name}" is read as ${code} in ${rowsText(seen.count)}`,
    ),
    ...[...phones].map(([heading, rows]) => `phone_number is that of "${heading}" in ${rowsText(rows)}`),
    ...(sameAddress.count > 0
      ? [`${rowsText(sameAddress.count)} ${continues} its address: ${listed(sameAddress)}`]
      : []),
    ...(count > 0
      ? [`${rowsText(count)} without product, price and address ${left}: ${listed(continuations)}`]
      : []),
  ];
}

const listed = (sample: RowSample): string =>
  `${sample.count === 1 ? 'row' : 'rows'} ${sample.first.join(', ')}${hasMore(sample) ? ' …' : ''}`;
