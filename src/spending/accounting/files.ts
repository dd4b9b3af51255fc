import { readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { saveFile } from '../../format/save-file.ts';
import { StorageError, UsageError } from '../../platform/errors.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import { type Entry, type ExistingEntry, type Posting, readId } from './entries.ts';

/** The wallet whose books are written. */
export interface AccountingSubject {
  /** Id of the wallet, for which `isIdPart` is true. */
  readonly wallet: string;
  /** The wallet balance, in cents. It comes from the service, or from the books if the service does not report it. */
  readonly balance: number;
  /** When the export was made, in ms since the epoch. */
  readonly now: number;
}

/** Writes and reads one bookkeeping format. */
export interface AccountingFormat {
  /**
   * Why a file is refused: it has another format, or it belongs to another wallet. Undefined if the file is accepted.
   */
  refuses(text: string, books: Pick<AccountingSubject, 'wallet'>): string | undefined;
  /**
   * Reads errand's entries from a file, and whatever else in the file matters.
   * @param text must have been accepted by `refuses`.
   */
  read(text: string): AccountingContent;
  /**
   * Whether the format can represent the entry. For example, a statement of one account cannot contain payments from
   * other accounts.
   */
  takes(entry: Entry): boolean;
  render(entry: Entry): string;
  /**
   * Assembles the whole file.
   * @param before is the previous content, byte for byte. Undefined for a new file.
   * @param rendered holds the entries that the file lacks, in order, with their accounts and currencies.
   */
  assemble(books: AccountingSubject, before: string | undefined, rendered: Rendered): Iterable<string>;
}

export interface Rendered {
  readonly texts: Iterable<string>;
  /** Times of the first and the last entry, in ms since the epoch. Undefined if there are no entries. */
  readonly span: { readonly first: number; readonly last: number } | undefined;
  readonly accounts: ReadonlySet<string>;
  readonly currencies: ReadonlySet<string>;
}

/** Converts untrusted text to a single line. Makes line breaks, control characters and invisible characters visible. */
export const oneLine = (text: string, limit = 200): string => safeText(text, limit).trim();

/** Content of a file. Line numbers are one-based. */
export interface AccountingContent {
  readonly entries: readonly ExistingEntry[];
  /** Number of entries that the user added and that affect the wallet. */
  readonly others: number;
  /** The first part of the file that is incomplete. */
  readonly broken?: Broken;
}

export interface Broken {
  readonly line: number;
  /** Describes the problem and how to solve it. The text is printed after the line number. */
  readonly message: string;
}

/**
 * Describes an incomplete entry.
 * @param id is the entry's id, if it can be read.
 */
export function incomplete(line: number, id: string | undefined, why: string): Broken {
  return { line, message: `${entryNamed(id)} is incomplete: ${why}; remove it, and run again` };
}

/** Describes one of errand's entries to the reader of the file. */
export function entryNamed(id: string | undefined): string {
  if (id === undefined) return 'the entry';
  const { kind, orderId } = readId(id)?.stream ?? {};
  if (kind === undefined) return 'the opening balance';
  return `the ${kind} of order ${orderId}`;
}

/** Undoes changes that editors and spreadsheets make to a file. Strips the BOM and normalizes line endings. */
export const readable = (text: string): string => text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n');

/**
 * Converts lines to the line endings of the existing file. @param before is the existing content; undefined for a new
 * file.
 */
export function* inLinesOf(before: string | undefined, texts: Iterable<string>): Generator<string> {
  const isWindows = before?.includes('\r\n') === true;
  for (const text of texts) yield isWindows ? text.replaceAll('\n', '\r\n') : text;
}

/** Entries after the lines that declare what they use. */
export function* afterDeclarations(declared: readonly string[], texts: Iterable<string>): Generator<string> {
  if (declared.length > 0) yield `${declared.join('\n')}\n\n`;
  yield* texts;
}

/** Appends to existing content. If an editor removed the final line break, adds it first. */
export function* continued(before: string, texts: Iterable<string>): Generator<string> {
  yield before;
  if (!before.endsWith('\n')) yield* inLinesOf(before, ['\n']);
  yield* inLinesOf(before, texts);
}

/** Currencies whose amounts do not sum to 0. */
export function unbalanced(postings: readonly Posting[]): string[] {
  const sums = new Map<string, number>();
  for (const { cents, currency } of postings) sums.set(currency, (sums.get(currency) ?? 0) + cents);
  return [...sums].filter(([, rest]) => rest !== 0).map(([currency]) => currency);
}

/** A ledger file, as it was when it was read. */
interface LedgerFile {
  /** Resolved path, with symlinks followed. */
  readonly path: string;
  /** The content; undefined if the file is missing or empty. */
  readonly text: string | undefined;
  readonly stats: Stats | undefined;
}

/** Maximum size, in bytes, of a file that is read into memory. No real ledger is this large. */
const tooManyBytes = 400 * 1024 * 1024;

/** Reads a ledger file. @throws UsageError if it is not a text file; StorageError if it cannot be read. */
export function readLedgerFile(name: string): LedgerFile {
  try {
    const stats = statSync(name, { throwIfNoEntry: false });
    if (!stats) return { path: name, text: undefined, stats };
    if (!stats.isFile()) throw new UsageError(`--out ${name} is not a file; leave --out away for stdout`);
    if (stats.size > tooManyBytes) throw new UsageError(`--out ${name} is too large; begin another file`);
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(name));
    return { path: realpathSync(name), text: text === '' ? undefined : text, stats };
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    if (cause instanceof TypeError) throw new UsageError(`--out ${name} is not UTF-8 text`, { cause });
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
    if (code === 'ENOTDIR') throw new UsageError(`--out ${name} cannot be written: its folder is a file`);
    throw new StorageError(`--out ${name} cannot be read (${code})`, { cause });
  }
}

/**
 * Replaces the file atomically. Leaves the file untouched if it has changed since it was read.
 * @throws UsageError, StorageError.
 */
export async function replaceLedgerFile(
  { path, stats }: LedgerFile,
  chunks: Iterable<string>,
): Promise<void> {
  function* unlessChanged(): Generator<string> {
    yield* chunks;
    const now = statSync(path, { throwIfNoEntry: false });
    if (now?.mtimeMs === stats?.mtimeMs && now?.size === stats?.size && now?.ino === stats?.ino) return;
    throw new StorageError(`${path} was changed while the orders were read; it was left as it is`, {
      hint: 'Run the command again.',
    });
  }
  await saveFile(path, unlessChanged(), {
    force: stats !== undefined,
    ...(stats && { mode: stats.mode & 0o777 }),
  });
}
