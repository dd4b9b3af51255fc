import type { Output, OwnShapeName } from '../api/outputs/index.ts';
import type { Printed } from '../api/outputs/printed.ts';
import type { ListResult, NoResult, RecordResult, Row, StreamResult, TextResult } from './result.ts';

/** What a command prints: one form, or several, depending on the input. */
export type OutputForms = Printed | readonly Printed[];

/** The types of errand's own records list each field. The service's records are opaque. */
type RecordOf<N> = N extends OwnShapeName ? (Output<N> extends Row ? Output<N> : Row) : Row;

type ResultOfForm<F> = F extends { readonly record: infer N }
  ? RecordResult<RecordOf<N>> | TextResult<RecordOf<N>>
  : F extends { readonly list: infer N }
    ? ListResult<RecordOf<N extends readonly (infer E)[] ? E : N>>
    : F extends { readonly events: infer N }
      ? ListResult<RecordOf<N>>
      : F extends { readonly text: string }
        ? TextResult
        : never;

/**
 * What `run` may return for a declared output. For a table, it may also return a stream of lines. For `nothing`, it may
 * return no result.
 */
export type ResultOf<P> = ResultOfForm<P extends readonly (infer F)[] ? F : P> | StreamResult | NoResult;
