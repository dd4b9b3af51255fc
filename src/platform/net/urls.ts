/** A URL in the spelling in which two of one product are compared: without scheme and fragment, its query in order. */
export function comparableUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  const { host, pathname, searchParams } = new URL(text);
  searchParams.sort();
  return `${host}${trimSlashes(pathname)}?${searchParams}`;
}

/** A base URL in its one form, by which a service is known: without a trailing slash. */
export const plainBase = (url: URL): string => `${url.origin}${trimSlashes(url.pathname)}`;

/** An http or https URL that names a host; undefined for any other text. */
export function httpUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url && /^https?:$/.test(url.protocol) && url.hostname !== '' ? url : undefined;
}

export const hasCredentials = ({ username, password }: URL): boolean => username !== '' || password !== '';

export const hasQuery = ({ search, hash }: URL): boolean => search !== '' || hash !== '';

/** A path without the slashes at its end. Each run of slashes is looked at once, however many there are. */
export const trimSlashes = (path: string): string => path.replace(/(?<!\/)\/+$/, '');

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
