import { searchSorts } from '../enums.ts';
import { limits } from '../limits.ts';
import { operationTable, type Parameter } from '../operation.ts';
import { freeShipping, freshness, freshnessRules, retailer } from './parameters.ts';

const productId = {
  type: 'string',
  required: true,
  minLength: 1,
  description: "the retailer's own product id",
} as const satisfies Parameter;

const price = (which: string) =>
  ({ type: 'integer', min: 0, description: `${which} price, in cents` }) as const satisfies Parameter;

const crossRetailerQuery = {
  limit: {
    type: 'integer',
    ...limits.searchLimit,
    observed: true,
    description: 'how many listings to return',
  },
  retailer: {
    type: 'string',
    minLength: 1,
    valuesFrom: 'GET /retailers',
    description: 'one retailer only',
  },
  sort: { type: 'string', values: searchSorts, default: 'relevance', description: 'order of the listings' },
} as const satisfies Record<string, Parameter>;

const paid = ['insufficient_funds', 'payment_failed', 'payment_method_required'] as const;

export const productOperations = operationTable({
  search: {
    method: 'GET',
    path: '/search',
    surface: 'current',
    summary: 'Search orderable listings across retailers',
    auth: 'bearer',
    query: {
      q: { type: 'string', required: true, minLength: 1, description: 'what to look for' },
      min_price: price('lowest'),
      max_price: { ...price('highest'), observed: true },
      ...crossRetailerQuery,
    },
    response: { status: 200, type: 'json', schema: 'SearchResponse', rows: 'results' },
    errors: [...paid, 'unsupported_retailer'],
    retry: 'safe',
  },
  'product.search': {
    method: 'GET',
    path: '/products/search',
    surface: 'current',
    summary: "Search one retailer's products",
    auth: 'bearer',
    query: {
      query: { type: 'string', required: true, minLength: 1, description: 'what to look for' },
      retailer,
      page: { type: 'integer', nullable: true, min: 1, description: 'page, from 1; store domains have one' },
      free_shipping: freeShipping,
    },
    response: { status: 200, type: 'json', schema: 'ProductSearchResponse', rows: 'results' },
    errors: [...paid, 'bad_request', 'unsupported_retailer'],
    retry: 'safe',
  },
  'product.get': {
    method: 'GET',
    path: '/products/{product_id}',
    surface: 'current',
    summary: "Read one product's details",
    auth: 'bearer',
    pathParameters: { product_id: productId },
    query: { retailer, ...freshness },
    rules: freshnessRules,
    response: { status: 200, type: 'json', schema: 'ProductDetailsPayload', essential: { status: 'text' } },
    errors: [...paid, 'not_found', 'bad_request', 'unsupported_retailer'],
    retry: 'safe',
  },
  'product.offers': {
    method: 'GET',
    path: '/products/{product_id}/offers',
    surface: 'current',
    summary: "Read one product's offers",
    auth: 'bearer',
    pathParameters: { product_id: productId },
    query: { retailer, ...freshness },
    rules: freshnessRules,
    response: { status: 200, type: 'json', schema: 'ProductOffersPayload', essential: { status: 'text' } },
    errors: [...paid, 'not_found', 'bad_request', 'unsupported_retailer'],
    retry: 'safe',
  },
});
