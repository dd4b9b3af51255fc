import type { ErrorCode } from './error-codes.ts';
import type { Auth } from './error-types.ts';
import { characterCount, uuidPattern as uuid } from './limits.ts';
import type { SchemaName, Shape } from './schemas/index.ts';
import type { ValidationIssue } from './validation.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
/** Where an operation is served: `current` under the base URL, `legacy` under the legacy base URL. */
export type Surface = 'current' | 'legacy';

/**
 * When a call may be retried. `safe`: always. `idempotency_key`: only with the same key. `never`: not after the request
 * may have been sent.
 */
export type RetryPolicy = 'safe' | 'idempotency_key' | 'never';

type ParameterType = 'string' | 'integer' | 'number' | 'boolean' | 'date-time' | 'uuid' | 'strings';

/** Type and bounds of a path or query parameter. */
export interface Parameter {
  readonly type: ParameterType;
  readonly description: string;
  readonly required?: true;
  readonly nullable?: true;
  readonly min?: number;
  readonly max?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly values?: readonly string[];
  /**
   * Whether the service may add values. Unknown values are then sent, and the service decides whether to reject them.
   */
  readonly grows?: true;
  /** The operation that lists the allowed values, so that they are not hard-coded. */
  readonly valuesFrom?: 'GET /retailers';
  readonly default?: string | number | boolean;
  readonly observed?: true;
}

/** A rule between query parameters of one operation. */
export type ParameterRule =
  | { readonly together: readonly [string, string] }
  | { readonly exclusive: readonly [string, string] };

/**
 * Types of fields that a response must have. `newId` is the id of a newly created record; without it, a response does
 * not prove that a record was created.
 */
export type EssentialKind = 'id' | 'newId' | 'text' | 'number' | 'boolean' | 'object';

/** Successful response of an operation. */
export type SuccessResponse =
  | {
      readonly status: 200 | 201;
      readonly type: 'json';
      readonly schema: SchemaName;
      /** Fields that must be present with the right type. A response that lacks one does not come from the service. */
      readonly essential?: Readonly<Record<string, EssentialKind>>;
      /** Field that contains the records of a list, for paging. */
      readonly rows?: string;
    }
  | { readonly status: 200; readonly type: 'csv' }
  | { readonly status: 204; readonly type: 'none' };

/** One operation of the service. The client, the sandbox and the docs are all derived from it. */
export interface Operation {
  readonly method: Method;
  /** Path template, relative to the base URL of the surface. Parameters are in braces. */
  readonly path: string;
  readonly surface: Surface;
  readonly summary: string;
  readonly auth: Auth;
  readonly pathParameters?: Readonly<Record<string, Parameter>>;
  readonly query?: Readonly<Record<string, Parameter>>;
  readonly rules?: readonly ParameterRule[];
  readonly body?: {
    readonly schema: SchemaName;
    /** The body may be absent, empty, `{}` or `null`. */
    readonly optional?: true;
    readonly observed?: true;
    /** Whether the body may contain query parameters, which are then merged into the query. */
    readonly joinsQuery?: true;
    /** Fields of a form. Set if the operation also accepts its body as a form (RFC 8628). */
    readonly form?: readonly string[];
  };
  readonly response: SuccessResponse;
  /** Error codes that the operation may return, besides the codes of `auth` and validation errors. */
  readonly errors: readonly ErrorCode[];
  readonly retry: RetryPolicy;
  /** Whether the operation can move money. If it can, an unanswered request is in doubt. */
  readonly movesMoney?: true;
  /**
   * Whether one intent must create exactly one order, batch or return. If so, every command sends this operation
   * through the journal.
   */
  readonly once?: true;
  /** Price in cents of a call that is paid through a challenge. For an order, this price is added to `max_price`. */
  readonly challengeCents?: number;
  /** Whether the whole operation was only observed on the service, and is not in the specification. */
  readonly observed?: true;
}

type NamesIn<P extends string> = P extends `${string}{${infer N}}${infer Rest}` ? N | NamesIn<Rest> : never;
type KeysIn<O, K extends string> = O extends { readonly [P in K]: infer S } ? keyof S & string : never;

type RuleOver<N extends string> =
  | { readonly together: readonly [N, N] }
  | { readonly exclusive: readonly [N, N] };

/** At compile time, checks that `rows` and `essential` name fields of the shape. */
type ResponseOf<A> = A extends { readonly schema: infer S extends SchemaName }
  ? {
      readonly rows?: keyof Shape<S>;
      readonly essential?: {
        readonly [K in KeysIn<A, 'essential'>]: K extends keyof Shape<S> ? EssentialKind : never;
      };
    }
  : unknown;

/** At compile time, checks that the parts of a row fit together: path parameters, rules and response fields. */
interface WellFormed<O extends Operation> {
  readonly path: [NamesIn<O['path']>] extends [KeysIn<O, 'pathParameters'>] ? string : never;
  readonly pathParameters?: {
    readonly [K in KeysIn<O, 'pathParameters'>]: K extends NamesIn<O['path']> ? Parameter : never;
  };
  readonly rules?: readonly RuleOver<KeysIn<O, 'query'>>[];
  readonly response: ResponseOf<O['response']>;
}

/**
 * Checks the table at compile time. It does not compile if a path template, a rule, `rows` or `essential` names
 * something that the operation or its shape lacks.
 */
export const operationTable = <const T extends Readonly<Record<string, Operation>>>(
  table: T & { readonly [N in keyof T]: WellFormed<T[N]> },
): T => table;

type ParameterValue = string | number | boolean | readonly string[] | null;
export type ParameterValues = Readonly<Record<string, ParameterValue | undefined>>;
type Specs = Readonly<Record<string, Parameter>>;

type ValueOf<P> =
  | (P extends { type: 'integer' | 'number' }
      ? number
      : P extends { type: 'boolean' }
        ? boolean
        : P extends { type: 'strings' }
          ? readonly TextOf<P>[]
          : TextOf<P>)
  | (P extends { nullable: true } ? null : never);
type TextOf<P> = P extends { values: readonly (infer V extends string)[] } ? V : string;
type CertainName<S> = {
  [N in keyof S]: S[N] extends { required: true } | { default: string | number | boolean } ? N : never;
}[keyof S];

/**
 * The parameters of an operation after parsing. Required parameters and parameters with a default are always present.
 */
export type ValuesOf<S> = { readonly [N in CertainName<S>]: ValueOf<S[N]> } & {
  readonly [N in Exclude<keyof S, CertainName<S>>]?: ValueOf<S[N]>;
};
type Location = 'path' | 'query';
type ParameterIssue = Pick<ValidationIssue, 'msg' | 'type'>;

const dateTime = /^\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?([Zz]|[+-]\d{2}:?\d{2})?)?$/;
const wholeNumber = /^-?\d{1,15}$/;
const decimalNumber = /^-?\d{1,15}(\.\d{1,15})?$/;

/**
 * Parses parameters from the wire: converts text to typed values, checks bounds and fills in defaults. Ignores unknown
 * names, as the service does. Pure. Issues carry `loc` as in the 422 body.
 */
export function readParameters(
  specs: Specs,
  rules: readonly ParameterRule[],
  location: Location,
  raw: Readonly<Record<string, readonly string[] | undefined>>,
): { values: ParameterValues; issues: ValidationIssue[] } {
  const values: Record<string, ParameterValue | undefined> = {};
  const issues: ValidationIssue[] = [];
  for (const [name, spec] of Object.entries(specs)) {
    const texts = Object.hasOwn(raw, name) ? (raw[name] ?? []) : [];
    if (texts.length === 0) {
      if (spec.required) issues.push({ loc: [location, name], msg: 'Field required', type: 'missing' });
      else if (spec.default !== undefined) values[name] = spec.default;
      continue;
    }
    const read = readOne(spec, texts);
    if ('issue' in read) issues.push({ loc: [location, name], ...read.issue });
    else values[name] = read.value;
  }
  // For the rules between parameters, a parameter counts as given even if its value was rejected.
  const isGiven = (name: string): boolean => Object.hasOwn(raw, name) && (raw[name] ?? []).length > 0;
  return { values, issues: [...issues, ...brokenRules(rules, location, isGiven)] };
}

/**
 * Validates typed values against the table and serializes each in its canonical wire form. A date, for example, becomes
 * a date-time. Skips nulls and fills in no defaults. Pure. Issues carry `loc` as in the 422 body.
 */
export function writeParameters(
  specs: Specs,
  rules: readonly ParameterRule[],
  location: Location,
  given: ParameterValues,
): { pairs: [name: string, text: string][]; issues: ValidationIssue[] } {
  const raw: Record<string, string[]> = {};
  const misplaced: ValidationIssue[] = [];
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const refuse = (msg: string, type: string) => misplaced.push({ loc: [location, name], msg, type });
    const spec = Object.hasOwn(specs, name) ? specs[name] : undefined;
    if (spec) raw[name] = wireTexts(value);
    if (!spec) refuse('Unknown parameter', 'extra_forbidden');
    else if (spec.type !== 'strings' && Array.isArray(value))
      refuse('Input should be one value, not a list', 'scalar_type');
  }
  const { values, issues } = readParameters(forSending(specs), rules, location, raw);
  const sent = Object.keys(raw).filter((name) => given[name] !== null);
  const pairs = sent.flatMap((name) =>
    wireTexts(values[name] ?? null).map((text): [string, string] => [name, text]),
  );
  return { pairs, issues: [...misplaced, ...issues] };
}

/**
 * Drops lists of values that the service may extend, because the service may accept values that the client does not
 * know.
 */
const forSending = (specs: Specs): Specs =>
  Object.fromEntries(
    Object.entries(specs).map(([name, { values, ...spec }]) => [
      name,
      values && !spec.grows ? { ...spec, values } : spec,
    ]),
  );

/** Wire form of a value. An array becomes a repeated parameter. */
export function wireTexts(value: ParameterValue): string[] {
  if (value === null) return [''];
  return Array.isArray(value) ? value.map(String) : [String(value)];
}

function readOne(
  spec: Parameter,
  texts: readonly string[],
): { value: ParameterValue } | { issue: ParameterIssue } {
  if (spec.type === 'strings') {
    const issue = texts.map((text) => refuseText(spec, text)).find((found) => found !== undefined);
    return issue ? { issue } : { value: [...texts] };
  }
  const text = texts.at(-1) ?? '';
  if (spec.nullable && text === '') return { value: null };
  return readScalar(spec, text);
}

function readScalar(spec: Parameter, text: string): { value: ParameterValue } | { issue: ParameterIssue } {
  switch (spec.type) {
    case 'integer':
      return wholeNumber.test(text)
        ? bounded(spec, Number(text))
        : { issue: { msg: 'Input should be a valid integer', type: 'int_parsing' } };
    case 'number':
      return decimalNumber.test(text)
        ? bounded(spec, Number(text))
        : { issue: { msg: 'Input should be a valid number', type: 'float_parsing' } };
    case 'boolean':
      if (/^(true|1)$/i.test(text)) return { value: true };
      if (/^(false|0)$/i.test(text)) return { value: false };
      return { issue: { msg: 'Input should be true or false', type: 'bool_parsing' } };
    case 'uuid':
      return uuid.test(text)
        ? { value: text.toLowerCase() }
        : { issue: { msg: 'Input should be a valid UUID', type: 'uuid_parsing' } };
    case 'date-time':
      return readDateTime(text);
    default: {
      const issue = refuseText(spec, text);
      return issue ? { issue } : { value: text };
    }
  }
}

function bounded(spec: Parameter, value: number): { value: number } | { issue: ParameterIssue } {
  if (spec.min !== undefined && value < spec.min) {
    return {
      issue: { msg: `Input should be greater than or equal to ${spec.min}`, type: 'greater_than_equal' },
    };
  }
  if (spec.max !== undefined && value > spec.max) {
    return { issue: { msg: `Input should be less than or equal to ${spec.max}`, type: 'less_than_equal' } };
  }
  return { value };
}

function readDateTime(text: string): { value: string } | { issue: ParameterIssue } {
  const issue = { msg: 'Input should be a valid date-time (ISO 8601)', type: 'datetime_parsing' };
  if (!dateTime.test(text)) return { issue };
  const zoned = /[Zz]$|[+-]\d{2}:?\d{2}$/.test(text.slice(10))
    ? text
    : `${text}${text.length > 10 ? 'Z' : ''}`;
  const time = new Date(zoned.replace(' ', 'T'));
  if (Number.isNaN(time.getTime()) || !isCalendarDate(text.slice(0, 10))) return { issue };
  return { value: time.toISOString() };
}

function isCalendarDate(date: string): boolean {
  const parsed = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(date);
}

function refuseText(spec: Parameter, text: string): ParameterIssue | undefined {
  const length = characterCount(text);
  if (spec.minLength !== undefined && length < spec.minLength) {
    return { msg: `String should have at least ${spec.minLength} characters`, type: 'string_too_short' };
  }
  if (spec.maxLength !== undefined && length > spec.maxLength) {
    return { msg: `String should have at most ${spec.maxLength} characters`, type: 'string_too_long' };
  }
  if (spec.values && !spec.values.includes(text)) {
    return { msg: `Input should be one of ${spec.values.join(', ')}`, type: 'enum' };
  }
  return undefined;
}

function brokenRules(
  rules: readonly ParameterRule[],
  location: Location,
  isGiven: (name: string) => boolean,
): ValidationIssue[] {
  return rules.flatMap((rule) => {
    if ('together' in rule) {
      const [a, b] = rule.together;
      if (isGiven(a) === isGiven(b)) return [];
      const missing = isGiven(a) ? b : a;
      const msg = `${a} and ${b} must be sent together`;
      return [{ loc: [location, missing], msg, type: 'missing' }];
    }
    const [a, b] = rule.exclusive;
    if (!isGiven(a) || !isGiven(b)) return [];
    return [{ loc: [location, b], msg: `${a} and ${b} exclude each other`, type: 'value_error' }];
  });
}
