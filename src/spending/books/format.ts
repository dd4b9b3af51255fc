import { safeText } from '../../output/safe-text.ts';
import type { Entry } from './entry.ts';

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
  /** Ids of the entries of a file. */
  ids(text: string): Iterable<string>;
  /** Whether it has a place for the entry; one account's statement has none for what another paid. */
  takes(entry: Entry): boolean;
  render(entry: Entry): string;
  /**
   * The whole file. @param before what it was, undefined where it is new. @param rendered the entries that it lacks, in their
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

/** What was cut off or edited may lack its last line break. */
export const ended = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`);
