/**
 * Parses an absolute URL, or a URL relative to `base`. Undefined for any other text. `URL.canParse` cannot be used:
 * once V8 has optimized that function, Node 20 rejects every host with a letter beyond ASCII.
 */
export function parseUrl(text: string, base?: URL): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

export const isUrl = (text: string): boolean => parseUrl(text) !== undefined;

/** Normalizes a URL to compare products. Drops the scheme and the fragment, and sorts the query parameters. */
export function comparableUrl(text: string): string {
  const parsed = parseUrl(text);
  if (!parsed) return text;
  const { host, pathname, searchParams } = parsed;
  searchParams.sort();
  return `${host}${trimSlashes(pathname)}?${searchParams}`;
}

/** The canonical form of a base URL. It has no trailing slash, and identifies a service. */
export const plainBase = (url: URL): string => `${url.origin}${trimSlashes(url.pathname)}`;

/** Parses an http or https URL that has a host. Undefined for any other text. */
export function httpUrl(text: string): URL | undefined {
  const url = parseUrl(text);
  return url && /^https?:$/.test(url.protocol) && url.hostname !== '' ? url : undefined;
}

export const hasCredentials = ({ username, password }: URL): boolean => username !== '' || password !== '';

export const hasQuery = ({ search, hash }: URL): boolean => search !== '' || hash !== '';

/** Removes all trailing slashes. The time is linear in their number. */
export const trimSlashes = (path: string): string => path.replace(/(?<!\/)\/+$/, '');

const hexEscape = /%([0-9a-f]{2})/gi;

const charOf = (hex: string): string => String.fromCharCode(Number.parseInt(hex, 16));

/** Decodes escaped letters, escaped digits and escaped `-._~` in a part of a URL. Every other escape stays. */
export const withPlainLetters = (text: string): string =>
  text.replace(hexEscape, (found, hex: string) => (/[\w.~-]/.test(charOf(hex)) ? charOf(hex) : found));

/**
 * Decodes escapes up to two times. Each escape becomes the character with the code of its byte. Invalid escapes stay
 * unchanged.
 */
export const unescapedTwice = (text: string): string => unescapedOnce(unescapedOnce(text));

/** Decodes a part of a URL. If the part contains an invalid escape, it is returned unchanged. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Converts the user and password of a URL to an HTTP Basic header. */
export const basicCredentials = ({ username, password }: URL): string =>
  `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')}`;

const unescapedOnce = (text: string): string => text.replace(hexEscape, (_, hex: string) => charOf(hex));

/** Remembers what was found of the last URL, because consecutive orders are often of the same product. */
export function ofLastUrl<T>(find: (url: string) => T): (url: string) => T {
  let last: { readonly url: string; readonly found: T } | undefined;
  return (url) => {
    if (last?.url !== url) last = { url, found: find(url) };
    return last.found;
  };
}
