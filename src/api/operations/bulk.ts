import { limits } from '../limits.ts';
import { operationTable, type Parameter } from '../operation.ts';
import { list, offset } from './parameters.ts';

const batchId = { type: 'uuid', required: true, description: 'id of the batch' } as const satisfies Parameter;

export const bulkOperations = operationTable({
  'bulk.validate': {
    method: 'POST',
    path: '/orders/bulk/validate',
    surface: 'current',
    summary: 'Check every row and estimate the spend; places nothing',
    auth: 'bearer',
    body: { schema: 'BulkUploadRequest', observed: true },
    response: { status: 200, type: 'json', schema: 'BulkValidateResponse', rows: 'rows' },
    errors: ['bad_request'],
    retry: 'safe',
  },
  'bulk.create': {
    method: 'POST',
    path: '/orders/bulk',
    surface: 'current',
    summary: 'Create a batch; its rows are placed asynchronously, one order each',
    auth: 'bearer',
    body: { schema: 'BulkUploadRequest', observed: true },
    response: {
      status: 201,
      type: 'json',
      schema: 'BulkBatchResponse',
      essential: { id: 'newId' },
    },
    errors: ['bad_request', 'insufficient_funds', 'payment_required'],
    retry: 'never',
    movesMoney: true,
    once: true,
  },
  'bulk.list': {
    method: 'GET',
    path: '/orders/bulk',
    surface: 'current',
    summary: "List the caller's batches, newest first",
    auth: 'bearer',
    query: { limit: list(limits.bulkListLimit), offset },
    response: { status: 200, type: 'json', schema: 'BulkBatchListResponse', rows: 'batches' },
    errors: [],
    retry: 'safe',
  },
  'bulk.get': {
    method: 'GET',
    path: '/orders/bulk/{batch_id}',
    surface: 'current',
    summary: 'Read a batch with its rows and live order statuses',
    auth: 'bearer',
    pathParameters: { batch_id: batchId },
    response: {
      status: 200,
      type: 'json',
      schema: 'BulkBatchResponse',
      essential: { id: 'id', status: 'text' },
    },
    errors: ['not_found', 'forbidden'],
    retry: 'safe',
  },
  'bulk.results': {
    method: 'GET',
    path: '/orders/bulk/{batch_id}/results.csv',
    surface: 'current',
    summary: "A batch's results as CSV, custom columns echoed",
    auth: 'bearer',
    pathParameters: { batch_id: batchId },
    response: { status: 200, type: 'csv' },
    errors: ['not_found', 'forbidden'],
    retry: 'safe',
  },
});
