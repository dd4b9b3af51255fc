const hexEscape = /%([0-9a-f]{2})/gi;

const charOf = (hex: string): string => String.fromCharCode(Number.parseInt(hex, 16));

/** A part of a URL in which letters, digits and `-._~` are not escaped; every other escape stays as it is. */
export const withPlainLetters = (text: string): string =>
  text.replace(hexEscape, (found, hex: string) => (/[\w.~-]/.test(charOf(hex)) ? charOf(hex) : found));

/** What was escaped twice too; each byte is a character, and a broken escape stays as it is. */
export const unescapedTwice = (text: string): string => unescapedOnce(unescapedOnce(text));

const unescapedOnce = (text: string): string => text.replace(hexEscape, (_, hex: string) => charOf(hex));
