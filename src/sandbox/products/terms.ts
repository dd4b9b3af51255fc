import type { ParameterValue, ParameterValues } from '../../contract/parameters.ts';
import type { RetailerSearch } from '../catalogue/retailer-search.ts';
import type { AskedProduct } from './answers.ts';

const numberIn = (value: ParameterValue | undefined): number | null =>
  typeof value === 'number' ? value : null;

/** A retailer's own search, as a query asks for it. */
export const retailerTerms = (query: ParameterValues): RetailerSearch => ({
  query: String(query.query),
  retailer: String(query.retailer),
  page: numberIn(query.page),
  freeShipping: query.free_shipping === true,
});

/** One product, as a query asks for it. */
export const productTerms = (productId: string, query: ParameterValues): AskedProduct => ({
  retailer: String(query.retailer),
  productId,
  maxAge: numberIn(query.max_age),
  newerThan: numberIn(query.newer_than),
  async: query.async === true,
});
