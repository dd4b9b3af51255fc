import {
  type BulkColumn,
  bulkColumns,
  type ColumnPlan,
  meaningOf,
  planColumns,
} from '../contract/bulk-columns.ts';
import { UsageError } from '../errors.ts';

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
    if ('passthrough' in meaningOf(column)) {
      throw new UsageError(
        `--map '${heading}=${column}': there is no column ${column}; known are ${Object.keys(bulkColumns).join(', ')} and metadata.KEY`,
      );
    }
  }
  return map;
}

/**
 * What the columns of a file mean, once its headings are mapped.
 * @throws UsageError with everything that is wrong with the headings, since then every row would be.
 */
export function planTable(name: string, headings: readonly string[], map: ColumnMap): ColumnPlan {
  const mapped = headings.map((heading) => (Object.hasOwn(map, heading) ? (map[heading] ?? '') : heading));
  const plan = planColumns(mapped);
  const missing = needed.filter((column) => !plan.columns.has(column));
  const named = ['name', 'first_name', 'last_name'].some((column) => plan.columns.has(column as BulkColumn));
  const problems = [
    ...Object.keys(map)
      .filter((heading) => !headings.includes(heading))
      .map((heading) => `--map names a heading that is not there: ${heading}`),
    ...plan.doubled.map(({ column, headings: [one, two] }) => `"${one}" and "${two}" both mean ${column}`),
    ...doubles(plan.passthrough.map(({ heading }) => heading)).map((heading) =>
      heading === '' ? 'more than one column has no heading' : `two columns are headed "${heading}"`,
    ),
    ...(missing.length > 0 || !named
      ? [`no column for ${[...missing, ...(named ? [] : ['name'])].join(', ')}`]
      : []),
  ];
  if (problems.length === 0) return plan;
  throw new UsageError(`the headings of ${name}: ${problems.join('; ')}`, {
    details: { headings },
    hint: `--map 'Their Heading=max_price' says what one means; \`errand bulk template\` shows all.`,
  });
}

const doubles = (texts: readonly string[]): string[] => [
  ...new Set(texts.filter((text, at) => texts.indexOf(text) !== at)),
];
