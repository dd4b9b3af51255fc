import { CsvError, parse } from 'csv-parse/sync';
import type { AmountUnit } from '../../api/amount.ts';
import { planColumns } from '../../api/bulk-columns.ts';
import { mapPresets, presetLike } from '../../config/maps.ts';
import { namePattern } from '../../config/stored.ts';
import type { Column } from '../../format/result.ts';
import { namespaceProblem } from '../../orders/needs/reference.ts';
import { unescapeFormula } from '../../platform/csv-cell.ts';
import { refusedBy, UsageError } from '../../platform/errors.ts';
import { typedCommand } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { type RowsOptions, readRows } from '../rows.ts';
import type { Source } from '../upload/source.ts';
import { centsHeading, countPrice, emptyPrices, type PriceTally, readings } from './amounts.ts';
import { asUtf8, foldedHeading } from './decode.ts';
import {
  type ColumnMap,
  columnOf,
  entryOf,
  type HeadingMap,
  isKnownHeading,
  missingColumns,
  nameHeadings,
  ownName,
  planTable,
  readHeadings,
} from './headings.ts';
import { likeliest, looksLikeHeading, type MappedColumn, mistakenFor, optionalColumns } from './mapping.ts';
import { detectHeader, maxRowBytes, readTable, type TableOptions } from './reader.ts';
import type { FileReading, Reading } from './reading.ts';
import { findReference, namesText } from './reference-columns.ts';
import { referenceFlags, saveReading, type TableFlags, tableWords } from './table-options.ts';
import { withUnitSetting } from './unit-setting.ts';

/**
 * Asks the user what a file leaves open: which headings stand for missing columns, and whether prices are dollars or
 * cents. Prints the flags that give the same answers next time, and saves the map on request. If anything stays open,
 * the reader refuses the file later. @throws ErrandError interrupted.
 */
export async function askReading(context: Context, source: Source, given: Reading): Promise<Reading> {
  const sample = await sampleOf(source, given.options);
  if (!sample) return given;
  const { name } = given.options;
  const chosen = await askColumns(context, name, sample, given.options);
  const mapped: FileReading = chosen
    ? await withUnitSetting(context, source, given.options, { ...given.options, ...chosen })
    : given.options;
  const plan = () => planTable(name, sample.headings, mapped);
  // Do not save an unusable map. The check that follows reports the remaining problems with the headings.
  if (refusedBy(plan)('') !== undefined) {
    const answered = tableWords(answersOf(given, mapped));
    if (answered.length > 0)
      context.note(`what you chose so far: ${typedCommand([...context.argv, ...answered])}`);
    return { ...given, options: mapped };
  }
  const named = await askReference(context, sample, mapped, chosen !== undefined);
  const options: FileReading = { ...mapped, ...named };
  const isOpen = options.amounts === undefined && !plan().isInCents;
  const unit = isOpen ? await askUnit(context, source, options) : undefined;
  const centsMapping =
    chosen && unit === 'cents' ? inCents({ ...chosen, map: options.map }, given.options) : undefined;
  const map = (centsMapping ?? options).map;
  const amounts = centsMapping ? undefined : unit;
  if (!chosen && !named && unit === undefined) return given;
  const added: TableFlags = { ...answersOf(given, { ...options, map }), amounts };
  context.note(`next time: ${typedCommand([...context.argv, ...tableWords(added)])}`);
  if (unit !== undefined) context.note(`\`errand config set amounts ${unit}\` settles this for every file`);
  const flags: TableFlags = {
    ...given.flags,
    ...added,
    map: { ...given.flags.map, ...added.map },
    ...(amounts === undefined && { amounts: given.flags.amounts }),
  };
  const resolved = { options: { ...options, map, ...(amounts !== undefined && { amounts }) }, flags };
  if ((chosen && Object.keys(map).length > 0) || ((chosen || named) && flags.saveMap !== undefined))
    await saveMap(context, resolved);
  return resolved;
}

/** Flags that have the same effect as the user's answers. */
const answersOf = (given: Reading, { map, preset, reference }: HeadingMap): TableFlags => ({
  ...(given.flags.useMap === undefined && preset && { useMap: preset.name }),
  map: addedTo(given.options.map, map),
  ...(reference !== given.options.reference && definedOf(referenceFlags(reference))),
});

const definedOf = ({ referenceColumn, namespace }: TableFlags): TableFlags => ({
  ...(referenceColumn && { referenceColumn }),
  ...(namespace !== undefined && { namespace }),
});

/**
 * Asks whether certain columns give the references. If the columns hold a shop's order numbers, also asks for a name
 * for the shop. If a column is just called `reference` or the like, asks only if the user is being asked about columns
 * anyway. @returns undefined if nothing was asked, or if the user gave no name for the shop.
 */
async function askReference(
  context: Context,
  { headings }: FileSample,
  options: RowsOptions,
  isAsking: boolean,
): Promise<Pick<HeadingMap, 'map' | 'reference'> | undefined> {
  const { map } = options;
  const { unused } = findReference(headings, options, (heading) => entryOf(map, heading) !== undefined);
  const [heading = ''] = unused?.headings ?? [];
  if (!unused || (unused.by === 'name' && !isAsking)) return undefined;
  const prompt = await context.prompt();
  if (unused.by === 'preset') {
    const question = `${namesText(unused.headings)} can name each row, so that it is bought once. Name of the shop that numbers them, or nothing`;
    const namespace = await prompt.askText(context, question, { check: namespaceProblem, optional: true });
    return namespace === '' ? undefined : { map, reference: { columns: [], namespace } };
  }
  const [yes, no] = ['yes, each row is bought once under its name', 'no, it is a column of my own'];
  const question = `Does "${foldedHeading(heading)}" name each row for good?`;
  return (await prompt.askChoice(context, question, [yes, no])) === yes
    ? { map, reference: { columns: [heading], namespace: '' } }
    : { map: { ...map, [foldedHeading(heading)]: ownName(foldedHeading(heading)) } };
}

/** The chosen map, with the heading of the price mapped to cents; undefined if the user chose no such heading. */
function inCents(chosen: HeadingMap, given: RowsOptions): HeadingMap | undefined {
  const added = Object.entries(addedTo(given.map, chosen.map));
  const [heading] = added.find(([, column]) => column === 'max_price') ?? [];
  return heading === undefined ? undefined : { ...chosen, map: { ...chosen.map, [heading]: centsHeading } };
}

async function saveMap(context: Context, { options, flags }: Reading): Promise<void> {
  const store = await context.store();
  if (flags.saveMap !== undefined) return saveReading(context, flags.saveMap, options);
  const check = (name: string): string | undefined => {
    if (!namePattern.test(name)) return 'a name has letters, digits, . _ - only, and at most 64 of them';
    if (mapPresets.has(name)) return `${name} is the map of an export; take another name`;
    return store.map(name) ? `there is a map ${name} already; take another name` : undefined;
  };
  const question = 'Save these columns as a map? Its name, or nothing';
  const name = await (await context.prompt()).askText(context, question, { check, optional: true });
  if (name === '') return;
  await saveReading(context, name, options);
  const more = tableWords({ useMap: name }).join(' ');
  context.note(`saved; for the next file of this kind: ${more}`);
}

const meanings: Readonly<Record<MappedColumn, string>> = {
  product_url: 'the URL of the product to buy',
  max_price: 'the most that the order may cost',
  name: 'first and last name of who receives it',
  first_name: 'of who receives it',
  last_name: 'of who receives it',
  address_line1: 'street and number',
  address_line2: 'more of the address',
  city: 'where it goes',
  state: 'two letters, such as TX',
  postal_code: 'where it goes',
  phone_number: 'for the carrier',
  country: 'two letters; US without it',
  quantity: 'how many; 1 without it',
};

/** Optional columns. The user is asked about a column only if a heading resembles it. */
const optional: readonly string[] = optionalColumns;

/**
 * Asks which headings stand for the columns that the file lacks. @returns undefined if the file lacks no column or has
 * too few headings. @throws ErrandError interrupted.
 */
async function askColumns(
  context: Context,
  name: string,
  sample: FileSample,
  given: HeadingMap,
): Promise<HeadingMap | undefined> {
  if (refusedBy(() => planTable(name, sample.headings, given))('') === undefined) return undefined;
  if (lackingIn(sample, given).length === 0 || sample.headings.length < 2) return undefined;
  context.note(`${name} has no column for ${lackingIn(sample, given).join(', ')}; choose their headings`);
  const preset = given.preset ?? (await askPreset(context, sample, given));
  let map = given.map;
  for (const column of columnsToAsk(sample, { map, preset })) {
    const isNeeded = !optional.includes(column);
    let heading = await askHeading(context, column, sample, { map, preset });
    if (heading === undefined && isNeeded && (await choosesAgain(context, name, column)))
      heading = await askHeading(context, column, sample, { map, preset });
    if (heading !== undefined) map = { ...map, [foldedHeading(heading)]: column };
    else if (isNeeded) break;
    // If the answer is "none", keep the similar headings as custom columns.
    else map = { ...map, ...ownHeadings(column, sample, { map, preset }) };
  }
  return { map, preset };
}

function lackingIn({ headings }: FileSample, given: HeadingMap): string[] {
  const names = nameHeadings(headings, given).names.map((name) => columnOf(name) ?? name);
  return missingColumns(planColumns(names), given.preset);
}

/** Offers the preset that matches the file. A preset spares the user most questions. */
async function askPreset(context: Context, { headings }: FileSample, { map }: HeadingMap) {
  const like = Object.keys(map).length === 0 ? presetLike(headings) : undefined;
  if (!like) return undefined;
  const yes = `yes, like --use-map ${like.name}`;
  const prompt = await context.prompt();
  const question = `It looks like ${like.description.split(';')[0]}. Read it so?`;
  const chosen = await prompt.askChoice(context, question, [yes, 'no, choose each column']);
  return chosen === yes ? mapPresets.get(like.name) : undefined;
}

/**
 * Columns to ask about, in the order of the order fields: required columns that have no heading, and optional columns
 * that a heading resembles.
 */
function columnsToAsk(sample: FileSample, given: HeadingMap): MappedColumn[] {
  const { headings } = sample;
  const lacking = new Set<string>(lackingIn(sample, given));
  const isFree = freeIn(sample, given);
  const hasCandidate = (column: MappedColumn): boolean => likeliest(column, headings, isFree) !== undefined;
  if (
    lacking.has('name') &&
    !hasCandidate('name') &&
    hasCandidate('first_name') &&
    hasCandidate('last_name')
  ) {
    lacking.delete('name');
    lacking.add('first_name').add('last_name');
  }
  const there = new Set(nameHeadings(headings, given).names.map(columnOf));
  for (const column of optionalColumns) if (!there.has(column) && hasCandidate(column)) lacking.add(column);
  return (Object.keys(meanings) as MappedColumn[]).filter((column) => lacking.has(column));
}

/**
 * Map entries that keep headings as custom columns. Only headings that could be mistaken for the given column are
 * included.
 */
function ownHeadings(column: MappedColumn, sample: FileSample, given: HeadingMap): ColumnMap {
  const isFree = freeIn(sample, given);
  const alike = sample.headings.filter((heading, index) => isFree(index) && mistakenFor(heading) === column);
  return Object.fromEntries(alike.map(foldedHeading).map((heading) => [heading, ownName(heading)]));
}

/** Whether a heading can still be chosen, because neither a map nor a preset assigns it to a column. */
function freeIn({ headings }: FileSample, given: HeadingMap): (index: number) => boolean {
  const { names } = nameHeadings(headings, given);
  return (index) => {
    const heading = headings[index] ?? '';
    const isOwn = names[index] === heading || names[index] === `file.${heading}`;
    return heading !== '' && entryOf(given.map, heading) === undefined && isOwn;
  };
}

const none = 'none of these';

/** Offers a second try for a required column, so that a stray Enter does not end the dialog. */
async function choosesAgain(context: Context, name: string, column: MappedColumn): Promise<boolean> {
  const again = 'choose its heading again';
  const question = `${name} cannot be read without ${column}`;
  const chosen = await (await context.prompt()).askChoice(context, question, [again, 'end here']);
  return chosen === again;
}

/** Asks which heading stands for a column. Returns undefined if no heading does. */
async function askHeading(
  context: Context,
  column: MappedColumn,
  sample: FileSample,
  given: HeadingMap,
): Promise<string | undefined> {
  const { headings, cells, row } = sample;
  const isFree = freeIn(sample, given);
  const { names } = nameHeadings(headings, given);
  const suggested =
    likeliest(column, headings, isFree) ?? (column === 'product_url' ? urlIn(sample, isFree) : undefined);
  const rows = headings.flatMap((heading, index) =>
    isFree(index) ? { heading, sample: cells[index] ?? '', is: meaningOf(names[index]) } : [],
  );
  const prompt = await context.prompt();
  const first = rows.find(({ heading }) => suggested !== undefined && heading === headings[suggested]);
  const chosen = await prompt.askRow(context, `${column}: ${meanings[column]}`, rows, columnsOf(row), {
    others: [none],
    // If no heading is similar, preselect none, so that a stray Enter picks nothing.
    first: first ?? none,
  });
  return typeof chosen === 'string' ? undefined : chosen.heading;
}

/** The only column whose cell is a URL; undefined if there are several. */
function urlIn({ cells }: FileSample, isFree: (index: number) => boolean): number | undefined {
  const urls = cells.flatMap((cell, index) => (isFree(index) && /^https?:\/\//i.test(cell) ? index : []));
  return urls.length === 1 ? urls[0] : undefined;
}

const meaningOf = (name = ''): string => {
  const column = columnOf(name);
  return column === undefined ? '' : `read as ${column}`;
};

const columnsOf = (row: number): readonly Column[] => [
  { name: 'heading', path: 'heading', weight: 10 },
  { name: `row ${row}`, path: 'sample', weight: 9, keeps: 'ends' },
  { name: 'is', path: 'is', weight: 8 },
];

/** The entries that the user chose in addition to the given ones. */
const addedTo = (given: ColumnMap, chosen: ColumnMap): ColumnMap =>
  Object.fromEntries(Object.entries(chosen).filter(([heading]) => !Object.hasOwn(given, heading)));

/**
 * Asks whether bare whole numbers are dollars or cents, if the file leaves that open. Shows both readings of the first
 * number and of the sum. @returns undefined if nothing is ambiguous. @throws ErrandError interrupted.
 */
async function askUnit(
  context: Context,
  source: Source,
  options: RowsOptions,
): Promise<AmountUnit | undefined> {
  const { bare, decimal, bareSum } = await pricesOf(context, source, options);
  if (!bare || decimal) return undefined;
  const [units, cents] = readings(Number(bare.text));
  const [allUnits, allCents] = readings(bareSum);
  const asCents = `${cents} (cents), all rows ${allCents}`;
  // The smaller amount comes first, so that a stray Enter spends less.
  const choices = [asCents, `${units} (units), all rows ${allUnits}`];
  const question = `max_price ${bare.text} in row ${bare.row} means`;
  const chosen = await (await context.prompt()).askChoice(context, question, choices);
  return chosen === asCents ? 'cents' : 'units';
}

/** Tallies a file's prices. Stops as soon as nothing is ambiguous any more. */
async function pricesOf(context: Context, source: Source, options: RowsOptions): Promise<PriceTally> {
  const prices = emptyPrices();
  try {
    for await (const rows of readRows(source.chunks(), options)) {
      for (const { number, openPrice } of rows) if (openPrice) countPrice(prices, number, openPrice);
      if (!prices.bare || prices.decimal) break;
      context.signal.throwIfAborted();
    }
  } catch (error) {
    // Ignore the file's problems here, because the check that follows reports them.
    if (!(error instanceof UsageError)) throw error;
    return emptyPrices();
  }
  return prices;
}

/** A file's headings and a sample row. */
interface FileSample {
  readonly headings: readonly string[];
  /** Cells of the first non-empty row. */
  readonly cells: readonly string[];
  /** Row number of these cells. */
  readonly row: number;
}

/**
 * Reads a file up to its first non-empty row. @returns undefined if there is no such row. @throws UsageError naming the
 * file and the line.
 */
export async function sampleOf(source: Source, options: RowsOptions): Promise<FileSample | undefined> {
  const isHeading = (text: string): boolean => isKnownHeading(text, options) || looksLikeHeading(text);
  const table = { ...options, isHeading };
  const sample = await ofFirstRow(source, table);
  if (sample) return sample;
  for await (const { headings, firstRow, rows } of readTable(source.chunks(), table)) {
    const at = rows.findIndex(isFilled);
    const cells = rows[at];
    if (cells) return { headings: readHeadings(headings, options), cells, row: firstRow + at };
  }
  return undefined;
}

/**
 * Fast path for nearly every file. It uses csv-parse's synchronous build, because `readTable` would load a second
 * streaming parser into the process and so slow down the first. @returns undefined if the row below the headings is
 * empty, or if no further record proves that this row is complete.
 */
async function ofFirstRow(
  source: Source,
  table: TableOptions & RowsOptions,
): Promise<FileSample | undefined> {
  const detected = await detectHeader(asUtf8(source.chunks(), table.name, table.encoding), table);
  const { value: head = new Uint8Array() } = await detected.chunks.next();
  await detected.chunks.return(undefined);
  const [headings, cells, next] = recordsOf(head, detected.delimiter, 3);
  if (!headings || !cells || !next || !isFilled(cells)) return undefined;
  return { headings: readHeadings(headings, table), cells, row: detected.rows + 2 };
}

const isFilled = (cells: readonly string[]): boolean => cells.some((cell) => cell.trim() !== '');

/** The first records of a table; empty if the table is not valid CSV. */
function recordsOf(head: Uint8Array, delimiter: string, count: number): string[][] {
  try {
    const read = parse(head, {
      ...{ delimiter, record_delimiter: '\n', relax_column_count: true },
      ...{ max_record_size: maxRowBytes, to: count },
    });
    return read.map((cells) => cells.map(unescapeFormula));
  } catch (error) {
    if (error instanceof CsvError) return [];
    throw error;
  }
}
