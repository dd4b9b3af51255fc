import { isLoopback } from './lookup.ts';
import { hasCredentials, parseUrl } from './urls.ts';

/** A page that may be opened, or why it may not be opened. The reason is phrased to follow "the address". */
type Page = { readonly url: URL } | { readonly problem: string };

/**
 * Checks the address of a page that the service has sent. The page must be encrypted, or be on this machine. The
 * address must contain no user or password, because a reader could take these for the host. A page may be on this
 * machine only if the service is, too.
 */
export function pageAt(address: string, service: URL): Page {
  const url = parseUrl(address);
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return { problem: 'is no web page' };
  if (hasCredentials(url)) return { problem: 'has a user or a password in it' };
  if (isLoopback(url.hostname))
    return isLoopback(service.hostname) ? { url } : { problem: 'is on this machine, and the service is not' };
  return url.protocol === 'https:' ? { url } : { problem: 'is not encrypted (https)' };
}
