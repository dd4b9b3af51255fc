import type { ErrorCode } from './error-codes.ts';
import type { SchemaName, Shape } from './schemas/index.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
/** `current` lives under the base URL, `legacy` under the legacy base URL. */
export type Surface = 'current' | 'legacy';
/** `payment` is a 402 challenge paid per request; `basic` sends the client token as user name. */
export type Auth = 'none' | 'bearer' | 'payment' | 'basic';
/** `safe`: at every time; `idempotency_key`: with the same key; `never`: not once it may have been sent. */
export type RetryPolicy = 'safe' | 'idempotency_key' | 'never';

export type ParameterType = 'string' | 'integer' | 'number' | 'boolean' | 'date-time' | 'uuid' | 'strings';

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
