import { isLoopback } from './lookup.ts';
import { hasCredentials, parseUrl } from './urls.ts';

/** An address of the service that may be opened, or why not, phrased to follow "the address". */
type Page = { readonly url: URL } | { readonly problem: string };

/**
 * Checks an address that the service names. A page is encrypted or on this machine, has no user or password that could
 * pass for its host, and is on this machine only if the service is.
 */
export function pageAt(address: string, service: URL): Page {
  const url = parseUrl(address);
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return { problem: 'is no web page' };
  if (hasCredentials(url)) return { problem: 'has a user or a password in it' };
  if (isLoopback(url.hostname))
    return isLoopback(service.hostname) ? { url } : { problem: 'is on this machine, and the service is not' };
  return url.protocol === 'https:' ? { url } : { problem: 'is not encrypted (https)' };
}
