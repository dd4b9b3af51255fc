import type { Operation, Parameter } from '../api/operation.ts';
import type { OperationName, operations } from '../api/operations/index.ts';
import type { SchemaName, ShapeInput } from '../api/schemas/index.ts';

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

/** The values of parameters by their names. */
export type QueryValues<S extends Specs> = { readonly [N in RequiredNames<S>]: ValueOf<S[N]> } & {
  readonly [N in Exclude<keyof S, RequiredNames<S>>]?: ValueOf<S[N]> | undefined;
};

/** The query parameters of an operation, by their wire names. */
export type QueryOf<N extends OperationName> =
  Field<Table[N], 'query'> extends infer S extends Specs
    ? QueryValues<S>
    : { readonly [name: string]: never };

/** A part of the input: required where something in it is, absent where the operation has none. */
type Part<K extends string, S> = S extends Specs
  ? RequiredNames<S> extends never
    ? { readonly [P in K]?: QueryValues<S> | undefined }
    : { readonly [P in K]: QueryValues<S> }
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

type RespondingWith<T extends Operation['response']['type']> = {
  [N in OperationName]: Table[N]['response']['type'] extends T ? N : never;
}[OperationName];

/** Operations whose response is read whole. */
export type CallName = RespondingWith<'json' | 'none'>;
/** Operations whose response comes as a stream of any length. */
export type StreamName = RespondingWith<'csv'>;
