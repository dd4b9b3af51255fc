import type { OperationName } from '../operations/index.ts';
import type { SchemaName } from '../schemas/index.ts';
import type { OwnShapeName } from './index.ts';

/**
 * What a record is: one of errand's own, a shape of the service, or what an operation responds with; of one that lists
 * records, a record of it.
 */
export type RecordName = OwnShapeName | SchemaName | OperationName;

interface When {
  /** Where a command prints more than one form: which one this is, in words that follow its name. */
  readonly when?: string;
}

/** One form of what a command prints on stdout with `-o json`. Names alone, so that a definition loads no shape. */
export type Printed = When &
  (
    | { readonly record: RecordName }
    /** An array; with `-o ndjson` one of them a line. */
    | { readonly list: RecordName | readonly RecordName[] }
    /** With `-o ndjson` alone: what is followed, one event a line. */
    | { readonly events: OwnShapeName }
    /** No JSON, whatever `-o` says: in words, such as `a CSV`. */
    | { readonly text: string }
    | { readonly nothing: true }
  );

/** A command as it is typed, without `errand`, and what it prints. */
export interface PrintingCommand {
  readonly path: string;
  /** How it can be typed besides: with an alias, or its noun alone where it is what that runs. */
  readonly aliases: readonly string[];
  readonly output: Printed | readonly Printed[];
}
