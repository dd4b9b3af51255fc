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
import { referenceKey } from '../../orders/needs/reference.ts';
import { StorageError, UsageError } from '../../platform/errors.ts';
import { shellWord } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { centsHeading, isCentsHeading, namesCurrency } from './amounts.ts';
import { foldedHeading, hiddenIn, visible } from './decode.ts';
import { mistakenFor, optionalColumns, suggestedHeadings } from './mapping.ts';
import {
  findReference,
  isReferenceHeading,
  type ReferencePlan,
  type ReferenceSource,
  type UnusedReference,
} from './reference-columns.ts';

/** The columns that a file's headings stand for, by heading. */
export type ColumnMap = Readonly<Record<string, string>>;

/** How to interpret a file's headings, apart from what the headings themselves say. */
export interface HeadingMap {
  readonly map: ColumnMap;
  /** Preset for the export that has the same headings as this file. `map` takes precedence. */
  readonly preset?: MapPreset | undefined;
  /** The saved map from which part of `map` comes. */
  readonly saved?: { readonly name: string; readonly map: ColumnMap } | undefined;
  /** Which columns give each row's reference. */
  readonly reference?: ReferenceSource | undefined;
  /** Default texts for empty cells, by column. */
  readonly defaults?: ColumnMap | undefined;
  /** Legacy mode for files uploaded by a version that checked headings less strictly. */
  readonly isAsBefore?: boolean | undefined;
}

/** Map entry for a heading that is kept as a custom column: a name that matches no known column. */
export const ownName = (heading: string): string =>
  columnOf(heading) === undefined ? heading : `file.${heading}`;

/** Map entry for a heading. A custom column keeps the heading as the file spells it. */
export function entryOf(map: ColumnMap, heading: string): string | undefined {
  const key = Object.hasOwn(map, heading) ? heading : foldedHeading(heading);
  if (!Object.hasOwn(map, key)) return undefined;
  return isCustomHeading(map, key) ? ownName(heading) : map[key];
}

/** Whether a map keeps a heading as a custom column. */
export const isCustomHeading = (map: ColumnMap, heading: string): boolean =>
  Object.hasOwn(map, heading) && map[heading] === ownName(heading);

/**
 * Normalizes a file's headings. Drops trailing empty headings, since spreadsheets also write columns that are no longer
 * in use.
 */
export function readHeadings(
  cells: readonly string[],
  { isAsBefore = false }: HeadingMap,
): readonly string[] {
  const headings = cells.map((cell) => (isAsBefore ? cell : visible(cell)).trim());
  return headings.slice(0, headings.findLastIndex((heading) => heading !== '') + 1);
}

/** The column that each heading stands for. Custom columns keep their names. */
interface NamedHeadings {
  readonly names: readonly string[];
  /** Indexes of further phone columns. They fill in for rows whose own phone number is empty. */
  readonly phoneIndexes: readonly number[];
}

/** The column that a heading stands for; undefined for custom columns. */
export function columnOf(heading: string): string | undefined {
  if (isCentsHeading(heading)) return 'max_price';
  const meaning = meaningOf(heading);
  if ('passthrough' in meaning) return undefined;
  return 'column' in meaning ? meaning.column : `metadata.${meaning.metadataKey}`;
}

/**
 * Columns that hold the same data in another form. If one of them is mapped, headings for the other form become custom
 * columns.
 */
const sameAs: Readonly<Record<string, readonly string[]>> = {
  name: ['first_name', 'last_name'],
  first_name: ['name'],
  last_name: ['name'],
};

/** Finds the column for each of a file's headings. A map or preset takes precedence over the heading itself. */
export function nameHeadings(headings: readonly string[], { map, preset }: HeadingMap): NamedHeadings {
  const names = headings.map((heading) => entryOf(map, heading));
  const mapped = new Set(names.flatMap((name) => (name === undefined ? [] : (columnOf(name) ?? []))));
  const { presetColumns, phoneIndexes } = nameByPreset(headings, names, preset, mapped);
  const isShadowed = (heading: string): boolean => {
    const column = columnOf(heading);
    // Never choose silently between two price columns.
    if (column === undefined || column === 'max_price') return false;
    const others = sameAs[column] ?? [];
    if (mapped.has(column) || others.some((other) => mapped.has(other) || presetColumns.has(other)))
      return true;
    // If a heading equals a column's name, the user means that column. If a heading of the export stands for the same
    // column, the conflict is refused.
    return presetColumns.has(column) && heading !== column;
  };
  return {
    names: headings.map(
      (heading, index) => names[index] ?? (isShadowed(heading) ? `file.${heading}` : heading),
    ),
    phoneIndexes,
  };
}

/** Applies the preset to headings that no map lists. */
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
    const plainCandidates = candidates.map(plainHeading);
    const found = plainCandidates
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

/** Whether a text is a heading that errand, the map or the preset knows. */
export function isKnownHeading(text: string, { map, preset }: HeadingMap): boolean {
  if (entryOf(map, text) !== undefined || columnOf(text) !== undefined) return true;
  if (isReferenceHeading(text)) return true;
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

/** Validates `--map`. @throws UsageError naming the entry. */
export function checkMap(map: ColumnMap): ColumnMap {
  for (const [heading, column] of Object.entries(map)) {
    if (namesReference(column) && !isCustomHeading(map, heading))
      throw new UsageError(
        `--map '${heading}=${column}': ${referenceKey} is where the reference travels; give it by --reference-column ${shellWord(heading)}`,
      );
    if (columnOf(column) === undefined && !isCustomHeading(map, heading)) {
      throw new UsageError(
        `--map '${heading}=${column}': there is no column ${column}; known are ${[...bulkColumns.keys()].join(', ')}, ${centsHeading} and metadata.KEY`,
      );
    }
  }
  return map;
}

/** Whether a column is reserved for references, by its own heading or as metadata. */
const namesReference = (column: string): boolean =>
  isReferenceHeading(column) || columnOf(column)?.trim() === `metadata.${referenceKey}`;

/** Column layout of a file and the unit of its prices. */
export interface TablePlan extends ColumnPlan {
  /**
   * Headings as the file writes them, before mapping. At the end come the columns that the file lacks and that have
   * defaults.
   */
  readonly fileHeadings: readonly string[];
  /** Number of columns in the file itself. */
  readonly width: number;
  /** Default texts for empty cells, each with its column. */
  readonly defaults: readonly { readonly column: string; readonly index: number; readonly text: string }[];
  /** Whether the heading declares the prices as cents. */
  readonly isInCents: boolean;
  /** Index of the price column. */
  readonly priceIndex: number;
  /** Indexes of the currency columns. */
  readonly currencyIndexes: readonly number[];
  /** Indexes of columns with numbers that a spreadsheet may have marked as text. */
  readonly numberIndexes: readonly number[];
  /** Index of the country column; -1 if there is none. */
  readonly countryIndex: number;
  /**
   * Indexes of the columns that tell orders from continuation lines. A row in which all of these are empty orders
   * nothing.
   */
  readonly orderIndexes: readonly number[];
  /** Indexes of the name and address columns, including all phone columns. */
  readonly addressIndexes: readonly number[];
  /**
   * Index of the column with an export's order number, which all lines of an order share; -1 if there is no such
   * column.
   */
  readonly orderNumberIndex: number;
  /** Indexes of further phone columns. They fill in for rows whose own phone number is empty. */
  readonly phoneIndexes: readonly number[];
  /** Index of the column without a heading; -1 if there is none. */
  readonly unheadedIndex: number;
  readonly rivals: readonly Rival[];
  /** The columns that give each row's reference, if any columns do. */
  readonly reference: ReferencePlan | undefined;
  readonly unusedReference: UnusedReference | undefined;
  /**
   * Columns in which an export marks a customer's order as cancelled, each with the values that mean cancelled. If a
   * column lists no values, any text in it means cancelled.
   */
  readonly calledOff: readonly {
    readonly index: number;
    readonly states: readonly string[];
    /** Whether the column says that the shop has shipped the order itself. */
    readonly isFulfilled: boolean;
  }[];
}

const indexesOf = ({ columns }: ColumnPlan, names: readonly BulkColumn[]): number[] =>
  names.flatMap((name) => columns.get(name) ?? []);

/** Required columns that a file lacks. In an export, the quantity is required, too. */
export function missingColumns({ columns }: ColumnPlan, preset: MapPreset | undefined): string[] {
  const isNamed = ['name', 'first_name', 'last_name'].some((column) => columns.has(column as BulkColumn));
  return [
    ...needed.filter((column) => !columns.has(column)),
    ...(isNamed ? [] : ['name']),
    ...(preset && !columns.has('quantity') ? ['quantity'] : []),
  ];
}

/**
 * Resolves a file's columns after mapping its headings. @param written holds the headings including invisible
 * characters. @throws UsageError listing every problem with the headings, because each problem would affect every row.
 */
export function planTable(
  name: string,
  own: readonly string[],
  headingMap: HeadingMap,
  written: readonly string[] = own,
): TablePlan {
  const { map, preset, defaults = {} } = headingMap;
  const named = nameHeadings(own, headingMap);
  const { phoneIndexes } = named;
  const there = new Set(named.names.map(columnOf));
  // Append the columns that the file lacks and that have defaults.
  const added = Object.keys(defaults).filter((column) => !there.has(columnOf(column)));
  const [headings, names] = [
    [...own, ...added],
    [...named.names, ...added],
  ];
  // The service has a single price column, in cents.
  const plan = planColumns(names.map((heading) => (isCentsHeading(heading) ? 'max_price' : heading)));
  const prices = headings.filter((_, index) => isPriceHeading(names[index] ?? ''));
  const priceIndex = plan.columns.get('max_price') ?? -1;
  const present = new Set(headings.flatMap((heading) => [heading, foldedHeading(heading)]));
  // A file that errand wrote has the prices under this heading, in place of the one that the map lists.
  const hasCents = headings.some(isCentsHeading);
  const missing = missingColumns(plan, preset);
  // If the file looks like an export, the map for that export covers its headings.
  const isExport = missing.length > 0 && preset === undefined && presetLike(headings) !== undefined;
  const alike = isExport ? [] : unusedHeadings(plan, headingMap);
  const doubled = new Set([
    ...doubles(plan.passthrough.map(({ heading }) => heading)).map(foldedHeading),
    ...doubles(alike.flatMap((one) => one.headings)),
  ]);
  const unused = alike
    .map((one) => ({ ...one, headings: one.headings.filter((heading) => !doubled.has(heading)) }))
    .filter((one) => one.headings.length > 0);
  const reference = findReference(headings, headingMap, (heading) => entryOf(map, heading) !== undefined);
  const problems = [
    ...absentHeadings(
      Object.entries(map).flatMap(([heading, column]) =>
        present.has(heading) || (hasCents && isPriceHeading(column)) ? [] : heading,
      ),
      headingMap,
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
    ...(names.includes('__proto__')
      ? ['the service takes no column headed "__proto__"; rename it, or take it out']
      : []),
    ...(missing.length > 0 ? [`no column for ${missing.join(', ')}`] : []),
    ...unused.map(unusedText),
    ...reference.problems,
    ...plan.metadata
      .filter(({ key }) => key.trim() === referenceKey)
      .map(
        ({ index }) =>
          `"${headings[index]}" is where references travel; head the column ${referenceKey}, or name it by --reference-column`,
      ),
  ];
  if (problems.length === 0)
    return {
      ...plan,
      fileHeadings: headings,
      width: own.length,
      defaults: Object.entries(defaults).map(([column, text]) => ({
        ...{ column, text },
        index: names.findIndex((one) => columnOf(one) === columnOf(column)),
      })),
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
      unheadedIndex: headingMap.isAsBefore ? -1 : names.indexOf(''),
      rivals: rivalHeadings(plan, headingMap),
      reference: reference.plan,
      unusedReference: reference.unused,
      calledOff: [
        ...Object.entries(preset?.calledOff ?? {}).map((of) => ({ of, isFulfilled: false })),
        ...Object.entries(preset?.fulfilled ?? {}).map((of) => ({ of, isFulfilled: true })),
      ].flatMap(({ of: [heading, states], isFulfilled }) => {
        const index = headings.findIndex((one) => plainHeading(one) === plainHeading(heading));
        return index < 0 ? [] : { index, states, isFulfilled };
      }),
    };
  throw new UsageError(`the headings of ${name}: ${problems.join('; ')}`, {
    details: { headings, ...(unused.length > 0 && { unused: unused.flatMap(asMaps) }) },
    hint: hintFor(headings, preset, {
      lacks: missing.length > 0,
      likely: isExport
        ? []
        : likelyMaps(plan, [...missing, ...unused.map(({ column }) => column)], headingMap),
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

/** Headings that resemble a column that the file lacks. */
interface UnusedHeadings {
  readonly column: string;
  readonly headings: readonly string[];
}

/**
 * Custom columns that resemble an optional column and that the user has not explicitly kept. Each comes with the column
 * that it resembles.
 */
function alikeHeadings({ passthrough }: ColumnPlan, { map, isAsBefore }: HeadingMap) {
  if (isAsBefore) return [];
  return passthrough
    .filter(({ heading }) => !heading.startsWith('file.') && entryOf(map, heading) === undefined)
    .flatMap(({ heading, index }) => {
      const column = mistakenFor(heading);
      return column === undefined ? [] : { column, heading: foldedHeading(heading), index };
    });
}

/**
 * Headings whose data would be lost without notice: the order would lack the data, or would default to quantity one or
 * to the US.
 */
function unusedHeadings(plan: ColumnPlan, headingMap: HeadingMap): UnusedHeadings[] {
  const alike = alikeHeadings(plan, headingMap);
  return optionalColumns
    .filter((column) => !plan.columns.has(column))
    .map((column) => ({
      column,
      headings: alike.flatMap((one) => (one.column === column ? one.heading : [])),
    }))
    .filter(({ headings }) => headings.length > 0);
}

/**
 * A heading that resembles an optional column, although the file has that column. If the column is empty, the data
 * under the heading is lost.
 */
interface Rival {
  readonly column: string;
  readonly columnIndex: number;
  readonly heading: string;
  readonly index: number;
}

const rivalHeadings = (plan: ColumnPlan, headingMap: HeadingMap): Rival[] =>
  alikeHeadings(plan, headingMap).flatMap((alike) => {
    const columnIndex = plan.columns.get(alike.column);
    return columnIndex === undefined ? [] : { ...alike, columnIndex };
  });

/** Error for a file with an empty column whose data is under a similar heading. */
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
  const [verb, are] = headings.length === 1 ? ['looks', 'is'] : ['look', 'are'];
  // `--map` takes everything before the first = as the heading, so it cannot refer to a heading that contains =.
  const ways = headings
    .filter((heading) => !heading.includes('='))
    .map((heading) => `--map ${shellWord(`${heading}=${column}`)}`);
  const ownFlags = headings.map((heading) => `--own ${shellWord(heading)}`).join(' ');
  return `${named} ${verb} like ${column} and ${are} not used: ${[...ways, ownFlags].join(', or ')}`;
}

const asMaps = ({ column, headings }: UnusedHeadings): string[] =>
  headings.map((heading) => `${heading}=${column}`);

const mapHint =
  "--map 'Their Heading=max_price_cents' maps a heading to a column; `errand bulk template` shows all columns.";
const unusedHint =
  '--map uses the column; --own keeps it as one of yours, which comes back in the results. --save-map NAME saves both for the next file.';

/** Flags that map headings to the missing columns that they resemble. */
function likelyMaps({ passthrough }: ColumnPlan, lacking: readonly string[], { map }: HeadingMap): string[] {
  const free = passthrough
    .map(({ heading }) => heading)
    .filter((heading) => heading !== '' && !heading.startsWith('file.') && !heading.includes('='))
    .filter((heading) => entryOf(map, heading) === undefined)
    .map(foldedHeading);
  return suggestedHeadings(lacking, free).map(
    ({ heading, column }) => `--map ${shellWord(`${heading}=${column}`)}`,
  );
}

/** Problems for headings that a map names and the file lacks, at most one problem per map. */
function absentHeadings(names: readonly string[], { map, saved }: HeadingMap): string[] {
  const isCustom = (heading: string): boolean => isCustomHeading(map, heading);
  const absent = names.filter((heading) => !isCustom(heading));
  const isSaved = (heading: string): boolean => saved !== undefined && Object.hasOwn(saved.map, heading);
  const absentText = (who: string, found: readonly string[]): string[] => {
    const what = found.length === 1 ? 'a heading that is' : 'headings that are';
    return found.length === 0 ? [] : [`${who} names ${what} not there: ${found.join(', ')}`];
  };
  return [
    ...absentText(
      '--map',
      absent.filter((heading) => !isSaved(heading)),
    ),
    // A saved map may keep custom columns that this file lacks, so do not report these.
    ...absentText(
      '--own',
      names.filter((heading) => isCustom(heading) && !isSaved(heading)),
    ),
    ...absentText(`the map ${saved?.name}`, absent.filter(isSaved)),
  ];
}

function hintFor(
  headings: readonly string[],
  preset: MapPreset | undefined,
  {
    lacks,
    likely,
    onlyUnused,
  }: { readonly lacks: boolean; readonly likely: readonly string[]; readonly onlyUnused: boolean },
): string {
  if (preset && lacks)
    return "An export does not say what to buy, or for how much: add the columns that are missing, or map them with --map 'Their Heading=product_url'.";
  const like = preset ? undefined : presetLike(headings);
  const other = like
    ? `This looks like ${like.description.split(';')[0]}: --use-map ${like.name} reads it. `
    : '';
  if (!onlyUnused && likely.length > 0)
    return `${other}Perhaps ${likely.join(' ')}: look whether each is meant. --save-map NAME saves them; \`errand bulk template\` shows all columns.`;
  return `${other}${onlyUnused ? unusedHint : mapHint}`;
}

/** Whether a column holds prices, in either unit. */
export const isPriceHeading = (heading: string): boolean => columnOf(heading) === 'max_price';

/**
 * Headings as the file writes them, with two exceptions that use the name under which the column was sent: all columns
 * if the file has duplicate headings, and a custom column whose heading would be mistaken for the price.
 */
export function shownHeadings(
  names: readonly string[],
  fileHeadings: readonly string[] = names,
): readonly string[] {
  const isClear = new Set(fileHeadings).size === names.length;
  return names.map((name, at) => {
    if (isPriceHeading(name)) return centsHeading;
    const heading = isClear ? fileHeadings[at] : undefined;
    return heading === undefined || isPriceHeading(heading) ? name : heading;
  });
}

function doubles(texts: readonly string[]): string[] {
  const seen = new Set<string>();
  return [...new Set(texts.filter((text) => seen.size === seen.add(text).size))];
}

/** Layout of a batch's rows in the file that they come from; undefined if unknown on this machine. */
export const layoutOf = (context: Context, batchId: string): Promise<TableLayout | undefined> =>
  ifReadable(async () => {
    const made = await madeHere(context, batchId);
    return made && layoutByKey(context, made.key);
  });

/** Like `layoutOf`, by the batch's journal key. */
export const layoutByKey = (context: Context, key: string): Promise<TableLayout | undefined> =>
  ifReadable(async () => (await context.uploads()).layoutOf(key));

/** Whether this machine's journal has the batch. */
export const isMadeHere = async (context: Context, batchId: string): Promise<boolean> =>
  (await ifReadable(() => madeHere(context, batchId))) !== undefined;

const madeHere = async (context: Context, batchId: string): Promise<JournalRecord | undefined> =>
  (await context.journal()).madeBy(batchId, context.settings.baseUrl.value);

/** Ignores storage errors, because local data only adds to what the service says. */
export async function ifReadable<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof StorageError) return undefined;
    throw error;
  }
}
