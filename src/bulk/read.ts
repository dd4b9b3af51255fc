import { fused } from '../platform/csv-cell.ts';
import { UsageError } from '../platform/errors.ts';
import { readBeginning } from './beginning.ts';
import { asUtf8, type Encoding } from './decode.ts';

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
export interface TablePart {
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
