import type { Shape } from '../../api/schemas/index.ts';
import type { QueryOf } from '../server/handler.ts';
import { Invalid } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';

/** Searches across retailers. @throws Invalid for an unknown retailer. */
export async function searchListings(
  service: Pick<Service, 'catalogue'>,
  { q, retailer, sort, limit, min_price: minPrice, max_price: maxPrice }: QueryOf<'search'>,
): Promise<Shape<'SearchResponse'>> {
  const catalogue = await service.catalogue();
  if (retailer !== undefined && !catalogue.retailerIds().includes(retailer)) {
    const msg = `Input should be one of ${catalogue.retailerIds().join(', ')}`;
    throw new Invalid([{ loc: ['query', 'retailer'], msg, type: 'enum' }]);
  }
  const { results, excludedByPrice, hint } = catalogue.search({
    q,
    ...(minPrice !== undefined && { minPrice }),
    ...(maxPrice !== undefined && { maxPrice }),
    ...(retailer !== undefined && { retailer }),
    sort,
    limit,
  });
  return { status: 'completed', query: q, results, excluded_by_price: excludedByPrice, hint };
}
