import type { Output, OwnShapeName } from '../api/outputs/index.ts';
import type { Printed } from '../api/outputs/printed.ts';
import type { ListResult, NoResult, RecordResult, Row, StreamResult, TextResult } from './result.ts';

/** What a command prints. There are several forms if the input decides which of them is printed. */
export type OutputForms = Printed | readonly Printed[];

/** Type of a printed record. For errand's own records, it lists each field. For the service's records, it does not. */
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
 * What `run` may return for a declared output. A table may also be a stream of lines. For `nothing`, there may be no
 * result.
 */
export type ResultOf<P> = ResultOfForm<P extends readonly (infer F)[] ? F : P> | StreamResult | NoResult;
