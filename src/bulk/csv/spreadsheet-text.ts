/** Marks that make a spreadsheet treat digits as text: `'00017`, `="00017"`. */
const textMarks = /^'(?=\d)|^="(?=\d[^"]*"$)/;

/** The cell without marks that make a spreadsheet treat digits as text. */
export function withoutTextMarks(cell: string): string {
  const text = cell.trim();
  return textMarks.test(text) ? text.replace(textMarks, '').replace(/"$/, '') : text;
}

const powerOfTen = /^\d(?:[.,]\d{1,14})?e\+?\d{1,3}$/i;

/** Explains that a spreadsheet has lost the last digits of a long number; undefined for other text. */
export const lostDigits = (text: string): string | undefined =>
  powerOfTen.test(text)
    ? 'is what a spreadsheet made of a long number, and digits are lost; format the column as text, enter it again and export anew'
    : undefined;
