import type { ValuesOf } from '../../api/operation.ts';
import type { OperationName, operations } from '../../api/operations/index.ts';
import type { Shape } from '../../api/schemas/index.ts';
import type { Caller } from './caller.ts';
import type { Service } from './service.ts';
import type { SandboxBody, SandboxRequest } from './wire.ts';

type Table = typeof operations;
type BodyOf<N extends OperationName> = Table[N] extends { body: { schema: infer S } }
  ? S extends keyof typeof import('../../api/schemas/index.ts').schemas
    ? Shape<S>
    : undefined
  : undefined;
/** Query parameters of an operation, as declared in its table row. */
export type QueryOf<N extends OperationName> = Table[N] extends { query: infer S } ? ValuesOf<S> : Nothing;
type PathOf<N extends OperationName> = Table[N] extends { pathParameters: infer S } ? ValuesOf<S> : Nothing;
/** An object type without any readable property. */
type Nothing = Readonly<Record<never, never>>;
type CallerOf<N extends OperationName> = Table[N]['auth'] extends 'bearer' | 'basic' ? Caller : null;

/** A request whose path, query and body have been validated against the contract. */
export interface Call<N extends OperationName> {
  readonly caller: CallerOf<N>;
  readonly path: PathOf<N>;
  readonly query: QueryOf<N>;
  readonly body: BodyOf<N>;
  readonly request: SandboxRequest;
  /** Time of the call, in ms since the epoch. It stays the same throughout the call. */
  readonly now: number;
}

type ResultShape<N extends OperationName> = Table[N]['response'] extends { schema: infer S }
  ? S extends keyof typeof import('../../api/schemas/index.ts').schemas
    ? Shape<S>
    : never
  : never;

/** What a handler returns on success. If a handler refuses a request, it throws. */
export type HandlerResult<N extends OperationName> =
  | {
      readonly value: ResultShape<N>;
      /**
       * Whether the records come from the store. Such records may have fields that a newer version added and that this
       * version does not know.
       */
      readonly isStored?: true;
      readonly headers?: Readonly<Record<string, string>>;
      readonly count?: number;
    }
  /** JSON text assembled from records that were validated when they were written. */
  | {
      readonly text: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly count?: number;
    }
  | { readonly csv: SandboxBody; readonly filename: string }
  | { readonly empty: true };

type Handler<N extends OperationName> = (
  service: Service,
  call: Call<N>,
) => HandlerResult<N> | Promise<HandlerResult<N>>;

/** One handler per operation. A missing handler is a compile error. */
export type AllHandlers = { readonly [N in OperationName]: Handler<N> };

const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** Formats a line of CSV (RFC 4180). */
export const csvLine = (cells: readonly unknown[]): string =>
  `${cells.map((cell) => quoted(String(cell ?? ''))).join(',')}\r\n`;
