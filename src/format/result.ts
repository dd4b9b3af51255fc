import type { Mood } from '../api/order-state.ts';
import type { PathOf, Unchecked } from '../api/received.ts';
import type { Pager } from '../platform/streams.ts';
import type { AsSent } from './raw-records.ts';

/**
 * The types of what a command's `run` returns: data with its columns. `output` prints such a result in the requested
 * format.
 */

/** A record as the service sent it. Fields have their names on the wire, and unknown fields are kept. */
export type Row = Readonly<Record<string, unknown>>;

/** Kinds of records to which an id can refer. The `names` of a column or argument is one of these kinds. */
export type RecordKind =
  | 'orders'
  | 'returns'
  | 'accounts'
  | 'batches'
  | 'approvals'
  | 'events'
  | 'intents'
  | 'products';

/**
 * How to render a value. A `status` has a sign and a color on a TTY, and is shown however narrow the terminal is. The
 * host of a `url` is never cut. A `share` (0 to 1) is a bar in tables.
 */
export type ColumnKind =
  | 'text'
  | 'money'
  | 'time'
  | 'date'
  | 'id'
  | 'count'
  | 'flag'
  | 'status'
  | 'url'
  | 'share';

/** Returns the title of the product at a URL, if it is known. */
export type TitleOf = (url: string) => string | undefined;

interface ColumnStyle<R> {
  readonly name: string;
  readonly kind?: ColumnKind;
  /**
   * For a column of ids: the kind of record to which they refer. A table on a TTY shortens these ids to prefixes that
   * commands accept.
   */
  readonly names?: RecordKind;
  /** Weight of the column; default 0. A narrow terminal drops the columns with the lowest weights first. */
  readonly weight?: number;
  /** Minimum useful width of a text, in terminal columns. The default is 12. */
  readonly minWidth?: number;
  /** For a text that is truncated: keep both ends, because texts with the same start differ at the end. */
  readonly keeps?: 'ends';
  /**
   * Number of characters to reserve. Later rows may be wider than the first rows, from which the column widths are
   * computed.
   */
  readonly room?: number;
  /** For a column of times: the column's name if the times are absolute rather than relative. */
  readonly absoluteName?: string;
  /** Set for a time that comes from this machine's clock instead of the service's clock. */
  readonly isLocal?: true;
  /** Path of the field with the currency of a money column. If there is none, the currency is USD. */
  readonly currency?: PathOf<R>;
  /** For a status: returns its mood. By default, the last word of the status determines the mood. Pure. */
  readonly mood?: (row: Unchecked<R>) => Mood | undefined;
  /**
   * The column is shown only if all other columns keep their full width. With `told`, the user is told if the column is
   * dropped.
   */
  readonly isExtra?: true | 'told';
  /** Scripts get the column only if `--fields` names it, because scripts may be older than the column. */
  readonly isNamedOnly?: true;
  /** Set if `value` looks up the product's title by its URL when the record has no title. */
  readonly usesTitles?: true;
  /** The text is a sentence. A TTY wraps it between words and never cuts it. */
  readonly isProse?: true;
  /** If the terminal has no room for the column, its value is shown below the row. */
  readonly wraps?: true;
  /**
   * Returns the CSV cell that takes the place of a list or object. If null, a CSV includes the column only if the user
   * names it. Pure.
   */
  readonly flat?: ((row: Unchecked<R>) => unknown) | null;
  /**
   * Columns in the detail view for the records in the list at `path`. The default is the plain fields of these records.
   */
  readonly columns?: readonly Column[];
}

/**
 * A column of a record with shape `R`. `path` is the wire path (`items.0.url`); csv, tsv and table use it. `value`
 * replaces the value at that path, such as by a sum or a join; it is pure. The path may be an invented one only if the
 * column has `value`.
 */
export type Column<R = Row> = ColumnStyle<R> &
  (
    | { readonly path: PathOf<R>; readonly value?: (row: Unchecked<R>, titleOf?: TitleOf) => unknown }
    | { readonly path: string; readonly value: (row: Unchecked<R>, titleOf?: TitleOf) => unknown }
  );

export interface RecordResult<R extends Row = Row> {
  readonly kind: 'record';
  readonly record: R;
  readonly columns: readonly Column[];
  /** Columns for a TTY, if they differ from the columns for scripts. */
  readonly screen?: readonly Column[];
  /** Path of the value that `-o id` prints. The default is `id`. */
  readonly id?: string;
  /** Lines to print on stderr after the record, for people only. */
  readonly hints?: readonly string[];
  readonly exitCode?: number;
}

/** Rows that can be read page by page. Awaiting each row singly would take longer than printing it. */
export interface PagedRows<R = Row> extends AsyncIterable<R> {
  /** The same rows, page by page. */
  pages(): AsyncIterable<RowsOfPage<R>>;
}

export interface RowsOfPage<R> {
  /** The rows of the page. If `sent` is also present, they are parsed only on access. */
  readonly rows: readonly R[];
  /** The same rows in the service's own JSON, if it can be printed unchanged. */
  readonly sent?: AsSent | undefined;
}

export interface ListResult<R extends Row = Row> {
  readonly kind: 'list';
  readonly rows: Iterable<R> | AsyncIterable<R>;
  readonly columns: readonly Column[];
  /** Columns for a TTY, if they differ from the columns for scripts. */
  readonly screen?: readonly Column[];
  readonly id?: string;
  /** Facts to store for each row besides its id, for commands that refer to the row by number. */
  readonly facts?: (row: Row) => Readonly<Record<string, unknown>>;
  /** Printed on stderr in place of an empty table. */
  readonly empty?: string;
  /** Called once all rows are printed. Returns lines for stderr, for people only. */
  readonly hints?: () => readonly string[];
  /** Like `hints`, but for every format. Says what was left out ("50 of 1,200; --all for the rest"). */
  readonly rest?: () => readonly string[];
  /** Called once all rows are printed, to record what must be recorded only then. */
  readonly printed?: () => Promise<void>;
  readonly exitCode?: () => number;
  /** Set if the rows are the records that the command line names. Such rows get no new numbers. */
  readonly isByName?: true;
}

/** Bytes to stream to stdout, such as an export, a script or a file. */
export interface StreamResult {
  readonly kind: 'stream';
  readonly chunks: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;
  /** Set if the chunks are errand's own CSV, which is also meant for spreadsheets. */
  readonly isCsv?: boolean;
  /**
   * Set if the chunks are formatted for this terminal, with colors, and control characters in external text are already
   * visible.
   */
  readonly isPainted?: boolean;
  /** Called once all chunks are written. */
  readonly exitCode?: () => number;
}

/** Lines of plain text. Structured formats such as `-o json` print `record` in their place. */
export interface TextResult<R extends Row = Row> {
  readonly kind: 'text';
  readonly lines: readonly string[];
  readonly record?: R;
}

/** Prints nothing on stdout. The `hints` go to stderr. */
export interface NoResult {
  readonly kind: 'none';
  readonly hints?: readonly string[];
  readonly exitCode?: number;
}

export type Result = RecordResult | ListResult | StreamResult | TextResult | NoResult;

export const outputFormats = ['table', 'json', 'ndjson', 'csv', 'tsv', 'yaml', 'id'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** What is known about the fields of a result, beyond what the records show. */
export interface KnownFields {
  /** Returns whether the contract contains a path. Undefined if the contract does not describe these records. */
  readonly inContract: ((path: string) => Promise<boolean>) | undefined;
  /**
   * Whether the command fails if an unknown field is requested. This is true only if the command has changed nothing.
   */
  readonly refuses: boolean;
}

/** A printed row to which the user can refer by number. */
export interface LastListRow {
  readonly id: string;
  /** Label by which the user recognizes the row: `pending, $18.99`. It shows the state at the time of the listing. */
  readonly label: string;
  readonly facts: Readonly<Record<string, string>>;
}

/** Rows of a list that was shown on a TTY, in order. A row without an id is null. */
export interface LastListRows {
  readonly kind: RecordKind;
  readonly rows: readonly (LastListRow | null)[];
}

/** Maximum number of rows of a list that get a number. */
export const maxListed = 1000;

export interface OutputOptions {
  readonly format: OutputFormat;
  /** Wire paths that select the columns and their order. For json, they select fields. */
  readonly fields?: readonly string[] | undefined;
  /** Known fields that `fields` may name. If unset, any field is accepted. */
  readonly knownFields?: KnownFields | undefined;
  /** JMESPath expression to apply to the JSON. */
  readonly query?: string | undefined;
  /** Whether to print absolute UTC times in tables instead of relative ones. */
  readonly utc?: boolean | undefined;
  /** Shows output that is longer than the terminal. Undefined if there is no pager. */
  readonly pager?: Pager | undefined;
  /** Whether to write tables as labelled lines. */
  readonly asLines?: boolean | undefined;
  /** Whether to leave CSV cells that look like formulas unescaped. */
  readonly rawCsv?: boolean | undefined;
  /** Whether a CSV starts with a byte order mark. */
  readonly excel?: boolean | undefined;
  /** Current time at the service, in ms since the epoch. Ages are relative to it. */
  readonly now: () => number;
  /** Current time on this machine. The default is the time at the service. */
  readonly localNow?: (() => number) | undefined;
  /** Loads the product titles that this machine knows. Called only if a list on a TTY uses titles. */
  readonly titles?: (() => Promise<TitleOf>) | undefined;
  /**
   * Called with the rows of a list that is shown on a TTY. There are never more rows than can be referred to by number.
   */
  readonly onListed?: ((rows: LastListRows) => Promise<void>) | undefined;
}

/** Replaces unsafe characters in a text. Leaves printable ASCII unchanged. */
export type Scrub = (text: string) => string;

/** A way to serialize records. It is pure: `index` tells whether a record is the first. */
export interface Format {
  /** Formats one record of a list. `index` is zero-based. */
  row(value: unknown, index: number): string;
  /** Returns the text that closes a list of `count` records. */
  end(count: number): string;
  /** Formats a single record or value that is not in a list. */
  whole(value: unknown): string;
  /** Applied to the output of `row` and `whole` before it is written. */
  readonly scrub?: Scrub;
}

/**
 * Converts a stream of events, from `ready` to `summary`, to records. Adds to each event the time at which it was seen.
 * @param now returns ms since the epoch.
 */
export function eventRecords<E extends { readonly type: string }>(
  events: AsyncIterable<E>,
  now: () => number,
  exitCodeOf: (summary: Extract<E, { readonly type: 'summary' }>) => number,
): ListResult {
  let code = 0;
  async function* rows() {
    for await (const event of events) {
      if (isSummary(event)) code = exitCodeOf(event);
      yield { ...event, at: new Date(now()).toISOString() };
    }
  }
  return { kind: 'list', rows: rows(), columns: [], exitCode: () => code };
}

const isSummary = <E extends { readonly type: string }>(
  event: E,
): event is Extract<E, { readonly type: 'summary' }> => event.type === 'summary';

/**
 * Marks rows that are made for people. Only a table shows them, so they need not match the schema of the command's `-o
 * json`. Call this only after checking that the format is a table.
 */
export const forTable = (rows: Iterable<Row> | AsyncIterable<Row>): AsyncIterable<never> =>
  // The cast is safe, because no format with a schema receives any of these rows.
  rows as AsyncIterable<never>;
