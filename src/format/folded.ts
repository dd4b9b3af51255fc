/** Letters that are no letter and an accent, as people write them without. */
const plainLetters: Readonly<Record<string, string>> = {
  ...{ Æ: 'AE', Œ: 'OE', Ø: 'O', Ł: 'L', Đ: 'D', Ð: 'D', Þ: 'TH', Ħ: 'H', Ŧ: 'T', ẞ: 'SS' },
};
const otherLetters = /[ÆŒØŁĐÐÞĦŦẞ]/gu;

/**
 * Accents of the scripts that have them, and points of those that may leave them out. Marks that make another letter, as in
 * Devanagari or Kana, stay.
 */
const accents = /[\u0300-\u036f\u0591-\u05c7\u064b-\u0652\u0670]/gu;

const isAscii = /^[\u0000-\u007f]*$/u;

/** A text in capitals and without accents; signs and spaces stay. */
export function folded(text: string): string {
  // Most texts are ASCII, and to look is cheaper than to write them anew.
  if (isAscii.test(text)) return text.toUpperCase();
  return text
    .normalize('NFKD')
    .toUpperCase()
    .replace(accents, '')
    .normalize('NFC')
    .replace(otherLetters, (letter) => plainLetters[letter] ?? letter);
}

const isBare = /^[A-Z0-9]*$/;
const signs = /[^\p{L}\p{N}\p{M}]/gu;

/** Letters and digits alone, in capitals and without accents. */
export function bare(text: string): string {
  const plain = folded(text);
  return isBare.test(plain) ? plain : plain.replace(signs, '');
}
