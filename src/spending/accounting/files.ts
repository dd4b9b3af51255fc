import { readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { saveFile } from '../../format/save-file.ts';
import { StorageError, UsageError } from '../../platform/errors.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import { type Entry, type Posting, readId, type Standing } from './entries.ts';

/** What the books are about. */
export interface BooksOf {
  /** The wallet's id, as `isIdPart` takes it. */
  readonly wallet: string;
  /** What the wallet holds, cents, as the service says; by the books where it does not. */
  readonly balance: number;
  /** ms since the epoch. */
  readonly now: number;
}

/** How books are written and read again. */
export interface BooksFormat {
  /** Whether a file is of this format and this wallet; else what is wrong with it. */
  refuses(text: string, books: Pick<BooksOf, 'wallet'>): string | undefined;
  /** The entries of a file that bear an id of ours, and what else in it matters. @param text as `refuses` took it. */
  read(text: string): BooksRead;
  /** Whether it has a place for the entry; one account's statement has none for what another paid. */
  takes(entry: Entry): boolean;
  render(entry: Entry): string;
  /**
   * The whole file. @param before what it was to the byte, undefined where it is new. @param rendered the entries that it lacks, in their
   * order. @param entered the accounts and currencies in them.
   */
  assemble(books: BooksOf, before: string | undefined, rendered: Rendered): Iterable<string>;
}

export interface Rendered {
  readonly texts: readonly string[];
  readonly accounts: ReadonlySet<string>;
  readonly currencies: ReadonlySet<string>;
}

/** Text from outside as one line: line breaks, controls and what cannot be seen are shown, never there. */
export const oneLine = (text: string, limit = 200): string => safeText(text, limit).trim();

/** What stands in a file. Lines are counted from 1. */
export interface BooksRead {
  readonly entries: readonly Standing[];
  /** Entries of somebody else's that move the wallet too. */
  readonly others: number;
  /** The first part of it that is not whole. */
  readonly broken?: Broken;
}

export interface Broken {
  readonly line: number;
  /** What it is and what to do, after the number of its line. */
  readonly message: string;
}

/** @param id of the entry, where that can be read. */
export function incomplete(line: number, id: string | undefined, why: string): Broken {
  return { line, message: `${entryNamed(id)} is incomplete: ${why}; remove it, and run again` };
}

/** An entry of ours in the words of whoever reads its file. */
export function entryNamed(id: string | undefined): string {
  if (id === undefined) return 'the entry';
  const { kind, orderId } = readId(id)?.stream ?? {};
  if (kind === undefined) return 'the opening balance';
  return `the ${kind} of order ${orderId}`;
}

/** The text of a file without what editors and spreadsheets do to line ends and beginnings. */
export const readable = (text: string): string => text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n');

/** Lines in the line ends of what was there. @param before undefined where nothing was. */
export function* inLinesOf(before: string | undefined, texts: Iterable<string>): Generator<string> {
  const isWindows = before?.includes('\r\n') === true;
  for (const text of texts) yield isWindows ? text.replaceAll('\n', '\r\n') : text;
}

/** What stays as it is, and what follows it: an editor may have left its last line break away. */
export function* continued(before: string, texts: Iterable<string>): Generator<string> {
  yield before;
  if (!before.endsWith('\n')) yield* inLinesOf(before, ['\n']);
  yield* inLinesOf(before, texts);
}

/** The currencies in which amounts do not add up to 0. */
export function unbalanced(postings: readonly Posting[]): string[] {
  const sums = new Map<string, number>();
  for (const { cents, currency } of postings) sums.set(currency, (sums.get(currency) ?? 0) + cents);
  return [...sums].filter(([, rest]) => rest !== 0).map(([currency]) => currency);
}

/** A file of books as it was when it was read. */
interface BookFile {
  /** Where it is, with links followed. */
  readonly path: string;
  /** Undefined where there is none yet, or an empty one. */
  readonly text: string | undefined;
  readonly stats: Stats | undefined;
}

/** Bytes that no books have that can be read at once. */
const tooManyBytes = 400 * 1024 * 1024;

/** @throws UsageError for what is no file of text; StorageError where it cannot be read. */
export function readBookFile(name: string): BookFile {
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
 * Puts the new text in the place of the old one, whole; where the file has been changed meanwhile it stays as it is.
 * @throws UsageError, StorageError.
 */
export async function replaceBookFile({ path, stats }: BookFile, chunks: Iterable<string>): Promise<void> {
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
