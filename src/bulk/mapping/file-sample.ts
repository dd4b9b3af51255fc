import { isKnownHeading } from '../headings.ts';
import { readTable } from '../read.ts';
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

/** Reads the beginning of a file. @returns undefined for one without a row. @throws UsageError naming the file and the line. */
export async function sampleOf(source: Source, options: RowsOptions): Promise<FileSample | undefined> {
  const isHeading = (text: string): boolean => isKnownHeading(text, options) || looksLikeHeading(text);
  for await (const { headings, firstRow, rows } of readTable(source.chunks(), { ...options, isHeading })) {
    const at = rows.findIndex((cells) => cells.some((cell) => cell.trim() !== ''));
    const cells = rows[at];
    if (cells) return { headings: withoutEmptyEnd(headings), cells, row: firstRow + at };
  }
  return undefined;
}
