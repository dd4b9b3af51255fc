/** Countries whose postal codes have five digits, so that one of four has lost its zero. */
const fiveDigits = new Set(['DE', 'ES', 'FI', 'FR', 'HR', 'IT', 'MX', 'TR', 'US']);

const powerOfTen = /^\d(?:[.,]\d{1,14})?e\+?\d{1,3}$/i;
const withDecimal = /^(\d{1,15})[.,]0{1,2}$/;

/**
 * What a spreadsheet has done to a cell that it took for a number, and what to do about it; undefined where it looks
 * as it was typed. The message follows the value.
 */
export function damageOf(
  column: 'phone_number' | 'postal_code' | 'quantity',
  text: string,
  country: () => string,
): string | undefined {
  const isPostal = column === 'postal_code' && (text.length === 4 || text.length === 9);
  if (!isPostal && !/[.,e]/i.test(text)) return undefined;
  if (powerOfTen.test(text))
    return `is what a spreadsheet made of a long number, and digits are lost; format the column as text, enter it again and export anew`;
  const [, whole] = withDecimal.exec(text) ?? [];
  if (whole !== undefined)
    return `is a number with decimals, as a spreadsheet writes it; write ${whole}, in a column formatted as text`;
  if (!isPostal) return undefined;
  const code = country().toUpperCase();
  if (!fiveDigits.has(code)) return undefined;
  if (/^\d{4}$/.test(text))
    return `has lost the zero at its beginning in a spreadsheet; write 0${text}, in a column formatted as text`;
  if (code === 'US' && /^\d{9}$/.test(text))
    return `is without its dash; write ${text.slice(0, 5)}-${text.slice(5)}`;
  return undefined;
}
