import { visible } from './hidden-characters.ts';
import { withLineFeeds } from './line-ends.ts';

const [lineFeed, carriageReturn, quote, hash] = [10, 13, 34, 35];
/** Headings and all that stands above them end within this, bytes. */
const mostBytes = 1024 * 1024;
/** Rows in which headings are looked for: titles and empty lines may stand above them. */
const mostRows = 20;
/** Headings that a line below the first must have to be taken for the line of headings. */
const leastKnown = 3;

export const delimiters = [',', ';', '\t', '|'] as const;
const delimiterBytes: readonly number[] = delimiters.map((delimiter) => delimiter.charCodeAt(0));

export interface Beginning {
  /** The chunks from the headings on, a line feed behind each row. */
  readonly chunks: AsyncGenerator<Uint8Array>;
  readonly delimiter: string;
  /** Rows above the headings, as a spreadsheet counts them. */
  readonly rows: number;
  /** Lines above the headings. */
  readonly lines: number;
}

/** What is known of a table before it is read. */
export interface Expected {
  readonly delimiter?: string | undefined;
  /** Whether a text heads a column that is known; without it the first line that is no comment has the headings. */
  readonly isHeading?: ((text: string) => boolean) | undefined;
}

/**
 * Finds the line of headings and the delimiter that it uses. Comments (`#`), `sep=;`, titles and empty lines may stand above
 * it: it is the line with the most known headings.
 */
export async function readBeginning(
  source: AsyncGenerator<Uint8Array>,
  { delimiter: given, isHeading }: Expected,
): Promise<Beginning> {
  let head = Buffer.alloc(0);
  let ended = false;
  let rows: Row[] = [];
  while (rows.length <= mostRows && head.length < mostBytes && !ended) {
    const { value, done } = await source.next();
    if (done) ended = true;
    else head = Buffer.concat([head, value]);
    rows = rowsWithin(head, ended || head.length >= mostBytes);
    if (isHeading === undefined && rows.some(isTable)) break;
  }
  const named = rows.find(({ text }) => separator.test(text));
  const delimiter = given ?? separator.exec(named?.text ?? '')?.[1];
  const headings = headingsAmong(rows.filter(isTable), delimiter, isHeading);
  const above = rows.slice(0, headings ? rows.indexOf(headings) : 0);
  return {
    chunks: withLineFeeds(rest(head.subarray(headings?.start ?? 0), source)),
    delimiter: delimiter ?? mostUsed(headings?.text ?? ''),
    // A spreadsheet takes the line with its separator for itself.
    rows: above.filter((row) => row !== named).length,
    lines: above.reduce((sum, { lines }) => sum + lines, 0),
  };
}

async function* rest(head: Uint8Array, source: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (head.length > 0) yield head;
  yield* source;
}

interface Row {
  /** Byte at which it begins. */
  readonly start: number;
  readonly text: string;
  readonly lines: number;
}

const separator = /^"?sep=([,;\t|])"?\s*$/i;

/** Neither a comment nor a separator nor empty. */
const isTable = ({ text }: Row): boolean =>
  !text.startsWith('#') && !separator.test(text) && /[^\s",;|]/.test(text);

/** The rows that are there in full; the last, too, where nothing follows it. */
function rowsWithin(head: Buffer, isWhole: boolean): Row[] {
  const rows: Row[] = [];
  let [start, lines, isQuoted, closed] = [0, 1, false, -1];
  const add = (end: number, next: number): void => {
    rows.push({ start, text: head.toString('utf8', start, end), lines });
    [start, lines] = [next, 1];
  };
  for (let at = 0; at < head.length && rows.length <= mostRows; at += 1) {
    const byte = head[at];
    const isBreak = byte === lineFeed || (byte === carriageReturn && head[at + 1] !== lineFeed);
    if (byte === quote && isQuoted) [isQuoted, closed] = [false, at];
    // A quote that is written twice did not close its cell.
    else if (byte === quote) isQuoted = closed === at - 1 || opensCell(head, start, at);
    else if (isBreak && isQuoted) lines += 1;
    // A carriage return at the end of what is there may be half of a line break.
    else if (isBreak && (byte === lineFeed || at + 1 < head.length || isWhole)) add(at, at + 1);
  }
  if (isWhole && start < head.length && rows.length <= mostRows) add(head.length, head.length);
  return rows;
}

const opensCell = (head: Buffer, start: number, at: number): boolean =>
  head[start] !== hash && (at === start || delimiterBytes.includes(head[at - 1] ?? 0));

function headingsAmong(
  rows: readonly Row[],
  delimiter: string | undefined,
  isHeading: Expected['isHeading'],
): Row | undefined {
  const [first] = rows;
  if (!first || !isHeading) return first;
  const known = ({ text }: Row): number => {
    const cells = text.split(delimiter ?? mostUsed(text));
    return cells.filter((cell) => isHeading(visible(cell.trim().replace(/^"|"$/g, '')))).length;
  };
  const counts = rows.map(known);
  const most = Math.max(...counts);
  return most >= leastKnown ? rows[counts.indexOf(most)] : first;
}

function mostUsed(headings: string): string {
  const plain = headings.replace(/"[^"]*"/g, '');
  const counts = delimiters.map((delimiter) => plain.split(delimiter).length - 1);
  return delimiters[counts.indexOf(Math.max(...counts))] ?? ',';
}
