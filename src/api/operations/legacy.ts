import { operationTable } from '../operation.ts';
import { freshnessRules } from './parameters.ts';

export const legacyOperations = operationTable({
  'legacy.product': {
    method: 'GET',
    path: '/v1/products/{product_id}',
    surface: 'legacy',
    summary: "Read one product's details (v1)",
    auth: 'basic',
    pathParameters: {
      product_id: {
        type: 'string',
        required: true,
        minLength: 1,
        description: "the retailer's own product id",
      },
    },
    query: {
      retailer: { type: 'string', required: true, minLength: 1, description: "a retailer's identifier" },
      max_age: {
        type: 'number',
        min: 0,
        description: 'oldest response to accept, in seconds; not together with newer_than',
      },
      newer_than: {
        type: 'number',
        description: 'earliest retrieval time, unix seconds; not together with max_age',
      },
      async: { type: 'boolean', default: false, description: 'respond at once with status=processing' },
    },
    rules: freshnessRules,
    response: { status: 200, type: 'json', schema: 'LegacyProductDetails', essential: { status: 'text' } },
    errors: ['not_found', 'bad_request', 'unsupported_retailer'],
    retry: 'safe',
  },
  'legacy.retry': {
    method: 'POST',
    path: '/v1/orders/{request_id}/retry',
    surface: 'legacy',
    summary: 'Retry a failed order as a new request (v1)',
    auth: 'basic',
    pathParameters: { request_id: { type: 'uuid', required: true, description: 'id of the failed order' } },
    response: {
      status: 200,
      type: 'json',
      schema: 'LegacyRetryResponse',
      essential: { request_id: 'newId' },
    },
    errors: ['not_found', 'forbidden', 'bad_request', 'insufficient_funds'],
    retry: 'never',
    movesMoney: true,
    once: true,
  },
});
