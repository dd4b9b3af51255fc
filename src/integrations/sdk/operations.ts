import { operations as table } from '../../api/operations/index.ts';
import type { Operations, SchemaName, StreamedOperations } from './wire.ts';

/** Operations whose response is read whole. */
export type CallName = keyof Operations & string;
/** Operations whose response is CSV of any length. */
export type StreamName = keyof StreamedOperations & string;
/** Operations that return a list. */
export type ListName = {
  [N in CallName]: Operations[N] extends { row: unknown } ? N : never;
}[CallName];
export type OperationName = CallName | StreamName;

/** One path or query parameter. */
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

/** One operation of the service, as the contract has it. */
export interface OperationDescription {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Under the base URL, parameters in braces. */
  readonly path: string;
  readonly summary: string;
  /** `legacy` stands under the legacy base URL. */
  readonly surface: 'current' | 'legacy';
  /** `payment` is a 402 challenge, paid per request; `basic` sends the client token. */
  readonly auth: 'none' | 'bearer' | 'payment' | 'basic';
  readonly pathParameters?: Readonly<Record<string, ParameterDescription>>;
  readonly query?: Readonly<Record<string, ParameterDescription>>;
  /** The schema of its body, by its name. */
  readonly body?: { readonly schema: SchemaName; readonly optional?: true };
  readonly response:
    | { readonly type: 'json'; readonly status: number; readonly schema: SchemaName }
    | { readonly type: 'csv' | 'none'; readonly status: number };
  /** Codes it may respond with, beside those of `auth` and of validation. */
  readonly errors: readonly string[];
  /** When it is sent again after a failure: at every time, with the same key, or not once it may have been sent. */
  readonly retry: 'safe' | 'idempotency_key' | 'never';
  /** Whether it can move money. */
  readonly movesMoney?: true;
}

/** Every operation of the service, by its name. */
export const operations: Readonly<Record<OperationName, OperationDescription>> = table;

/** A JSON Schema (2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * The JSON Schema of a body by its name: `schemaOf('OrderCreate')`. Requests are closed; responses are open, since the
 * service may grow. Loaded when it is first called.
 */
export async function schemaOf(name: SchemaName): Promise<JsonSchema> {
  const { shapeSchema } = await import('../../api/openapi.ts');
  const { schemas } = await import('../../api/schemas/index.ts');
  const { knownName } = await import('./checks.ts');
  return shapeSchema(knownName(name, Object.keys(schemas) as SchemaName[], 'schema'));
}
