import { searchSorts } from '../../contract/enums.ts';
import type { ParameterValues } from '../../contract/parameters.ts';
import type { Shape } from '../../contract/schemas/index.ts';
import type { Service } from '../handler.ts';
import { Invalid } from '../refusal.ts';

interface Wanted {
  readonly q: string;
  /** Bounds of the price, cents. */
  readonly minPrice: number | null | undefined;
  readonly maxPrice: number | null | undefined;
}

/** Searches across retailers; `query` has `retailer`, `sort` and `limit`. @throws Invalid for a retailer there is none of. */
export async function searchListings(
  service: Pick<Service, 'catalogue'>,
  { q, minPrice, maxPrice }: Wanted,
  { retailer, sort, limit }: ParameterValues,
): Promise<Shape<'SearchResponse'>> {
  const catalogue = await service.catalogue();
  if (typeof retailer === 'string' && !catalogue.retailerIds().includes(retailer)) {
    const msg = `Input should be one of ${catalogue.retailerIds().join(', ')}`;
    throw new Invalid([{ loc: ['query', 'retailer'], msg, type: 'enum' }]);
  }
  const { results, excludedByPrice, hint } = catalogue.search({
    q,
    ...(minPrice != null && { minPrice }),
    ...(maxPrice != null && { maxPrice }),
    ...(typeof retailer === 'string' && { retailer }),
    sort: searchSorts.find((known) => known === sort) ?? 'relevance',
    limit: Number(limit),
  });
  return { status: 'completed', query: q, results, excluded_by_price: excludedByPrice, hint };
}
