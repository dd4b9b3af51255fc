import { operations as table } from '../../api/operations/index.ts';
import type { Operations, SchemaName, StreamedOperations } from './wire.ts';

/** Operations whose response is read as a whole. */
export type CallName = keyof Operations & string;
/** Operations whose response is CSV of any length. */
export type StreamName = keyof StreamedOperations & string;
/** Operations that return a list. */
export type ListName = {
  [N in CallName]: Operations[N] extends { row: unknown } ? N : never;
}[CallName];
export type OperationName = CallName | StreamName;

/** A path or query parameter. */
export interface ParameterDescription {
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date-time' | 'uuid' | 'strings';
  readonly description: string;
  readonly required?: true;
  readonly nullable?: true;
  readonly min?: number;
  readonly max?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly values?: readonly string[];
  readonly default?: string | number | boolean;
}

/** An operation of the service, according to the contract. */
export interface OperationDescription {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path relative to the base URL, with its parameters in braces. */
  readonly path: string;
  readonly summary: string;
  /** `legacy` operations use the legacy base URL. */
  readonly surface: 'current' | 'legacy';
  /**
   * How a call is authorized. With `payment`, each request is paid through a 402 challenge. With `basic`, the client
   * token is sent.
   */
  readonly auth: 'none' | 'bearer' | 'payment' | 'basic';
  readonly pathParameters?: Readonly<Record<string, ParameterDescription>>;
  readonly query?: Readonly<Record<string, ParameterDescription>>;
  /** Name of the body's schema. */
  readonly body?: { readonly schema: SchemaName; readonly optional?: true };
  readonly response:
    | { readonly type: 'json'; readonly status: number; readonly schema: SchemaName }
    | { readonly type: 'csv' | 'none'; readonly status: number };
  /** Error codes that the operation may return, besides those of `auth` and validation. */
  readonly errors: readonly string[];
  /**
   * When the operation is retried after a failure. `safe` means always. `idempotency_key` means always, but with the
   * same key. `never` means not once the request may have been sent.
   */
  readonly retry: 'safe' | 'idempotency_key' | 'never';
  /** Whether it can move money. */
  readonly movesMoney?: true;
}

/** All operations of the service, keyed by name. */
export const operations: Readonly<Record<OperationName, OperationDescription>> = table;

/** A JSON Schema (2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Returns the JSON Schema of a body, given its name: `schemaOf('OrderCreate')`. Schemas of requests are closed. Schemas
 * of responses are open, because the service may add fields. The schemas are loaded on the first call.
 */
export async function schemaOf(name: SchemaName): Promise<JsonSchema> {
  const { shapeSchema } = await import('../../api/openapi.ts');
  const { schemas } = await import('../../api/schemas/index.ts');
  const { knownName } = await import('./checks.ts');
  return shapeSchema(knownName(name, Object.keys(schemas) as SchemaName[], 'schema'));
}
