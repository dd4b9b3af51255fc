import { searchSorts } from '../../contract/enums.ts';
import type { Handlers } from '../handler.ts';
import { Invalid, Refusal } from '../refusal.ts';

export const retailerHandlers: Handlers = {
  'retailer.list': async (service, { query }) => {
    const catalogue = await service.catalogue();
    const name = typeof query.name === 'string' ? query.name : undefined;
    const found = catalogue.retailers({
      ...(name !== undefined && { name }),
      limit: Number(query.limit),
      offset: Number(query.offset),
    });
    return { value: { ...found, coverage: catalogue.coverage() }, count: found.retailers.length };
  },

  'retailer.check': async (service, { query }) => {
    const url = String(query.url);
    if (!URL.canParse(url)) throw new Refusal('bad_request', `"${url}" is not a URL.`, { url });
    const catalogue = await service.catalogue();
    return { value: catalogue.check(url, String(query.country).toUpperCase(), service.config.shopUrl) };
  },

  search: async (service, { query }) => {
    const catalogue = await service.catalogue();
    const { retailer } = query;
    if (typeof retailer === 'string' && !catalogue.retailerIds().includes(retailer)) {
      const msg = `Input should be one of ${catalogue.retailerIds().join(', ')}`;
      throw new Invalid([{ loc: ['query', 'retailer'], msg, type: 'enum' }]);
    }
    const sort = searchSorts.find((known) => known === query.sort) ?? 'relevance';
    const found = catalogue.search({
      q: String(query.q),
      ...(typeof query.min_price === 'number' && { minPrice: query.min_price }),
      ...(typeof query.max_price === 'number' && { maxPrice: query.max_price }),
      ...(typeof retailer === 'string' && { retailer }),
      sort,
      limit: Number(query.limit),
    });
    const { results, excludedByPrice, hint } = found;
    return {
      value: {
        status: 'completed',
        query: String(query.q),
        results,
        excluded_by_price: excludedByPrice,
        hint,
      },
      count: results.length,
    };
  },
};
