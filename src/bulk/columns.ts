import {
  type BulkColumn,
  bulkColumns,
  type ColumnPlan,
  meaningOf,
  planColumns,
} from '../contract/bulk-columns.ts';
import { UsageError } from '../errors.ts';
import { centsHeading, isCentsHeading, namesCurrency } from './amounts.ts';

/** Headings of a file to the columns they stand for. */
export type ColumnMap = Readonly<Record<string, string>>;

const needed: readonly BulkColumn[] = [
  'product_url',
  'max_price',
  'address_line1',
  'city',
  'postal_code',
  'phone_number',
];

/** Checks what `--map` says. @throws UsageError naming the entry. */
export function checkMap(map: ColumnMap): ColumnMap {
  for (const [heading, column] of Object.entries(map)) {
    if ('passthrough' in meaningOf(column) && !isCentsHeading(column)) {
      throw new UsageError(
        `--map '${heading}=${column}': there is no column ${column}; known are ${[...bulkColumns.keys()].join(', ')}, ${centsHeading} and metadata.KEY`,
      );
    }
  }
  return map;
}

/** The columns of a file, and what its prices are. */
export interface TablePlan extends ColumnPlan {
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
}

const indexesOf = ({ columns }: ColumnPlan, names: readonly BulkColumn[]): number[] =>
  names.flatMap((name) => columns.get(name) ?? []);

/** Whether a text heads a column that is known, by itself or by what a map says. */
export function isKnownHeading(text: string, map: ColumnMap): boolean {
  return Object.hasOwn(map, text) || isCentsHeading(text) || !('passthrough' in meaningOf(text));
}

/**
 * What the columns of a file mean, once its headings are mapped.
 * @throws UsageError with everything that is wrong with the headings, since then every row would be.
 */
export function planTable(name: string, headings: readonly string[], map: ColumnMap): TablePlan {
  const mapped = headings.map((heading) => (Object.hasOwn(map, heading) ? (map[heading] ?? '') : heading));
  // The service knows one column of prices, in cents.
  const plan = planColumns(mapped.map((heading) => (isCentsHeading(heading) ? 'max_price' : heading)));
  const prices = headings.filter((_, index) => isPriceHeading(mapped[index] ?? ''));
  const priceIndex = plan.columns.get('max_price') ?? -1;
  const present = new Set(headings);
  const missing = needed.filter((column) => !plan.columns.has(column));
  const named = ['name', 'first_name', 'last_name'].some((column) => plan.columns.has(column as BulkColumn));
  const problems = [
    ...Object.keys(map)
      .filter((heading) => !present.has(heading))
      .map((heading) => `--map names a heading that is not there: ${heading}`),
    ...plan.doubled
      .filter(({ column }) => column !== 'max_price')
      .map(({ column, headings: [one, two] }) => `"${one}" and "${two}" both mean ${column}`),
    ...(prices.length > 1
      ? [`${prices.map((heading) => `"${heading}"`).join(' and ')} both hold the price`]
      : []),
    ...doubles(plan.passthrough.map(({ heading }) => heading)).map((heading) =>
      heading === '' ? 'more than one column has no heading' : `two columns are headed "${heading}"`,
    ),
    ...(missing.length > 0 || !named
      ? [`no column for ${[...missing, ...(named ? [] : ['name'])].join(', ')}`]
      : []),
  ];
  if (problems.length === 0)
    return {
      ...plan,
      isInCents: isCentsHeading(mapped[priceIndex] ?? ''),
      priceIndex,
      currencyIndexes: plan.passthrough
        .filter(({ heading }) => namesCurrency(heading))
        .map(({ index }) => index),
      numberIndexes: indexesOf(plan, ['max_price', 'quantity', 'postal_code', 'phone_number']),
      countryIndex: plan.columns.get('country') ?? -1,
      orderIndexes: indexesOf(plan, ['product_url', 'max_price', 'address_line1', 'idempotency_key']),
    };
  throw new UsageError(`the headings of ${name}: ${problems.join('; ')}`, {
    details: { headings },
    hint: `--map 'Their Heading=max_price_cents' maps a heading to a column; \`errand bulk template\` shows all columns.`,
  });
}

/** Whether the cells under a heading are prices, in whichever unit. */
export const isPriceHeading = (heading: string): boolean => {
  const meaning = meaningOf(heading);
  return isCentsHeading(heading) || ('column' in meaning && meaning.column === 'max_price');
};

function doubles(texts: readonly string[]): string[] {
  const seen = new Set<string>();
  return [...new Set(texts.filter((text) => seen.size === seen.add(text).size))];
}
