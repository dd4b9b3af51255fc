import { stringify } from 'csv-stringify/sync';
import { escapeFormula, otherDelimiters } from '../platform/csv-cell.ts';
import { safeText } from '../platform/redact/safe-text.ts';
import { accessor, isRecord } from './path.ts';
import type { Column, Format } from './result.ts';

export interface CsvOptions {
  /** The delimiter between cells, one character. */
  readonly delimiter: string;
  /** Whether to leave cells that look like formulas unescaped. */
  readonly raw: boolean;
  /** Whether to make control characters visible, for a terminal. */
  readonly visible: boolean;
}

/**
 * Comma- or tab-separated values. The header row contains the column paths. Values are as in the record: cents, ISO
 * times.
 */
export function csvFormat(columns: readonly Column[], options: CsvOptions): Format {
  const cells = columns.map(cellReader);
  const header = csvRecord(
    columns.map(({ path }) => path),
    options,
  );
  const row = (value: unknown, index: number): string => {
    const text = csvRecord(
      cells.map((read) => read(value)),
      options,
    );
    return index === 0 ? header + text : text;
  };
  return { row, end: (count) => (count === 0 ? header : ''), whole: (value) => row(value, 0) };
}

/** A format with one value per line and no header row. */
export const csvLine = (value: unknown, options: CsvOptions): string => csvRecord([spell(value)], options);

/** Returns a function that reads a column's cell of a row as text. */
export function cellReader({ path, value: shown, flat }: Column): (row: unknown) => string {
  const value = flat ?? shown;
  if (!value) {
    const read = accessor(path);
    return (row) => spell(read(row));
  }
  return (row) => (isRecord(row) ? spell(value(row)) : '');
}

function spell(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Formats one record. Also quotes cells with characters that other readers take for a delimiter. */
export const csvRecord = (cells: readonly string[], options: CsvOptions): string =>
  csvRecords([cells], options);

/** Formats records, one per line. */
export function csvRecords(
  records: readonly (readonly string[])[],
  { delimiter, raw, visible }: CsvOptions,
): string {
  const spelled = (cell: string): string => {
    const shown = visible ? safeText(cell, Number.POSITIVE_INFINITY) : cell;
    return raw ? shown : escapeFormula(shown);
  };
  const formatted = records.map((cells) => cells.map(spelled));
  // Join rows that need no quotes here. The library's setup on each call would cost more than writing the rows.
  if (formatted.every((cells) => !cells.some((cell) => mayNeedQuotes.test(cell))))
    return formatted.map((cells) => `${cells.join(delimiter)}\n`).join('');
  return stringify(formatted, {
    delimiter,
    ...(delimiter === ',' && { quoted_match: otherDelimiters }),
  });
}

const mayNeedQuotes = /[",;|\t\r\n]/;
