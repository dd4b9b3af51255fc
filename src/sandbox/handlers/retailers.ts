import type { AllHandlers } from '../handler.ts';
import { searchListings } from '../products/listings.ts';
import { Refusal } from '../refusal.ts';

export const retailerHandlers = {
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
    if (!isWebAddress(url))
      throw new Refusal('bad_request', `"${url}" is not an http or https URL.`, { url });
    const catalogue = await service.catalogue();
    return { value: catalogue.check(url, String(query.country).toUpperCase(), service.config.shopUrl) };
  },

  search: async (service, { query }) => {
    const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);
    const wanted = {
      q: String(query.q),
      minPrice: number(query.min_price),
      maxPrice: number(query.max_price),
    };
    const value = await searchListings(service, wanted, query);
    return { value, count: value.results.length };
  },
} satisfies Partial<AllHandlers>;

/** Whether an order would take it for a product's page at all. */
const isWebAddress = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
