import type { AllHandlers, Call } from '../http/handler.ts';
import { legacyProduct, productDetails, productOffers } from './products.ts';
import { productTerms, retailerTerms } from './terms.ts';

export const productHandlers = {
  'product.search': async (service, { query }) => {
    const catalogue = await service.catalogue();
    const value = catalogue.retailerSearch(retailerTerms(query));
    return { value, count: value.results.length };
  },

  'product.get': async (service, call) => ({ value: await productDetails(service, named(call), call.now) }),

  'product.offers': async (service, call) => ({ value: await productOffers(service, named(call), call.now) }),

  'legacy.product': async (service, { path, query, now }) => ({
    value: await legacyProduct(service, productTerms(path.product_id, query), now),
  }),
} satisfies Partial<AllHandlers>;

const named = ({ path, query }: Pick<Call<'product.get'>, 'path' | 'query'>) =>
  productTerms(path.product_id, query);
