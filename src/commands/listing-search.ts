import { operations } from '../contract/operations/index.ts';
import type { ListResult, Row } from '../output/result.ts';
import { optionFor } from './from-contract.ts';
import { listingColumns, searchHints } from './listing-columns.ts';

const { query } = operations.search;

export const wordsArgument = {
  name: 'words',
  description: 'what to look for',
  required: true,
  variadic: true,
} as const;

/** What narrows a search across retailers, by whichever surface it is asked. */
export const searchOptions = {
  retailer: optionFor(query.retailer),
  sort: optionFor(query.sort),
  minPrice: { kind: 'money', description: "lowest price: '$5' or 5.00" },
  maxPrice: { kind: 'money', description: "highest price: '$30' or 30.00" },
  limit: optionFor(query.limit),
} as const;

/** The price bounds of a search as they are sent, cents. */
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

interface Found {
  readonly results: readonly Row[];
  readonly excluded_by_price?: number | null | undefined;
  readonly hint?: string | null | undefined;
}

/** The listings that a search for `words` has found. */
export const listings = (words: string, { results, excluded_by_price, hint }: Found): ListResult => ({
  kind: 'list',
  rows: results,
  columns: listingColumns,
  id: 'url',
  empty: `nothing found for "${words}"`,
  hints: () => searchHints(excluded_by_price, hint),
});
