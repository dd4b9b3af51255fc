import { limits } from '../limits.ts';
import { operationTable } from '../operation.ts';
import { list, offset } from './parameters.ts';

export const retailerOperations = operationTable({
  'retailer.list': {
    method: 'GET',
    path: '/retailers',
    surface: 'current',
    summary: 'List the supported retailers; free, no key',
    auth: 'none',
    query: {
      limit: { ...list(limits.otherListLimit), observed: true },
      offset: { ...offset, observed: true },
      name: { type: 'string', observed: true, description: "part of a retailer's name" },
      include: {
        type: 'strings',
        description: 'all adds the stores that were seen and are not curated',
      },
    },
    response: { status: 200, type: 'json', schema: 'PublicRetailerListResponse', rows: 'retailers' },
    errors: [],
    retry: 'safe',
  },
  'retailer.check': {
    method: 'GET',
    path: '/retailers/check',
    surface: 'current',
    summary: 'Predict whether an order for a product URL would be refused, and why',
    auth: 'none',
    query: {
      url: { type: 'string', required: true, minLength: 1, observed: true, description: 'product URL' },
      country: {
        type: 'string',
        observed: true,
        description: 'destination country, two letters; without it shipping is not checked',
      },
    },
    response: {
      status: 200,
      type: 'json',
      schema: 'RetailerCheckResponse',
      essential: { orderable: 'boolean' },
    },
    errors: ['bad_request'],
    retry: 'safe',
  },
});
