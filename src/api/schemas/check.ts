import type { z } from 'zod';
import type { ValidationIssue } from '../validation.ts';
import { type SchemaName, type Shape, schemas } from './index.ts';

export type Checked<N extends SchemaName> =
  | { readonly value: Shape<N>; readonly issues?: never }
  | { readonly issues: readonly ValidationIssue[]; readonly value?: never };

/**
 * Number of checks before shapes are compiled. Compiling takes zod milliseconds, so it pays off only in a process that
 * checks many values.
 */
const checksBeforeCompiling = 100;
let checks = 0;

/**
 * Validates a value against a shape of the contract. Issues have the format of the 422 body, with a `loc` that starts
 * with `place`.
 */
export function checkShape<N extends SchemaName>(
  name: N,
  value: unknown,
  place: 'body' | 'response',
): Checked<N> {
  const schema: z.ZodType = schemas[name]();
  // The output type follows from the schema, but zod's generics cannot infer it through the index.
  return checkAgainst(schema, value, place) as Checked<N>;
}

/** Validates a value against a schema composed of contract shapes. */
export function checkAgainst<T>(
  schema: z.ZodType<T>,
  value: unknown,
  place: 'body' | 'response',
):
  | { readonly value: T; readonly issues?: never }
  | { readonly issues: readonly ValidationIssue[]; readonly value?: never } {
  const unsendable = place === 'body' ? lostKey(value, place) : undefined;
  if (unsendable) return { issues: [unsendable] };
  const result = schema.safeParse(value, { jitless: checks < checksBeforeCompiling });
  checks += 1;
  if (result.success) return { value: result.data };
  return { issues: result.error.issues.flatMap((issue) => validationIssues(issue, value, [place])) };
}

type Place = readonly (string | number)[];

/** Finds a `__proto__` key at any depth. The schemas would silently drop such a key. */
function lostKey(body: unknown, top: string): ValidationIssue | undefined {
  const open: Part[] = [{ value: body, key: top, within: undefined }];
  for (let part = open.pop(); part; part = open.pop()) {
    const { value } = part;
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value) && Object.hasOwn(value, '__proto__'))
      return {
        loc: [...placeOf(part), '__proto__'],
        msg: 'A field cannot be called __proto__; give it another name',
        type: 'extra_forbidden',
      };
    const fields = value as Readonly<Record<string, unknown>>;
    for (const key of Object.keys(fields)) {
      const inner = fields[key];
      if (typeof inner === 'object')
        open.push({ value: inner, key: Array.isArray(value) ? Number(key) : key, within: part });
    }
  }
  return undefined;
}

/** A part of a body. The path to the part is built only if there is a problem with it. */
interface Part {
  readonly value: unknown;
  readonly key: string | number;
  readonly within: Part | undefined;
}

function placeOf(part: Part): Place {
  const place: (string | number)[] = [];
  for (let at: Part | undefined = part; at; at = at.within) place.unshift(at.key);
  return place;
}

function validationIssues(issue: z.core.$ZodIssue, value: unknown, place: Place): ValidationIssue[] {
  const path = issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key));
  const loc = [...place, ...path];
  if (issue.code === 'unrecognized_keys') {
    const msg = 'Extra inputs are not permitted';
    return issue.keys.map((key) => ({ loc: [...loc, key], msg, type: 'extra_forbidden' }));
  }
  if (issue.code === 'invalid_type' && valueAt(value, path) === undefined) {
    return [{ loc, msg: 'Field required', type: 'missing' }];
  }
  return [{ loc, msg: message(issue), type: issueTypes[issue.code] ?? 'value_error' }];
}

const issueTypes: Readonly<Record<string, string>> = {
  invalid_type: 'type_error',
  invalid_value: 'enum',
  invalid_format: 'string_pattern_mismatch',
  too_small: 'too_small',
  too_big: 'too_big',
};

function message(issue: z.core.$ZodIssue): string {
  if (issue.code === 'too_big' && issue.origin === 'string') {
    return `String should have at most ${issue.maximum} characters`;
  }
  if (issue.code === 'too_small' && (issue.origin === 'number' || issue.origin === 'int')) {
    return `Input should be greater than or equal to ${issue.minimum}`;
  }
  if (issue.code === 'invalid_type' && (issue.expected === 'record' || issue.expected === 'object')) {
    return 'Input should be an object';
  }
  return issue.message;
}

function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  let found: unknown = value;
  for (const key of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = Reflect.get(found, key);
  }
  return found;
}
