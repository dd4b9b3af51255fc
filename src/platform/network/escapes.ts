const hexEscape = /%([0-9a-f]{2})/gi;

const charOf = (hex: string): string => String.fromCharCode(Number.parseInt(hex, 16));

/** A part of a URL in which letters, digits and `-._~` are not escaped; every other escape stays as it is. */
export const withPlainLetters = (text: string): string =>
  text.replace(hexEscape, (found, hex: string) => (/[\w.~-]/.test(charOf(hex)) ? charOf(hex) : found));

/** What was escaped twice too; each byte is a character, and a broken escape stays as it is. */
export const unescapedTwice = (text: string): string => unescapedOnce(unescapedOnce(text));

/** A part of a URL without its escapes; as it stands where a percent sign in it begins none. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The user and password of a URL, as HTTP Basic sends them. */
export const basicCredentials = ({ username, password }: URL): string =>
  `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')}`;

const unescapedOnce = (text: string): string => text.replace(hexEscape, (_, hex: string) => charOf(hex));
