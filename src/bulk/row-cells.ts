import { type BulkColumn, bulkListSeparator, meaningOf } from '../api/bulk-columns.ts';
import { placeText } from '../spending/policy/facts.ts';
import { hostOf, productOf } from '../spending/policy/url-forms.ts';

/** The text of a row's cell under a column; empty where there is none. */
export type CellOf = (column: BulkColumn) => string;

/** Finds the cells of rows that are objects by heading, without checking them: each heading is looked up once. */
export class CellReader {
  readonly #known = new Set<string>();
  /** What the cells of a column may stand under. */
  readonly #headings = new Map<BulkColumn, string[]>();

  read(row: Readonly<Record<string, unknown>>): CellOf {
    for (const heading of Object.keys(row)) if (!this.#known.has(heading)) this.#learn(heading);
    return (column) => {
      const [heading, ...others] = this.#headings.get(column) ?? [];
      if (heading === undefined) return '';
      // Of several in one row the first counts.
      const own =
        others.length === 0
          ? heading
          : Object.keys(row).find((one) => one === heading || others.includes(one));
      return own !== undefined && Object.hasOwn(row, own) ? String(row[own] ?? '').trim() : '';
    };
  }

  #learn(heading: string): void {
    this.#known.add(heading);
    const meaning = meaningOf(heading);
    if (!('column' in meaning)) return;
    const headings = this.#headings.get(meaning.column);
    if (headings) headings.push(heading);
    else this.#headings.set(meaning.column, [heading]);
  }
}

export const urlsIn = (cell: CellOf): string[] =>
  cell('product_url')
    .split(bulkListSeparator)
    .map((url) => url.trim());

/** A number of 53 bits for a text, by two hashes of MurmurHash's kind: two texts hardly ever share one. */
export function codeOf(text: string): number {
  let [one, other] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    one = Math.imul(one ^ unit, 0x85ebca77);
    other = Math.imul(other ^ unit, 0xc2b2ae3d);
  }
  one ^= Math.imul(one ^ (other >>> 15), 0x735a2d97);
  other ^= Math.imul(other ^ (one >>> 15), 0xcaf649a9);
  one ^= other >>> 16;
  other ^= one >>> 16;
  return 2 ** 21 * (other >>> 0) + (one >>> 11);
}

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
