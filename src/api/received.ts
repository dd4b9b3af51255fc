import { type JsonObject, own } from './json.ts';
import type { EssentialKind } from './operation.ts';
import type { OperationName, operations } from './operations/index.ts';
import type { SchemaName, Shape } from './schemas/index.ts';

/** Types of what the service sent: its field names are known, its values are not. */

type Table = typeof operations;
type ResponseOf<N extends OperationName> = Table[N]['response'];

/** The keys that a shape declares, without those that a loose shape lets in. */
type KeysOf<T> = keyof { [K in keyof T as string extends K ? never : number extends K ? never : K]: T[K] } &
  string;

/** A record of which only the field names are known. Each field may be missing, or hold another type. */
export type Unchecked<T> = [KeysOf<T>] extends [never] ? JsonObject : { readonly [K in KeysOf<T>]?: unknown };

/** Wire paths into a shape: `id`, `items.0.url`, `job_result.price_components.total`. Any text where no shape is known. */
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
 * The body of a response, as it was received: what the table calls essential is certain, and of the rest of its shape
 * nobody knows whether it is there, and in which type.
 */
export type Received<N extends OperationName> =
  ResponseOf<N> extends {
    readonly schema: infer S extends SchemaName;
  }
    ? Essential<ResponseOf<N>> & Rows<ResponseOf<N>> & Omit<Unchecked<Shape<S>>, CertainKeys<ResponseOf<N>>>
    : undefined;

/** The shape of one record of a list. */
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

/** One record of a list, as it was received. */
export type ReceivedRow<N extends OperationName> =
  unknown extends RowShape<N> ? JsonObject : Unchecked<RowShape<N>>;

/** What stands at a path of a record; undefined where there is nothing. Reads own properties only. */
export const valueAt = <T = never>(record: unknown, path: NoInfer<PathOf<T>>): unknown =>
  path.split('.').reduce<unknown>(ownOrEntry, record);

const ownOrEntry = (value: unknown, key: string): unknown =>
  Array.isArray(value) ? (Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined) : own(value, key);
