import type { QueryOf } from '../server/handler.ts';
import type { ProductRequest } from './products.ts';
import type { RetailerSearch } from './retailer-search.ts';

/** A retailer's own search, from its query. */
export const retailerTerms = (query: QueryOf<'product.search'>): RetailerSearch => ({
  query: query.query,
  retailer: query.retailer,
  page: query.page ?? null,
  freeShipping: query.free_shipping,
});

/** One product, from its query. */
export const productTerms = (productId: string, query: QueryOf<'product.get'>): ProductRequest => ({
  retailer: query.retailer,
  productId,
  maxAge: query.max_age ?? null,
  newerThan: query.newer_than ?? null,
  async: query.async ?? false,
});
