import type { Mood } from '../api/order-state.ts';
import type { PathOf, Unchecked } from '../api/received.ts';
import type { AsSent } from './raw-records.ts';

/** What a command's `run` returns: data with its columns. `output` prints it in the requested format. */

/** A record as the service sent it: wire names, unknown fields kept. */
export type Row = Readonly<Record<string, unknown>>;

/** What an id can be the id of: `names` of a column or an argument says which. */
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
 * How a value is spelled. A `status` has its sign and colour on a terminal, and no width hides it; of a `url` the host is
 * never cut; a `share` (0 to 1) is a bar in tables.
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

/** The title of the product at a URL, where it is known. */
export type TitleOf = (url: string) => string | undefined;

interface ColumnStyle<R> {
  readonly name: string;
  readonly kind?: ColumnKind;
  /** Of ids: what they name. In a terminal's table they are shortened to what commands take back. */
  readonly names?: RecordKind;
  /** Higher is kept longer when the terminal is narrow; default 0. */
  readonly weight?: number;
  /** Columns of a terminal below which a text says too little; default 12. */
  readonly least?: number;
  /** Of a text that is cut: both its ends stay, since texts that begin the same are told apart by how they end. */
  readonly keeps?: 'ends';
  /** Characters kept for it, where the rows that settle the widths come before wider ones. */
  readonly room?: number;
  /** Of a time: its name where times are absolute, and no ages. */
  readonly absoluteName?: string;
  /** Of a time: it was taken on this machine, not at the service. */
  readonly isLocal?: true;
  /** Path of the field naming the currency of a money column; USD without it. */
  readonly currency?: PathOf<R>;
  /** Of a status: how it stands; by its last word without it. Pure. */
  readonly mood?: (row: Unchecked<R>) => Mood | undefined;
  /** Shown where all others have their full width beside it; where not, nobody is told unless it is `told`. */
  readonly isExtra?: true | 'told';
  /** `value` names products by what this machine knows of their URLs, where their own record has no title. */
  readonly usesTitles?: true;
  /** A sentence: on a terminal it is broken between words, never cut. */
  readonly isProse?: true;
  /** Where a terminal has no room for it beside the other columns, it is told below its row. */
  readonly goesBelow?: true;
  /** The cell of a CSV, in place of a list or an object; null where a CSV has it only when it is named. Pure. */
  readonly flat?: ((row: Unchecked<R>) => unknown) | null;
  /** Columns of the records in the list at `path`, for the view of one record; its plain fields without them. */
  readonly columns?: readonly Column[];
}

/**
 * One column of a record of the shape `R`. `path` is the wire path (`items.0.url`); csv, tsv and table all use it. `value`
 * is shown in place of what stands there (a sum, a join), and is pure; only a column that has it may name a path of its own.
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
  /** Columns for a terminal, where they differ from those that scripts read. */
  readonly screen?: readonly Column[];
  /** Path of what `-o id` prints; default `id`. */
  readonly id?: string;
  /** Lines for stderr after the record, for people only. */
  readonly hints?: readonly string[];
  readonly exitCode?: number;
}

/** Rows that come many at once: to wait for each of them takes longer than to print it. */
export interface PagedRows<R = Row> extends AsyncIterable<R> {
  /** The same rows as they come. */
  pages(): AsyncIterable<RowsOfPage<R>>;
}

export interface RowsOfPage<R> {
  /** Where they came in the service's own JSON, too, they are parsed when they are asked for. */
  readonly rows: readonly R[];
  /** The same in the service's own JSON, where they may be printed so. */
  readonly sent?: AsSent | undefined;
}

export interface ListResult<R extends Row = Row> {
  readonly kind: 'list';
  readonly rows: Iterable<R> | AsyncIterable<R>;
  readonly columns: readonly Column[];
  /** Columns for a terminal, where they differ from those that scripts read. */
  readonly screen?: readonly Column[];
  readonly id?: string;
  /** What is kept of a row, beside its id, for a command that names it by its number. */
  readonly facts?: (row: Row) => Readonly<Record<string, unknown>>;
  /** Shown on stderr in place of an empty table. */
  readonly empty?: string;
  /** Called when all rows are out; lines for stderr ("50 of 1,200; --all for the rest"). */
  readonly hints?: () => readonly string[];
  /** Called when all rows are out, for what is to be noted only then. */
  readonly printed?: () => Promise<void>;
  readonly exitCode?: () => number;
  /** Its rows are the records that the command line named: they are not numbered anew. */
  readonly isByName?: true;
}

/** Bytes for stdout as they come: an export, a script, a file. */
export interface StreamResult {
  readonly kind: 'stream';
  readonly chunks: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;
  /** They are a CSV of errand's own, for a spreadsheet too. */
  readonly isCsv?: boolean;
  /** The chunks are made for this terminal, with its colours; whatever came from outside is made visible in them. */
  readonly isPainted?: boolean;
  /** Read when all chunks are out. */
  readonly exitCode?: () => number;
}

/** Lines of plain text. With `-o json` and the like, `record` is printed in their place. */
export interface TextResult<R extends Row = Row> {
  readonly kind: 'text';
  readonly lines: readonly string[];
  readonly record?: R;
}

/** Nothing on stdout; `hints` go to stderr. */
export interface NoResult {
  readonly kind: 'none';
  readonly hints?: readonly string[];
  readonly exitCode?: number;
}

export type Result = RecordResult | ListResult | StreamResult | TextResult | NoResult;

export const outputFormats = ['table', 'json', 'ndjson', 'csv', 'tsv', 'yaml', 'id'] as const;
export type OutputFormat = (typeof outputFormats)[number];

/** What is known of the fields of a result besides what its records show. */
export interface KnownFields {
  /** Whether the contract has a path; undefined where it does not say what the records are. */
  readonly inContract: ((path: string) => Promise<boolean>) | undefined;
  /** Whether an unknown field ends the command: nothing was changed by it. */
  readonly refuses: boolean;
}

/** A row that was printed, as far as it can be named by its number. */
export interface ListedRow {
  readonly id: string;
  /** What a person knows it by, at the time of the list: `pending, $18.99`. */
  readonly label: string;
  readonly facts: Readonly<Record<string, string>>;
}

/** The rows of a list that a terminal was shown, the first one first; those without an id are null. */
export interface ListedRows {
  readonly kind: RecordKind;
  readonly rows: readonly (ListedRow | null)[];
}

/** Rows of one list that can be named by their numbers. */
export const mostListed = 1000;

export interface OutputOptions {
  readonly format: OutputFormat;
  /** Wire paths that pick and order columns (and, for json, fields). */
  readonly fields?: readonly string[] | undefined;
  /** What is known of the fields that `fields` may name; not checked without it. */
  readonly knownFields?: KnownFields | undefined;
  /** JMESPath, applied to the JSON. */
  readonly query?: string | undefined;
  /** Absolute UTC times in tables in place of relative ones. */
  readonly utc?: boolean | undefined;
  /** Do not escape formula-like CSV cells. */
  readonly rawCsv?: boolean | undefined;
  /** Whether a CSV begins with a byte order mark. */
  readonly excel?: boolean | undefined;
  /** The time at the service, ms since the epoch: ages are counted from it. */
  readonly now: () => number;
  /** The time of this machine; that of the service where it is not given. */
  readonly localNow?: (() => number) | undefined;
  /** Reads what this machine knows of the titles of products; called where a list on a terminal has a use for them. */
  readonly titles?: (() => Promise<TitleOf>) | undefined;
  /** Called with the rows of a list that a terminal was shown, as many as can be named by their numbers. */
  readonly listed?: ((rows: ListedRows) => Promise<void>) | undefined;
}

/** Replaces what must not stand in a text; leaves printable ASCII as it is. */
export type Scrub = (text: string) => string;

/** One way to spell records. Pure: whether a record is the first is in the arguments. */
export interface Format {
  /** One record of a list; `index` counts from 0. */
  row(value: unknown, index: number): string;
  /** What ends a list of `count` records. */
  end(count: number): string;
  /** A record, or any other value, that is all there is. */
  whole(value: unknown): string;
  /** Applied to what `row` and `whole` gave, when it is written. */
  readonly scrub?: Scrub;
}

/**
 * What is followed as records, from `ready` to `summary`, each with the time at which it was seen.
 * @param now ms since the epoch.
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
 * Rows that are made for people: a table alone shows them, so they need not be what the command prints with `-o json`. Whoever
 * calls has seen that the format is a table.
 */
export const forTable = (rows: Iterable<Row> | AsyncIterable<Row>): AsyncIterable<never> =>
  // No row of it reaches a format that has a schema.
  rows as AsyncIterable<never>;
