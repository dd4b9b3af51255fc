import type { BulkIssue } from '../../api/bulk-row.ts';
import { namedCountry } from '../../api/country.ts';
import type { Reference } from '../../journal/attempts.ts';
import { metadataOf } from '../../orders/needs/reference.ts';
import { shellWord } from '../../platform/shell.ts';
import { addRow, hasMore, noRows, type RowSample, rowsText } from '../check/row-sample.ts';
import { hiddenIn, visible } from './decode.ts';
import type { TablePlan } from './headings.ts';
import { namesText, type ReferencePlan, type UnusedReference } from './reference-columns.ts';

/**
 * Markers that keep a spreadsheet from reading a value as a number, as in `'08701` and `="08701"`. Some programs write
 * them into files.
 */
const markedNumber = /^'(?=[\d+($])|^="(?=[\d+($-]+"$)/;

/** Cells whose text was interpreted rather than taken literally. Reported once per file. */
export interface Readings {
  /** Countries that the file gives by name. Maps each country code to the first name seen and the number of rows. */
  readonly countries: Map<string, { readonly name: string; count: number }>;
  /** Rows that order nothing: continuation and summary lines. */
  readonly continuations: RowSample;
  /** Rows that continue an order and take over its address. */
  readonly sameAddress: RowSample;
  /** Default texts that filled empty cells, by column, with the number of rows. */
  readonly defaults: Map<string, { readonly text: string; count: number }>;
  /** Number of rows that took the phone number from another column, by the heading of that column. */
  readonly phones: Map<string, number>;
  /** Headings in which an invisible character was ignored. Maps the visible heading to that character. */
  readonly hidden: Map<string, string>;
  /** The columns that give references, and the first reference; or headings that could give references. */
  readonly references: {
    first?: { readonly plan: ReferencePlan; readonly reference: Reference; readonly row: number };
    unused?: UnusedReference | undefined;
  };
}

export const noReadings = (): Readings => ({
  countries: new Map(),
  continuations: noRows(),
  sameAddress: noRows(),
  phones: new Map(),
  defaults: new Map(),
  hidden: new Map(),
  references: {},
});

export function noteReferences(
  { references }: Readings,
  { reference: plan }: TablePlan,
  reference: Reference,
  row: number,
): void {
  if (plan && !references.first) references.first = { plan, reference, row };
}

/** Records headings that contain invisible characters. */
export function noteHidden({ hidden }: Readings, headings: readonly string[]): void {
  for (const heading of headings) {
    const seen = visible(heading);
    const found = seen === heading ? undefined : hiddenIn(heading);
    if (found !== undefined) hidden.set(seen, found);
  }
}

/** Converts cells from the formats of shops and spreadsheets to the formats of the service. */
export function asTaken(
  plan: TablePlan,
  cells: readonly string[],
  { countries, phones, defaults }: Readings,
): readonly string[] {
  const { numberIndexes, countryIndex } = plan;
  let taken = plan.phoneIndexes.length === 0 ? cells : withPhone(plan, cells, phones);
  if (plan.defaults.length > 0) taken = withDefaults(plan, taken, defaults);
  for (const index of numberIndexes) {
    const cell = taken[index] ?? '';
    if (isMarked(cell)) taken = taken.with(index, cell.replace(markedNumber, '').replace(/"$/, ''));
  }
  const name = taken[countryIndex]?.trim() ?? '';
  const code = namedCountry(name);
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

/** Fills an empty phone cell with the first number in the row's other phone columns. */
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

/** Fills empty cells of columns that have a default. */
function withDefaults(
  plan: TablePlan,
  cells: readonly string[],
  readings: Readings['defaults'],
): readonly string[] {
  const taken = plan.headings.map((_, index) => (index < plan.width ? (cells[index] ?? '') : ''));
  for (const { column, index, text } of plan.defaults) {
    if ((taken[index] ?? '').trim() !== '') continue;
    taken[index] = text;
    const seen = readings.get(column);
    if (seen) seen.count += 1;
    else readings.set(column, { text, count: 1 });
  }
  return taken;
}

/**
 * Fills in the address and state of continuation lines, because an export gives these only on the first line of an
 * order. A line stays unchanged if it has its own address, or another order number than the line above.
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

/** Issues for orders that the export marks as cancelled or unpaid. Nothing must be bought for such an order. */
export function calledOffIssues(
  { calledOff, headings }: TablePlan,
  cells: readonly string[],
): readonly BulkIssue[] {
  for (const { index, states, isFulfilled } of calledOff) {
    const value = (cells[index] ?? '').trim();
    if (value === '' || (states.length > 0 && !states.includes(stateText(value)))) continue;
    const message = isFulfilled
      ? "says that the customer's order was sent already; leave the row out"
      : "says that the customer's order was called off or is not paid; leave the row out";
    return [{ column: headings[index] ?? '', value, message }];
  }
  return [];
}

/** Normalizes texts such as `wc-checkout-draft` and `Partially Refunded`, to compare them with the known states. */
const stateText = (text: string): string => text.toLowerCase().replace(/[\s_-]+/g, ' ');

/** Whether a row orders nothing. Exports continue an order on extra lines, and some add a summary line. */
export function isContinuation({ orderIndexes }: TablePlan, cells: readonly string[]): boolean {
  return orderIndexes.every((index) => (cells[index] ?? '').trim() === '');
}

/** Lines for the user, one per kind of reinterpretation. */
export function readingLines(readings: Readings): string[] {
  const { countries, continuations, sameAddress, phones, defaults, hidden } = readings;
  const { count } = continuations;
  const left = count === 1 ? 'is left out' : 'are left out';
  const continues = sameAddress.count === 1 ? 'continues an order and has' : 'continue an order and have';
  return [
    ...[...hidden].map(([heading, found]) => `the heading "${heading}" holds ${found}, which is ignored`),
    ...[...countries].map(
      ([code, seen]) => `country "${seen.name}" is read as ${code} in ${rowsText(seen.count)}`,
    ),
    ...[...phones].map(([heading, rows]) => `phone_number is that of "${heading}" in ${rowsText(rows)}`),
    ...[...defaults].map(
      ([column, { text, count: rows }]) =>
        `${column} is ${JSON.stringify(text)} by default in ${rowsText(rows)}`,
    ),
    ...(sameAddress.count > 0
      ? [`${rowsText(sameAddress.count)} ${continues} its address: ${listText(sameAddress)}`]
      : []),
    ...(count > 0
      ? [`${rowsText(count)} without product, price and address ${left}: ${listText(continuations)}`]
      : []),
  ];
}

/** Lines that say which columns give the references, or which columns could. */
export const referenceLines = ({ references: { first, unused } }: Readings): string[] => [
  ...(first ? [referenceLine(first)] : []),
  ...(unused ? [unusedLine(unused)] : []),
];

function referenceLine({ plan, reference, row }: NonNullable<Readings['references']['first']>): string {
  const where = plan.namespace === '' ? '' : `, in the namespace ${plan.namespace}`;
  return `the reference of each row is its ${namesText(plan.headings)}${where}: row ${row} is ${metadataOf(reference)}`;
}

function unusedLine({ headings, by }: UnusedReference): string {
  if (by === 'preset')
    return `${namesText(headings)} can be the reference of each row, which is bought once then: --namespace names the shop that numbers them`;
  const [heading = ''] = headings;
  return `${namesText(headings)} stays a column of your own; --reference-column ${shellWord(heading)} makes it the reference of each row, which is bought once then (--own ${shellWord(heading)} says that it is none)`;
}

const listText = (sample: RowSample): string =>
  `${sample.count === 1 ? 'row' : 'rows'} ${sample.first.join(', ')}${hasMore(sample) ? ' …' : ''}`;
