import type { SearchSort } from '../../api/enums.ts';
import type { Sqlite } from '../../platform/sqlite/load.ts';
import type { TestSlug } from '../orders/lifecycle/index.ts';

export interface Search {
  readonly q: string;
  /** Bounds in cents of the listing's currency. */
  readonly minPrice?: number;
  readonly maxPrice?: number;
  readonly retailer?: string;
  readonly sort: SearchSort;
  readonly limit: number;
}

interface Hits {
  /** Numbers of listings, in order. */
  readonly numbers: readonly number[];
  /** null where no bound of the price was given. */
  readonly excludedByPrice: number | null;
  readonly hint: string | null;
}

const orders: Readonly<Record<SearchSort, string>> = {
  relevance: 'l.reach DESC, rank, l.number',
  price_asc: 'l.cents, l.number',
  price_desc: 'l.cents DESC, l.number',
  rating: 'l.stars DESC, l.reach DESC, l.reviews DESC, l.number',
};
const hints = {
  someWords: 'No listing has all of the words; these have some of them.',
  noWords: 'The query has no word to look for: give one with letters or digits.',
};
/** What to change where nothing was found. */
function hintForNone(excludedByPrice: number | null, retailer: string | undefined): string {
  if (excludedByPrice) return `Change min_price or max_price: they leave out ${excludedByPrice} listings.`;
  const elsewhere = retailer === undefined ? '' : ', or search without retailer';
  return `Nothing has these words: try others, or fewer${elsewhere}.`;
}

const from = 'FROM words JOIN listings l ON l.number = words.rowid WHERE words MATCH ?';

/** Searched for by the test product of the same outcome: what handmade shops price in their own currency, which no words find. */
const otherCurrency: TestSlug = 'test-other-currency';

/** Across retailers: listings that anyone can order; those of a members' retailer when it is named. */
export function findEverywhere(index: Sqlite, search: Search): Hits {
  const { q, retailer, minPrice = 0, maxPrice = Number.MAX_SAFE_INTEGER, sort, limit } = search;
  if (q.trim() === otherCurrency) return inOtherCurrency(index, limit);
  const isClamped = search.minPrice !== undefined || search.maxPrice !== undefined;
  const narrowed = retailer === undefined ? 'AND l.reach > 0' : 'AND l.reach >= 0 AND l.retailer = ?';
  const { match, hint } = bestMatch(index, q, narrowed, retailer === undefined ? [] : [retailer]);
  if (match === undefined) return { numbers: [], excludedByPrice: isClamped ? 0 : null, hint };
  const given = retailer === undefined ? [match] : [match, retailer];
  const rows = index
    .prepare(
      `SELECT l.number ${from} ${narrowed} AND l.cents BETWEEN ? AND ? ORDER BY ${orders[sort]} LIMIT ?`,
    )
    .all(...given, minPrice, maxPrice, limit);
  const excludedByPrice = isClamped
    ? count(index, `${narrowed} AND l.cents NOT BETWEEN ? AND ?`, [...given, minPrice, maxPrice])
    : null;
  return {
    numbers: numbersOf(rows),
    excludedByPrice,
    hint: rows.length > 0 ? hint : hintForNone(excludedByPrice, retailer),
  };
}

const inOtherCurrency = (index: Sqlite, limit: number): Hits => ({
  numbers: numbersOf(
    index.prepare('SELECT number FROM listings WHERE reach = -1 ORDER BY number LIMIT ?').all(limit),
  ),
  excludedByPrice: null,
  hint: null,
});

/** Within one retailer: the numbers from an offset on, and one more than the limit where there are more. */
export function findWithin(
  index: Sqlite,
  { retailer, query, offset, limit }: { retailer: string; query: string; offset: number; limit: number },
): readonly number[] {
  const { match } = bestMatch(index, query, 'AND l.retailer = ?', [retailer]);
  if (match === undefined) return [];
  const rows = index
    .prepare(`SELECT l.number ${from} AND l.retailer = ? ORDER BY rank, l.number LIMIT ? OFFSET ?`)
    .all(match, retailer, limit + 1, offset);
  return numbersOf(rows);
}

/** All of the words where some listing has them all, else any of them. */
function bestMatch(
  index: Sqlite,
  query: string,
  narrowed: string,
  given: readonly string[],
): { match: string | undefined; hint: string | null } {
  const all = matchExpression(query, 'AND');
  const some = matchExpression(query, 'OR');
  if (all === undefined || some === undefined) return { match: undefined, hint: hints.noWords };
  if (count(index, narrowed, [all, ...given]) > 0) return { match: all, hint: null };
  return { match: some, hint: count(index, narrowed, [some, ...given]) > 0 ? hints.someWords : null };
}

function count(index: Sqlite, narrowed: string, given: readonly (string | number)[]): number {
  const row: object = index.prepare(`SELECT count(*) AS hits ${from} ${narrowed}`).get(...given) ?? {};
  return Number({ hits: 0, ...row }.hits);
}

const numbersOf = (rows: readonly object[]): number[] =>
  rows.map((row) => Number({ number: 0, ...row }.number));

const mostWords = 16;
const longestWord = 64;

/** Words of a query as an FTS5 expression: each quoted by us, so that nothing in it is an operator. */
function matchExpression(query: string, operator: 'AND' | 'OR'): string | undefined {
  const words = query.normalize('NFKC').match(/[\p{L}\p{N}]+/gu) ?? [];
  if (words.length === 0) return undefined;
  return words
    .slice(0, mostWords)
    .map((word) => `"${Array.from(word).slice(0, longestWord).join('')}"*`)
    .join(` ${operator} `);
}
