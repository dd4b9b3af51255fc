import { CsvError, parse } from 'csv-parse/sync';
import { fused } from '../../platform/csv-cell.ts';
import { readBeginning } from '../beginning.ts';
import { asUtf8 } from '../decode.ts';
import { isKnownHeading, readHeadings } from '../headings.ts';
import { longestRow, readTable, type TableOptions } from '../read.ts';
import type { RowsOptions } from '../rows.ts';
import type { Source } from '../source.ts';
import { looksLikeHeading } from './likeness.ts';

/** The headings of a file, and one of its rows. */
export interface FileSample {
  readonly headings: readonly string[];
  /** Cells of the first row that is not empty. */
  readonly cells: readonly string[];
  /** Its number. */
  readonly row: number;
}

/** Reads a file as far as its first row with a value. @returns undefined for one without. @throws UsageError naming the file and the line. */
export async function sampleOf(source: Source, options: RowsOptions): Promise<FileSample | undefined> {
  const isHeading = (text: string): boolean => isKnownHeading(text, options) || looksLikeHeading(text);
  const table = { ...options, isHeading };
  const sample = await ofFirstRow(source, table);
  if (sample) return sample;
  for await (const { headings, firstRow, rows } of readTable(source.chunks(), table)) {
    const at = rows.findIndex(isFilled);
    const cells = rows[at];
    if (cells) return { headings: readHeadings(headings, options), cells, row: firstRow + at };
  }
  return undefined;
}

/**
 * The sample of nearly every file, read by csv-parse's copy for whole texts: as a second parser of the process, `readTable` would
 * slow down the first. @returns undefined where the row below the headings is empty, or nothing behind it shows that it is whole.
 */
async function ofFirstRow(
  source: Source,
  table: TableOptions & RowsOptions,
): Promise<FileSample | undefined> {
  const begun = await readBeginning(asUtf8(source.chunks(), table.name, table.encoding), table);
  const { value: head = new Uint8Array() } = await begun.chunks.next();
  await begun.chunks.return(undefined);
  const [headings, cells, next] = recordsOf(head, begun.delimiter, 3);
  if (!headings || !cells || !next || !isFilled(cells)) return undefined;
  return { headings: readHeadings(headings, table), cells, row: begun.rows + 2 };
}

const isFilled = (cells: readonly string[]): boolean => cells.some((cell) => cell.trim() !== '');

/** The first records of a table; none where they are no CSV. */
function recordsOf(head: Uint8Array, delimiter: string, count: number): string[][] {
  try {
    const read = parse(head, {
      ...{ delimiter, record_delimiter: '\n', relax_column_count: true },
      ...{ max_record_size: longestRow, to: count },
    });
    return read.map((cells) => cells.map(fused));
  } catch (error) {
    if (error instanceof CsvError) return [];
    throw error;
  }
}
