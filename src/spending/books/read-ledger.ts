import { readPlainAmount } from '../../format/money.ts';
import { type Posting, readId, readOpening, type Standing, walletAccount } from './entry.ts';
import { type BooksRead, type Broken, incomplete, unbalanced } from './format.ts';

/** How a program writes the lines of an entry. */
export interface LedgerLines {
  /** The first line of a transaction. */
  readonly begin: RegExp;
  /** A line that gives the id, its first group. */
  readonly id: RegExp;
  /** A line that is a comment or a field, and no posting. */
  readonly aside: RegExp;
  /** A posting without its comment: the account, and the amount where there is one. */
  readonly posting: RegExp;
}

/** A transaction: the lines that are indented below a line with a date. */
interface Block {
  /** Of its first line, from 1. */
  readonly line: number;
  readonly lines: string[];
}

/** What a journal holds, as hledger and beancount both divide it. @param text with plain line ends. Pure. */
export function readLedger(text: string, lines: LedgerLines): BooksRead {
  const entries: Standing[] = [];
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

/** Undefined where a person has written an amount that errand does not read, such as a price. */
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
  // One amount may be left to the program that reads it.
  const [currency, another] = open === undefined ? [] : unbalanced(postings);
  if (another !== undefined) return undefined;
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
  // A balance that is asserted after the amount is none of it.
  const moved = (value.split('=', 1)[0] ?? '').trimEnd();
  return moved === '' ? { account } : { account, value: moved };
}

/** A last line without a line break, unless it is surely whole: an amount with which its entry adds up, or a comment. */
function cutOff(
  text: string,
  last: Block | undefined,
  entry: Standing | undefined,
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
