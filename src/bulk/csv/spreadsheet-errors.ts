import type { ColumnPlan } from '../../api/bulk-columns.ts';
import type { BulkIssue } from '../../api/bulk-row.ts';

const notFound = 'a value that was not found';
const noCell = 'a cell that is no longer there';
const noName = 'a name that it does not know';

/** Errors of Excel, LibreOffice and Google Sheets, in English, German and Italian. */
const errors: Readonly<Record<string, string>> = {
  ...{ '#N/A': notFound, '#NV': notFound, '#N/D': notFound },
  ...{ '#REF!': noCell, '#BEZUG!': noCell, '#RIF!': noCell },
  ...{ '#NAME?': noName, '#NOME?': noName },
  ...{ '#VALUE!': 'a value of another kind', '#WERT!': 'a value of another kind' },
  ...{ '#VALORE!': 'a value of another kind', '#DIV/0!': 'a division by zero' },
  ...{ '#NUM!': 'no number', '#ZAHL!': 'no number', '#NULL!': 'no common cell', '#NULLO!': 'no common cell' },
  ...{ '#SPILL!': 'no room for the result', '#ÜBERLAUF!': 'no room for the result' },
  ...{ '#ESPANSIONE!': 'no room for the result', '#CALC!': 'no result', '#KALK!': 'no result' },
  ...{ '#CALCOLO!': 'no result', '#ERROR!': 'no result', '#GETTING_DATA': 'data that had not come yet' },
};

const numberedError = /^Err:\d{3}$/;
const narrow = /^#{3,}$/;
/** Formulas such as `=A1&B1` and `=SUM(A1)`. A text such as `=mine` is no formula. */
const formula = /^=(?:.*[A-Z]{1,3}\$?\d|[A-ZÄÖÜ.]+\(|["'\d+(-])/;

const [hash, equals, capitalE] = [0x23, 0x3d, 0x45];

/** Whether the first character shows that a cell is no error, as it does in nearly all of a file. Spaces may precede one. */
function isSound(cell: string): boolean {
  const first = cell === '' ? 0x7f : cell.charCodeAt(0);
  return first > 0x20 && first < 0x80 && first !== hash && first !== equals && first !== capitalE;
}

/**
 * Describes an error or formula that a spreadsheet left in a cell instead of a value; undefined if the cell has a
 * value. The description is phrased to follow the cell's text.
 */
export function spreadsheetError(cell: string): string | undefined {
  const first = cell.charCodeAt(0);
  if (first !== hash && first !== equals && first !== capitalE) return undefined;
  if (first === equals)
    return formula.test(cell)
      ? 'is a formula of a spreadsheet that was exported as text; export its value'
      : undefined;
  if (narrow.test(cell))
    return 'is what a spreadsheet shows where a column is too narrow; widen it and export anew';
  const text = cell.toUpperCase();
  const meaning = Object.hasOwn(errors, text) ? errors[text] : undefined;
  if (meaning !== undefined)
    return `is an error of the spreadsheet: ${meaning}; mend it there and export anew`;
  return numberedError.test(cell)
    ? 'is an error of the spreadsheet; mend it there and export anew'
    : undefined;
}

/** Spreadsheet errors in the cells that make up an order. */
export function spreadsheetErrors(plan: ColumnPlan, cells: readonly string[]): BulkIssue[] {
  const found: BulkIssue[] = [];
  for (let index = 0; index < cells.length; index += 1) {
    const value = cells[index] ?? '';
    if (isSound(value)) continue;
    const message = spreadsheetError(value.trim());
    const column = message && columnAt(plan, index);
    if (message && column) found.push({ column, value: value.trim(), message });
  }
  return found;
}

/** The column of an order that a heading is; undefined for an own column. */
function columnAt({ columns, metadata }: ColumnPlan, index: number): string | undefined {
  const key = metadata.find((one) => one.index === index)?.key;
  return key === undefined ? [...columns].find(([, at]) => at === index)?.[0] : `metadata.${key}`;
}
