/** Letters that Unicode does not decompose, with their common ASCII spellings. */
const plainLetters: Readonly<Record<string, string>> = {
  ...{ Æ: 'AE', Œ: 'OE', Ø: 'O', Ł: 'L', Đ: 'D', Ð: 'D', Þ: 'TH', Ħ: 'H', Ŧ: 'T', ẞ: 'SS' },
};
const otherLetters = /[ÆŒØŁĐÐÞĦŦẞ]/gu;

/**
 * Combining accents, optional vowel points and variation selectors. Marks that turn a letter into another one, as in
 * Devanagari or Kana, are not included.
 */
const accents = /[\u0300-\u036f\u0591-\u05c7\u064b-\u0652\u0670]|[\ufe00-\ufe0f]/gu;

const isAscii = /^[\u0000-\u007f]*$/u;

/** Converts a text to uppercase without accents. Keeps punctuation and spaces. */
export function folded(text: string): string {
  // Fast path: most texts are ASCII.
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

/** Converts a text to uppercase without accents. Keeps only letters and digits. */
export function bare(text: string): string {
  const plain = folded(text);
  return isBare.test(plain) ? plain : plain.replace(signs, '');
}
