import type { Mood } from '../api/order-state.ts';
import type { PathOf, Unchecked } from '../api/received.ts';
import type { Pager } from '../platform/streams.ts';
import type { AsSent } from './raw-records.ts';

/** What a command's `run` returns: data with its columns. `output` prints it in the requested format. */

/** A record as the service sent it: wire names, unknown fields kept. */
export type Row = Readonly<Record<string, unknown>>;

/** Kinds of records an id can refer to; `names` of a column or argument selects one. */
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
 * How a value is rendered. A `status` gets a sign and color on a TTY and is never hidden for lack of width; the host of
 * a `url` is never cut; a `share` (0 to 1) is a bar in tables.
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

/** Title of the product at a URL, if known. */
export type TitleOf = (url: string) => string | undefined;

interface ColumnStyle<R> {
  readonly name: string;
  readonly kind?: ColumnKind;
  /**
   * For a column of ids: the kind of record they refer to. A TTY table shortens these ids to prefixes that commands
   * accept.
   */
  readonly names?: RecordKind;
  /** A narrow terminal drops the columns with the lowest weights first. Default 0. */
  readonly weight?: number;
  /** Minimum useful width of a text, in terminal columns; default 12. */
  readonly minWidth?: number;
  /** For a truncated text: keep both ends, because texts with the same start differ at the end. */
  readonly keeps?: 'ends';
  /** Characters to reserve for later rows, which may be wider than the rows that determine the column widths. */
  readonly room?: number;
  /** For a time: the column's name when times are absolute rather than relative. */
  readonly absoluteName?: string;
  /** Set for a time from this machine's clock instead of the service's. */
  readonly isLocal?: true;
  /** Path of a money column's currency field; USD without it. */
  readonly currency?: PathOf<R>;
  /** For a status: returns its mood. By default, the mood derives from the status's last word. Pure. */
  readonly mood?: (row: Unchecked<R>) => Mood | undefined;
  /** Shown only if all other columns keep their full width. With `told`, the user learns when the column is dropped. */
  readonly isExtra?: true | 'told';
  /**
   * Scripts get the column only if `--fields` names it, because they may have been written before the column existed.
   */
  readonly isNamedOnly?: true;
  /** `value` looks up product titles by URL when the record has none. */
  readonly usesTitles?: true;
  /** A sentence: a TTY wraps it between words and never cuts it. */
  readonly isProse?: true;
  /** Shown below its row if the terminal has no room for the column. */
  readonly wraps?: true;
  /** CSV cell in place of a list or object; null if a CSV includes the column only when the user names it. Pure. */
  readonly flat?: ((row: Unchecked<R>) => unknown) | null;
  /**
   * Columns for the records in the list at `path`, in the detail view; by default, the plain fields of these records.
   */
  readonly columns?: readonly Column[];
}

/**
 * A column of a record with shape `R`. `path` is the wire path (`items.0.url`) used by csv, tsv and table. `value` is
 * pure and replaces the value at that path (a sum, a join); only a column with `value` may invent a path.
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
  /** Columns for a TTY, if different from those for scripts. */
  readonly screen?: readonly Column[];
  /** Path of the value `-o id` prints; default `id`. */
  readonly id?: string;
  /** Lines for stderr after the record, for people only. */
  readonly hints?: readonly string[];
  readonly exitCode?: number;
}

/** Rows that can be read page by page, because awaiting each row would take longer than printing it. */
export interface PagedRows<R = Row> extends AsyncIterable<R> {
  /** The same rows, page by page. */
  pages(): AsyncIterable<RowsOfPage<R>>;
}

export interface RowsOfPage<R> {
  /** Parsed on access if `sent` is also present. */
  readonly rows: readonly R[];
  /** The same rows in the service's own JSON, if they may be printed as is. */
  readonly sent?: AsSent | undefined;
}

export interface ListResult<R extends Row = Row> {
  readonly kind: 'list';
  readonly rows: Iterable<R> | AsyncIterable<R>;
  readonly columns: readonly Column[];
  /** Columns for a TTY, if different from those for scripts. */
  readonly screen?: readonly Column[];
  readonly id?: string;
  /** Facts remembered for each row besides its id, for commands that refer to the row by number. */
  readonly facts?: (row: Row) => Readonly<Record<string, unknown>>;
  /** Shown on stderr instead of an empty table. */
  readonly empty?: string;
  /** Called once all rows are printed; returns lines for stderr, for people only. */
  readonly hints?: () => readonly string[];
  /** Like `hints`, in every format: what was left out ("50 of 1,200; --all for the rest"). */
  readonly rest?: () => readonly string[];
  /** Called once all rows are printed, to record what must not be recorded earlier. */
  readonly printed?: () => Promise<void>;
  readonly exitCode?: () => number;
  /** The rows are the records named on the command line, so they are not renumbered. */
  readonly isByName?: true;
}

/** Bytes streamed to stdout: an export, a script, a file. */
export interface StreamResult {
  readonly kind: 'stream';
  readonly chunks: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;
  /** The chunks are errand's own CSV, also meant for spreadsheets. */
  readonly isCsv?: boolean;
  /**
   * The chunks are formatted for this terminal, with colors; control characters in external text are already made
   * visible.
   */
  readonly isPainted?: boolean;
  /** Called once all chunks are written. */
  readonly exitCode?: () => number;
}

/** Lines of plain text. Structured formats such as `-o json` print `record` instead. */
export interface TextResult<R extends Row = Row> {
  readonly kind: 'text';
  readonly lines: readonly string[];
  readonly record?: R;
}

/** Prints nothing on stdout; `hints` go to stderr. */
export interface NoResult {
  readonly kind: 'none';
  readonly hints?: readonly string[];
  readonly exitCode?: number;
}

export type Result = RecordResult | ListResult | StreamResult | TextResult | NoResult;

export const outputFormats = ['table', 'json', 'ndjson', 'csv', 'tsv', 'yaml', 'id'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** Facts about a result's fields beyond what its records show. */
export interface KnownFields {
  /** Tells whether the contract has a path. Undefined if the contract does not describe these records. */
  readonly inContract: ((path: string) => Promise<boolean>) | undefined;
  /** Whether an unknown field fails the command. True only if the command has changed nothing. */
  readonly refuses: boolean;
}

/** A printed row that can be referred to by number. */
export interface LastListRow {
  readonly id: string;
  /** Label by which a user recognizes the row: `pending, $18.99`. Shows the state at the time of the listing. */
  readonly label: string;
  readonly facts: Readonly<Record<string, string>>;
}

/** Rows of a list shown on a TTY, in order; null for rows without an id. */
export interface LastListRows {
  readonly kind: RecordKind;
  readonly rows: readonly (LastListRow | null)[];
}

/** Maximum number of rows of a list that get a number. */
export const maxListed = 1000;

export interface OutputOptions {
  readonly format: OutputFormat;
  /** Wire paths that select and order columns (and, for json, fields). */
  readonly fields?: readonly string[] | undefined;
  /** Known fields that `fields` may name; unset disables the check. */
  readonly knownFields?: KnownFields | undefined;
  /** JMESPath, applied to the JSON. */
  readonly query?: string | undefined;
  /** Print absolute UTC times in tables instead of relative ones. */
  readonly utc?: boolean | undefined;
  /** Shows what is longer than the terminal; undefined for none. */
  readonly pager?: Pager | undefined;
  /** Whether tables are written as labelled lines. */
  readonly asLines?: boolean | undefined;
  /** Do not escape formula-like CSV cells. */
  readonly rawCsv?: boolean | undefined;
  /** Whether a CSV starts with a byte order mark. */
  readonly excel?: boolean | undefined;
  /** Current time at the service, ms since the epoch; ages are relative to it. */
  readonly now: () => number;
  /** Current time on this machine; defaults to the time at the service. */
  readonly localNow?: (() => number) | undefined;
  /** Loads the product titles this machine knows; called only if a list on a TTY uses them. */
  readonly titles?: (() => Promise<TitleOf>) | undefined;
  /** Called with the rows of a list shown on a TTY, up to the number that can be referred to. */
  readonly onListed?: ((rows: LastListRows) => Promise<void>) | undefined;
}

/** Replaces unsafe characters in a text; leaves printable ASCII alone. */
export type Scrub = (text: string) => string;

/** A way to serialize records. Pure, because `index` tells whether a record is the first. */
export interface Format {
  /** One record of a list; `index` is zero-based. */
  row(value: unknown, index: number): string;
  /** Text that closes a list of `count` records. */
  end(count: number): string;
  /** A single record or value, outside a list. */
  whole(value: unknown): string;
  /** Applied to the output of `row` and `whole` when it is written. */
  readonly scrub?: Scrub;
}

/**
 * Converts an event stream to records, from `ready` to `summary`, and adds to each event the time it was seen.
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
 * Marks rows as made for people. Only a table shows them, so they need not match the command's `-o json` schema. Call
 * only after checking that the format is a table.
 */
export const forTable = (rows: Iterable<Row> | AsyncIterable<Row>): AsyncIterable<never> =>
  // None of these rows reaches a format that has a schema.
  rows as AsyncIterable<never>;
