import type { OperationName } from '../operations/index.ts';
import type { SchemaName } from '../schemas/index.ts';
import type { OwnShapeName } from './index.ts';

/**
 * Kind of a printed record: one of errand's own records, a shape of the service, or the response of an operation. For a
 * list operation, it is one record of the list.
 */
export type RecordName = OwnShapeName | SchemaName | OperationName;

interface When {
  /** When this form applies, if the command has several forms. The text is phrased to follow the record's name. */
  readonly when?: string;
}

/**
 * One form of what a command prints with `-o json`. Contains only names, so that a command definition loads no shape.
 */
export type Printed = When &
  (
    | { readonly record: RecordName }
    /** An array. With `-o ndjson`, each record is a line. */
    | { readonly list: RecordName | readonly RecordName[] }
    /** A stream with one event per line. It exists only with `-o ndjson`. */
    | { readonly events: OwnShapeName }
    /** Output that is never JSON, whatever `-o` says. The description is in words, such as `a CSV`. */
    | { readonly text: string }
    | { readonly nothing: true }
  );

/** A command and its output. The command is written as a user types it, but without `errand`. */
export interface PrintingCommand {
  readonly path: string;
  /** Other ways to type the command. Each is an alias, or the noun alone if this is its default command. */
  readonly aliases: readonly string[];
  readonly output: Printed | readonly Printed[];
}
