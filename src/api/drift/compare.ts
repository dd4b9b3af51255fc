import { isObject, type JsonObject, own } from '../json.ts';
import { Budget, mostStatements } from './budget.ts';
import {
  type ChangeClass,
  changeClasses,
  compareFacts,
  type FactChange,
  type Sender,
} from './compare-facts.ts';
import type { Facts } from './fields.ts';
import { type DescribedOperation, operationsOf } from './operations.ts';

/** One difference between the contract and what a service says of itself. */
export interface Drift extends FactChange {
  /** `POST /orders/{}` */
  readonly operation: string;
  readonly part: 'operation' | 'parameter' | 'body' | 'response';
  /** `products[].url`; empty for the whole. */
  readonly field: string;
  /** The contract knows it from watching the service only. */
  readonly observed: boolean;
}

export type Comparison =
  | { readonly drifts: readonly Drift[]; readonly compared: number; readonly problem?: never }
  | { readonly problem: string; readonly drifts?: never; readonly compared?: never };

const mostDrifts = 20_000;

/** Changes on which a client written to the contract breaks. */
export const isBreaking = ({ change }: Pick<FactChange, 'change'>): boolean =>
  change === 'removed' || change === 'tightened';

/**
 * Compares two OpenAPI documents, worst changes first. The time it takes is bounded, whatever the document holds. Pure.
 * @returns the problem in words where the document is none, or too large to be compared.
 */
export function compareDocuments(contract: JsonObject, service: unknown): Comparison {
  if (!isObject(service) || !isObject(own(service, 'paths')))
    return { problem: 'it is not an OpenAPI document: it has no paths' };
  const budget = new Budget();
  const served = operationsOf(service, budget);
  if (budget.isSpent)
    return { problem: `it makes more than ${mostStatements.toLocaleString('en-US')} statements` };
  const known = operationsOf(contract, new Budget());
  const here = [...known].filter(([key, { isElsewhere }]) => !isElsewhere || served.has(key));
  const drifts = [
    ...here.flatMap(([key, operation]) => compareOperations(key, operation, served.get(key))),
    ...[...served].filter(([key]) => !known.has(key)).map(([key]) => wholeOperation(key, 'added', false)),
  ];
  if (drifts.length > mostDrifts) return { problem: 'it has nothing in common with the contract' };
  const rank = (drift: Drift): number => changeClasses.indexOf(drift.change);
  return { drifts: drifts.toSorted((a, b) => rank(a) - rank(b)), compared: here.length };
}

function compareOperations(
  operation: string,
  contract: DescribedOperation,
  service: DescribedOperation | undefined,
): Drift[] {
  if (!service) return [wholeOperation(operation, 'removed', contract.observed)];
  const status = contract.status === service.status ? [] : [statusDrift(operation, contract, service)];
  return [
    ...status,
    ...compareFields(
      { operation, part: 'parameter', sender: 'client' },
      contract.parameters,
      service.parameters,
    ),
    ...compareFields({ operation, part: 'body', sender: 'client' }, contract.body, service.body),
    ...compareFields({ operation, part: 'response', sender: 'service' }, contract.response, service.response),
  ];
}

const wholeOperation = (operation: string, change: ChangeClass, observed: boolean): Drift => ({
  change,
  operation,
  part: 'operation',
  field: '',
  aspect: 'operation',
  contract: change === 'removed',
  service: change === 'added',
  observed,
});

const statusDrift = (
  operation: string,
  contract: DescribedOperation,
  service: DescribedOperation,
): Drift => ({
  change: 'changed',
  operation,
  part: 'response',
  field: '',
  aspect: 'status',
  contract: contract.status ?? null,
  service: service.status ?? null,
  observed: contract.observed,
});

interface Location {
  readonly operation: string;
  readonly part: Drift['part'];
  readonly sender: Sender;
}

type Fields = ReadonlyMap<string, Facts>;

function compareFields({ operation, part, sender }: Location, contract: Fields, service: Fields): Drift[] {
  const at = (field: string, observed: boolean) => ({ operation, part, field, observed });
  const gone = topmost([...contract.keys()].filter((path) => !service.has(path)));
  const fresh = topmost([...service.keys()].filter((path) => !contract.has(path)));
  return [
    ...gone.map((field) => ({
      ...at(field, contract.get(field)?.observed === true),
      ...whole('removed'),
    })),
    ...[...contract].flatMap(([field, facts]) => {
      const served = service.get(field);
      const changes = served ? compareFacts(facts, served, sender) : [];
      return changes.map((change) => ({ ...at(field, facts.observed), ...change }));
    }),
    ...fresh.map((field) => {
      const demanded = sender === 'client' && service.get(field)?.required === true && !isItem(field);
      return {
        ...at(field, false),
        ...(demanded
          ? { change: 'tightened' as const, aspect: 'required', contract: false, service: true }
          : whole('added')),
      };
    }),
  ];
}

const isItem = (path: string): boolean => path.endsWith('[]');

const whole = (change: 'removed' | 'added'): FactChange => ({
  change,
  aspect: 'field',
  contract: change === 'removed',
  service: change === 'added',
});

/** What lies within a field that is reported already is not reported again. */
function topmost(paths: readonly string[]): string[] {
  const all = new Set(paths);
  return paths.filter((path) => !ancestors(path).some((above) => all.has(above)));
}

const ancestors = (path: string): string[] => [
  ...(path === '' ? [] : ['']),
  ...Array.from(path.matchAll(/\.|\[\]/g), ({ index }) => path.slice(0, index)),
];
