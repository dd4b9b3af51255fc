import { UsageError } from '../platform/errors.ts';
import { isLoopback } from '../platform/network/loopback.ts';
import { hasCredentials, hasQuery } from '../platform/network/plain-base.ts';
import { trimSlashes } from '../platform/network/trim-slashes.ts';

/** The scheme of the sandbox inside this process: `embedded:` is its base URL, `embedded:/orders` an address in it. */
export const embeddedScheme = 'embedded:';

/**
 * Parses a base URL and refuses what no key may be sent to. The settings have said so before, naming the setting;
 * this is the last door.
 * @throws UsageError.
 */
export function checkedBase(text: string, allowPlainHttp: boolean): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === embeddedScheme) return url;
  if (!url || hasCredentials(url) || hasQuery(url)) {
    throw new UsageError('the base URL is not one: it takes https://host/path');
  }
  if (!isSafeToSend(url, allowPlainHttp)) {
    throw new UsageError(
      `the base URL ${url.origin} is plain http, or no web address: a key would cross the network in clear`,
    );
  }
  return url;
}

/** https, plain http to this machine, or plain http where the profile allows it. */
export function isSafeToSend(url: URL, allowPlainHttp: boolean): boolean {
  if (url.protocol === 'https:' || url.protocol === embeddedScheme) return true;
  return url.protocol === 'http:' && (allowPlainHttp || isLoopback(url.hostname));
}

/** Scheme, host and port are the same. `URL.origin` would be `null` for the embedded sandbox. */
export const isSameOrigin = (a: URL, b: URL): boolean => a.protocol === b.protocol && a.host === b.host;

/** Puts an absolute path and its query under a base URL. */
export function underBase(base: URL, pathAndQuery: string): URL {
  return new URL(`${trimSlashes(base.href)}${pathAndQuery}`);
}

/** A URL as it may be shown: without credentials, query and fragment, which may hold secrets. */
export const shownUrl = (url: URL): string => `${shownOrigin(url)}${url.pathname}`;

/** `URL.origin` would be `null` for the embedded sandbox. */
export const shownOrigin = ({ protocol, host }: URL): string =>
  host === '' ? protocol : `${protocol}//${host}`;
