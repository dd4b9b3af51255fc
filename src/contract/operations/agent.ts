import { limits } from '../limits.ts';
import type { Operation } from '../operation.ts';
import { orderCreationErrors } from './orders.ts';
import { freeShipping } from './parameters.ts';
import { crossRetailerQuery } from './products.ts';

const dataCall = {
  method: 'POST',
  surface: 'current',
  auth: 'payment',
  retry: 'never',
  movesMoney: true,
  challengeCents: limits.agentDataCallCents,
} as const;

const challenge = ['payment_failed', 'payment_method_required', 'invalid_payment_method'] as const;

export const agentOperations = {
  'agent.order.create': {
    ...dataCall,
    path: '/agent/orders',
    summary: 'Order without an account, paid by challenge: max_price plus the fee, the difference refunded',
    query: {
      method: { type: 'string', minLength: 1, description: 'advertise only this payment method' },
    },
    body: { schema: 'OrderCreate' },
    answer: { status: 201, type: 'json', schema: 'OrderResponse', essential: ['id', 'status'], made: 'id' },
    errors: [...challenge, ...orderCreationErrors.filter((code) => !challenge.some((paid) => paid === code))],
    retry: 'idempotency_key',
    challengeCents: limits.agentOrderFeeCents,
  },
  'agent.search': {
    ...dataCall,
    path: '/agent/search',
    summary: 'Search orderable listings without an account',
    query: crossRetailerQuery,
    body: { schema: 'AgentSearchRequest', observed: true },
    answer: { status: 200, type: 'json', schema: 'SearchResponse', rows: 'results' },
    errors: [...challenge, 'unsupported_retailer'],
  },
  'agent.product.search': {
    ...dataCall,
    path: '/agent/products/search',
    summary: "Search one retailer's products without an account",
    query: { free_shipping: freeShipping },
    body: { schema: 'AgentProductSearchRequest', observed: true },
    answer: { status: 200, type: 'json', schema: 'ProductSearchResponse', rows: 'results' },
    errors: [...challenge, 'bad_request', 'unsupported_retailer'],
  },
  'agent.product.offers': {
    ...dataCall,
    path: '/agent/products/offers',
    summary: "Read one product's offers without an account",
    body: { schema: 'AgentProductRequest', observed: true },
    answer: { status: 200, type: 'json', schema: 'ProductOffersPayload', essential: ['status'] },
    errors: [...challenge, 'not_found', 'bad_request', 'unsupported_retailer'],
  },
  'agent.product.get': {
    ...dataCall,
    path: '/agent/products/details',
    summary: "Read one product's details without an account",
    body: { schema: 'AgentProductRequest', observed: true },
    answer: { status: 200, type: 'json', schema: 'ProductDetailsPayload', essential: ['status'] },
    errors: [...challenge, 'not_found', 'bad_request', 'unsupported_retailer'],
  },
} as const satisfies Record<string, Operation>;
