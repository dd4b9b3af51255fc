import { fused } from '../../platform/csv-cell.ts';
import { UsageError } from '../../platform/errors.ts';
import { asUtf8, type Encoding, visible, withLineFeeds } from './decode.ts';

export interface TableOptions {
  /** Of the file, for messages. */
  readonly name: string;
  readonly encoding?: Encoding | undefined;
  /** One character; found by itself where it is not given. */
  readonly delimiter?: string | undefined;
  /** Whether a text heads a column that is known: titles may stand above the headings then. */
  readonly isHeading?: ((text: string) => boolean) | undefined;
}

/** A piece of a table, as many rows as came at once. */
interface TablePart {
  readonly headings: readonly string[];
  /** Number of the first row as a spreadsheet shows it: lines above the headings count, line breaks in a cell do not. */
  readonly firstRow: number;
  /** Rows without a value in any cell are there too, so that the numbers hold. */
  readonly rows: readonly (readonly string[])[];
  /** Line of the file on which the first row begins. */
  readonly firstLine: number;
  /** Rows that go over several lines of the file: the number of line breaks in their cells, by their index here. */
  readonly breaks: ReadonlyMap<number, number>;
}

/** Longest row, bytes. */
export const longestRow = 1024 * 1024;

/**
 * Reads a CSV table in pieces, without keeping it, with whichever of the usual delimiters, line ends, encodings and quotings.
 * @throws UsageError naming the file and the line.
 */
export async function* readTable(
  chunks: AsyncIterable<Uint8Array>,
  { name, encoding, delimiter, isHeading }: TableOptions,
): AsyncGenerator<TablePart> {
  const begun = await readBeginning(asUtf8(chunks, name, encoding), { delimiter, isHeading });
  const { parse } = await import('csv-parse');
  const parser = parse({
    delimiter: begun.delimiter,
    relax_column_count: true,
    max_record_size: longestRow,
    record_delimiter: '\n',
  });
  let arrived: string[][] = [];
  let failure: Error | undefined;
  parser.on('error', (error) => {
    failure = error;
  });
  parser.on('readable', () => {
    for (let row = parser.read(); row !== null; row = parser.read()) arrived.push(row);
  });
  let headings: readonly string[] | undefined;
  let firstRow = begun.rows + 2;
  let firstLine = begun.lines + 2;

  function taken(): TablePart | undefined {
    if (failure)
      throw refused(failure, name, { lines: begun.lines, row: begun.rows + parser.info.records + 1 });
    const rows = arrived;
    arrived = [];
    for (const cells of rows) for (let at = 0; at < cells.length; at += 1) cells[at] = fused(cells[at] ?? '');
    if (!headings) {
      const first = rows.shift();
      firstLine += breaksIn(first ?? []);
      headings = first?.map((heading) => heading.trim());
    }
    if (!headings || rows.length === 0) return undefined;
    const breaks = breaksOf(rows);
    const part = { headings, firstRow, rows, firstLine, breaks };
    firstRow += rows.length;
    firstLine += rows.length;
    for (const count of breaks.values()) firstLine += count;
    return part;
  }

  try {
    for await (const chunk of begun.chunks) {
      await new Promise<void>((resolve) => parser.write(chunk, () => resolve()));
      const part = taken();
      if (part) yield part;
    }
    await new Promise<void>((resolve) => {
      parser.once('error', () => resolve());
      parser.once('end', resolve);
      parser.end();
    });
    const part = taken();
    if (part) yield part;
    if (!headings) throw new UsageError(`${name} is empty; \`errand bulk template\` shows what it takes`);
  } finally {
    parser.destroy();
  }
}

function breaksOf(rows: readonly (readonly string[])[]): Map<number, number> {
  const breaks = new Map<number, number>();
  for (let at = 0; at < rows.length; at += 1) {
    const count = breaksIn(rows[at] ?? []);
    if (count > 0) breaks.set(at, count);
  }
  return breaks;
}

export const breaksIn = (cells: readonly string[]): number => {
  let count = 0;
  for (const cell of cells)
    if (cell.includes('\n') || cell.includes('\r')) count += cell.match(/\r\n?|\n/g)?.length ?? 0;
  return count;
};

/** @param at lines above the headings, and the row that was being read. */
function refused(
  error: Error,
  name: string,
  at: { readonly lines: number; readonly row: number },
): UsageError {
  const code = 'code' in error ? error.code : undefined;
  const lines = 'lines' in error && typeof error.lines === 'number' ? error.lines + at.lines : undefined;
  const line = lines === undefined ? '' : `, line ${lines}`;
  // A quote that is not closed is seen far behind the row in which it stands.
  const where = endless.includes(code) ? `, row ${at.row}` : line;
  const what = reasons.find(([known]) => known === code)?.[1] ?? error.message;
  return new UsageError(`${name}${where}: ${what}`, { cause: error });
}

const endless: readonly unknown[] = ['CSV_QUOTE_NOT_CLOSED', 'CSV_MAX_RECORD_SIZE'];

const reasons: readonly (readonly [code: string, reason: string])[] = [
  ['CSV_QUOTE_NOT_CLOSED', 'a quoted cell is never closed'],
  ['CSV_INVALID_CLOSING_QUOTE', 'a quote within a quoted cell must be written twice ("")'],
  ['INVALID_OPENING_QUOTE', 'a cell with a quote in it must be quoted whole'],
  ['CSV_MAX_RECORD_SIZE', `a row is longer than ${longestRow} bytes; is a quote missing?`],
];

const [lineFeed, carriageReturn, quote, hash] = [10, 13, 34, 35];
/** Headings and all that stands above them end within this, bytes. */
const mostBytes = 1024 * 1024;
/** Rows in which headings are looked for: titles and empty lines may stand above them. */
const mostRows = 20;
/** Headings that a line below the first must have to be taken for the line of headings. */
const leastKnown = 3;

export const delimiters = [',', ';', '\t', '|'] as const;
const delimiterBytes: readonly number[] = delimiters.map((delimiter) => delimiter.charCodeAt(0));

interface Beginning {
  /** The chunks from the headings on, a line feed behind each row. */
  readonly chunks: AsyncGenerator<Uint8Array>;
  readonly delimiter: string;
  /** Rows above the headings, as a spreadsheet counts them. */
  readonly rows: number;
  /** Lines above the headings. */
  readonly lines: number;
}

/** What is known of a table before it is read. */
interface Expected {
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
