import { isObject, listIn, own } from '../../api/json.ts';
import { unescapeFormula } from '../../platform/csv-cell.ts';
import { UsageError } from '../../platform/errors.ts';
import { asUtf8, type Encoding, visible, withLineFeeds } from './decode.ts';

/** What a quote can mean: the borders of a quoted cell (`double`), or plain text (`none`). */
export const quoteStyles = ['double', 'none'] as const;

export interface TableOptions {
  /** File name, for messages. */
  readonly name: string;
  readonly encoding?: Encoding | undefined;
  /** The delimiter, one character. If it is omitted, it is detected. */
  readonly delimiter?: string | undefined;
  /** How quotes are read. `double` is the default: a quote begins a quoted cell. Otherwise, quotes are plain text. */
  readonly quotes?: (typeof quoteStyles)[number] | undefined;
  /** Returns whether a text is a known heading. If this function is given, titles may precede the headings. */
  readonly isHeading?: ((text: string) => boolean) | undefined;
  /** Whether cells keep the leading apostrophe that marks a formula as text. */
  readonly keepsMarks?: boolean | undefined;
}

/** A chunk of a table: rows that were parsed together. */
interface TablePart {
  readonly headings: readonly string[];
  readonly delimiter: string;
  /**
   * Row number of the first row, as a spreadsheet counts. Lines above the headings count, but line breaks within cells
   * do not.
   */
  readonly firstRow: number;
  /** The rows. Empty rows are included so that the numbering stays right. */
  readonly rows: readonly (readonly string[])[];
  /** Line of the file on which the first row begins. */
  readonly firstLine: number;
  /** Number of line breaks in the cells of each multi-line row, by index in `rows`. */
  readonly breaks: ReadonlyMap<number, number>;
}

/** Maximum length of a row, in bytes. */
export const maxRowBytes = 1024 * 1024;

/**
 * Streams a CSV table in any of the common delimiters, line endings, encodings and quoting styles. @throws UsageError
 * naming the file and the line.
 */
export async function* readTable(
  chunks: AsyncIterable<Uint8Array>,
  { name, encoding, delimiter, quotes = 'double', isHeading, keepsMarks = false }: TableOptions,
): AsyncGenerator<TablePart> {
  const isQuoted = quotes === 'double';
  const detected = await detectHeader(asUtf8(chunks, name, encoding), { delimiter, isHeading, isQuoted });
  const { parse } = await import('csv-parse');
  const parser = parse({
    delimiter: detected.delimiter,
    relax_column_count: true,
    max_record_size: maxRowBytes,
    record_delimiter: '\n',
    ...(!isQuoted && { quote: null }),
  });
  takeAnyLength(parser);
  let arrived: string[][] = [];
  let failure: Error | undefined;
  parser.on('error', (error) => {
    failure = error;
  });
  parser.on('readable', () => {
    for (let row = parser.read(); row !== null; row = parser.read()) arrived.push(row);
  });
  let headings: readonly string[] | undefined;
  let firstRow = detected.rows + 2;
  let firstLine = detected.lines + 2;
  /** Whether a row that has not been taken yet may have a mark. Hardly any file has one. */
  let mayHaveMarks = false;

  function taken(chunk: Uint8Array = Buffer.of()): TablePart | undefined {
    if (failure)
      throw refused(failure, name, { lines: detected.lines, row: detected.rows + parser.info.records + 1 });
    const rows = arrived;
    arrived = [];
    const hasMarks = !keepsMarks && chunk.includes(apostrophe);
    mayHaveMarks ||= hasMarks;
    for (const cells of mayHaveMarks ? rows : [])
      for (let at = 0; at < cells.length; at += 1) cells[at] = unescapeFormula(cells[at] ?? '');
    // The last row of the chunk may go on in the next one.
    if (rows.length > 0) mayHaveMarks = hasMarks;
    if (!headings) {
      const first = rows.shift();
      firstLine += breaksIn(first ?? []);
      headings = first?.map((heading) => heading.trim());
    }
    if (!headings || rows.length === 0) return undefined;
    const breaks = breaksOf(rows);
    const part = { headings, delimiter: detected.delimiter, firstRow, rows, firstLine, breaks };
    firstRow += rows.length;
    firstLine += rows.length;
    for (const count of breaks.values()) firstLine += count;
    return part;
  }

  try {
    for await (const chunk of detected.chunks) {
      await new Promise<void>((resolve) => parser.write(chunk, () => resolve()));
      const part = taken(chunk);
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

/**
 * Lets a row have any number of cells. By `relax_column_count` alone, csv-parse makes an error with a stack for each row
 * that is shorter or longer than the first, and ignores it: 20 times the work of reading the row.
 */
function takeAnyLength(parser: object): void {
  const api: unknown = Reflect.get(parser, 'api');
  const [state, onRecord] = [own(api, 'state'), own(api, '__onRecord')];
  if (!isObject(api) || !isObject(state) || typeof onRecord !== 'function') return;
  // No accessor on the state: csv-parse reads it for each byte, and an object with one is slow.
  const take = (push: unknown): unknown => {
    Reflect.set(state, 'expectedRecordLength', listIn(state, 'record').length);
    return Reflect.apply(onRecord, api, [push]);
  };
  Reflect.set(api, '__onRecord', take);
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

/** @param at holds the number of lines above the headings, and the number of the row being parsed. */
function refused(
  error: Error,
  name: string,
  at: { readonly lines: number; readonly row: number },
): UsageError {
  const code = 'code' in error ? error.code : undefined;
  const lines = 'lines' in error && typeof error.lines === 'number' ? error.lines + at.lines : undefined;
  const line = lines === undefined ? '' : `, line ${lines}`;
  // An unclosed quote is detected far below the row that contains it, so report the row rather than the line.
  const where = endless.includes(code) ? `, row ${at.row}` : line;
  const what = reasons.find(([known]) => known === code)?.[1] ?? error.message;
  return new UsageError(`${name}${where}: ${what}`, { cause: error });
}

const endless: readonly unknown[] = ['CSV_QUOTE_NOT_CLOSED', 'CSV_MAX_RECORD_SIZE'];

const reasons: readonly (readonly [code: string, reason: string])[] = [
  ['CSV_QUOTE_NOT_CLOSED', 'a quoted cell is never closed'],
  ['CSV_INVALID_CLOSING_QUOTE', 'a quote within a quoted cell must be written twice ("")'],
  ['INVALID_OPENING_QUOTE', 'a cell with a quote in it must be quoted whole'],
  ['CSV_MAX_RECORD_SIZE', `a row is longer than ${maxRowBytes} bytes; is a quote missing?`],
];

const [lineFeed, carriageReturn, quote, hash, apostrophe] = [10, 13, 34, 35, 39];
/** Maximum number of bytes that contain the headings and everything above them. */
const maxBytes = 1024 * 1024;
/** Maximum number of rows to search for the headings. Titles and empty lines may come before the headings. */
const maxRows = 20;
/** A line counts as the header row only if it has at least this many known headings. The first line needs none. */
const minKnown = 3;

export const delimiters = [',', ';', '\t', '|'] as const;
const delimiterBytes: readonly number[] = delimiters.map((delimiter) => delimiter.charCodeAt(0));

interface DetectedHeader {
  /** Chunks of the table, starting with the headings. Each row ends in a line feed. */
  readonly chunks: AsyncGenerator<Uint8Array>;
  readonly delimiter: string;
  /** Number of rows above the headings, as a spreadsheet counts them. */
  readonly rows: number;
  /** Number of lines above the header row. */
  readonly lines: number;
}

/** Facts about a table that are known before parsing. */
interface Expected {
  readonly delimiter?: string | undefined;
  readonly isQuoted?: boolean;
  /**
   * Returns whether a text is a known heading. Without this function, the first line that is not a comment is the
   * header row.
   */
  readonly isHeading?: ((text: string) => boolean) | undefined;
}

/**
 * Finds the header row and its delimiter. The line with the most known headings is the header row. Comments (`#`),
 * `sep=;`, titles and empty lines may precede it.
 */
export async function detectHeader(
  source: AsyncGenerator<Uint8Array>,
  { delimiter: given, isHeading, isQuoted = true }: Expected,
): Promise<DetectedHeader> {
  let head = Buffer.alloc(0);
  let ended = false;
  let rows: Row[] = [];
  while (rows.length <= maxRows && head.length < maxBytes && !ended) {
    const { value, done } = await source.next();
    if (done) ended = true;
    else head = Buffer.concat([head, value]);
    rows = rowsWithin(head, ended || head.length >= maxBytes, isQuoted);
    if (isHeading === undefined && rows.some(isTable)) break;
  }
  const named = rows.find(({ text }) => separator.test(text));
  const delimiter = given ?? separator.exec(named?.text ?? '')?.[1];
  const headings = headingsAmong(rows.filter(isTable), delimiter, isHeading);
  const above = rows.slice(0, headings ? rows.indexOf(headings) : 0);
  return {
    chunks: withLineFeeds(rest(head.subarray(headings?.start ?? 0), source), isQuoted),
    delimiter: delimiter ?? commonestDelimiter(headings?.text ?? ''),
    // The `sep=` line does not count as a row, because spreadsheets do not show it.
    rows: above.filter((row) => row !== named).length,
    lines: above.reduce((sum, { lines }) => sum + lines, 0),
  };
}

async function* rest(head: Uint8Array, source: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (head.length > 0) yield head;
  yield* source;
}

interface Row {
  /** Byte offset at which the row starts. */
  readonly start: number;
  readonly text: string;
  readonly lines: number;
}

const separator = /^"?sep=([,;\t|])"?\s*$/i;

/** Whether a row may belong to the table: it is not empty, no comment and no separator line. */
const isTable = ({ text }: Row): boolean =>
  !text.startsWith('#') && !separator.test(text) && /[^\s",;|]/.test(text);

/** Splits off the complete rows, including the last row if the buffer is the whole file. */
function rowsWithin(head: Buffer, isWhole: boolean, hasQuotes: boolean): Row[] {
  const rows: Row[] = [];
  let [start, lines, isQuoted, closed] = [0, 1, false, -1];
  const add = (end: number, next: number): void => {
    rows.push({ start, text: head.toString('utf8', start, end), lines });
    [start, lines] = [next, 1];
  };
  for (let at = 0; at < head.length && rows.length <= maxRows; at += 1) {
    const byte = head[at];
    const isBreak = byte === lineFeed || (byte === carriageReturn && head[at + 1] !== lineFeed);
    if (!hasQuotes && byte === quote) continue;
    if (byte === quote && isQuoted) [isQuoted, closed] = [false, at];
    // Two quotes in a row are one escaped quote, so the cell stays open.
    else if (byte === quote) isQuoted = closed === at - 1 || opensCell(head, start, at);
    else if (isBreak && isQuoted) lines += 1;
    // A carriage return at the end of the buffer may be half of a CRLF.
    else if (isBreak && (byte === lineFeed || at + 1 < head.length || isWhole)) add(at, at + 1);
  }
  if (isWhole && start < head.length && rows.length <= maxRows) add(head.length, head.length);
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
    const cells = text.split(delimiter ?? commonestDelimiter(text));
    return cells.filter((cell) => isHeading(visible(cell.trim().replace(/^"|"$/g, '')))).length;
  };
  const counts = rows.map(known);
  const best = Math.max(...counts);
  return best >= minKnown ? rows[counts.indexOf(best)] : first;
}

function commonestDelimiter(headings: string): string {
  const plain = headings.replace(/"[^"]*"/g, '');
  const counts = delimiters.map((delimiter) => plain.split(delimiter).length - 1);
  return delimiters[counts.indexOf(Math.max(...counts))] ?? ',';
}
