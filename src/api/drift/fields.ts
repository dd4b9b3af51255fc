import { isObject, type JsonObject, listIn, own } from '../json.ts';
import type { Budget } from './budget.ts';
import { entriesIn, followed } from './document.ts';

export const boundNames = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'] as const;
type BoundName = (typeof boundNames)[number];

/** What a document says of one value. */
export interface Facts {
  /** JSON types, `any` for no statement. */
  readonly types: ReadonlySet<string>;
  readonly required: boolean;
  /** The closed list of values, each as JSON. */
  readonly values?: readonly string[] | undefined;
  /** Values that a list names which is open to others, each as JSON. */
  readonly known?: readonly string[] | undefined;
  /** The list is the service's own: no contract can hold it. */
  readonly listedByService?: boolean;
  readonly bounds: Readonly<Partial<Record<BoundName, number>>>;
  readonly format?: string | undefined;
  readonly pattern?: string | undefined;
  readonly default?: string | undefined;
  /** The contract knows it from watching the service only. */
  readonly observed: boolean;
}

interface Walk {
  readonly document: JsonObject;
  readonly budget: Budget;
  readonly fields: Map<string, Facts>;
}

const deepest = 40;

/**
 * Every field that a schema describes, by its path: `products[].url`, and the empty path for the value itself. A
 * reference to what contains it ends there. Pure but for the budget.
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
  if (walk.budget.isSpent || above.size > deepest) return;
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

/** The schemas one of which a value fits: those of `anyOf` and `oneOf`, with all of `allOf` in each. */
function alternatives(walk: Walk, schema: unknown, above: ReadonlySet<unknown>): unknown[] {
  walk.budget.spend();
  if (walk.budget.isSpent || above.size > deepest) return [];
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

/** Two statements about one value as one. */
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

/** An exclusive bound of whole numbers is the next one, inclusive. */
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
  const said = own(schema, 'type');
  const types = (Array.isArray(said) ? said : [said]).filter((type) => typeof type === 'string');
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

/** What holds of a value that fits one of several schemas; bounds and formats only where there is one beside null. */
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

/** A field that several variants have is what any of them says. */
function merge(fields: Map<string, Facts>, path: string, facts: Facts): void {
  const before = fields.get(path);
  fields.set(path, before ? united([before, facts], before.required && facts.required) : facts);
}
