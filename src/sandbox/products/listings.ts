import { searchSorts } from '../../contract/enums.ts';
import type { ParameterValues } from '../../contract/parameters.ts';
import type { Shape } from '../../contract/schemas/index.ts';
import type { Service } from '../handler.ts';
import { Invalid } from '../refusal.ts';

/** Searches across retailers, as a query asks for it. @throws Invalid for a retailer there is none of. */
export async function searchListings(
  service: Pick<Service, 'catalogue'>,
  { q, retailer, sort, limit, min_price: minPrice, max_price: maxPrice }: ParameterValues,
): Promise<Shape<'SearchResponse'>> {
  const catalogue = await service.catalogue();
  if (typeof retailer === 'string' && !catalogue.retailerIds().includes(retailer)) {
    const msg = `Input should be one of ${catalogue.retailerIds().join(', ')}`;
    throw new Invalid([{ loc: ['query', 'retailer'], msg, type: 'enum' }]);
  }
  const { results, excludedByPrice, hint } = catalogue.search({
    q: String(q),
    ...(typeof minPrice === 'number' && { minPrice }),
    ...(typeof maxPrice === 'number' && { maxPrice }),
    ...(typeof retailer === 'string' && { retailer }),
    sort: searchSorts.find((known) => known === sort) ?? 'relevance',
    limit: Number(limit),
  });
  return { status: 'completed', query: String(q), results, excluded_by_price: excludedByPrice, hint };
}
