import type { JsonObject } from '../contract/json.ts';
import type { EssentialKind, Operation, Parameter } from '../contract/operation.ts';
import type { OperationName, operations } from '../contract/operations/index.ts';
import type { SchemaName, Shape, ShapeInput } from '../contract/schemas/index.ts';

type Table = typeof operations;
type Specs = Readonly<Record<string, Parameter>>;

type ValueOf<P extends Parameter> =
  | (P['type'] extends 'integer' | 'number'
      ? number
      : P['type'] extends 'boolean'
        ? boolean
        : P['type'] extends 'strings'
          ? readonly string[]
          : string)
  | (P extends { readonly nullable: true } ? null : never);

type RequiredNames<S extends Specs> = {
  [N in keyof S]: S[N] extends { readonly required: true } ? N : never;
}[keyof S];

type Values<S extends Specs> = { readonly [N in RequiredNames<S>]: ValueOf<S[N]> } & {
  readonly [N in Exclude<keyof S, RequiredNames<S>>]?: ValueOf<S[N]> | undefined;
};

/** A part of the input: required where something in it is, absent where the operation has none. */
type Part<K extends string, S> = S extends Specs
  ? RequiredNames<S> extends never
    ? { readonly [P in K]?: Values<S> | undefined }
    : { readonly [P in K]: Values<S> }
  : unknown;

type BodyPart<B> = B extends { readonly schema: infer N extends SchemaName; readonly optional: true }
  ? { readonly body?: ShapeInput<N> | undefined }
  : B extends { readonly schema: infer N extends SchemaName }
    ? { readonly body: ShapeInput<N> }
    : unknown;

type Field<O, K extends string> = O extends { readonly [P in K]: infer V } ? V : undefined;

/** What an operation is called with: path and query parameters by their wire names, and the body. */
export type InputOf<N extends OperationName> = Part<'path', Field<Table[N], 'pathParameters'>> &
  Part<'query', Field<Table[N], 'query'>> &
  BodyPart<Field<Table[N], 'body'>>;

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
 * A record as it was received: what the table calls essential is certain, and of the rest of its shape nobody knows
 * whether it is there, and in which type.
 */
export type Received<N extends OperationName> = Table[N]['answer'] extends {
  readonly schema: infer S extends SchemaName;
}
  ? Essential<Table[N]['answer']> &
      Rows<Table[N]['answer']> & {
        readonly [K in Exclude<keyof Shape<S>, CertainKeys<Table[N]['answer']>>]?: unknown;
      }
  : undefined;

type Answering<T extends Operation['answer']['type']> = {
  [N in OperationName]: Table[N]['answer']['type'] extends T ? N : never;
}[OperationName];

/** Operations whose answer is read whole. */
export type CallName = Answering<'json' | 'none'>;
/** Operations whose answer comes as a stream of any length. */
export type StreamName = Answering<'csv'>;
