import {
  batchStatuses,
  fulfillmentConcerns,
  itemStatuses,
  orderStatuses,
  returnStatuses,
  trackingStatuses,
} from '../../../src/api/enums.ts';
import { errorCodes } from '../../../src/api/error-codes.ts';
import { errorTypes } from '../../../src/api/error-types.ts';
import { webhookEvents } from '../../../src/api/events.ts';
import type { Operation } from '../../../src/api/operation.ts';
import { type OperationName, operations } from '../../../src/api/operations/index.ts';

/** Operations in the specification. Others are marked observed and need no row here. */
const all = Object.entries<Operation>(operations).filter(([, { observed }]) => !observed);
const named = (table: string, names: readonly string[]): string[] => names.map((name) => `${table} ${name}`);
const endpoint = ({ method, path }: Operation): string => `${method} ${path}`;

/** Operations whose single row covers all their parameters, as in the specification. */
const allNamesAtOnce: readonly string[] = [
  'order.export',
  'agent.search',
  'agent.product.search',
  'agent.product.offers',
  'agent.product.get',
] satisfies OperationName[];

/** Parameters listed in the specification; observed ones appear in none of its tables. */
const parameters = all
  .filter(([name]) => !allNamesAtOnce.includes(name))
  .flatMap(([, operation]) =>
    Object.entries(operation.query ?? {})
      .filter(([, { observed }]) => !observed)
      .map(([name]) => `${endpoint(operation)}?${name}`),
  );

/** All names of the contract, each of which needs a row, so that contract and rows stay in sync. */
export const contractNames: Readonly<Record<string, readonly string[]>> = {
  operations: all.map(([, operation]) => endpoint(operation)),
  parameters,
  'error codes': named('code', Object.keys(errorCodes)),
  'error types': named('error_type', Object.keys(errorTypes)),
  'order statuses': named('order', orderStatuses),
  'item statuses': named('item', itemStatuses),
  'tracking statuses': named('tracking', trackingStatuses),
  'return statuses': named('return', returnStatuses),
  'batch statuses': named('batch', batchStatuses),
  events: named('event', Object.keys(webhookEvents)),
  'fulfillment concerns': named('concern', fulfillmentConcerns),
};
