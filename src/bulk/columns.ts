import {
  type BulkColumn,
  bulkColumns,
  type ColumnPlan,
  plainHeading,
  planColumns,
} from '../contract/bulk-columns.ts';
import { UsageError } from '../errors.ts';
import { type MapPreset, orderColumn, presetLike } from '../settings/map-presets.ts';
import { centsHeading, isCentsHeading, namesCurrency } from './amounts.ts';
import { type ColumnMap, columnOf, type HeadingMap, nameHeadings } from './headings.ts';

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
    if (columnOf(column) === undefined) {
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
 * @throws UsageError with everything that is wrong with the headings, since then every row would be.
 */
export function planTable(name: string, headings: readonly string[], meant: HeadingMap): TablePlan {
  const { map, preset } = meant;
  const { names, phoneIndexes } = nameHeadings(headings, meant);
  // The service knows one column of prices, in cents.
  const plan = planColumns(names.map((heading) => (isCentsHeading(heading) ? 'max_price' : heading)));
  const prices = headings.filter((_, index) => isPriceHeading(names[index] ?? ''));
  const priceIndex = plan.columns.get('max_price') ?? -1;
  const present = new Set(headings);
  const missing = missingColumns(plan, preset);
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
    ...doubles(plan.passthrough.map(({ heading }) => heading)).map((heading) =>
      heading === '' ? 'more than one column has no heading' : `two columns are headed "${heading}"`,
    ),
    ...(missing.length > 0 ? [`no column for ${missing.join(', ')}`] : []),
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
      calledOff: Object.entries(preset?.calledOff ?? {}).flatMap(([heading, states]) => {
        const index = headings.findIndex((one) => plainHeading(one) === plainHeading(heading));
        return index < 0 ? [] : { index, states };
      }),
    };
  throw new UsageError(`the headings of ${name}: ${problems.join('; ')}`, {
    details: { headings },
    hint: hintFor(headings, preset, missing.length > 0),
  });

  function headed(column: string): string {
    const found = headings.filter((_, index) => columnOf(names[index] ?? '') === column);
    return found.map((heading) => `"${heading}"`).join(' and ');
  }
}

/** What is wrong where a map names headings that a file has not, once for each map. */
function absentHeadings(absent: readonly string[], { saved }: HeadingMap): string[] {
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
    ...told(`the map ${saved?.name}`, absent.filter(isSaved)),
  ];
}

function hintFor(headings: readonly string[], preset: MapPreset | undefined, lacks: boolean): string {
  if (preset && lacks)
    return "An export does not say what to buy, or for how much: add the columns that are missing, or map them with --map 'Their Heading=product_url'.";
  const like = preset ? undefined : presetLike(headings);
  const other = like
    ? `This looks like ${like.description.split(';')[0]}: --use-map ${like.name} reads it. `
    : '';
  return `${other}--map 'Their Heading=max_price_cents' maps a heading to a column; \`errand bulk template\` shows all columns.`;
}

/** Whether the cells under a heading are prices, in whichever unit. */
export const isPriceHeading = (heading: string): boolean => columnOf(heading) === 'max_price';

function doubles(texts: readonly string[]): string[] {
  const seen = new Set<string>();
  return [...new Set(texts.filter((text) => seen.size === seen.add(text).size))];
}
