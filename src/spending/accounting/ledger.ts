import { formatMoney, readPlainAmount } from '../../format/money.ts';
import { UsageError } from '../../platform/errors.ts';
import {
  centsOn,
  type ExistingEntry,
  type Posting,
  payerAccount,
  readId,
  readOpening,
  streamName,
  walletAccount,
} from './entries.ts';
import {
  type AccountingContent,
  type AccountingFormat,
  type Broken,
  entryNamed,
  incomplete,
  readable,
  unbalanced,
} from './files.ts';

/** Patterns for the lines of an entry in a ledger format. */
export interface LedgerLines {
  /** Matches the first line of a transaction. */
  readonly begin: RegExp;
  /** Captures the id in its first group. */
  readonly id: RegExp;
  /** Matches comments and fields. This distinguishes them from postings. */
  readonly aside: RegExp;
  /** Captures the account of a posting and, if there is one, its amount. Comments must be removed first. */
  readonly posting: RegExp;
}

/** A transaction: a line with a date, and the indented lines below that line. */
interface Block {
  /** One-based number of the transaction's first line. */
  readonly line: number;
  readonly lines: string[];
}

/** Parses a journal in either hledger or beancount format. @param text must have normalized line endings. Pure. */
export function readLedger(text: string, lines: LedgerLines): AccountingContent {
  const entries: ExistingEntry[] = [];
  let others = 0;
  let broken: Broken | undefined;
  const blocks = blocksOf(text, lines);
  for (const { line, lines: below } of blocks) {
    const id = below.map((it) => lines.id.exec(it)?.[1]).find((it) => it !== undefined);
    const moves = below.filter((it) => !lines.aside.test(it));
    if (id === undefined || !isOurs(id)) {
      const isHalf = moves.length === 0 && (line === blocks.at(-1)?.line || below.some(marksAnEntry));
      if (isHalf) broken ??= incomplete(line, undefined, 'it has no amounts');
      else if (moves.some((it) => it.includes(walletAccount))) others += 1;
      continue;
    }
    const postings = postingsOf(moves, lines);
    if (moves.length === 0) broken ??= incomplete(line, id, 'it has no amounts');
    else if (postings && unbalanced(postings).length > 0)
      broken ??= incomplete(line, id, 'its amounts do not add up to 0');
    entries.push({ id, line, postings });
  }
  broken ??= cutOff(text, blocks.at(-1), entries.at(-1), lines);
  return { entries, others, ...(broken && { broken }) };
}

const isOurs = (id: string): boolean => readId(id) !== undefined || readOpening(id) !== undefined;
const marksAnEntry = (line: string): boolean => line.includes('errand-id');

function blocksOf(text: string, { begin }: LedgerLines): Block[] {
  const blocks: Block[] = [];
  let block: Block | undefined;
  let isComment = false;
  for (const [at, line] of text.split('\n').entries()) {
    if (isComment) isComment = line.trim() !== 'end comment';
    else if (block && /^[ \t]+\S/.test(line)) block.lines.push(line);
    else {
      block = begin.test(line) ? { line: at + 1, lines: [] } : undefined;
      if (block) blocks.push(block);
      isComment = line.trimEnd() === 'comment';
    }
  }
  return blocks;
}

/**
 * Parses the postings of an entry. Undefined if someone has entered an amount that errand cannot parse, such as a
 * price.
 */
function postingsOf(moves: readonly string[], lines: LedgerLines): Posting[] | undefined {
  const postings: Posting[] = [];
  let open: string | undefined;
  for (const move of moves) {
    const { account, value } = splitPosting(move, lines);
    if (value === undefined && open === undefined) open = account;
    else {
      const [, digits = '', currency = ''] = amount.exec(value ?? '') ?? [];
      const cents = readPlainAmount(digits, currency);
      if (cents === undefined) return undefined;
      postings.push({ account, cents, currency });
    }
  }
  // An entry may leave out one amount. Accounting programs infer this amount from the others, so infer it here too.
  const [currency, other] = open === undefined ? [] : unbalanced(postings);
  if (other !== undefined) return undefined;
  if (open !== undefined && currency !== undefined) {
    const rest = postings.reduce((sum, it) => sum + (it.currency === currency ? it.cents : 0), 0);
    postings.push({ account: open, cents: -rest, currency });
  }
  return postings;
}

const amount = /^([-+]?[\d.]+) ([A-Z]{3})$/;

function splitPosting(move: string, { posting }: LedgerLines): { account: string; value?: string } {
  const [beforeNote = ''] = move.split(';', 1);
  const plain = beforeNote.replace(/^\s+(?:[*!]\s+)?/, '').trimEnd();
  const [, account = plain, value = ''] = posting.exec(plain) ?? [];
  // Cut off a balance assertion. It may follow the amount, but is not part of it.
  const moved = (value.split('=', 1)[0] ?? '').trimEnd();
  return moved === '' ? { account } : { account, value: moved };
}

/**
 * Detects whether the last line may be truncated. The line is complete if it ends with a line break, if it is a
 * comment, or if its amount balances the entry.
 */
function cutOff(
  text: string,
  last: Block | undefined,
  entry: ExistingEntry | undefined,
  lines: LedgerLines,
): Broken | undefined {
  if (text.endsWith('\n')) return undefined;
  const line = text.slice(text.lastIndexOf('\n') + 1);
  if (line.trim() === '' || line.startsWith(';')) return undefined;
  const endsEntry = last?.line === entry?.line && last?.lines.at(-1) === line && !lines.aside.test(line);
  if (endsEntry && entry?.postings && splitPosting(line, lines).value !== undefined) return undefined;
  return {
    line: text.split('\n').length,
    message: 'the last line has no line break and may be cut off; complete or remove it, and run again',
  };
}

/**
 * Reads the existing entries of a file. `out` is the file name as the user gave it.
 * @throws UsageError if errand did not write the file, or if the file is incomplete.
 */
export function existingEntries(
  out: string,
  raw: string,
  format: AccountingFormat,
  wallet: string,
): AccountingContent {
  const text = readable(raw);
  const wrong = format.refuses(text, { wallet });
  if (wrong !== undefined)
    throw new UsageError(`--out ${out} ${wrong}; nothing was added to it`, {
      hint: 'Name another file, and include it in yours.',
    });
  const found = format.read(text);
  if (found.broken === undefined) return found;
  const { line, message } = found.broken;
  throw new UsageError(`${out}, line ${line}: ${message}`, { hint: 'Nothing was added to the file.' });
}

export const leftOutNote = (count: number): string =>
  `${count === 1 ? '1 entry is' : `${count} entries are`} left out: OFX is a statement of the wallet, and the wallet did not pay for ${count === 1 ? 'it' : 'them'}`;

export const othersNote = (count: number): string =>
  `${count === 1 ? '1 entry of your own moves' : `${count} entries of your own move`} ${walletAccount} too; the wallet by these entries is without ${count === 1 ? 'it' : 'them'}`;

/** Maximum number of differences reported individually. */
const maxNamed = 5;

export function differenceNotes(out: string, differences: readonly Difference[]): string[] {
  const more = differences.length - maxNamed;
  return [
    ...differences.slice(0, maxNamed).map(({ line, message }) => `${out}, line ${line}: ${message}`),
    ...(more > 0 ? [`${more} more entries differ from what errand wrote`] : []),
  ];
}

/** A place where the file differs from what errand wrote. */
interface Difference {
  /** One-based line number in the file. */
  readonly line: number;
  /** A description for the user. It names the entry, what the file contains, and what errand wrote. */
  readonly message: string;
}

/**
 * Finds errand's entries whose amounts no longer match their ids. This happens if someone has changed an amount or
 * account, duplicated an entry, or removed an earlier entry. Pure.
 * @param entries are the entries found in the file.
 */
export function differencesIn(entries: readonly ExistingEntry[]): Difference[] {
  const streams = new Map<string, { existing: ExistingEntry; count: number; total: number }[]>();
  const found: Difference[] = [];
  let isOpened = false;
  for (const existing of entries) {
    const opening = readOpening(existing.id);
    if (opening !== undefined) {
      found.push(...compared(existing, isOpened ? 0 : opening, walletAccount, 'USD'));
      isOpened = true;
    }
    const written = readId(existing.id);
    if (!written) continue;
    const name = streamName(written.stream);
    streams.set(name, [
      ...(streams.get(name) ?? []),
      { existing, count: written.count, total: written.total },
    ]);
  }
  for (const steps of streams.values()) {
    let before = 0;
    for (const { existing, total } of steps.toSorted((a, b) => a.count - b.count)) {
      const { payer = 'wallet', currency = 'USD' } = readId(existing.id)?.stream ?? {};
      found.push(...compared(existing, before - total, payerAccount(payer, currency), currency));
      before = total;
    }
  }
  return found.sort((a, b) => a.line - b.line);
}

/** @param cents is the amount that errand wrote originally. */
function compared(
  { id, line, postings }: ExistingEntry,
  cents: number,
  account: string,
  currency: string,
): Difference[] {
  const named = entryNamed(id);
  if (postings === undefined) return [{ line, message: `the amounts of ${named} cannot be read` }];
  const existing = centsOn(postings, account, currency);
  if (existing === cents) return [];
  const money = (amount: number): string => formatMoney(amount, currency);
  return [
    { line, message: `${named} brings ${account} ${money(existing)} where errand wrote ${money(cents)}` },
  ];
}
