import { limits } from '../limits.ts';
import { operationTable, type Parameter } from '../operation.ts';
import { list, offset } from './parameters.ts';

const shortId = {
  type: 'string',
  required: true,
  minLength: 1,
  description: 'short id of the managed account',
} as const satisfies Parameter;

export const accountOperations = operationTable({
  'account.list': {
    method: 'GET',
    path: '/managed-accounts',
    surface: 'current',
    summary: 'List stored retailer accounts',
    auth: 'bearer',
    query: {
      limit: { ...list(limits.otherListLimit), observed: true },
      offset,
      search: { type: 'string', description: "part of an account's email or retailer" },
    },
    response: { status: 200, type: 'json', schema: 'ManagedAccountListResponse', rows: 'credentials' },
    errors: [],
    retry: 'safe',
  },
  'account.create': {
    method: 'POST',
    path: '/managed-accounts',
    surface: 'current',
    summary: 'Store the credentials of a retailer account, encrypted',
    auth: 'bearer',
    body: { schema: 'ManagedAccountCreate' },
    response: { status: 201, type: 'json', schema: 'ManagedAccount', essential: { short_id: 'id' } },
    errors: ['already_exists', 'bad_request'],
    retry: 'never',
  },
  'account.update': {
    method: 'PUT',
    path: '/managed-accounts/{short_id}',
    surface: 'current',
    summary: 'Change the given fields of a stored retailer account',
    auth: 'bearer',
    pathParameters: { short_id: shortId },
    body: { schema: 'ManagedAccountUpdate' },
    response: { status: 200, type: 'json', schema: 'ManagedAccount', essential: { short_id: 'id' } },
    errors: ['not_found', 'forbidden', 'bad_request'],
    retry: 'never',
  },
  'account.delete': {
    method: 'DELETE',
    path: '/managed-accounts/{short_id}',
    surface: 'current',
    summary: 'Delete a stored retailer account',
    auth: 'bearer',
    pathParameters: { short_id: shortId },
    response: { status: 204, type: 'none' },
    errors: ['not_found', 'forbidden'],
    retry: 'never',
  },
});
