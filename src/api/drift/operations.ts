import { isObject, type JsonObject, listIn, own } from '../json.ts';
import type { Budget } from './budget.ts';
import { entriesIn, followed } from './document.ts';
import { type Facts, fieldsOf } from './fields.ts';

/** One operation as a document describes it. */
export interface DescribedOperation {
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
export function operationsOf(document: JsonObject, budget: Budget): Map<string, DescribedOperation> {
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
