import type { AllHandlers, Call } from '../http/handler.ts';
import { productDetails, productOffers } from '../products/answers.ts';
import { productTerms, retailerTerms } from '../products/terms.ts';

export const productHandlers = {
  'product.search': async (service, { query }) => {
    const catalogue = await service.catalogue();
    const value = catalogue.retailerSearch(retailerTerms(query));
    return { value, count: value.results.length };
  },

  'product.get': async (service, call) => ({ value: await productDetails(service, named(call), call.now) }),

  'product.offers': async (service, call) => ({ value: await productOffers(service, named(call), call.now) }),
} satisfies Partial<AllHandlers>;

const named = ({ path, query }: Pick<Call<'product.get'>, 'path' | 'query'>) =>
  productTerms(path.product_id, query);
