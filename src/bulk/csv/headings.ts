import {
  type BulkColumn,
  bulkColumns,
  type ColumnPlan,
  meaningOf,
  plainHeading,
  planColumns,
} from '../../api/bulk-columns.ts';
import { type MapPreset, orderColumn, presetLike } from '../../config/maps.ts';
import type { JournalRecord } from '../../journal/journal-record.ts';
import type { TableLayout } from '../../journal/uploads.ts';
import { StorageError, UsageError } from '../../platform/errors.ts';
import { shellWord } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { centsHeading, isCentsHeading, namesCurrency } from './amounts.ts';
import { hiddenIn, visible } from './decode.ts';
import { mistakenFor, optionalColumns } from './mapping.ts';

/** Headings of a file to the columns they stand for. */
export type ColumnMap = Readonly<Record<string, string>>;

/** What the headings of a file mean, where they do not say it themselves. */
export interface HeadingMap {
  readonly map: ColumnMap;
  /** What an export means in whose headings the file is written; the map goes before it. */
  readonly preset?: MapPreset | undefined;
  /** The saved map that is part of `map`. */
  readonly saved?: { readonly name: string; readonly map: ColumnMap } | undefined;
  /** The file was uploaded before each heading had to be accounted for, and is read as it was then. */
  readonly isAsBefore?: boolean | undefined;
}

/** What a map has for a heading that stays a column of the file's own: its name, in a way that means no column. */
export const ownName = (heading: string): string =>
  columnOf(heading) === undefined ? heading : `file.${heading}`;

/** A heading as maps name it: without what nobody sees, and a space for each break and run of spaces. */
export const foldedHeading = (heading: string): string => visible(heading).replace(/\s+/g, ' ').trim();

/** What a map has for a heading of a file; a column that it keeps has the name that the file gives it. */
export function entryOf(map: ColumnMap, heading: string): string | undefined {
  const key = Object.hasOwn(map, heading) ? heading : foldedHeading(heading);
  if (!Object.hasOwn(map, key)) return undefined;
  return isKeptOwn(map, key) ? ownName(heading) : map[key];
}

/** Whether a map keeps a heading as a column of the file's own. */
export const isKeptOwn = (map: ColumnMap, heading: string): boolean =>
  Object.hasOwn(map, heading) && map[heading] === ownName(heading);

/** The headings of a file as they are read; a spreadsheet writes columns that were used once, though nothing stands in them. */
export function readHeadings(
  cells: readonly string[],
  { isAsBefore = false }: HeadingMap,
): readonly string[] {
  const headings = cells.map((cell) => (isAsBefore ? cell : visible(cell)).trim());
  return headings.slice(0, headings.findLastIndex((heading) => heading !== '') + 1);
}

/** The headings of a file, each as the column that it stands for; what is no column keeps its name. */
interface NamedHeadings {
  readonly names: readonly string[];
  /** Where phone numbers stand that are used where the row's own is empty. */
  readonly phoneIndexes: readonly number[];
}

/** The column that a heading names; undefined for one that is the file's own. */
export function columnOf(heading: string): string | undefined {
  if (isCentsHeading(heading)) return 'max_price';
  const meaning = meaningOf(heading);
  if ('passthrough' in meaning) return undefined;
  return 'column' in meaning ? meaning.column : `metadata.${meaning.metadataKey}`;
}

/** Columns that say the same in two ways: where a map names one, a heading that means the other is the file's own. */
const sameAs: Readonly<Record<string, readonly string[]>> = {
  name: ['first_name', 'last_name'],
  first_name: ['name'],
  last_name: ['name'],
};

/** Names the headings of a file. What a map or preset says goes before what a heading means by itself. */
export function nameHeadings(headings: readonly string[], { map, preset }: HeadingMap): NamedHeadings {
  const names = headings.map((heading) => entryOf(map, heading));
  const mapped = new Set(names.flatMap((name) => (name === undefined ? [] : (columnOf(name) ?? []))));
  const { presetColumns, phoneIndexes } = nameByPreset(headings, names, preset, mapped);
  const isShadowed = (heading: string): boolean => {
    const column = columnOf(heading);
    // Of two columns of prices none is chosen silently.
    if (column === undefined || column === 'max_price') return false;
    const others = sameAs[column] ?? [];
    if (mapped.has(column) || others.some((other) => mapped.has(other) || presetColumns.has(other)))
      return true;
    // Who writes a column's own name beside an export means it: that both are there is refused.
    return presetColumns.has(column) && heading !== column;
  };
  return {
    names: headings.map(
      (heading, index) => names[index] ?? (isShadowed(heading) ? `file.${heading}` : heading),
    ),
    phoneIndexes,
  };
}

/** Fills in what a preset says of headings that no map names. */
function nameByPreset(
  headings: readonly string[],
  names: (string | undefined)[],
  preset: MapPreset | undefined,
  mapped: ReadonlySet<string>,
) {
  const presetColumns = new Set<string>();
  const phoneIndexes: number[] = [];
  for (const [column, candidates] of Object.entries(preset?.columns ?? {})) {
    if (mapped.has(column)) continue;
    const wanted = candidates.map(plainHeading);
    const found = wanted
      .map((heading) => headings.findIndex((one, at) => !names[at] && plainHeading(one) === heading))
      .filter((index) => index >= 0);
    const [first, ...others] = found;
    if (first === undefined) continue;
    names[first] = column;
    presetColumns.add(column);
    if (column === 'phone_number') phoneIndexes.push(...others);
  }
  return { presetColumns, phoneIndexes };
}

/** Whether a text heads a column that is known, by itself or by what a map says. */
export function isKnownHeading(text: string, { map, preset }: HeadingMap): boolean {
  if (entryOf(map, text) !== undefined || columnOf(text) !== undefined) return true;
  if (!preset) return false;
  const plain = plainHeading(text);
  return Object.values(preset.columns).some((names) => names.some((name) => plainHeading(name) === plain));
}

const needed: readonly BulkColumn[] = [
  'product_url',
  'max_price',
  'address_line1',
  'city',
  'postal_code',
  'phone_number',
];

const addressColumns: readonly BulkColumn[] = [
  'name',
  'first_name',
  'last_name',
  'address_line1',
  'address_line2',
  'city',
  'state',
  'postal_code',
  'country',
  'phone_number',
];

/** Checks what `--map` says. @throws UsageError naming the entry. */
export function checkMap(map: ColumnMap): ColumnMap {
  for (const [heading, column] of Object.entries(map)) {
    if (columnOf(column) === undefined && !isKeptOwn(map, heading)) {
      throw new UsageError(
        `--map '${heading}=${column}': there is no column ${column}; known are ${[...bulkColumns.keys()].join(', ')}, ${centsHeading} and metadata.KEY`,
      );
    }
  }
  return map;
}

/** The columns of a file, and what its prices are. */
export interface TablePlan extends ColumnPlan {
  /** As the file has them, before they are mapped. */
  readonly fileHeadings: readonly string[];
  /** Whether the heading says that the prices are cents. */
  readonly isInCents: boolean;
  /** Where the price stands among the cells. */
  readonly priceIndex: number;
  /** Where cells name the currency of their row. */
  readonly currencyIndexes: readonly number[];
  /** Where numbers stand that a spreadsheet may have marked as text. */
  readonly numberIndexes: readonly number[];
  /** Where the country stands; -1 for nowhere. */
  readonly countryIndex: number;
  /** Where stands what every order has. */
  readonly orderIndexes: readonly number[];
  /** Where the name and the address stand, with every phone number. */
  readonly addressIndexes: readonly number[];
  /** Where an export has the number of the order that a line belongs to; -1 for nowhere. */
  readonly orderNumberIndex: number;
  /** Where phone numbers stand that are used where the row's own is empty. */
  readonly phoneIndexes: readonly number[];
  /** Where cells stand under no heading; -1 for nowhere. */
  readonly unheadedIndex: number;
  readonly rivals: readonly Rival[];
  /** Where an export says that the customer's order was called off, and by which texts; any without them. */
  readonly calledOff: readonly { readonly index: number; readonly states: readonly string[] }[];
}

const indexesOf = ({ columns }: ColumnPlan, names: readonly BulkColumn[]): number[] =>
  names.flatMap((name) => columns.get(name) ?? []);

/** Columns that a file must have and does not; of an export also how many of a product were ordered. */
export function missingColumns({ columns }: ColumnPlan, preset: MapPreset | undefined): string[] {
  const isNamed = ['name', 'first_name', 'last_name'].some((column) => columns.has(column as BulkColumn));
  return [
    ...needed.filter((column) => !columns.has(column)),
    ...(isNamed ? [] : ['name']),
    ...(preset && !columns.has('quantity') ? ['quantity'] : []),
  ];
}

/**
 * What the columns of a file mean, once its headings are mapped.
 * @param written the headings with what nobody sees in them.
 * @throws UsageError with everything that is wrong with the headings, since then every row would be.
 */
export function planTable(
  name: string,
  headings: readonly string[],
  meant: HeadingMap,
  written: readonly string[] = headings,
): TablePlan {
  const { map, preset } = meant;
  const { names, phoneIndexes } = nameHeadings(headings, meant);
  // The service knows one column of prices, in cents.
  const plan = planColumns(names.map((heading) => (isCentsHeading(heading) ? 'max_price' : heading)));
  const prices = headings.filter((_, index) => isPriceHeading(names[index] ?? ''));
  const priceIndex = plan.columns.get('max_price') ?? -1;
  const present = new Set(headings.flatMap((heading) => [heading, foldedHeading(heading)]));
  const missing = missingColumns(plan, preset);
  // The map of an export accounts for its headings.
  const isExport = missing.length > 0 && preset === undefined && presetLike(headings) !== undefined;
  const alike = isExport ? [] : unusedHeadings(plan, meant);
  const doubled = new Set([
    ...doubles(plan.passthrough.map(({ heading }) => heading)).map(foldedHeading),
    ...doubles(alike.flatMap((one) => one.headings)),
  ]);
  const unused = alike
    .map((one) => ({ ...one, headings: one.headings.filter((heading) => !doubled.has(heading)) }))
    .filter((one) => one.headings.length > 0);
  const problems = [
    ...absentHeadings(
      Object.keys(map).filter((heading) => !present.has(heading)),
      meant,
    ),
    ...plan.doubled
      .filter(({ column }) => column !== 'max_price')
      .map(({ column }) => `${headed(column)} both mean ${column}`),
    ...(prices.length > 1
      ? [`${prices.map((heading) => `"${heading}"`).join(' and ')} both hold the price`]
      : []),
    ...[...doubled].map((heading) =>
      heading === ''
        ? 'more than one column has no heading'
        : `two columns are headed "${heading}"${hiddenUnder(heading)}; rename one of them`,
    ),
    ...(missing.length > 0 ? [`no column for ${missing.join(', ')}`] : []),
    ...unused.map(unusedText),
  ];
  if (problems.length === 0)
    return {
      ...plan,
      fileHeadings: headings,
      isInCents: isCentsHeading(names[priceIndex] ?? ''),
      priceIndex,
      currencyIndexes: plan.passthrough
        .filter(({ heading }) => namesCurrency(heading))
        .map(({ index }) => index),
      numberIndexes: indexesOf(plan, ['max_price', 'quantity', 'postal_code', 'phone_number']),
      countryIndex: plan.columns.get('country') ?? -1,
      orderIndexes: indexesOf(plan, ['product_url', 'max_price', 'address_line1', 'idempotency_key']),
      addressIndexes: [...indexesOf(plan, addressColumns), ...phoneIndexes],
      orderNumberIndex: preset ? names.indexOf(orderColumn) : -1,
      phoneIndexes,
      unheadedIndex: meant.isAsBefore ? -1 : names.indexOf(''),
      rivals: rivalHeadings(plan, meant),
      calledOff: Object.entries(preset?.calledOff ?? {}).flatMap(([heading, states]) => {
        const index = headings.findIndex((one) => plainHeading(one) === plainHeading(heading));
        return index < 0 ? [] : { index, states };
      }),
    };
  throw new UsageError(`the headings of ${name}: ${problems.join('; ')}`, {
    details: { headings, ...(unused.length > 0 && { unused: unused.flatMap(asMaps) }) },
    hint: hintFor(headings, preset, {
      lacks: missing.length > 0,
      onlyUnused: problems.length === unused.length,
    }),
  });

  function headed(column: string): string {
    const found = headings.flatMap((heading, index) =>
      columnOf(names[index] ?? '') === column ? `"${foldedHeading(heading)}"${hiddenAt(index)}` : [],
    );
    return found.join(' and ');
  }

  function hiddenAt(index: number): string {
    const text = written[index] ?? '';
    return visible(text) === text ? '' : ` with ${hiddenIn(text)} in it`;
  }

  function hiddenUnder(heading: string): string {
    const notes = headings.map((one, index) => (foldedHeading(one) === heading ? hiddenAt(index) : ''));
    const note = notes.find((one) => one !== '');
    return note === undefined ? '' : `, one of them${note}`;
  }
}

/** Headings that look like a column which no heading is. */
interface UnusedHeadings {
  readonly column: string;
  readonly headings: readonly string[];
}

/** Columns of a file's own that nobody has said to keep, each with the optional column that it looks like. */
function alikeHeadings({ passthrough }: ColumnPlan, { map, isAsBefore }: HeadingMap) {
  if (isAsBefore) return [];
  return passthrough
    .filter(({ heading }) => !heading.startsWith('file.') && entryOf(map, heading) === undefined)
    .flatMap(({ heading, index }) => {
      const column = mistakenFor(heading);
      return column === undefined ? [] : { column, heading: foldedHeading(heading), index };
    });
}

/** What of a file would be lost silently: the order is made without it, one piece, sent to the US. */
function unusedHeadings(plan: ColumnPlan, meant: HeadingMap): UnusedHeadings[] {
  const alike = alikeHeadings(plan, meant);
  return optionalColumns
    .filter((column) => !plan.columns.has(column))
    .map((column) => ({
      column,
      headings: alike.flatMap((one) => (one.column === column ? one.heading : [])),
    }))
    .filter(({ headings }) => headings.length > 0);
}

/** An optional column that a file has, and a heading that looks like it: it is lost where all cells of the column are empty. */
interface Rival {
  readonly column: string;
  readonly columnIndex: number;
  readonly heading: string;
  readonly index: number;
}

const rivalHeadings = (plan: ColumnPlan, meant: HeadingMap): Rival[] =>
  alikeHeadings(plan, meant).flatMap((alike) => {
    const columnIndex = plan.columns.get(alike.column);
    return columnIndex === undefined ? [] : { ...alike, columnIndex };
  });

/** What is wrong with a file whose column has no cell while a heading that looks like it has some. */
export function emptyColumn(name: string, { fileHeadings }: TablePlan, rivals: readonly Rival[]): UsageError {
  const problems = rivals.map(({ column, columnIndex, heading }) => {
    const empty = `all cells under "${foldedHeading(fileHeadings[columnIndex] ?? '')}" are empty`;
    return `${empty}, and ${unusedText({ column, headings: [heading] })}`;
  });
  return new UsageError(`the headings of ${name}: ${problems.join('; ')}`, {
    details: {
      headings: fileHeadings,
      unused: rivals.map(({ heading, column }) => `${heading}=${column}`),
    },
    hint: unusedHint,
  });
}

function unusedText({ column, headings }: UnusedHeadings): string {
  const named = headings.map((heading) => `"${heading}"`).join(' and ');
  const [looks, are] = headings.length === 1 ? ['looks', 'is'] : ['look', 'are'];
  // What stands before the first = is the heading.
  const ways = headings
    .filter((heading) => !heading.includes('='))
    .map((heading) => `--map ${shellWord(`${heading}=${column}`)}`);
  const kept = headings.map((heading) => `--own ${shellWord(heading)}`).join(' ');
  return `${named} ${looks} like ${column} and ${are} not used: ${[...ways, kept].join(', or ')}`;
}

const asMaps = ({ column, headings }: UnusedHeadings): string[] =>
  headings.map((heading) => `${heading}=${column}`);

const mapHint =
  "--map 'Their Heading=max_price_cents' maps a heading to a column; `errand bulk template` shows all columns.";
const unusedHint =
  '--map uses the column; --own keeps it as one of yours, which comes back in the results. --save-map NAME saves both for the next file.';

/** What is wrong where a map names headings that a file has not, once for each map. */
function absentHeadings(names: readonly string[], { map, saved }: HeadingMap): string[] {
  const isKept = (heading: string): boolean => isKeptOwn(map, heading);
  const absent = names.filter((heading) => !isKept(heading));
  const isSaved = (heading: string): boolean => saved !== undefined && Object.hasOwn(saved.map, heading);
  const told = (who: string, found: readonly string[]): string[] => {
    const what = found.length === 1 ? 'a heading that is' : 'headings that are';
    return found.length === 0 ? [] : [`${who} names ${what} not there: ${found.join(', ')}`];
  };
  return [
    ...told(
      '--map',
      absent.filter((heading) => !isSaved(heading)),
    ),
    // A saved map may keep a column that this file has not.
    ...told(
      '--own',
      names.filter((heading) => isKept(heading) && !isSaved(heading)),
    ),
    ...told(`the map ${saved?.name}`, absent.filter(isSaved)),
  ];
}

function hintFor(
  headings: readonly string[],
  preset: MapPreset | undefined,
  { lacks, onlyUnused }: { readonly lacks: boolean; readonly onlyUnused: boolean },
): string {
  if (preset && lacks)
    return "An export does not say what to buy, or for how much: add the columns that are missing, or map them with --map 'Their Heading=product_url'.";
  const like = preset ? undefined : presetLike(headings);
  const other = like
    ? `This looks like ${like.description.split(';')[0]}: --use-map ${like.name} reads it. `
    : '';
  return `${other}${onlyUnused ? unusedHint : mapHint}`;
}

/** Whether the cells under a heading are prices, in whichever unit. */
export const isPriceHeading = (heading: string): boolean => columnOf(heading) === 'max_price';

function doubles(texts: readonly string[]): string[] {
  const seen = new Set<string>();
  return [...new Set(texts.filter((text) => seen.size === seen.add(text).size))];
}

/** How the rows of a batch stood in the file that they came from; undefined where that is not known on this machine. */
export const layoutOf = (context: Context, batchId: string): Promise<TableLayout | undefined> =>
  ifReadable(async () => {
    const made = await madeHere(context, batchId);
    return made && (await (await context.uploads()).layoutOf(made.key));
  });

/** Whether the journal of this machine knows a batch. */
export const isMadeHere = async (context: Context, batchId: string): Promise<boolean> =>
  (await ifReadable(() => madeHere(context, batchId))) !== undefined;

const madeHere = async (context: Context, batchId: string): Promise<JournalRecord | undefined> =>
  (await context.journal()).madeBy(batchId, context.settings.baseUrl.value);

/** What the service says of a batch stands without what this machine knows of it. */
async function ifReadable<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof StorageError) return undefined;
    throw error;
  }
}
