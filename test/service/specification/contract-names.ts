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

/** What the specification does not have, a row of the table calls observed: it needs no row here. */
const all = Object.entries<Operation>(operations).filter(([, { observed }]) => !observed);
const named = (table: string, names: readonly string[]): string[] => names.map((name) => `${table} ${name}`);
const endpoint = ({ method, path }: Operation): string => `${method} ${path}`;

/** Operations whose own row tells of all their parameters at once, as the specification does. */
const allNamesAtOnce: readonly string[] = [
  'order.export',
  'agent.search',
  'agent.product.search',
  'agent.product.offers',
  'agent.product.get',
] satisfies OperationName[];

/** The parameters that the specification lists; the observed ones stand in none of its tables. */
const parameters = all
  .filter(([name]) => !allNamesAtOnce.includes(name))
  .flatMap(([, operation]) =>
    Object.entries(operation.query ?? {})
      .filter(([, { observed }]) => !observed)
      .map(([name]) => `${endpoint(operation)}?${name}`),
  );

/** What the contract knows and the list of rows must name, so that neither grows without the other. */
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
