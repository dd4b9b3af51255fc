import { returnStatuses } from '../enums.ts';
import { limits } from '../limits.ts';
import { operationTable } from '../operation.ts';
import { list, offset } from './parameters.ts';

export const returnOperations = operationTable({
  'return.create': {
    method: 'POST',
    path: '/returns',
    surface: 'current',
    summary: 'Ask to return items of a placed order',
    auth: 'bearer',
    body: { schema: 'ReturnRequestCreate', observed: true },
    response: { status: 201, type: 'json', schema: 'ReturnRequest', essential: { id: 'newId' } },
    errors: ['not_found', 'forbidden', 'already_exists', 'return_not_allowed', 'bad_request'],
    retry: 'never',
    movesMoney: true,
    once: true,
  },
  'return.list': {
    method: 'GET',
    path: '/returns',
    surface: 'current',
    summary: 'List return requests, newest first',
    auth: 'bearer',
    query: {
      limit: { ...list(limits.otherListLimit), observed: true },
      offset,
      search: { type: 'string', description: 'part of a return id, order id or retailer return number' },
      status: { type: 'string', values: returnStatuses, grows: true, description: 'status of the return' },
    },
    response: { status: 200, type: 'json', schema: 'ReturnRequestListResponse', rows: 'return_requests' },
    errors: [],
    retry: 'safe',
  },
  'return.get': {
    method: 'GET',
    path: '/returns/{return_request_id}',
    surface: 'current',
    summary: 'Read one return request; label links are made anew',
    auth: 'bearer',
    pathParameters: {
      return_request_id: { type: 'uuid', required: true, description: 'id of the return request' },
    },
    response: { status: 200, type: 'json', schema: 'ReturnRequest', essential: { id: 'id', status: 'text' } },
    errors: ['not_found', 'forbidden'],
    retry: 'safe',
  },
});
