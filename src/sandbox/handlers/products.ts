import type { AllHandlers, Call } from '../handler.ts';
import { type AskedProduct, productDetails, productOffers } from '../products/answers.ts';

export const productHandlers = {
  'product.search': async (service, { query }) => {
    const catalogue = await service.catalogue();
    const value = catalogue.retailerSearch({
      query: String(query.query),
      retailer: String(query.retailer),
      page: typeof query.page === 'number' ? query.page : null,
      freeShipping: query.free_shipping === true,
    });
    return { value, count: value.results.length };
  },

  'product.get': async (service, call) => ({ value: await productDetails(service, asked(call), call.now) }),

  'product.offers': async (service, call) => ({ value: await productOffers(service, asked(call), call.now) }),
} satisfies Partial<AllHandlers>;

const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);

const asked = ({ path, query }: Pick<Call<'product.get'>, 'path' | 'query'>): AskedProduct => ({
  retailer: String(query.retailer),
  productId: path.product_id ?? '',
  maxAge: number(query.max_age),
  newerThan: number(query.newer_than),
  async: query.async === true,
});
