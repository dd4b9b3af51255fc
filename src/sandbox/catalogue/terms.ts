import type { QueryOf } from '../http/handler.ts';
import type { AskedProduct } from './products.ts';
import type { RetailerSearch } from './retailer-search.ts';

/** A retailer's own search, as a query asks for it. */
export const retailerTerms = (query: QueryOf<'product.search'>): RetailerSearch => ({
  query: query.query,
  retailer: query.retailer,
  page: query.page ?? null,
  freeShipping: query.free_shipping,
});

/** One product, as a query asks for it. */
export const productTerms = (productId: string, query: QueryOf<'product.get'>): AskedProduct => ({
  retailer: query.retailer,
  productId,
  maxAge: query.max_age ?? null,
  newerThan: query.newer_than ?? null,
  async: query.async ?? false,
});
