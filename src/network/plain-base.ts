import { trimSlashes } from './trim-slashes.ts';

/** A base URL in its one form, by which a service is known: without a trailing slash. */
export const plainBase = (url: URL): string => `${url.origin}${trimSlashes(url.pathname)}`;
