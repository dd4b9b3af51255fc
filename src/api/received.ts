import { type JsonObject, own } from './json.ts';
import type { EssentialKind } from './operation.ts';
import type { OperationName, operations } from './operations/index.ts';
import type { SchemaName, Shape } from './schemas/index.ts';

/** Types for received data. The field names are known, but the values are unverified. */

type Table = typeof operations;
type ResponseOf<N extends OperationName> = Table[N]['response'];

/** Keys that a shape declares, without the index signature of a loose shape. */
type KeysOf<T> = keyof { [K in keyof T as string extends K ? never : number extends K ? never : K]: T[K] } &
  string;

/** A record whose field names are known but unverified. Every field may be missing or have another type. */
export type Unchecked<T> = [KeysOf<T>] extends [never] ? JsonObject : { readonly [K in KeysOf<T>]?: unknown };

/**
 * Wire paths within a shape: `id`, `items.0.url`, `job_result.price_components.total`. If the shape is unknown, any
 * string is allowed.
 */
export type PathOf<T> = unknown extends T
  ? string
  : T extends readonly (infer E)[]
    ? `${number}` | `${number}.${PathOf<NonNullable<E>>}`
    : T extends object
      ? [KeysOf<T>] extends [never]
        ? string
        : { [K in KeysOf<T>]: K | `${K}.${PathOf<NonNullable<T[K]>>}` }[KeysOf<T>]
      : never;

interface ValueOfKind {
  id: string;
  newId: string;
  text: string;
  number: number;
  boolean: boolean;
  object: JsonObject;
}

type Essential<A> = A extends { readonly essential: infer E extends Readonly<Record<string, EssentialKind>> }
  ? { readonly [K in keyof E]: ValueOfKind[E[K]] }
  : unknown;
type Rows<A> = A extends { readonly rows: infer R extends string }
  ? { readonly [K in R]: readonly unknown[] }
  : unknown;
type CertainKeys<A> = keyof (Essential<A> & Rows<A>);

/**
 * A response body as received. The fields that the table marks as essential are verified. Any other field may be
 * missing or have another type.
 */
export type Received<N extends OperationName> =
  ResponseOf<N> extends {
    readonly schema: infer S extends SchemaName;
  }
    ? Essential<ResponseOf<N>> & Rows<ResponseOf<N>> & Omit<Unchecked<Shape<S>>, CertainKeys<ResponseOf<N>>>
    : undefined;

/** Shape of a list's record. */
export type RowShape<N extends OperationName> =
  ResponseOf<N> extends {
    readonly schema: infer S extends SchemaName;
    readonly rows: infer R extends string;
  }
    ? R extends keyof Shape<S>
      ? Shape<S>[R] extends readonly (infer E)[]
        ? E
        : never
      : never
    : unknown;

/** A list record as received. */
export type ReceivedRow<N extends OperationName> =
  unknown extends RowShape<N> ? JsonObject : Unchecked<RowShape<N>>;

/** Value at a path of a record; undefined if there is none. Reads only own properties. */
export const valueAt = <T = never>(record: unknown, path: NoInfer<PathOf<T>>): unknown =>
  path.split('.').reduce<unknown>(ownOrEntry, record);

const ownOrEntry = (value: unknown, key: string): unknown =>
  Array.isArray(value) ? (Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined) : own(value, key);
