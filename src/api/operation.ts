import type { ErrorCode } from './error-codes.ts';
import { characterCount, uuidPattern as uuid } from './limits.ts';
import type { SchemaName, Shape } from './schemas/index.ts';
import type { ValidationIssue } from './validation.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
/** `current` lives under the base URL, `legacy` under the legacy base URL. */
export type Surface = 'current' | 'legacy';
/** `payment` is a 402 challenge paid per request; `basic` sends the client token as user name. */
export type Auth = 'none' | 'bearer' | 'payment' | 'basic';
/** `safe`: at every time; `idempotency_key`: with the same key; `never`: not once it may have been sent. */
export type RetryPolicy = 'safe' | 'idempotency_key' | 'never';

type ParameterType = 'string' | 'integer' | 'number' | 'boolean' | 'date-time' | 'uuid' | 'strings';

/** A path or query parameter: its type on the wire, and every bound it has. */
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
  /** The service may come to know more values: what is not among these is sent, and left to it to refuse. */
  readonly grows?: true;
  /** One of the service's own values, which it lists there and in its description: they stand in no code. */
  readonly valuesFrom?: 'GET /retailers';
  readonly default?: string | number | boolean;
  readonly observed?: true;
}

/** A rule between query parameters of one operation. */
export type ParameterRule =
  | { readonly together: readonly [string, string] }
  | { readonly exclusive: readonly [string, string] };

/** `newId` is that of what was just made: a response without one proves nothing. */
export type EssentialKind = 'id' | 'newId' | 'text' | 'number' | 'boolean' | 'object';

/** The response of an operation when it succeeds. */
export type SuccessResponse =
  | {
      readonly status: 200 | 201;
      readonly type: 'json';
      readonly schema: SchemaName;
      /** Fields without which, in their type, the response is none of the service's. */
      readonly essential?: Readonly<Record<string, EssentialKind>>;
      /** Where the records of a list stand, for paging. */
      readonly rows?: string;
    }
  | { readonly status: 200; readonly type: 'csv' }
  | { readonly status: 204; readonly type: 'none' };

/** One operation of the service: everything that the client, the sandbox and the documents need to know of it. */
export interface Operation {
  readonly method: Method;
  /** Template under the surface's base URL, parameters in braces. */
  readonly path: string;
  readonly surface: Surface;
  readonly summary: string;
  readonly auth: Auth;
  readonly pathParameters?: Readonly<Record<string, Parameter>>;
  readonly query?: Readonly<Record<string, Parameter>>;
  readonly rules?: readonly ParameterRule[];
  readonly body?: {
    readonly schema: SchemaName;
    /** It may be absent, empty, `{}` or `null`. */
    readonly optional?: true;
    readonly observed?: true;
    /** The terms of the query, in a body for those who send one: what stands in it is read as if it stood there. */
    readonly joinsQuery?: true;
    /** The fields that are read of a form, where one is taken too (RFC 8628). */
    readonly form?: readonly string[];
  };
  readonly response: SuccessResponse;
  /** Codes it may respond with, beside those of `auth` and validation. */
  readonly errors: readonly ErrorCode[];
  readonly retry: RetryPolicy;
  /** Whether it can move money, so that an unanswered request is in doubt. */
  readonly movesMoney?: true;
  /** One intent makes one order, batch or return of it: it goes through the journal, whichever command sends it. */
  readonly once?: true;
  /** Price of a call that is paid by challenge, in cents; for an order, added to `max_price`. */
  readonly challengeCents?: number;
  /** Whole operation known from watching the service only. */
  readonly observed?: true;
}

type NamesIn<P extends string> = P extends `${string}{${infer N}}${infer Rest}` ? N | NamesIn<Rest> : never;
type KeysIn<O, K extends string> = O extends { readonly [P in K]: infer S } ? keyof S & string : never;

type RuleOver<N extends string> =
  | { readonly together: readonly [N, N] }
  | { readonly exclusive: readonly [N, N] };

/** Rows and essential fields are those of the shape. */
type ResponseOf<A> = A extends { readonly schema: infer S extends SchemaName }
  ? {
      readonly rows?: keyof Shape<S>;
      readonly essential?: {
        readonly [K in KeysIn<A, 'essential'>]: K extends keyof Shape<S> ? EssentialKind : never;
      };
    }
  : unknown;

/** What a row of the table says in two places, it says the same way in both. */
interface WellFormed<O extends Operation> {
  readonly path: [NamesIn<O['path']>] extends [KeysIn<O, 'pathParameters'>] ? string : never;
  readonly pathParameters?: {
    readonly [K in KeysIn<O, 'pathParameters'>]: K extends NamesIn<O['path']> ? Parameter : never;
  };
  readonly rules?: readonly RuleOver<KeysIn<O, 'query'>>[];
  readonly response: ResponseOf<O['response']>;
}

/**
 * Rows of the table as they are written. A name in a path template, a rule, `rows` or `essential` that the row or its shape
 * does not have does not compile.
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

/** The parameters of a row of the table once they have been read: what is required or has a default is there. */
export type ValuesOf<S> = { readonly [N in CertainName<S>]: ValueOf<S[N]> } & {
  readonly [N in Exclude<keyof S, CertainName<S>>]?: ValueOf<S[N]>;
};
type Location = 'path' | 'query';
type Refusal = Pick<ValidationIssue, 'msg' | 'type'>;

const dateTime = /^\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?([Zz]|[+-]\d{2}:?\d{2})?)?$/;
const wholeNumber = /^-?\d{1,15}$/;
const decimalNumber = /^-?\d{1,15}(\.\d{1,15})?$/;

/**
 * Reads parameters off the wire: text to typed values, each bound checked, defaults filled in.
 * Unknown names are passed over, as the service does. Pure; issues carry `loc` as in the 422 body.
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
    if ('refusal' in read) issues.push({ loc: [location, name], ...read.refusal });
    else values[name] = read.value;
  }
  // What was refused was given all the same.
  const isGiven = (name: string): boolean => Object.hasOwn(raw, name) && (raw[name] ?? []).length > 0;
  return { values, issues: [...issues, ...brokenRules(rules, location, isGiven)] };
}

/**
 * Checks typed values against the table and puts each in its one form on the wire: a date as a date-time, say. What is
 * null is not sent, and no default is filled in. Pure; issues carry `loc` as in the 422 body.
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

/** The sender checks no value against a list that grows: the service may know more of them. */
const forSending = (specs: Specs): Specs =>
  Object.fromEntries(
    Object.entries(specs).map(([name, { values, ...spec }]) => [
      name,
      values && !spec.grows ? { ...spec, values } : spec,
    ]),
  );

/** A value's texts on the wire; an array is repeated. */
export function wireTexts(value: ParameterValue): string[] {
  if (value === null) return [''];
  return Array.isArray(value) ? value.map(String) : [String(value)];
}

function readOne(
  spec: Parameter,
  texts: readonly string[],
): { value: ParameterValue } | { refusal: Refusal } {
  if (spec.type === 'strings') {
    const refusal = texts.map((text) => refuseText(spec, text)).find((found) => found !== undefined);
    return refusal ? { refusal } : { value: [...texts] };
  }
  const text = texts.at(-1) ?? '';
  if (spec.nullable && text === '') return { value: null };
  return readScalar(spec, text);
}

function readScalar(spec: Parameter, text: string): { value: ParameterValue } | { refusal: Refusal } {
  switch (spec.type) {
    case 'integer':
      return wholeNumber.test(text)
        ? bounded(spec, Number(text))
        : { refusal: { msg: 'Input should be a valid integer', type: 'int_parsing' } };
    case 'number':
      return decimalNumber.test(text)
        ? bounded(spec, Number(text))
        : { refusal: { msg: 'Input should be a valid number', type: 'float_parsing' } };
    case 'boolean':
      if (/^(true|1)$/i.test(text)) return { value: true };
      if (/^(false|0)$/i.test(text)) return { value: false };
      return { refusal: { msg: 'Input should be true or false', type: 'bool_parsing' } };
    case 'uuid':
      return uuid.test(text)
        ? { value: text.toLowerCase() }
        : { refusal: { msg: 'Input should be a valid UUID', type: 'uuid_parsing' } };
    case 'date-time':
      return readDateTime(text);
    default: {
      const refusal = refuseText(spec, text);
      return refusal ? { refusal } : { value: text };
    }
  }
}

function bounded(spec: Parameter, value: number): { value: number } | { refusal: Refusal } {
  if (spec.min !== undefined && value < spec.min) {
    return {
      refusal: { msg: `Input should be greater than or equal to ${spec.min}`, type: 'greater_than_equal' },
    };
  }
  if (spec.max !== undefined && value > spec.max) {
    return { refusal: { msg: `Input should be less than or equal to ${spec.max}`, type: 'less_than_equal' } };
  }
  return { value };
}

function readDateTime(text: string): { value: string } | { refusal: Refusal } {
  const refusal = { msg: 'Input should be a valid date-time (ISO 8601)', type: 'datetime_parsing' };
  if (!dateTime.test(text)) return { refusal };
  const zoned = /[Zz]$|[+-]\d{2}:?\d{2}$/.test(text.slice(10))
    ? text
    : `${text}${text.length > 10 ? 'Z' : ''}`;
  const time = new Date(zoned.replace(' ', 'T'));
  if (Number.isNaN(time.getTime()) || !isCalendarDate(text.slice(0, 10))) return { refusal };
  return { value: time.toISOString() };
}

function isCalendarDate(date: string): boolean {
  const parsed = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(date);
}

function refuseText(spec: Parameter, text: string): Refusal | undefined {
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
