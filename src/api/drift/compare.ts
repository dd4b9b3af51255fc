import { isObject, type JsonObject, listIn, own } from '../json.ts';

/** A difference between the contract and a service's own description. */
export interface Drift extends FactChange {
  /** The operation, such as `POST /orders/{}`. */
  readonly operation: string;
  readonly part: 'operation' | 'parameter' | 'body' | 'response';
  /** Path such as `products[].url`; empty for the whole value. */
  readonly field: string;
  /** Observed on the service, but not in its specification. */
  readonly observed: boolean;
}

type Comparison =
  | { readonly drifts: readonly Drift[]; readonly compared: number; readonly problem?: never }
  | { readonly problem: string; readonly drifts?: never; readonly compared?: never };

const maxDrifts = 20_000;

/** Whether a change breaks a client that was written against the contract. */
export const isBreaking = ({ change }: Pick<FactChange, 'change'>): boolean =>
  change === 'removed' || change === 'tightened';

/**
 * Compares two OpenAPI documents, and lists the worst changes first. Runs in bounded time for any input. Pure. @returns
 * the changes, or the problem in words if a document is not OpenAPI or is too large to compare.
 */
export function compareDocuments(contract: JsonObject, service: unknown): Comparison {
  if (!isObject(service) || !isObject(own(service, 'paths')))
    return { problem: 'it is not an OpenAPI document: it has no paths' };
  const budget = new Budget();
  const served = operationsOf(service, budget);
  if (budget.isSpent)
    return { problem: `it makes more than ${maxStatements.toLocaleString('en-US')} statements` };
  const known = operationsOf(contract, new Budget());
  const here = [...known].filter(([key, { isElsewhere }]) => !isElsewhere || served.has(key));
  const drifts = [
    ...here.flatMap(([key, operation]) => compareOperations(key, operation, served.get(key))),
    ...[...served].filter(([key]) => !known.has(key)).map(([key]) => wholeOperation(key, 'added', false)),
  ];
  if (drifts.length > maxDrifts) return { problem: 'it has nothing in common with the contract' };
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

/** Drops each path that lies inside a field that is reported as well. */
function topmost(paths: readonly string[]): string[] {
  const all = new Set(paths);
  return paths.filter((path) => !ancestors(path).some((above) => all.has(above)));
}

const ancestors = (path: string): string[] => [
  ...(path === '' ? [] : ['']),
  ...Array.from(path.matchAll(/\.|\[\]/g), ({ index }) => path.slice(0, index)),
];

/** An operation as one of the documents describes it. */
interface DescribedOperation {
  readonly parameters: ReadonlyMap<string, Facts>;
  readonly body: ReadonlyMap<string, Facts>;
  readonly response: ReadonlyMap<string, Facts>;
  /** Status of a successful response. */
  readonly status: string | undefined;
  /** Whether the operation declares its own servers, which means that it belongs to a different service. */
  readonly isElsewhere: boolean;
  readonly observed: boolean;
}

const parameterInPath = /\{[^{}]*\}/g;
const methods = ['get', 'put', 'post', 'delete', 'patch'];
const none: ReadonlyMap<string, Facts> = new Map();

/**
 * Indexes the operations of an OpenAPI document by method and path. The names of path parameters are removed: `GET
 * /orders/{}`. Pure except for the budget.
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

/** Indexes query parameters by name. Indexes path parameters by position, because their names do not matter. */
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

/** JSON schema of a request or response body. */
function jsonIn(described: unknown): unknown {
  const found = entriesIn(described, 'content').find(([type]) =>
    /^application\/(?:[\w.-]+\+)?json\b/.test(type),
  );
  return own(found?.[1], 'schema');
}

/** Maximum number of statements processed per document. The contract itself has about 6,000. */
const maxStatements = 200_000;
/** Number of characters that cost as much of the budget as one statement. */
const charactersEach = 100;

/**
 * Limits the work spent on a document, because references let a few lines expand to millions of fields. If the budget
 * is exhausted, discard the comparison.
 */
export class Budget {
  #left = maxStatements;

  get isSpent(): boolean {
    return this.#left < 0;
  }

  /** Charges the budget for one statement, and for the characters that processing it involves. */
  spend(characters = 0): void {
    this.#left -= 1 + characters / charactersEach;
  }
}

/** Helpers that read untrusted JSON documents. They treat a value of an unexpected type as absent. */

const entriesIn = (value: unknown, key: string): [string, unknown][] => Object.entries(own(value, key) ?? {});

const maxHops = 20;

/**
 * Follows a chain of local references to the value at its end. Returns undefined if the chain is broken, is circular or
 * leaves the document.
 */
function followed(document: JsonObject, value: unknown): unknown {
  let found = value;
  for (let hops = 0; hops < maxHops; hops += 1) {
    const reference = own(found, '$ref');
    if (typeof reference !== 'string') return found;
    found = pointed(document, reference);
  }
  return undefined;
}

/** Resolves a JSON pointer into the same document (RFC 6901). */
function pointed(document: JsonObject, reference: string): unknown {
  if (!reference.startsWith('#/')) return undefined;
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((found, part) => own(found, unescaped(part)), document);
}

function unescaped(part: string): string {
  const plain = part.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    // Leave a text unchanged if one of its percent signs starts no valid escape.
    return plain;
  }
}

export const boundNames = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'] as const;
type BoundName = (typeof boundNames)[number];

/** A document's statements about one value. */
export interface Facts {
  /** JSON types; `any` if unspecified. */
  readonly types: ReadonlySet<string>;
  readonly required: boolean;
  /** Values of a closed enum, each as JSON. */
  readonly values?: readonly string[] | undefined;
  /** Known values of an open enum, each as JSON. */
  readonly known?: readonly string[] | undefined;
  /** Whether the service lists the values itself, so that no contract can list them. */
  readonly listedByService?: boolean;
  readonly bounds: Readonly<Partial<Record<BoundName, number>>>;
  readonly format?: string | undefined;
  readonly pattern?: string | undefined;
  readonly default?: string | undefined;
  /** Observed on the service, but not in its specification. */
  readonly observed: boolean;
}

interface Walk {
  readonly document: JsonObject;
  readonly budget: Budget;
  readonly fields: Map<string, Facts>;
}

const maxDepth = 40;

/**
 * Flattens a schema into fields keyed by path, such as `products[].url`. The empty path stands for the whole value.
 * Stops at circular references. Pure except for the budget.
 */
export function fieldsOf(document: JsonObject, schema: unknown, budget: Budget): Map<string, Facts> {
  const fields = new Map<string, Facts>();
  visit({ document, budget, fields }, schema, '', true, new Set());
  return fields;
}

function visit(
  walk: Walk,
  given: unknown,
  path: string,
  required: boolean,
  above: ReadonlySet<unknown>,
): void {
  walk.budget.spend(path.length);
  if (walk.budget.isSpent || above.size > maxDepth) return;
  const schema = followed(walk.document, given);
  if (above.has(schema)) return;
  const within = new Set(above).add(schema);
  const variants = alternatives(walk, schema, within);
  const facts = variants.map((variant) => factsOf(walk.budget, variant, required));
  merge(walk.fields, path, united(facts, required));
  const objects = variants.filter((variant) => own(variant, 'properties') !== undefined);
  const needed = neededByAll(walk.budget, objects);
  for (const variant of variants) {
    for (const [name, inner] of entriesIn(variant, 'properties'))
      visit(walk, inner, path === '' ? name : `${path}.${name}`, needed.has(name), within);
    const items = own(variant, 'items');
    if (items !== undefined) visit(walk, items, `${path}[]`, true, within);
    const others = own(variant, 'additionalProperties');
    if (isObject(others) && Object.keys(others).length > 0) visit(walk, others, `${path}.*`, false, within);
  }
}

function neededByAll(budget: Budget, objects: readonly unknown[]): ReadonlySet<unknown> {
  const lists = objects.map((variant) => listIn(variant, 'required'));
  budget.spend(lists.reduce((sum, { length }) => sum + length, 0) * 10);
  if (budget.isSpent) return new Set();
  const [first, ...others] = lists.map((list) => new Set(list));
  return new Set([...(first ?? [])].filter((name) => others.every((needed) => needed.has(name))));
}

/** Expands a schema into its alternatives. Each is a branch of `anyOf` or `oneOf`, merged with all parts of `allOf`. */
function alternatives(walk: Walk, schema: unknown, above: ReadonlySet<unknown>): unknown[] {
  walk.budget.spend();
  if (walk.budget.isSpent || above.size > maxDepth) return [];
  const either = [...listIn(schema, 'anyOf'), ...listIn(schema, 'oneOf')];
  const all = listIn(schema, 'allOf');
  if (either.length === 0 && all.length === 0) return [schema];
  const opened = (part: unknown): unknown[] => {
    const found = followed(walk.document, part);
    return above.has(found) ? [] : alternatives(walk, found, new Set(above).add(found));
  };
  const { anyOf: _, oneOf: __, allOf: ___, ...rest } = isObject(schema) ? schema : {};
  const join = (a: unknown, b: unknown): JsonObject => both(walk.budget, a, b);
  const common = [rest, ...all.flatMap(opened)].reduce(join, {});
  const variants = either.flatMap(opened);
  return variants.length === 0 ? [common] : variants.map((variant) => join(common, variant));
}

/** Merges two schemas for the same value. */
function both(budget: Budget, a: unknown, b: unknown): JsonObject {
  if (budget.isSpent) return {};
  const [one, other] = [isObject(a) ? a : {}, isObject(b) ? b : {}];
  const properties = { ...Object(own(one, 'properties')), ...Object(own(other, 'properties')) };
  const required = [...listIn(one, 'required'), ...listIn(other, 'required')];
  const count = Object.keys(properties).length;
  budget.spend((count + required.length) * 10);
  return { ...one, ...other, ...(count > 0 && { properties }), required };
}

function factsOf(budget: Budget, schema: unknown, required: boolean): Facts {
  const values = valuesOf(schema);
  const facts: Facts = {
    types: typesOf(schema, values),
    required,
    values: values?.filter((value) => value !== null).map((value) => JSON.stringify(value)),
    listedByService: own(schema, 'x-values-from') !== undefined,
    bounds: Object.fromEntries(
      boundNames.flatMap((name) => {
        const bound = own(schema, name) ?? exclusive(schema, name);
        return typeof bound === 'number' ? [[name, bound]] : [];
      }),
    ),
    format: textIn(schema, 'format'),
    pattern: textIn(schema, 'pattern'),
    default: own(schema, 'default') === undefined ? undefined : JSON.stringify(own(schema, 'default')),
    observed: own(schema, 'x-observed') === true,
  };
  budget.spend(
    [...facts.types, ...(facts.values ?? []), facts.format, facts.pattern, facts.default].join().length,
  );
  return facts;
}

/** Converts an exclusive bound of an integer to the inclusive bound next to it. */
function exclusive(schema: unknown, name: BoundName): number | undefined {
  const step = name === 'minimum' ? 1 : name === 'maximum' ? -1 : 0;
  const bound = step === 0 ? undefined : own(schema, step > 0 ? 'exclusiveMinimum' : 'exclusiveMaximum');
  if (typeof bound !== 'number') return undefined;
  return own(schema, 'type') === 'integer' ? bound + step : bound;
}

function valuesOf(schema: unknown): readonly unknown[] | undefined {
  const constant = own(schema, 'const');
  if (constant !== undefined) return [constant];
  const values = own(schema, 'enum');
  return Array.isArray(values) ? values : undefined;
}

function typesOf(schema: unknown, values: readonly unknown[] | undefined): Set<string> {
  const declared = own(schema, 'type');
  const types = (Array.isArray(declared) ? declared : [declared]).filter((type) => typeof type === 'string');
  if (types.length === 0 && own(schema, 'properties') !== undefined) types.push('object');
  if (types.length === 0 && own(schema, 'items') !== undefined) types.push('array');
  if (types.length === 0 && values) types.push(...values.filter((it) => it !== null).map((it) => typeof it));
  if (types.length === 0) types.push('any');
  const isNullable = own(schema, 'nullable') === true || values?.includes(null) === true;
  return new Set(isNullable ? [...types, 'null'] : types);
}

function textIn(schema: unknown, key: string): string | undefined {
  const text = own(schema, key);
  return typeof text === 'string' ? text : undefined;
}

/**
 * Combines what alternative schemas say. Keeps bounds and format only if there is a single alternative besides null.
 */
function united(facts: readonly Facts[], required: boolean): Facts {
  const types = new Set(facts.flatMap((one) => [...one.types]));
  const real = facts.filter((one) => [...one.types].some((type) => type !== 'null'));
  const [only] = real;
  const values = real.every((one) => one.values) ? real.flatMap((one) => one.values ?? []) : undefined;
  const observed = facts.some((one) => one.observed);
  if (!only) return { types: types.size > 0 ? types : new Set(['any']), required, bounds: {}, observed };
  if (real.length === 1) return { ...only, types, required, values, observed };
  const known = real.flatMap((one) => one.values ?? one.known ?? []);
  return { types, required, values, ...(!values && known.length > 0 && { known }), bounds: {}, observed };
}

/** Adds a field. If another variant has the same field, the value may match either of them. */
function merge(fields: Map<string, Facts>, path: string, facts: Facts): void {
  const before = fields.get(path);
  fields.set(path, before ? united([before, facts], before.required && facts.required) : facts);
}

/**
 * Kinds of changes, as a client written against the contract sees them. `tightened`: the client may send less, or rely
 * on less, than the contract says. `loosened`: the client may send more, or rely on more. `changed`: it is unknown
 * which of the two applies.
 */
export const changeClasses = ['removed', 'tightened', 'changed', 'loosened', 'added'] as const;
type ChangeClass = (typeof changeClasses)[number];

/** A difference between what the contract and the document say about one value. */
interface FactChange {
  readonly change: ChangeClass;
  /** What differs: `type`, `required`, `value`, a bound, `format` or `default`. */
  readonly aspect: string;
  readonly contract: string | number | boolean | null;
  readonly service: string | number | boolean | null;
}

/** The side that sends the value. */
type Sender = 'client' | 'service';

/** Lists every difference between what two documents say about one value. Pure. */
function compareFacts(contract: Facts, service: Facts, sender: Sender): FactChange[] {
  return [
    ...compareTypes(contract, service, sender),
    ...compareRequired(contract, service, sender),
    ...compareValues(contract, service, sender),
    ...boundNames.flatMap((name) => compareBound(name, contract.bounds[name], service.bounds[name], sender)),
    ...compareFormats(contract, service, sender),
    ...compareDefaults(contract, service),
  ];
}

/**
 * Fewer possible values restrict the side that sends them, but give the side that receives them a stronger guarantee.
 */
const narrowed = (sender: Sender): ChangeClass => (sender === 'client' ? 'tightened' : 'loosened');
const widened = (sender: Sender): ChangeClass => (sender === 'client' ? 'loosened' : 'tightened');

function compareTypes(contract: Facts, service: Facts, sender: Sender): FactChange[] {
  const lost = [...contract.types].some((type) => !covers(service.types, type));
  const gained = [...service.types].some((type) => !covers(contract.types, type));
  if (!lost && !gained) return [];
  const change = lost && gained ? 'tightened' : lost ? narrowed(sender) : widened(sender);
  return [{ change, aspect: 'type', contract: spelled(contract.types), service: spelled(service.types) }];
}

const covers = (types: ReadonlySet<string>, type: string): boolean =>
  types.has('any') || types.has(type) || (type === 'integer' && types.has('number'));

const spelled = (types: ReadonlySet<string>): string => [...types].toSorted().join(' or ');

function compareRequired(contract: Facts, service: Facts, sender: Sender): FactChange[] {
  if (contract.required === service.required) return [];
  const change = service.required ? narrowed(sender) : widened(sender);
  return [{ change, aspect: 'required', contract: contract.required, service: service.required }];
}

function compareValues(contract: Facts, service: Facts, sender: Sender): FactChange[] {
  if (contract.listedByService) return [];
  const [before, after] = [contract.values, service.values];
  if (!before && !after) return [];
  if (!before || !after) {
    const change = after ? narrowed(sender) : widened(sender);
    return [{ change, aspect: 'values', contract: listText(before), service: listText(after) }];
  }
  const [known, served] = [new Set(before), new Set(after)];
  return [
    ...[...known]
      .filter((value) => !served.has(value))
      .map((value) => ({ change: 'removed' as const, aspect: 'value', contract: value, service: null })),
    ...[...served]
      .filter((value) => !known.has(value))
      .map((value) => ({ change: 'added' as const, aspect: 'value', contract: null, service: value })),
  ];
}

const maxListed = 20;

function listText(values: readonly string[] | undefined): string | null {
  if (!values) return null;
  const more = values.length > maxListed ? `, and ${values.length - maxListed} more` : '';
  return values.slice(0, maxListed).join(', ') + more;
}

function compareBound(
  name: string,
  contract: number | undefined,
  service: number | undefined,
  sender: Sender,
): FactChange[] {
  if (contract === service) return [];
  const none = name.startsWith('min') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const grows = (service ?? none) > (contract ?? none);
  const change = grows === name.startsWith('min') ? narrowed(sender) : widened(sender);
  return [{ change, aspect: name, contract: contract ?? null, service: service ?? null }];
}

/** Patterns cannot be compared. If the formats are the same, assume that different patterns express the same rule. */
function compareFormats(contract: Facts, service: Facts, sender: Sender): FactChange[] {
  const aspect = contract.format === service.format ? 'pattern' : 'format';
  if (aspect === 'pattern' && contract.format !== undefined) return [];
  const [before, after] = [contract[aspect], service[aspect]];
  if (before === after) return [];
  const change = before === undefined ? narrowed(sender) : after === undefined ? widened(sender) : 'changed';
  return [{ change, aspect, contract: before ?? null, service: after ?? null }];
}

const compareDefaults = (contract: Facts, service: Facts): FactChange[] =>
  contract.default === service.default
    ? []
    : [
        {
          change: 'changed',
          aspect: 'default',
          contract: contract.default ?? null,
          service: service.default ?? null,
        },
      ];
