import { eachPlainField, hasBulkColumn, type PlainBulkColumn, type PlainOrderField } from './order-fields.ts';

/** Columns that need their own parsing, and their aliases. */
const ownColumns = {
  product_url: ['url', 'product', 'link'],
  quantity: ['qty'],
  max_price: [],
  name: ['full_name', 'recipient'],
  first_name: [],
  last_name: [],
  address_line1: ['address1', 'address', 'street'],
  address_line2: ['address2', 'unit'],
  city: [],
  state: ['province', 'region'],
  postal_code: ['zip', 'zipcode', 'postcode'],
  country: [],
  phone_number: ['phone'],
  idempotency_key: [],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type BulkColumn = keyof typeof ownColumns | PlainBulkColumn;

/** Plain order fields for which a bulk file may have a column. */
export const plainBulkFields: readonly (readonly [PlainBulkColumn, PlainOrderField])[] =
  eachPlainField.flatMap(([name, field]) => (hasBulkColumn(name) ? [[name, field] as const] : []));

/** Recognized bulk columns, each with the aliases accepted as headings. */
export const bulkColumns: ReadonlyMap<BulkColumn, readonly string[]> = new Map<BulkColumn, readonly string[]>(
  [
    // The cast is safe, because an object literal has no keys beyond its type.
    ...(Object.entries(ownColumns) as [keyof typeof ownColumns, readonly string[]][]),
    ...plainBulkFields.map(([name, { bulkColumn }]): [BulkColumn, readonly string[]] => [
      name,
      bulkColumn || [],
    ]),
  ],
);

/** Separates several products in a cell, and their quantities. */
export const bulkListSeparator = '|';

/** Normalizes a heading so that case, spaces, `-` and `_` make no difference. */
export const plainHeading = (heading: string): string => heading.toLowerCase().replace(/[\s_-]+/g, '');

const known = new Map<string, BulkColumn>(
  [...bulkColumns].flatMap(([column, headings]) =>
    [column, ...headings].map((heading): [string, BulkColumn] => [plainHeading(heading), column]),
  ),
);

const metadataHeading = /^metadata\.(.+)$/i;

/** What the cells under a heading mean. */
export type HeadingMeaning =
  | { readonly column: BulkColumn }
  | { readonly metadataKey: string }
  | { readonly passthrough: string };

export function meaningOf(heading: string): HeadingMeaning {
  const column = known.get(plainHeading(heading));
  if (column) return { column };
  const metadataKey = metadataHeading.exec(heading.trim())?.[1];
  return metadataKey === undefined ? { passthrough: heading } : { metadataKey };
}

/** Column layout of one table: the index of each recognized heading. */
export interface ColumnPlan {
  readonly headings: readonly string[];
  readonly columns: ReadonlyMap<BulkColumn, number>;
  /** Plain order fields for which the table has a column. */
  readonly plain: readonly (readonly [PlainBulkColumn, PlainOrderField])[];
  readonly metadata: readonly { readonly key: string; readonly index: number }[];
  readonly passthrough: readonly { readonly heading: string; readonly index: number }[];
  /** Headings that stand for the same column as an earlier heading. */
  readonly doubled: readonly { readonly column: string; readonly headings: readonly [string, string] }[];
}

/** Resolves the headings once per table, so that reading a row needs no lookup by name. */
export function planColumns(headings: readonly string[]): ColumnPlan {
  const columns = new Map<BulkColumn, number>();
  const metadata = new Map<string, number>();
  const passthrough: { heading: string; index: number }[] = [];
  const doubled: { column: string; headings: [string, string] }[] = [];
  for (const [index, heading] of headings.entries()) {
    const meaning = meaningOf(heading);
    if ('passthrough' in meaning) {
      passthrough.push({ heading, index });
      continue;
    }
    const earlier = 'column' in meaning ? columns.get(meaning.column) : metadata.get(meaning.metadataKey);
    const column = 'column' in meaning ? meaning.column : `metadata.${meaning.metadataKey}`;
    if (earlier !== undefined) doubled.push({ column, headings: [headings[earlier] ?? '', heading] });
    else if ('column' in meaning) columns.set(meaning.column, index);
    else metadata.set(meaning.metadataKey, index);
  }
  return {
    headings,
    columns,
    plain: plainBulkFields.filter(([column]) => columns.has(column)),
    metadata: [...metadata].map(([key, index]) => ({ key, index })),
    passthrough,
    doubled,
  };
}
