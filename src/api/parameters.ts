import { characterCount, uuidPattern as uuid } from './limits.ts';
import type { Parameter, ParameterRule } from './operation.ts';
import type { ValidationIssue } from './validation.ts';

export type ParameterValue = string | number | boolean | readonly string[] | null;
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
