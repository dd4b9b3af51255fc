import { shapeSchema } from '../../src/api/openapi.ts';
import type { SchemaName } from '../../src/api/schemas/index.ts';
import type { Random } from '../faults/random.ts';

/** Path from a response's root to a value: field names, and 0 for a list's first element. */
export type Path = readonly (string | number)[];

export interface Mutation {
  readonly path: Path;
  readonly kind: string;
  /** Returns the response with the value at the path changed. */
  readonly apply: (response: unknown) => unknown;
}

/**
 * Escape sequences, bidirectional controls, zero-width characters, a tag character, line breaks, and an emoji sequence.
 */
export const hostileText =
  '\u001b]0;title\u0007\u001b[2J\u009b31m\u202Eback\u202C z\u200Bw\u2066i\u2069\u{E0041}\ufeff\r\n\t\u{1F468}\u200D\u{1F467}';

const deep = (levels: number): unknown => {
  let value: unknown = 'bottom';
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { in: value };
  return value;
};

/** Replacement values; `missing` removes the field. */
const kinds: Readonly<Record<string, (value: unknown) => unknown>> = {
  missing: () => undefined,
  null: () => null,
  text: () => 'other',
  'hostile text': () => hostileText,
  'empty text': () => '',
  number: () => 7,
  'negative number': () => -1.5,
  'huge number': () => 1e308,
  'number beyond integers': () => 2 ** 60,
  true: () => true,
  object: () => ({ a: [1], b: null }),
  'empty object': () => ({}),
  list: () => [[], { b: null }],
  'empty list': () => [],
  'list of nulls': () => [null, null],
  'long text': () => `${hostileText} `.repeat(5000),
  'long list': (value) => Array.from({ length: 3000 }, () => value),
  'deep value': () => deep(150),
  'too deep a value': () => deep(4000),
  'long name': () => ({ ['n'.repeat(20_000)]: 1, __proto__: null, constructor: 1, toString: 2 }),
};
const kindNames = Object.keys(kinds);

/** All paths in a response; of a list, only the first element's. */
export function pathsOf(value: unknown, path: Path = []): Path[] {
  if (Array.isArray(value))
    return value.length === 0 ? [] : [[...path, 0], ...pathsOf(value[0], [...path, 0])];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [[...path, key], ...pathsOf(inner, [...path, key])]);
}

/** All paths in a contract shape, including those absent from responses. */
export const pathsOfShape = (name: SchemaName): Path[] => pathsIn(shapeSchema(name), []);

function pathsIn(schema: unknown, path: Path): Path[] {
  if (typeof schema !== 'object' || schema === null || path.length > 8) return [];
  const { properties = {}, items, anyOf = [] } = { ...schema } as Record<string, object | undefined>;
  return [
    ...Object.entries(properties).flatMap(([key, inner]) => [
      [...path, key],
      ...pathsIn(inner, [...path, key]),
    ]),
    ...(items === undefined ? [] : [[...path, 0], ...pathsIn(items, [...path, 0])]),
    ...Object.values(anyOf).flatMap((variant) => pathsIn(variant, path)),
  ];
}

/** Changes the value at a path, creating missing parents. */
function withValue(value: unknown, [key, ...rest]: Path, change: (value: unknown) => unknown): unknown {
  if (key === undefined) return change(value);
  if (typeof key === 'number') {
    const [first, ...others] = Array.isArray(value) ? value : [];
    return [withValue(first, rest, change), ...others];
  }
  const object: object = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
  const inner: unknown = Object.hasOwn(object, key) ? Reflect.get(object, key) : undefined;
  return { ...object, [key]: withValue(inner, rest, change) };
}

const mutation = (path: Path, kind: string): Mutation => ({
  path,
  kind,
  apply: (response) => withValue(response, path, kinds[kind] ?? (() => undefined)),
});

/** Every mutation at every path. */
export const allMutations = (paths: readonly Path[]): Mutation[] =>
  paths.flatMap((path) => kindNames.map((kind) => mutation(path, kind)));

/** Two random mutations per path: one removes the value, one replaces it. */
export function someMutations(paths: readonly Path[], random: Random): Mutation[] {
  return paths.flatMap((path) => [
    mutation(path, random.pick(['missing', 'null'])),
    mutation(path, random.pick(kindNames.slice(2))),
  ]);
}

/** Replaces every leaf of a response, and every empty list or object, with one kind of value. */
export const mutatedThroughout = (kind: string): Mutation => {
  const change = kinds[kind] ?? (() => undefined);
  const throughout = (value: unknown): unknown => {
    if (Array.isArray(value) && value.length > 0) return value.map(throughout);
    if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return change(value);
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, throughout(inner)]));
  };
  return { path: [], kind: `${kind} everywhere`, apply: throughout };
};
