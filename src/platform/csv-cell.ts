/** Start of a cell that a spreadsheet would execute. Some spreadsheets treat full-width signs like the plain ones. */
const runs = /^[=+\-@\t\r\n\0\uff0b\uff0d\uff1d\uff20]/;
/** Makes Excel read a file as UTF-8. */
export const byteOrderMark = '\ufeff';

/** Cell delimiters that some spreadsheets use instead of the comma. */
export const otherDelimiters = /[;\t|]/;
const negativeNumber = /^-\d+(?:\.\d+)?$/;

/**
 * Puts `'` before a cell that a spreadsheet would execute, so that it shows as text. A number such as `-5` is safe and
 * stays as it is.
 */
export const escapeFormula = (cell: string): string =>
  runs.test(cell) && !negativeNumber.test(cell) ? `'${cell}` : cell;

/** Reverses `escapeFormula`, so that errand reads back what it wrote for a spreadsheet. */
export const unescapeFormula = (cell: string): string =>
  cell.charCodeAt(0) === apostrophe && runs.test(cell.slice(1, 2)) ? cell.slice(1) : cell;

const apostrophe = 0x27;
