/** Marks with which a spreadsheet keeps digits as text: `'00017`, `="00017"`. */
const textMarks = /^'(?=\d)|^="(?=\d[^"]*"$)/;

/** A cell without the marks that keep its digits as text. */
export function withoutTextMarks(cell: string): string {
  const text = cell.trim();
  return textMarks.test(text) ? text.replace(textMarks, '').replace(/"$/, '') : text;
}

const powerOfTen = /^\d(?:[.,]\d{1,14})?e\+?\d{1,3}$/i;

/** Explains a long number of which a spreadsheet has lost the last digits; undefined for other text. */
export const lostDigits = (text: string): string | undefined =>
  powerOfTen.test(text)
    ? 'is what a spreadsheet made of a long number, and digits are lost; format the column as text, enter it again and export anew'
    : undefined;
