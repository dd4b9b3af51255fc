/**
 * Matches the start of a cell that a spreadsheet would execute. Some spreadsheets treat full-width signs like the plain
 * ones.
 */
const runs = /^[=+\-@\t\r\n\0\uff0b\uff0d\uff1d\uff20]/;
/** With this byte order mark at its start, a file is read as UTF-8 by Excel. */
export const byteOrderMark = '\ufeff';

/** Cell delimiters that some spreadsheets use instead of the comma. */
export const otherDelimiters = /[;\t|]/;
const negativeNumber = /^-\d+(?:\.\d+)?$/;

/**
 * Puts `'` before a cell that a spreadsheet would execute, so that the spreadsheet shows it as text. A number such as
 * `-5` is safe and stays as it is.
 */
export const escapeFormula = (cell: string): string =>
  runs.test(cell) && !negativeNumber.test(cell) ? `'${cell}` : cell;

/** Reverses `escapeFormula`, so that errand can read a file that it wrote for a spreadsheet. */
export const unescapeFormula = (cell: string): string =>
  cell.charCodeAt(0) === apostrophe && runs.test(cell.slice(1, 2)) ? cell.slice(1) : cell;

const apostrophe = 0x27;
