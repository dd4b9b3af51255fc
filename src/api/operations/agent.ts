import { limits } from '../limits.ts';
import { operationTable, type Parameter } from '../operation.ts';
import { orderCreationErrors } from './orders.ts';
import { freshnessRules } from './parameters.ts';
import { productOperations } from './products.ts';

const dataCall = {
  method: 'POST',
  surface: 'current',
  auth: 'payment',
  retry: 'never',
  movesMoney: true,
  challengeCents: limits.agentDataCallCents,
} as const;

/**
 * Clients send the terms in the query, without a body. A body with the same terms under the same names is also
 * accepted.
 */
const terms = { optional: true, joinsQuery: true, observed: true } as const;

const productQuery = {
  product_id: productOperations['product.get'].pathParameters.product_id,
  ...productOperations['product.get'].query,
  max_age: { ...productOperations['product.get'].query.max_age, type: 'number' },
} as const satisfies Record<string, Parameter>;

const challenge = ['payment_failed', 'payment_method_required', 'invalid_payment_method'] as const;

export const agentOperations = operationTable({
  'agent.order.create': {
    ...dataCall,
    path: '/agent/orders',
    summary: 'Order without an account, paid by challenge: max_price plus the fee, the difference refunded',
    query: {
      method: { type: 'string', minLength: 1, description: 'advertise only this payment method' },
    },
    body: { schema: 'OrderCreate' },
    response: { status: 201, type: 'json', schema: 'OrderResponse', essential: { id: 'newId' } },
    errors: [...challenge, ...orderCreationErrors.filter((code) => !challenge.some((paid) => paid === code))],
    retry: 'idempotency_key',
    once: true,
    challengeCents: limits.agentOrderFeeCents,
  },
  'agent.search': {
    ...dataCall,
    path: '/agent/search',
    summary: 'Search orderable listings without an account',
    query: productOperations.search.query,
    body: { schema: 'AgentSearchRequest', ...terms },
    response: { status: 200, type: 'json', schema: 'SearchResponse', rows: 'results' },
    errors: [...challenge, 'unsupported_retailer'],
  },
  'agent.product.search': {
    ...dataCall,
    path: '/agent/products/search',
    summary: "Search one retailer's products without an account",
    query: productOperations['product.search'].query,
    body: { schema: 'AgentProductSearchRequest', ...terms },
    response: { status: 200, type: 'json', schema: 'ProductSearchResponse', rows: 'results' },
    errors: [...challenge, 'bad_request', 'unsupported_retailer'],
  },
  'agent.product.offers': {
    ...dataCall,
    path: '/agent/products/offers',
    summary: "Read one product's offers without an account",
    query: productQuery,
    rules: freshnessRules,
    body: { schema: 'AgentProductRequest', ...terms },
    response: { status: 200, type: 'json', schema: 'ProductOffersPayload', essential: { status: 'text' } },
    errors: [...challenge, 'not_found', 'bad_request', 'unsupported_retailer'],
  },
  'agent.product.get': {
    ...dataCall,
    path: '/agent/products/details',
    summary: "Read one product's details without an account",
    query: productQuery,
    rules: freshnessRules,
    body: { schema: 'AgentProductRequest', ...terms },
    response: { status: 200, type: 'json', schema: 'ProductDetailsPayload', essential: { status: 'text' } },
    errors: [...challenge, 'not_found', 'bad_request', 'unsupported_retailer'],
  },
});
