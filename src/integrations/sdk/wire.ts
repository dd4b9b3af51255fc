import type { operations } from '../../api/operations/index.ts';
import type { RowShape } from '../../api/received.ts';
import type { Shape, ShapeInput } from '../../api/schemas/index.ts';
import type { CallName as Called, InputOf, StreamName as Streamed } from '../../http/client.ts';

/**
 * Wire types that are used to compile this package. In the published declarations, this file is replaced by the same
 * types as plain interfaces. `.ci/wire-types.js` generates these from the contract, and a test compares both.
 */

export type { SchemaName } from '../../api/schemas/index.ts';

type Table = typeof operations;
type ResponseBody<N extends Called> = Table[N]['response'] extends { readonly schema: infer S }
  ? Shape<S & keyof typeof import('../../api/schemas/index.ts').schemas>
  : undefined;
type Row<N extends Called> = Table[N]['response'] extends { readonly rows: string }
  ? { row: RowShape<N> }
  : unknown;

type Input<N extends Called | Streamed> = unknown extends InputOf<N> ? Record<string, never> : InputOf<N>;

export type Operations = { [N in Called]: { input: Input<N>; response: ResponseBody<N> } & Row<N> };
export type StreamedOperations = { [N in Streamed]: { input: Input<N> } };

export type OrderCreate = ShapeInput<'OrderCreate'>;
export type OrderResponse = Shape<'OrderResponse'>;
