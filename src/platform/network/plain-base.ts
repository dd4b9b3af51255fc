import { trimSlashes } from './trim-slashes.ts';

/** A base URL in its one form, by which a service is known: without a trailing slash. */
export const plainBase = (url: URL): string => `${url.origin}${trimSlashes(url.pathname)}`;

/** An http or https URL that names a host; undefined for any other text. */
export function httpUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url && /^https?:$/.test(url.protocol) && url.hostname !== '' ? url : undefined;
}

export const hasCredentials = ({ username, password }: URL): boolean => username !== '' || password !== '';

export const hasQuery = ({ search, hash }: URL): boolean => search !== '' || hash !== '';
