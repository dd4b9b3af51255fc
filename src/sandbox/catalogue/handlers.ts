import type { AllHandlers, Call } from '../server/handler.ts';
import { refuseDataCall } from '../wallet/data-calls.ts';
import { legacyProduct, productDetails, productOffers } from './products.ts';
import { productTerms, retailerTerms } from './terms.ts';

export const productHandlers = {
  'product.search': async (service, { caller, query }) => {
    refuseDataCall(service, caller.userId, 'product.search', query.query);
    const catalogue = await service.catalogue();
    const value = catalogue.retailerSearch(retailerTerms(query));
    return { value, count: value.results.length };
  },

  'product.get': async (service, call) => {
    refuseDataCall(service, call.caller.userId, 'product.get', call.path.product_id);
    return { value: await productDetails(service, named(call), call.now) };
  },

  'product.offers': async (service, call) => {
    refuseDataCall(service, call.caller.userId, 'product.offers', call.path.product_id);
    return { value: await productOffers(service, named(call), call.now) };
  },

  'legacy.product': async (service, { path, query, now }) => ({
    value: await legacyProduct(service, productTerms(path.product_id, query), now),
  }),
} satisfies Partial<AllHandlers>;

const named = ({ path, query }: Pick<Call<'product.get'>, 'path' | 'query'>) =>
  productTerms(path.product_id, query);
