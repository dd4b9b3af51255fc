import { createHash } from 'node:crypto';
import { type BulkColumn, bulkListSeparator, meaningOf } from '../contract/bulk-columns.ts';
import { placeText } from '../spending/policy/facts.ts';
import { hostOf, productOf } from '../spending/policy/url-forms.ts';

/** The text of a row's cell under a column; empty where there is none. */
export type CellOf = (column: BulkColumn) => string;

/** Finds the cells of rows that are objects by heading, without checking them: each heading is looked up once. */
export class CellReader {
  readonly #columns = new Map<string, BulkColumn | undefined>();

  read(row: Readonly<Record<string, unknown>>): CellOf {
    const cells = new Map<BulkColumn, string>();
    for (const heading of Object.keys(row)) {
      const column = this.#columnOf(heading);
      if (column !== undefined && !cells.has(column)) cells.set(column, String(row[heading] ?? '').trim());
    }
    return (column) => cells.get(column) ?? '';
  }

  #columnOf(heading: string): BulkColumn | undefined {
    if (this.#columns.has(heading)) return this.#columns.get(heading);
    const meaning = meaningOf(heading);
    const column = 'column' in meaning ? meaning.column : undefined;
    this.#columns.set(heading, column);
    return column;
  }
}

export const urlsIn = (cell: CellOf): string[] =>
  cell('product_url')
    .split(bulkListSeparator)
    .map((url) => url.trim());

/** A number of 48 bits for a text: two texts hardly ever share one. */
export const codeOf = (text: string): number => createHash('sha256').update(text).digest().readUIntBE(0, 6);

/** A product's page in one spelling, and its host; rows one after the other often order the same. */
let last = { url: '', product: '', host: '' };

function productAt(url: string): typeof last {
  if (last.url !== url) last = { url, product: productOf(url), host: hostOf(url) };
  return last;
}

/** Hosts of product pages, each once. */
export const hostsOf = (urls: readonly string[]): string[] => [
  ...new Set(urls.map((url) => productAt(url).host)),
];

/** A number for each product that goes to a place: orders that share one are twins, hardly ever by chance. */
export function twinCodes(urls: readonly string[], part: Parameters<typeof placeText>[0]): number[] {
  const place = placeText(part);
  const codes = urls.map((url) => codeOf(`${productAt(url).product} ${place}`));
  return codes.length === 1 ? codes : [...new Set(codes)];
}

/** The place where a row's order goes, by its parts. */
export const placeOf =
  (cell: CellOf): Parameters<typeof placeText>[0] =>
  (part) =>
    cell(part) || (part === 'country' ? 'US' : '');
