import { type AmountUnit, amountUnits } from '../../api/amount.ts';
import { mapPresets, type SavedMap } from '../../config/maps.ts';
import type { StoredReading, StoredReference } from '../../config/stored.ts';
import { namespaceProblem } from '../../orders/needs/reference.ts';
import { UsageError } from '../../platform/errors.ts';
import { shellWord } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import type { RowsOptions } from '../rows.ts';
import type { Decimal } from './amounts.ts';
import { encodings, foldedHeading } from './decode.ts';
import { type ColumnMap, checkMap, columnOf, isCustomHeading, ownName } from './headings.ts';
import { delimiters, quoteStyles } from './reader.ts';
import type { ReferenceSource } from './reference-columns.ts';

const named = { comma: ',', semicolon: ';', tab: '\t', pipe: '|' } as const;

/** Options for parsing a CSV file. */
export const tableOptions = {
  map: {
    kind: 'pairs',
    placeholder: "'Heading=column'",
    description: 'what a heading means: max_price_cents, metadata.team …; repeat it for more',
  },
  own: {
    kind: 'texts',
    placeholder: 'heading',
    description: 'keep a column as your own, whatever it looks like; repeat it for more',
  },
  useMap: {
    kind: 'text',
    completes: 'maps',
    placeholder: 'name',
    description: `a saved map of headings, or that of an export: ${[...mapPresets.keys()].join(', ')}`,
  },
  saveMap: { kind: 'text', placeholder: 'name', description: 'save the map that was used' },
  referenceColumn: {
    kind: 'texts',
    placeholder: 'heading,heading',
    description:
      'the columns that name each row for good, so that it is bought once: Requisition,Line; a column headed errand_reference does so unasked',
  },
  namespace: {
    kind: 'text',
    placeholder: 'name',
    description: 'who numbers the references, so that two shops with an order 1001 do not meet',
  },
  amounts: {
    kind: 'choice',
    values: amountUnits,
    description: 'what bare whole numbers under max_price are; max_price_cents is cents',
  },
  locale: {
    kind: 'text',
    placeholder: 'locale',
    description: 'whose decimal sign amounts have: de reads 12,50, en reads 1,250 as a thousand',
  },
  encoding: { kind: 'choice', values: encodings, description: 'of the file, where no mark in it tells' },
  delimiter: {
    kind: 'choice',
    values: Object.keys(named) as (keyof typeof named)[],
    description: 'between cells; found by itself',
  },
  quotes: {
    kind: 'choice',
    values: quoteStyles,
    description: 'none where a " is a character like any other, as in some tab-separated files',
  },
  default: {
    kind: 'pairs',
    placeholder: 'column=text',
    description: 'what an empty or missing cell of a column is: country=US; repeat it for more',
  },
  sheet: {
    kind: 'text',
    placeholder: 'name',
    description: 'which sheet of an .xlsx workbook to read (default: the first)',
  },
} as const;

/** Option that makes the service notify the user once a batch completes. */
export const notifyOnComplete = {
  kind: 'flag',
  description: 'have the service tell you when the last row is placed or has failed',
} as const;

/** The flags that say how to parse a CSV file. */
export interface TableFlags {
  /**
   * Export preset with which the file was read before. The preset applies even if a saved map now has the same name.
   */
  readonly preset?: string | undefined;
  /** Legacy mode for files uploaded by a version that checked headings less strictly. */
  readonly isAsBefore?: boolean | undefined;
  readonly map?: ColumnMap | undefined;
  /** Headings to keep as custom columns. */
  readonly own?: readonly string[] | undefined;
  readonly useMap?: string | undefined;
  readonly saveMap?: string | undefined;
  readonly referenceColumn?: readonly string[] | undefined;
  readonly namespace?: string | undefined;
  readonly amounts?: AmountUnit | undefined;
  readonly locale?: string | undefined;
  readonly encoding?: (typeof encodings)[number] | undefined;
  readonly delimiter?: keyof typeof named | undefined;
  readonly quotes?: (typeof quoteStyles)[number] | undefined;
  /** Default texts for empty cells, by column. */
  readonly default?: ColumnMap | undefined;
  /** Name of the sheet in a workbook. */
  readonly sheet?: string | undefined;
}

/** Reader options, and the flags for reading cells, whether the user or a saved map gave them. */
export type TableReading = Omit<RowsOptions, 'name'> & {
  readonly cellFlags: CellFlags;
  /** Unit of amounts, as a saved map gives it. */
  readonly savedUnit?: AmountUnit | undefined;
};

/** Flags that say how to read cells. */
export type CellFlags = Pick<
  TableFlags,
  'encoding' | 'delimiter' | 'quotes' | 'locale' | 'amounts' | 'sheet' | 'default'
>;

/**
 * Converts the flags to reader options. @param isWorkbook makes it ignore the encoding, delimiter, quotes and locale of
 * a saved map. @throws UsageError.
 */
export async function readTableOptions(
  context: Context,
  flags: TableFlags,
  isWorkbook = false,
): Promise<TableReading> {
  const { preset, isAsBefore = false, map = {}, own = [], useMap, referenceColumn, namespace } = flags;
  const saved = preset === undefined ? await mapOf(context, useMap) : { ...noMap, preset };
  const asRead = (given: ColumnMap): ColumnMap => (isAsBefore ? given : byFolded(given));
  const savedMap = asRead(saved.map);
  const ownHeadings = isAsBefore ? own : own.map(foldedHeading);
  const whole = { ...savedMap, ...checkMap(withOwn(asRead(map), ownHeadings)) };
  const reference = referenceSource({ referenceColumn, namespace }, saved.reference, useMap);
  const cells = cellFlagsOf(flags, saved.reading, isWorkbook);
  const savedUnit = amountUnits.find((unit) => unit === saved.reading.amounts);
  const { locale, encoding, delimiter, quotes } = cells;
  const amounts = cells.amounts ?? savedUnit ?? context.settings.amounts;
  const defaults = checkDefaults(cells.default ?? {});
  return {
    map: whole,
    cellFlags: cells,
    ...(savedUnit !== undefined && { savedUnit }),
    ...(isAsBefore && { isAsBefore }),
    ...(useMap !== undefined && { saved: { name: useMap, map: savedMap } }),
    ...(saved.preset !== undefined && { preset: mapPresets.get(saved.preset) }),
    ...(reference && { reference }),
    ...(amounts !== undefined && { amounts }),
    ...(locale !== undefined && { decimal: decimalOf(locale) }),
    ...(encoding !== undefined && { encoding }),
    ...(delimiter !== undefined && { delimiter: named[delimiter] ?? delimiters[0] }),
    ...(quotes !== undefined && { quotes }),
    ...(Object.keys(defaults).length > 0 && { defaults }),
  };
}

/** Flags take precedence over a saved map. */
function cellFlagsOf(flags: TableFlags, saved: StoredReading, isWorkbook: boolean): CellFlags {
  const { encoding, delimiter, quotes, locale } = isWorkbook ? {} : saved;
  const oneOf = <T extends string>(values: readonly T[], text: string | undefined): T | undefined =>
    values.find((value) => value === text);
  return {
    encoding: flags.encoding ?? oneOf(encodings, encoding),
    delimiter: flags.delimiter ?? oneOf(tableOptions.delimiter.values, delimiter),
    quotes: flags.quotes ?? oneOf(quoteStyles, quotes),
    locale: flags.locale ?? locale,
    amounts: flags.amounts,
    sheet: flags.sheet ?? saved.sheet,
    default: { ...saved.defaults, ...flags.default },
  };
}

/** The sheet that a saved map names; undefined if the map names none. */
export const savedSheet = async (context: Context, name: string | undefined): Promise<string | undefined> =>
  name === undefined ? undefined : (await context.store()).map(name)?.reading.sheet;

/**
 * Columns that cannot have a default. Each row must say for itself what it buys, how many units and at which price, and
 * keys are unique.
 */
const withoutDefault: readonly string[] = ['product_url', 'quantity', 'max_price', 'idempotency_key'];

/** Checks default texts. @throws UsageError naming a column that is unknown or cannot have a default. */
function checkDefaults(defaults: ColumnMap): ColumnMap {
  for (const [column, text] of Object.entries(defaults)) {
    const known = columnOf(column);
    if (known === undefined)
      throw new UsageError(`--default '${column}=${text}': there is no column ${column}`);
    if (withoutDefault.includes(known))
      throw new UsageError(
        `--default '${column}=${text}': each row says for itself what it buys, how many, and for how much`,
      );
    if (text.trim() === '') throw new UsageError(`--default ${column}= has no text`);
  }
  return defaults;
}

/** Saves as a map the options with which the file was read. @throws UsageError if there are no such options. */
export async function saveReading(
  context: Context,
  name: string,
  { map, preset, reference, cellFlags, amounts }: TableReading,
): Promise<void> {
  const { default: defaults = {}, ...cells } = { ...cellFlags, amounts: amounts ?? cellFlags.amounts };
  const reading: StoredReading = {
    ...Object.fromEntries(Object.entries(cells).filter(([, value]) => value !== undefined)),
    ...(Object.keys(defaults).length > 0 && { defaults }),
  };
  const isEmpty = [map, reading].every((one) => Object.keys(one).length === 0);
  if (isEmpty && preset === undefined && !reference)
    throw new UsageError('--save-map has nothing to save; give --map, --own or --reference-column');
  await (await context.store()).setMap(name, {
    ...{ map, preset: preset?.name, reference: storedReference(reference), reading },
  });
  reportShadowed(context, name);
}

/** The columns that give references. Flags take precedence over the saved map. @throws UsageError. */
function referenceSource(
  { referenceColumn, namespace }: Pick<TableFlags, 'referenceColumn' | 'namespace'>,
  saved: StoredReference | undefined,
  useMap: string | undefined,
): ReferenceSource | undefined {
  if (referenceColumn?.some((text) => text.split(',').some((heading) => heading.trim() === '')))
    throw new UsageError('--reference-column takes headings, separated by commas');
  const problem = namespaceProblem(namespace ?? '');
  if (problem !== undefined) throw new UsageError(`--namespace ${problem}`);
  const columns = referenceColumn ?? saved?.columns ?? [];
  const named = (namespace ?? saved?.namespace ?? '').trim();
  if (columns.length === 0 && named === '') return undefined;
  return { columns, namespace: named, savedAs: referenceColumn === undefined ? useMap : undefined };
}

/** Converts a source of references to the form in which a map stores it. */
const storedReference = (source: ReferenceSource | undefined): StoredReference | undefined =>
  source && {
    columns: source.columns,
    ...(source.namespace !== '' && { namespace: source.namespace }),
  };

/** Converts a source of references to flags with which another command reads the same references. */
export const referenceFlags = (
  source: ReferenceSource | undefined,
): Pick<TableFlags, 'referenceColumn' | 'namespace'> => ({
  referenceColumn: source && source.columns.length > 0 ? source.columns : undefined,
  namespace: source?.namespace || undefined,
});

/** Combines `--map` and `--own`. @throws UsageError for a heading that is in both. */
function withOwn(map: ColumnMap, own: readonly string[]): ColumnMap {
  const both = own.find((heading) => Object.hasOwn(map, heading) && !isCustomHeading(map, heading));
  if (both !== undefined) throw new UsageError(`--map and --own both name "${both}"; give one of them`);
  return { ...map, ...Object.fromEntries(own.map((heading) => [heading, ownName(heading)])) };
}

/** Replaces the headings of a map by their canonical forms, so that whitespace and line breaks do not matter. */
const byFolded = (map: ColumnMap): ColumnMap =>
  Object.fromEntries(
    Object.entries(map).map(([heading, column]) => {
      const folded = foldedHeading(heading);
      return [folded, isCustomHeading(map, heading) ? ownName(folded) : column];
    }),
  );

/** Tells the user that a saved map hides a built-in map of the same name. */
function reportShadowed(context: Context, name: string): void {
  if (mapPresets.has(name))
    context.note(
      `--use-map ${name} is now your map, not that of an export; save it under another name to have both`,
    );
}

const noMap: SavedMap = { map: {}, preset: undefined, reference: undefined, reading: {} };

/**
 * Loads the saved map with a name. If there is none, loads the preset with that name. @throws UsageError listing all
 * known maps.
 */
async function mapOf(context: Context, name: string | undefined): Promise<SavedMap> {
  if (name === undefined) return noMap;
  const store = await context.store();
  const saved = store.map(name);
  if (saved?.preset !== undefined && !mapPresets.has(saved.preset))
    throw new UsageError(
      `the map ${name} adds to ${saved.preset}, which this version of errand does not know`,
    );
  if (saved) return saved;
  if (mapPresets.has(name)) return { ...noMap, preset: name };
  const known = store.mapNames();
  throw new UsageError(
    `there is no map "${name}"; exports have ${[...mapPresets.keys()].join(', ')}, and ${known.length > 0 ? `saved are ${known.join(', ')}` : 'none is saved'}`,
    { hint: '`errand bulk maps` says what each of them does.' },
  );
}

/** @throws UsageError for an unknown locale, or a locale with a different decimal separator. */
function decimalOf(locale: string): Decimal {
  const tag = locale.replaceAll('_', '-').replace(/[.@].*$/s, '');
  const isKnown = /^[a-z]{2,3}(?:-[a-z0-9]{1,8}){0,4}$/i.test(tag) && isSupported(tag);
  const parts = isKnown ? new Intl.NumberFormat(tag).formatToParts(1.5) : [];
  const sign = parts.find(({ type }) => type === 'decimal')?.value;
  if (sign === '.' || sign === ',') return sign;
  throw new UsageError(`--locale ${locale} is not known; write a language such as de, fr or en-US`);
}

function isSupported(tag: string): boolean {
  try {
    return Intl.NumberFormat.supportedLocalesOf(tag).length > 0;
  } catch {
    return false;
  }
}

/** Flags that make another command parse the file in the same way, each preceded by a space. */
export const tableFlags = (flags: TableFlags): string =>
  tableWords(flags)
    .map((word) => ` ${shellWord(word)}`)
    .join('');

/** The same flags as `tableFlags` gives, as separate words of a command line. */
export const tableWords = ({
  preset,
  map = {},
  own = [],
  useMap = preset,
  referenceColumn = [],
  namespace,
  amounts,
  locale,
  encoding,
  delimiter,
  quotes,
  default: defaults = {},
  sheet,
}: TableFlags): string[] => [
  ...(useMap === undefined ? [] : ['--use-map', useMap]),
  ...Object.entries(map).flatMap(([heading, column]) =>
    isCustomHeading(map, heading) ? ['--own', heading] : ['--map', `${heading}=${column}`],
  ),
  ...own.flatMap((heading) => ['--own', heading]),
  ...referenceColumn.flatMap((headings) => ['--reference-column', headings]),
  ...(namespace === undefined ? [] : ['--namespace', namespace]),
  ...(amounts === undefined ? [] : ['--amounts', amounts]),
  ...(locale === undefined ? [] : ['--locale', locale]),
  ...(encoding === undefined ? [] : ['--encoding', encoding]),
  ...(delimiter === undefined ? [] : ['--delimiter', delimiter]),
  ...(quotes === undefined ? [] : ['--quotes', quotes]),
  ...Object.entries(defaults).flatMap(([column, text]) => ['--default', `${column}=${text}`]),
  ...(sheet === undefined ? [] : ['--sheet', sheet]),
];
