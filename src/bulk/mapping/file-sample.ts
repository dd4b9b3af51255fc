import { CsvError, parse } from 'csv-parse/sync';
import { fused } from '../../spreadsheet-cell.ts';
import { mostRows, readBeginning } from '../beginning.ts';
import { asUtf8 } from '../decode.ts';
import { isKnownHeading } from '../headings.ts';
import { type RowsOptions, withoutEmptyEnd } from '../rows.ts';
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

/**
 * Reads the beginning of a file. @returns undefined where no row is there, or it is no CSV, which whoever reads all of it tells.
 * @throws UsageError naming the file, for one that is no text.
 */
export async function sampleOf(source: Source, options: RowsOptions): Promise<FileSample | undefined> {
  const isHeading = (text: string): boolean => isKnownHeading(text, options) || looksLikeHeading(text);
  const bytes = asUtf8(source.chunks(), options.name, options.encoding);
  const { chunks, delimiter, rows } = await readBeginning(bytes, { delimiter: options.delimiter, isHeading });
  const { value: head = new Uint8Array() } = await chunks.next();
  await chunks.return(undefined);
  // No more than is needed: what is at hand may end in the middle of a row.
  for (let count = 2; count <= mostRows; count += 1) {
    const read = recordsOf(head, delimiter, count);
    const [headings = [], cells] = [read[0], read[count - 1]];
    if (cells?.some((cell) => cell.trim() !== ''))
      return { headings: withoutEmptyEnd(headings.map((one) => one.trim())), cells, row: rows + count };
  }
  return undefined;
}

/** The first rows of a table, headings and all; none where they are no CSV. */
function recordsOf(head: Uint8Array, delimiter: string, count: number): string[][] {
  try {
    const read = parse(head, { delimiter, relax_column_count: true, record_delimiter: [], to: count });
    return read.map((cells) => cells.map(fused));
  } catch (error) {
    if (error instanceof CsvError) return [];
    throw error;
  }
}
