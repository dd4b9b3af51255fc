import { controlPath, healthPath, triggerPath } from '../api/control.ts';
import { type OperationName, operations } from '../api/operations/index.ts';
import { type PageName, pageRoutes } from './console/routes.ts';
import { labelRoute } from './returns/labels.ts';
import { type Route, routeFinder } from './server/routes.ts';

// `Object.keys` loses the literal types.
const operationNames = Object.keys(operations) as OperationName[];

/** All routes of the sandbox. */
const table: readonly Route<PageName>[] = [
  ...pageRoutes,
  ...operationNames.map((name): Route<never> => {
    const { method, path } = operations[name];
    return { method, path, target: { kind: 'operation', name } };
  }),
  labelRoute,
  { method: 'POST', path: triggerPath, target: { kind: 'trigger' } },
  { method: 'GET', path: controlPath, target: { kind: 'control' } },
  { method: 'POST', path: `${controlPath}/{action}`, target: { kind: 'control' } },
  { method: 'GET', path: healthPath, target: { kind: 'health' } },
];

export const findRoute = routeFinder(table);
