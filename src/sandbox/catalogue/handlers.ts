import { countryProblem } from '../../api/country.ts';
import { parseUrl } from '../../platform/net/urls.ts';
import type { AllHandlers, Call } from '../server/handler.ts';
import { ErrorResponse, Invalid } from '../server/refusal.ts';
import { refuseDataCall } from '../wallet/usage.ts';
import {
  legacyProduct,
  productDetails,
  productOffers,
  productTerms,
  retailerTerms,
  searchListings,
} from './products.ts';

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

export const retailerHandlers = {
  'retailer.list': async (service, { query }) => {
    const catalogue = await service.catalogue();
    const found = catalogue.retailers({
      ...(query.name !== undefined && { name: query.name }),
      includeObserved: query.include?.includes('all') ?? false,
      limit: query.limit,
      offset: query.offset,
    });
    return { value: { ...found, coverage: catalogue.coverage() }, count: found.retailers.length };
  },

  'retailer.check': async (service, { query }) => {
    const { url } = query;
    if (!isWebAddress(url))
      throw new ErrorResponse('bad_request', `"${url}" is not an http or https URL.`, { url });
    const catalogue = await service.catalogue();
    return { value: catalogue.check(url, countryIn(query.country), service.config.shopUrl) };
  },

  search: async (service, { caller, query }) => {
    refuseDataCall(service, caller.userId, 'search', query.q);
    const value = await searchListings(service, query);
    return { value, count: value.results.length };
  },
} satisfies Partial<AllHandlers>;

/** @throws Invalid if the code is not a known country. The message suggests the right code. */
function countryIn(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const code = value.trim();
  const msg = countryProblem(code);
  if (msg !== undefined) throw new Invalid([{ loc: ['query', 'country'], msg, type: 'value_error' }]);
  return code.toUpperCase();
}

/** Whether an order would accept the URL as a product page at all. */
const isWebAddress = (url: string): boolean => /^https?:$/.test(parseUrl(url)?.protocol ?? '');
