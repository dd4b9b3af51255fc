import { CsvError, parse } from 'csv-parse/sync';
import type { AmountUnit } from '../../api/amount.ts';
import { planColumns } from '../../api/bulk-columns.ts';
import { mapPresets, presetLike } from '../../config/maps.ts';
import { namePattern } from '../../config/stored.ts';
import type { Column } from '../../format/result.ts';
import { fused } from '../../platform/csv-cell.ts';
import { refusedBy, UsageError } from '../../platform/errors.ts';
import { typedCommand } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { type RowsOptions, readRows } from '../rows.ts';
import type { Source } from '../upload/source.ts';
import { centsHeading, countPrice, emptyPrices, type PriceTally, readings } from './amounts.ts';
import { asUtf8 } from './decode.ts';
import {
  type ColumnMap,
  columnOf,
  entryOf,
  foldedHeading,
  type HeadingMap,
  isKnownHeading,
  missingColumns,
  nameHeadings,
  ownName,
  planTable,
  readHeadings,
} from './headings.ts';
import { likeliest, looksLikeHeading, type MappedColumn, mistakenFor, optionalColumns } from './mapping.ts';
import { longestRow, readBeginning, readTable, type TableOptions } from './reader.ts';
import type { Reading } from './reading.ts';
import { type TableFlags, tableWords, tellShadowed } from './table-options.ts';
import { withUnitSetting } from './unit-setting.ts';

/**
 * Asks a person what a file leaves open: which of its headings are the columns that are missing, and whether its prices are
 * dollars or cents. Tells the command that says it the next time, and saves the map under a name on request. What stays open
 * is refused by whoever reads the file. @throws ErrandError interrupted.
 */
export async function askReading(context: Context, source: Source, given: Reading): Promise<Reading> {
  const sample = await sampleOf(source, given.options);
  if (!sample) return given;
  const { name } = given.options;
  const chosen = await askColumns(context, name, sample, given.options);
  const options: RowsOptions = chosen
    ? await withUnitSetting(context, source, given.flags, { ...given.options, ...chosen })
    : given.options;
  const plan = () => planTable(name, sample.headings, options);
  // What is still wrong with the headings is said by the check, and nothing is saved of it.
  if (refusedBy(plan)('') !== undefined) {
    const answered = tableWords(answersOf(given, options));
    if (answered.length > 0)
      context.note(`what you chose so far: ${typedCommand([...context.argv, ...answered])}`);
    return { ...given, options };
  }
  const isOpen = options.amounts === undefined && !plan().isInCents;
  const unit = isOpen ? await askUnit(context, source, options) : undefined;
  const settled = chosen && unit === 'cents' ? inCents(chosen, given.options) : undefined;
  const map = (settled ?? options).map;
  const amounts = settled ? undefined : unit;
  if (!chosen && unit === undefined) return given;
  const added: TableFlags = { ...answersOf(given, { ...options, map }), amounts };
  context.note(`next time: ${typedCommand([...context.argv, ...tableWords(added)])}`);
  if (unit !== undefined) context.note(`\`errand config set amounts ${unit}\` settles this for every file`);
  const flags: TableFlags = {
    ...given.flags,
    ...added,
    map: { ...given.flags.map, ...added.map },
    ...(amounts === undefined && { amounts: given.flags.amounts }),
  };
  const asked = { options: { ...options, map, ...(amounts !== undefined && { amounts }) }, flags };
  if (chosen && (Object.keys(map).length > 0 || flags.saveMap !== undefined)) await saveMap(context, asked);
  return asked;
}

/** The flags that say which columns were chosen. */
const answersOf = (given: Reading, { map, preset }: HeadingMap): TableFlags => ({
  ...(given.flags.useMap === undefined && preset && { useMap: preset.name }),
  map: addedTo(given.options.map, map),
});

/** The map with cents under the heading that was chosen for the price; undefined where none was chosen. */
function inCents(chosen: HeadingMap, given: RowsOptions): HeadingMap | undefined {
  const added = Object.entries(addedTo(given.map, chosen.map));
  const [heading] = added.find(([, column]) => column === 'max_price') ?? [];
  return heading === undefined ? undefined : { ...chosen, map: { ...chosen.map, [heading]: centsHeading } };
}

async function saveMap(context: Context, { options, flags }: Reading): Promise<void> {
  const store = await context.store();
  const saved = { map: options.map, preset: options.preset?.name };
  if (flags.saveMap !== undefined) {
    await store.setMap(flags.saveMap, saved);
    return tellShadowed(context, flags.saveMap);
  }
  const check = (name: string): string | undefined => {
    if (!namePattern.test(name)) return 'a name has letters, digits, . _ - only, and at most 64 of them';
    if (mapPresets.has(name)) return `${name} is the map of an export; take another name`;
    return store.map(name) ? `there is a map ${name} already; take another name` : undefined;
  };
  const question = 'Save these columns as a map? Its name, or nothing';
  const name = await (await context.prompt()).askText(context, question, { check, optional: true });
  if (name === '') return;
  await store.setMap(name, saved);
  const more = tableWords({ useMap: name, amounts: flags.amounts }).join(' ');
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

/** Columns that a file can do without; they are asked about where a heading looks like one. */
const optional: readonly string[] = optionalColumns;

/**
 * Asks which headings are the columns that a file lacks. @returns undefined where it lacks none, or has too few headings.
 * @throws ErrandError interrupted.
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
  for (const column of askedColumns(sample, { map, preset })) {
    const isNeeded = !optional.includes(column);
    let heading = await askHeading(context, column, sample, { map, preset });
    if (heading === undefined && isNeeded && (await choosesAgain(context, name, column)))
      heading = await askHeading(context, column, sample, { map, preset });
    if (heading !== undefined) map = { ...map, [foldedHeading(heading)]: column };
    else if (isNeeded) break;
    // Who says that none of them is the column keeps them as they are.
    else map = { ...map, ...ownHeadings(column, sample, { map, preset }) };
  }
  return { map, preset };
}

function lackingIn({ headings }: FileSample, given: HeadingMap): string[] {
  const names = nameHeadings(headings, given).names.map((name) => columnOf(name) ?? name);
  return missingColumns(planColumns(names), given.preset);
}

/** Who has an export is spared the questions that its preset answers. */
async function askPreset(context: Context, { headings }: FileSample, { map }: HeadingMap) {
  const like = Object.keys(map).length === 0 ? presetLike(headings) : undefined;
  if (!like) return undefined;
  const yes = `yes, like --use-map ${like.name}`;
  const prompt = await context.prompt();
  const question = `It looks like ${like.description.split(';')[0]}. Read it so?`;
  const chosen = await prompt.askChoice(context, question, [yes, 'no, choose each column']);
  return chosen === yes ? mapPresets.get(like.name) : undefined;
}

/** The columns that are needed and lack a heading, in the order of an order, and those that a heading looks like. */
function askedColumns(sample: FileSample, given: HeadingMap): MappedColumn[] {
  const { headings } = sample;
  const lacking = new Set<string>(lackingIn(sample, given));
  const isFree = freeIn(sample, given);
  const looks = (column: MappedColumn): boolean => likeliest(column, headings, isFree) !== undefined;
  if (lacking.has('name') && !looks('name') && looks('first_name') && looks('last_name')) {
    lacking.delete('name');
    lacking.add('first_name').add('last_name');
  }
  const there = new Set(nameHeadings(headings, given).names.map(columnOf));
  for (const column of optionalColumns) if (!there.has(column) && looks(column)) lacking.add(column);
  return (Object.keys(meanings) as MappedColumn[]).filter((column) => lacking.has(column));
}

/** The headings that would be mistaken for a column, as columns of the file's own. */
function ownHeadings(column: MappedColumn, sample: FileSample, given: HeadingMap): ColumnMap {
  const isFree = freeIn(sample, given);
  const alike = sample.headings.filter((heading, index) => isFree(index) && mistakenFor(heading) === column);
  return Object.fromEntries(alike.map(foldedHeading).map((heading) => [heading, ownName(heading)]));
}

/** Whether a heading can still be chosen: no map and no preset says what it is. */
function freeIn({ headings }: FileSample, given: HeadingMap): (index: number) => boolean {
  const { names } = nameHeadings(headings, given);
  return (index) => {
    const heading = headings[index] ?? '';
    const isOwn = names[index] === heading || names[index] === `file.${heading}`;
    return heading !== '' && entryOf(given.map, heading) === undefined && isOwn;
  };
}

const none = 'none of these';

/** An Enter too many does not end the questions: whether a column that a file needs is looked for once more. */
async function choosesAgain(context: Context, name: string, column: MappedColumn): Promise<boolean> {
  const again = 'choose its heading again';
  const question = `${name} cannot be read without ${column}`;
  const chosen = await (await context.prompt()).askChoice(context, question, [again, 'end here']);
  return chosen === again;
}

/** The heading of a column; undefined where there is none. */
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
    // What nothing looks like is not chosen by an Enter.
    first: first ?? none,
  });
  return typeof chosen === 'string' ? undefined : chosen.heading;
}

/** A column whose cell is a URL, where it is the only one. */
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

/** What was chosen beyond what was given. */
const addedTo = (given: ColumnMap, chosen: ColumnMap): ColumnMap =>
  Object.fromEntries(Object.entries(chosen).filter(([heading]) => !Object.hasOwn(given, heading)));

/**
 * Asks whether bare whole numbers are dollars or cents, where the file leaves that open, with both readings of the first
 * one and of all together. @returns undefined where nothing is open. @throws ErrandError interrupted.
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
  // The smaller amount stands first: an Enter too many spends nothing.
  const choices = [asCents, `${units} (units), all rows ${allUnits}`];
  const question = `max_price ${bare.text} in row ${bare.row} means`;
  const chosen = await (await context.prompt()).askChoice(context, question, choices);
  return chosen === asCents ? 'cents' : 'units';
}

/** The prices of a file; of its first rows where none of them leaves anything open. */
async function pricesOf(context: Context, source: Source, options: RowsOptions): Promise<PriceTally> {
  const prices = emptyPrices();
  try {
    for await (const rows of readRows(source.chunks(), options)) {
      for (const { number, openPrice } of rows) if (openPrice) countPrice(prices, number, openPrice);
      if (!prices.bare || prices.decimal) break;
      context.signal.throwIfAborted();
    }
  } catch (error) {
    // The check that follows says what is wrong with the file.
    if (!(error instanceof UsageError)) throw error;
    return emptyPrices();
  }
  return prices;
}

/** The headings of a file, and one of its rows. */
interface FileSample {
  readonly headings: readonly string[];
  /** Cells of the first row that is not empty. */
  readonly cells: readonly string[];
  /** Its number. */
  readonly row: number;
}

/** Reads a file as far as its first row with a value. @returns undefined for one without. @throws UsageError naming the file and the line. */
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
 * The sample of nearly every file, read by csv-parse's copy for whole texts: as a second parser of the process, `readTable` would
 * slow down the first. @returns undefined where the row below the headings is empty, or nothing behind it shows that it is whole.
 */
async function ofFirstRow(
  source: Source,
  table: TableOptions & RowsOptions,
): Promise<FileSample | undefined> {
  const begun = await readBeginning(asUtf8(source.chunks(), table.name, table.encoding), table);
  const { value: head = new Uint8Array() } = await begun.chunks.next();
  await begun.chunks.return(undefined);
  const [headings, cells, next] = recordsOf(head, begun.delimiter, 3);
  if (!headings || !cells || !next || !isFilled(cells)) return undefined;
  return { headings: readHeadings(headings, table), cells, row: begun.rows + 2 };
}

const isFilled = (cells: readonly string[]): boolean => cells.some((cell) => cell.trim() !== '');

/** The first records of a table; none where they are no CSV. */
function recordsOf(head: Uint8Array, delimiter: string, count: number): string[][] {
  try {
    const read = parse(head, {
      ...{ delimiter, record_delimiter: '\n', relax_column_count: true },
      ...{ max_record_size: longestRow, to: count },
    });
    return read.map((cells) => cells.map(fused));
  } catch (error) {
    if (error instanceof CsvError) return [];
    throw error;
  }
}
