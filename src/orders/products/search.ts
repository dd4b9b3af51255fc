import { type JsonObject, numberIn, objectsIn, textIn } from '../../api/json.ts';
import { operations } from '../../api/operations/index.ts';
import type { Received } from '../../api/received.ts';
import { plainText } from '../../format/path.ts';
import type { ListResult } from '../../format/result.ts';
import { ErrandError } from '../../platform/errors.ts';
import { optionFor } from '../../run/from-contract.ts';
import { listingList, searchHints } from './listing-columns.ts';
import { productFacts } from './named.ts';

const { query } = operations.search;

export const wordsArgument = {
  name: 'words',
  description: 'what to look for',
  required: true,
  variadic: true,
} as const;

/** What narrows a search across retailers, whichever surface it uses. */
export const searchOptions = {
  retailer: optionFor(query.retailer, { completes: 'retailers' }),
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

/** The listings that a search for `words` has found. */
export const listings = (words: string, body: Received<'search'> | Received<'agent.search'>): ListResult => ({
  kind: 'list',
  rows: objectsIn(body, 'results'),
  ...listingList,
  id: 'url',
  facts: productFacts(),
  empty: `nothing found for "${words}"`,
  hints: () => searchHints(numberIn(body, 'excluded_by_price'), textIn(body, 'hint')),
});

/** What the exit codes mean where one product is read. */
export const noSuchProduct = 'the retailer has no such product';
export const noResponse = 'the retailer did not respond';

/** A read whose payload says that the retailer did not respond. */
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
