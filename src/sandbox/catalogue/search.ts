import type { SearchSort } from '../../api/enums.ts';
import type { Shape } from '../../api/schemas/index.ts';
import type { Sqlite } from '../../platform/sqlite/load.ts';
import type { TestSlug } from '../orders/lifecycle/index.ts';
import { ErrorResponse } from '../server/refusal.ts';
import { imagesOf } from './details.ts';
import type { Listing } from './listing.ts';
import { offersOf } from './offers.ts';
import { type Retailer, type Traits, traits } from './retailers.ts';
import { variantId } from './variants.ts';

export interface Search {
  readonly q: string;
  /** In cents of the listing's currency. */
  readonly minPrice?: number;
  readonly maxPrice?: number;
  readonly retailer?: string;
  readonly sort: SearchSort;
  readonly limit: number;
}

interface Hits {
  /** Listing numbers, in result order. */
  readonly numbers: readonly number[];
  /** Null if the search has no price bounds. */
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
/** Suggests what to change when a search finds nothing. */
function hintForNone(excludedByPrice: number | null, retailer: string | undefined): string {
  if (excludedByPrice) return `Change min_price or max_price: they leave out ${excludedByPrice} listings.`;
  const elsewhere = retailer === undefined ? '' : ', or search without retailer';
  return `Nothing has these words: try others, or fewer${elsewhere}.`;
}

const from = 'FROM words JOIN listings l ON l.number = words.rowid WHERE words MATCH ?';

/**
 * Special query that returns handmade listings priced in the shop's own currency. Searches by words never find these
 * listings. The query is the name of the test product for the same case.
 */
const otherCurrency: TestSlug = 'test-other-currency';

/**
 * Searches all retailers for listings that anyone can order. Listings of members-only retailers appear only if that
 * retailer is named.
 */
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

/**
 * Searches one retailer. Returns listing numbers, starting at the offset. If more listings match than the limit allows,
 * returns one extra number.
 */
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

/**
 * If any listing contains all words, a match must contain all words. Otherwise a match must contain at least one word.
 */
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

const maxWords = 16;
const maxWordLength = 64;

/** Builds an FTS5 expression from a query. Quotes every word, so that no word is parsed as an operator. */
function matchExpression(query: string, operator: 'AND' | 'OR'): string | undefined {
  const words = query.normalize('NFKC').match(/[\p{L}\p{N}]+/gu) ?? [];
  if (words.length === 0) return undefined;
  return words
    .slice(0, maxWords)
    .map((word) => `"${Array.from(word).slice(0, maxWordLength).join('')}"*`)
    .join(` ${operator} `);
}

export interface RetailerSearch {
  /** Identifier of a retailer, or domain of a hosted storefront. */
  readonly retailer: string;
  readonly query: string;
  readonly page?: number | null;
  readonly freeShipping?: boolean;
  /** Whether the request came through the agent API, where `free_shipping` has fewer effects. */
  readonly agent?: boolean;
}

/** Larger page numbers are clamped to this page, which lies past any retailer's results and is therefore empty. */
const lastPage = 10_000;

type Find = (window: { offset: number; limit: number }) => readonly Listing[];

/**
 * One page of a retailer's own search, following the specification for the retailer's kind. Filters run after
 * pagination, so a page may be short or empty while `next_page` is non-null.
 * @param find returns the retailer's products from an offset on, and one extra product if more products follow.
 * @throws Refusal `bad_request` for parameters that a store domain does not accept.
 */
export function retailerPage(
  seller: Retailer,
  { page, freeShipping = false, agent = false }: RetailerSearch,
  find: Find,
  images: string,
): Shape<'ProductSearchResponse'> {
  const rules = traits[seller.kind];
  const number = Math.min(page ?? 1, lastPage);
  const shipping = freeShipping ? (agent ? rules.agentFreeShipping : rules.freeShipping) : 'ignored';
  refuseAtStoreDomain(seller, rules, number, shipping);
  const found = find({ offset: (number - 1) * rules.pageProducts, limit: rules.pageProducts });
  const shown = found
    .slice(0, rules.pageResults)
    .filter(({ currency }) => currency === seller.currency)
    .filter(({ shipCents }) => shipping !== 'filters' || shipCents === 0);
  return {
    status: 'completed',
    results: shown.map((listing) => resultOf(listing, images)),
    next_page: rules.pages && found.length > rules.pageProducts ? number + 1 : null,
  };
}

function refuseAtStoreDomain(
  { retailer }: Retailer,
  { pages }: Traits,
  page: number,
  shipping: Traits['freeShipping'],
): void {
  if (!pages && page !== 1) {
    throw new ErrorResponse('bad_request', `${retailer} is a store domain, which has one page: omit page.`, {
      retailer,
      page,
    });
  }
  if (shipping === 'refused') {
    throw new ErrorResponse('bad_request', `${retailer} is a store domain: free_shipping cannot be used.`, {
      retailer,
    });
  }
}

function resultOf(listing: Listing, images: string): Shape<'ProductSearchResult'> {
  const { seller } = listing;
  return {
    product_id: listing.productId,
    title: listing.title,
    image: imagesOf(listing, images)[0] ?? null,
    brand: listing.brand,
    price: listing.cents,
    currency_code: listing.currency,
    ...(listing.stars !== null && { stars: listing.stars, num_reviews: listing.reviews }),
    num_offers_estimate: seller.kind === 'marketplace' ? offersOf(listing).length : null,
    ship_price: listing.shipCents,
    available: listing.available,
    url: listing.url,
    variant_id: seller.kind === 'storefront' ? variantId(listing, listing.variant) : null,
  };
}
