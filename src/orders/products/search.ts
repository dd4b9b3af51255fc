import { type JsonObject, numberIn, objectsIn, textIn } from '../../api/json.ts';
import { operations } from '../../api/operations/index.ts';
import type { Received } from '../../api/received.ts';
import { plainText } from '../../format/path.ts';
import type { ListResult } from '../../format/result.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import { optionFor } from '../../run/from-contract.ts';
import { listingList, searchHints } from './columns.ts';
import { productFacts } from './named.ts';

const { query } = operations.search;

export const wordsArgument = {
  name: 'words',
  description: 'what to look for',
  required: true,
  variadic: true,
} as const;

/** Filters for a search across retailers. They are the same on both surfaces. */
export const searchOptions = {
  retailer: optionFor(query.retailer, { completes: 'retailers' }),
  sort: optionFor(query.sort),
  minPrice: { kind: 'money', description: "lowest price: '$5' or 5.00" },
  maxPrice: { kind: 'money', description: "highest price: '$30' or 30.00" },
  limit: optionFor(query.limit),
} as const;

/** Price bounds of a search as they are sent, in cents. */
export const priceBounds = ({
  minPrice,
  maxPrice,
}: {
  readonly minPrice?: number | undefined;
  readonly maxPrice?: number | undefined;
}): { min_price?: number; max_price?: number } => ({
  ...(minPrice !== undefined && { min_price: minPrice }),
  ...(maxPrice !== undefined && { max_price: maxPrice }),
});

/** List of the results of a search for `words`. */
export const listings = (words: string, body: Received<'search'> | Received<'agent.search'>): ListResult => ({
  kind: 'list',
  rows: objectsIn(body, 'results'),
  ...listingList,
  id: 'url',
  facts: productFacts(),
  empty: `nothing found for "${words}"`,
  hints: () => searchHints(numberIn(body, 'excluded_by_price'), textIn(body, 'hint')),
});

/** Descriptions of the exit codes of commands that read a single product. */
export const noSuchProduct = 'the retailer has no such product';
export const noResponse = 'the retailer did not respond';

/** The error for a read whose payload says that the retailer did not respond. */
export function noProduct(productId: string, payload: JsonObject): ErrandError {
  const { code, message, status: _, ...details } = payload;
  return new ErrandError(
    code === 'product_not_found' ? 'not_found' : 'ended_badly',
    `${productId}: ${plainText(message) || noResponse}`,
    {
      ...(code !== undefined && { code: plainText(code) }),
      ...(Object.keys(details).length > 0 && { details }),
      outcome: 'applied',
      hint: 'Check the product id and --retailer; `errand product search` finds ids.',
    },
  );
}

const { query: productQuery } = operations['product.get'];

/** Options of every command that reads a single product. */
export const freshnessOptions = {
  retailer: optionFor(productQuery.retailer, { completes: 'retailers' }),
  maxAge: {
    ...optionFor(productQuery.max_age),
    description: 'oldest response to accept, in seconds; not together with --newer-than',
  },
  newerThan: {
    kind: 'date',
    unixSeconds: true,
    description: 'earliest retrieval time, also in unix seconds; not together with --max-age',
  },
  async: { kind: 'flag', description: 'have it fetched, and respond at once with status processing' },
} as const;

/** How recent the data about a product must be. Ages are in seconds. */
export interface Freshness {
  readonly retailer?: string | undefined;
  readonly maxAge?: number | undefined;
  /** ISO 8601. */
  readonly newerThan?: string | undefined;
}

/**
 * Converts freshness options to wire names. @throws UsageError if the retailer is missing, or if both ages are given.
 */
export function freshnessFields({ retailer, maxAge, newerThan }: Freshness): {
  retailer: string;
  max_age?: number;
  newer_than?: number;
} {
  if (retailer === undefined)
    throw new UsageError('--retailer is missing; `errand retailer list -o id` prints them');
  if (maxAge !== undefined && newerThan !== undefined)
    throw new UsageError('--max-age and --newer-than exclude each other');
  return {
    retailer,
    ...(maxAge !== undefined && { max_age: maxAge }),
    ...(newerThan !== undefined && { newer_than: Math.floor(Date.parse(newerThan) / 1000) }),
  };
}
