/** How a cell begins that a spreadsheet would run; the full-width signs are what some of them fold into the plain ones. */
const runs = /^[=+\-@\t\r\n\0\uff0b\uff0d\uff1d\uff20]/;
/** What a file begins with that Excel is to read as UTF-8. */
export const byteOrderMark = '\ufeff';

/** What some spreadsheets split cells at in place of the comma. */
export const otherDelimiters = /[;\t|]/;
const negativeNumber = /^-\d+(?:\.\d+)?$/;

/** A cell that a spreadsheet shows as it stands: what it would run is prefixed with `'`. `-5` is only a number. */
export const defuse = (cell: string): string =>
  runs.test(cell) && !negativeNumber.test(cell) ? `'${cell}` : cell;

/** The cell that was defused, where one was: what errand writes for a spreadsheet it reads back as it was. */
export const fused = (cell: string): string =>
  cell.charCodeAt(0) === apostrophe && runs.test(cell.slice(1, 2)) ? cell.slice(1) : cell;

const apostrophe = 0x27;
