import { isObject, type JsonObject, listIn, own } from '../json.ts';
import { Budget, mostStatements } from './budget.ts';
import {
  type ChangeClass,
  changeClasses,
  compareFacts,
  type FactChange,
  type Sender,
} from './compare-facts.ts';
import { entriesIn, followed } from './document.ts';
import { type Facts, fieldsOf } from './fields.ts';

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

type Comparison =
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

/** One operation as a document describes it. */
interface DescribedOperation {
  readonly parameters: ReadonlyMap<string, Facts>;
  readonly body: ReadonlyMap<string, Facts>;
  readonly response: ReadonlyMap<string, Facts>;
  /** Status of success. */
  readonly status: string | undefined;
  /** It names servers of its own: another service than the rest. */
  readonly isElsewhere: boolean;
  readonly observed: boolean;
}

const parameterInPath = /\{[^{}]*\}/g;
const methods = ['get', 'put', 'post', 'delete', 'patch'];
const none: ReadonlyMap<string, Facts> = new Map();

/**
 * The operations of an OpenAPI document by method and path, names of path parameters left out: `GET /orders/{}`. Pure
 * but for the budget.
 */
function operationsOf(document: JsonObject, budget: Budget): Map<string, DescribedOperation> {
  const found = new Map<string, DescribedOperation>();
  for (const [path, given] of entriesIn(document, 'paths')) {
    const item = followed(document, given);
    for (const method of methods) {
      const operation = own(item, method);
      if (!isObject(operation) || budget.isSpent) continue;
      budget.spend(path.length);
      const shared = listIn(item, 'parameters');
      found.set(
        `${method.toUpperCase()} ${path.replace(parameterInPath, '{}').replace(/(.)\/$/, '$1')}`,
        described(document, path, operation, shared, budget),
      );
    }
  }
  return found;
}

function described(
  document: JsonObject,
  path: string,
  operation: JsonObject,
  shared: readonly unknown[],
  budget: Budget,
): DescribedOperation {
  const [status, response] = successOf(document, operation);
  const request = followed(document, own(operation, 'requestBody'));
  const body = jsonIn(request);
  const fields = body === undefined ? none : fieldsOf(document, body, budget);
  return {
    parameters: parametersOf(document, path, [...shared, ...listIn(operation, 'parameters')], budget),
    body: withRoot(fields, own(request, 'required') === true),
    response: response === undefined ? none : fieldsOf(document, response, budget),
    status,
    isElsewhere: listIn(operation, 'servers').length > 0,
    observed: own(operation, 'x-observed') === true,
  };
}

function withRoot(fields: ReadonlyMap<string, Facts>, required: boolean): ReadonlyMap<string, Facts> {
  const root = fields.get('');
  return root ? new Map(fields).set('', { ...root, required }) : fields;
}

/** Query parameters by name, those of the path by their place in it: their names are nobody's business. */
function parametersOf(
  document: JsonObject,
  path: string,
  given: readonly unknown[],
  budget: Budget,
): Map<string, Facts> {
  const places = new Map(
    Array.from(path.matchAll(parameterInPath), ([text], index) => [text.slice(1, -1), index + 1]),
  );
  const parameters = new Map<string, Facts>();
  for (const one of given) {
    if (budget.isSpent) break;
    budget.spend();
    const parameter = followed(document, one);
    const [name, place] = [own(parameter, 'name'), own(parameter, 'in')];
    if (typeof name !== 'string' || (place !== 'query' && place !== 'path')) continue;
    const title = place === 'query' ? name : `{${places.get(name) ?? 0}}`;
    const fields = fieldsOf(document, own(parameter, 'schema'), budget);
    const required = place === 'path' || own(parameter, 'required') === true;
    const observed = own(parameter, 'x-observed') === true;
    for (const [path, facts] of fields) {
      const isItself = path === '';
      parameters.set(
        title + path,
        isItself ? { ...facts, required, observed: facts.observed || observed } : facts,
      );
    }
  }
  return parameters;
}

function successOf(document: JsonObject, operation: JsonObject): [string | undefined, unknown] {
  const [found] = entriesIn(operation, 'responses').filter(([status]) => /^2(?:\d\d|XX)$/.test(status));
  return found ? [found[0], jsonIn(followed(document, found[1]))] : [undefined, undefined];
}

/** The schema of the JSON that a request or a response carries. */
function jsonIn(described: unknown): unknown {
  const found = entriesIn(described, 'content').find(([type]) =>
    /^application\/(?:[\w.-]+\+)?json\b/.test(type),
  );
  return own(found?.[1], 'schema');
}
